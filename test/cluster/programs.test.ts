/**
 * Engine `process`: every server a program of its own, started by mongodb-memory-server. What is looked at here is
 * what differs from `embedded`: processes, ports and folders, and that a shard can be killed. Lessons on this
 * engine are in engines.full.test.ts.
 */
import { mkdtempSync, readdirSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { MongoClient } from "mongodb";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { Cluster } from "../../lib/cluster/index.js";
import type { Program } from "./processes.js";
import { alive, listens, startNode } from "./processes.js";

const quiet = (): void => undefined;
const connect = (uri: string): Promise<MongoClient> =>
  new MongoClient(uri, { serverSelectionTimeoutMS: 5_000 }).connect();

// A place for temporary folders that nobody else has; programs that are started inherit it.
const place = mkdtempSync(path.join(tmpdir(), "shardlab-programs-"));
beforeAll(() => vi.stubEnv("TMPDIR", place));
afterAll(() => {
  vi.unstubAllEnvs();
  rmdirSync(place); // fails where something was left
});

/** What is there. */
const folders = (): string[] => readdirSync(place);

/** Process number of the server behind a URI. */
async function pidOf(uri: string): Promise<number> {
  const client = await connect(uri);
  const { pid } = await client.db("admin").command({ serverStatus: 1 });
  await client.close();
  return Number(pid);
}

describe("a cluster of processes", () => {
  let cluster: Cluster;
  let client: MongoClient;
  const said: string[] = [];
  beforeAll(async () => {
    cluster = await Cluster.start({ engine: "process", shards: 2, seed: 7 }, (line) => said.push(line));
    client = await connect(cluster.info.uri);
  });
  afterAll(async () => {
    await client.close();
    await cluster.close();
  });

  it("says what it is, and while it starts, what it waits for", () => {
    expect(cluster.info).toMatchObject({ engine: "process", capabilities: { killShard: true, trace: true } });
    expect(cluster.info.shards.map(({ id }) => id)).toEqual(["shardA", "shardB"]);
    expect(said[0]).toMatch(/^starting cfg, shardA, shardB: .*lib\/bin\/mongod 8\.\d+\.\d+$/);
    expect(said.at(-1)).toMatch(/^3 servers are up after \d+\.\d\d s$/);
    expect(said).toHaveLength(5);
  });

  it("has every server in a process of its own, a replica set named as the shard", async () => {
    const pids = new Set([process.pid]);
    for (const { id, uri } of cluster.info.shards) {
      const shard = await connect(uri);
      expect(await shard.db("admin").command({ hello: 1 })).toMatchObject({
        setName: id,
        isWritablePrimary: true,
      });
      await shard.close();
      pids.add(await pidOf(uri));
    }
    pids.add(await pidOf(cluster.info.config.uri));
    expect(pids.size).toBe(4);
    expect(folders()).toEqual([expect.stringMatching(/^shardlab-cluster-/)]);
  });

  it("tells when a server ends though nobody asked it to, and starts it again", async () => {
    const lines = said.length;
    process.kill(await pidOf(cluster.info.shards[1]!.uri), "SIGKILL");
    await vi.waitFor(() => expect(said.slice(lines)).toEqual(["shardB ended by itself (SIGKILL)"]), 5_000);
    await cluster.restartShard("shardB");
    expect(await listens(cluster.info.shards[1]!.uri)).toBe(true);
    // Asked to: no word of it.
    await cluster.killShard("shardB");
    await cluster.restartShard("shardB");
    expect(said).toHaveLength(lines + 1);
  });

  it("routes as the embedded one does", async () => {
    const admin = client.db("admin");
    await admin.command({ shardCollection: "library.events", key: { deviceId: "hashed" } });
    const events = client.db("library").collection<{ _id: number; deviceId: string }>("events");
    await events.insertMany(Array.from({ length: 500 }, (_, n) => ({ _id: n, deviceId: `dev-${n}` })));
    const counts = await Promise.all(
      cluster.info.shards.map(async ({ uri }) => {
        const shard = await connect(uri);
        const count = await shard.db("library").collection("events").countDocuments();
        await shard.close();
        return count;
      }),
    );
    const embedded = await Cluster.start({ seed: 7 });
    const other = await connect(embedded.info.uri);
    await other.db("admin").command({ shardCollection: "library.events", key: { deviceId: "hashed" } });
    await other
      .db("library")
      .collection<{ _id: number; deviceId: string }>("events")
      .insertMany(await events.find().toArray());
    const wanted = await Promise.all(
      embedded.info.shards.map(async ({ uri }) => {
        const shard = await connect(uri);
        const count = await shard.db("library").collection("events").countDocuments();
        await shard.close();
        return count;
      }),
    );
    await other.close();
    await embedded.close();
    expect([...counts].sort()).toEqual([...wanted].sort());
    expect((await events.find().sort({ _id: -1 }).limit(3).toArray()).map(({ _id }) => _id)).toEqual([
      499, 498, 497,
    ]);
  });

  it("loses a shard that is killed, keeps the other, and takes it back with its documents", async () => {
    const zones = client.db("library").collection<{ _id: number }>("zones");
    await client.db("admin").command({ shardCollection: "library.zones", key: { _id: 1 } });
    await client.db("admin").command({ split: "library.zones", middle: { _id: 0 } });
    await client.db("admin").command({ moveChunk: "library.zones", find: { _id: -1 }, to: "shardA" });
    await client.db("admin").command({ moveChunk: "library.zones", find: { _id: 1 }, to: "shardB" });
    await zones.insertMany([{ _id: -1 }, { _id: 1 }]);

    const pid = await pidOf(cluster.info.shards[1]!.uri);
    await cluster.killShard("shardB");
    expect(alive(pid)).toBe(false);
    expect(await listens(cluster.info.shards[1]!.uri)).toBe(false);
    expect(await zones.findOne({ _id: -1 })).toEqual({ _id: -1 });
    await expect(zones.findOne({ _id: 1 })).rejects.toMatchObject({ code: 133 });

    await cluster.restartShard("shardB");
    await cluster.restartShard("shardB"); // it runs: nothing to do
    expect(await zones.findOne({ _id: 1 })).toEqual({ _id: 1 });
    await zones.insertOne({ _id: 2 });
    expect(await zones.find().sort({ _id: 1 }).toArray()).toEqual([{ _id: -1 }, { _id: 1 }, { _id: 2 }]);
    await expect(cluster.killShard("cfg")).rejects.toThrow(
      "there is no shard cfg; choose from shardA, shardB",
    );
  });
});

it("an embedded cluster has nothing to kill", async () => {
  const cluster = await Cluster.start({ shards: 1 });
  await expect(cluster.killShard("shardA")).rejects.toMatchObject({ code: "engine-unavailable" });
  await cluster.close();
});

describe("nothing is left of a cluster of processes", () => {
  const programs: Program[] = [];
  afterEach(async () => {
    for (const program of programs.splice(0)) {
      program.child.kill("SIGKILL");
      await program.ended;
    }
  });

  /** `shardlab cluster`, and the process numbers of its servers. */
  async function running(): Promise<{ program: Program; pids: number[]; uris: string[] }> {
    const args = ["cluster", "--engine", "process", "--shards", "1", "--json"];
    const program = startNode(["dist/kernel/cli/main.js", ...args]);
    programs.push(program);
    const { uri, shards, config } = JSON.parse((await program.line())!) as {
      uri: string;
      shards: { uri: string }[];
      config: { uri: string };
    };
    const servers = [...shards.map((shard) => shard.uri), config.uri];
    expect(folders()).toHaveLength(1);
    return { program, pids: await Promise.all(servers.map(pidOf)), uris: [uri, ...servers] };
  }

  async function nothingLeft({ pids, uris }: Awaited<ReturnType<typeof running>>): Promise<void> {
    await expect.poll(() => pids.filter(alive), { timeout: 10_000 }).toEqual([]);
    await expect.poll(folders, { timeout: 10_000 }).toEqual([]);
    for (const uri of uris) expect(await listens(uri)).toBe(false);
  }

  it("after close", async () => {
    const cluster = await Cluster.start({ engine: "process", shards: 1 }, quiet);
    const pid = await pidOf(cluster.info.shards[0]!.uri);
    await cluster.close();
    await cluster.close();
    expect(alive(pid)).toBe(false);
    expect(folders()).toEqual([]);
  });

  it("after Ctrl-C, which reaches the whole process group; the exit code is 0", async () => {
    const cluster = await running();
    process.kill(-cluster.program.pid, "SIGINT");
    expect(await cluster.program.ended).toEqual({ code: 0, signal: null });
    await nothingLeft(cluster);
  });

  it("when the process that owns it is killed", async () => {
    const cluster = await running();
    cluster.program.child.kill("SIGKILL");
    await nothingLeft(cluster);
  });

  it("when the start fails on the router's port", async () => {
    const taken = await Cluster.start({ shards: 1 });
    const { port } = new URL(taken.info.uri);
    await expect(
      Cluster.start({ engine: "process", shards: 1, port: Number(port) }, quiet),
    ).rejects.toMatchObject({
      code: "EADDRINUSE",
    });
    await taken.close();
    expect(folders()).toEqual([]);
  });
});
