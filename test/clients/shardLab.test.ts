/**
 * The lesson "Sharding" in real mongosh, on a cluster of our programs that `shard-lab.sh` puts together as the lesson's
 * own script does: the outputs are those recorded there on MongoDB 8.3.11 (facts-mongos.md §11, S004), hosts masked.
 * Which shard is a database's primary, and which half of the hashes a shard gets, is left to chance there; `P` is the
 * primary here, `Q` the other shard.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Program } from "../cluster/processes.js";
import { alive, root, startProgram } from "../cluster/processes.js";
import { describeWith, mongosh } from "./programs.js";
import { shell, shellEnvironment } from "./shell.js";

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

/** Ports that nobody listens on. */
async function freePorts(count: number): Promise<number[]> {
  const held = Array.from({ length: count }, () => createServer());
  const ports: number[] = [];
  for (const server of held) {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    ports.push((server.address() as AddressInfo).port);
  }
  await Promise.all(held.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

describeWith(mongosh, "the lesson's cluster", () => {
  let directory: string;
  let lab: Program;
  let port: number;
  const said: string[] = [];

  beforeAll(async () => {
    directory = mkdtempSync(path.join(tmpdir(), "shardlab-lab-"));
    const ports = await freePorts(4);
    port = ports[3]!;
    lab = startProgram(here("shard-lab.sh"), [directory, ...ports.map(String)], {
      ...shellEnvironment(),
      BIN: path.join(root, "lib/bin"),
      MONGOSH: `${process.execPath} ${mongosh.path}`,
      SHARDLAB_NODE: process.execPath,
      SHARDLAB_SEED: "1",
    });
    for (;;) {
      const line = await lab.line();
      if (line === undefined) throw new Error(`the script ended: ${said.join("\n")}\n${lab.stderr()}`);
      said.push(line);
      if (line === "ready") break;
    }
  });
  afterAll(async () => {
    if (lab && alive(lab.pid)) lab.child.kill("SIGTERM");
    await lab?.ended;
    rmSync(directory, { recursive: true, force: true });
  });

  /** Runs one of the lesson's scripts as it stands. */
  async function run(script: string): Promise<string> {
    const { code, stdout, stderr } = await shell([
      "--quiet",
      `mongodb://127.0.0.1:${port}/`,
      "--file",
      here(script.startsWith("sk-") ? `reference002/${script}` : `reference004/${script}`),
    ]);
    expect([code, stderr, script]).toEqual([0, "", script]);
    return stdout.trim();
  }

  /** The same with the database's primary shard as P, the other as Q. */
  async function masked(script: string): Promise<string[]> {
    const text = await run(script);
    const { stdout } = await shell([
      "--quiet",
      `mongodb://127.0.0.1:${port}/`,
      "--eval",
      "db.getSiblingDB('config').databases.findOne({ _id: 'library' }).primary",
    ]);
    const primary = stdout.trim();
    expect(["shardA", "shardB"]).toContain(primary);
    return text
      .split("\n")
      .map((line) => line.replaceAll(/shard[AB]/g, (shard) => (shard === primary ? "P" : "Q")));
  }

  it("is brought up by the script: three sets initiated, two shards added", () => {
    expect(said).toEqual(["1", "1", "1", "shardA", "shardB", "ready"]);
    // The router was started first and waited, as it does in a container.
    expect(readFileSync(path.join(directory, "mongos.log"), "utf8")).toContain('"id":23016');
  });

  it("sh-topology.js", async () => {
    expect((await run("sh-topology.js")).replaceAll(/127\.0\.0\.1:\d+/g, "HOST")).toBe(
      [
        "[",
        "  {",
        "    _id: 'shardA',",
        "    host: 'shardA/HOST'",
        "  },",
        "  {",
        "    _id: 'shardB',",
        "    host: 'shardB/HOST'",
        "  }",
        "]",
        "balancer enabled: true | mode: full",
      ].join("\n"),
    );
  });

  it("sh-shard-collection.js", async () => {
    const [first, ...rest] = await masked("sh-shard-collection.js");
    expect(first).toBe("shardCollection ok: 1");
    expect(rest.join("").replaceAll(/\s+/g, "")).toBe("[{_id:'library',primary:'P'}]");
  });

  it("sh-route.js", async () => {
    const lines = await masked("sh-route.js");
    // dev-42's hash is above 0: whoever has the upper half answers alone.
    expect(lines[0]).toMatch(/^equality SINGLE_SHARD [PQ]$/);
    expect(lines.slice(1).map((line) => line.replace("Q,P", "P,Q"))).toEqual([
      "other field SHARD_MERGE P,Q",
      "range SHARD_MERGE P,Q",
    ]);
  });

  it("sh-hotspot.js", async () => {
    const [ranged, hashed] = await masked("sh-hotspot.js");
    expect(ranged).toBe('readings_ranged [["P",100000]]');
    expect(hashed?.replaceAll(/[PQ]/g, "S")).toBe('readings_hashed [["S",51100],["S",48900]]');
  });

  it("sh-reshard.js", async () => {
    expect(await run("sh-reshard.js")).toBe(
      [
        'before {"ts":1}',
        "reshardCollection ok: 1 at least five minutes: true",
        'after {"deviceId":"hashed"}',
        "documents 10000",
      ].join("\n"),
    );
  });

  it("sh-move.js", async () => {
    expect(await run("sh-move.js")).toBe(
      ["moveCollection ok: 1", "moved: true 3", "unshardCollection ok: 1", "unsharded: false 10000"].join(
        "\n",
      ),
    );
  });

  it("sh-analyze.js", async () => {
    expect(await run("sh-analyze.js")).toBe(
      [
        '{"ts":1} documents 20000 distinct 20000 most common 1 monotonic',
        '{"deviceId":1} documents 20000 distinct 5000 most common 4 not monotonic',
      ].join("\n"),
    );
  });

  // The lesson "Choosing a shard key" (S002), on its orders: 3,000, every tenth of them of customer 0.
  it("sk-analyze.js", async () => {
    expect((await run("sk-analyze.js")).split("\n")).toEqual([
      '{"field":"status","distinctValues":6,"topValueSharePct":16.67}',
      '{"field":"shipping.country","distinctValues":15,"topValueSharePct":6.67}',
      // 7i mod 500 takes every value but those of i = 0 mod 10, which are the multiples of 10: 450, and customer 0.
      '{"field":"customerId","distinctValues":451,"topValueSharePct":10}',
      '{"field":"orderNo","distinctValues":3000,"topValueSharePct":0.03}',
      "createdAt increases: 100.0%",
    ]);
  });

  it("sk-measure.js", async () => {
    expect(await run("sk-measure.js")).toBe('analyzeShardKey 3000 451 {"customerId":0} 300');
  });

  it("sk-change.js", async () => {
    expect((await run("sk-change.js")).split("\n")).toEqual([
      "customer 0 alone can't be split: 87",
      'refineCollectionShardKey ok: 1 {"customerId":1,"createdAt":1}',
      "now it can: 1",
      'reshardCollection ok: 1 {"customerId":"hashed"}',
      "orders: 3000",
    ]);
  });
});
