/** mongodb-runner, MongoDB's own tool for booting clusters, on our programs; and the driver on what it booted. */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, expect, it } from "vitest";
import { root } from "../cluster/processes.js";
import { describeWith, runner } from "./programs.js";
import type { Ended } from "./shell.js";
import { run } from "./shell.js";

describeWith(runner, "mongodb-runner", () => {
  let folder: string;
  beforeAll(() => (folder = mkdtempSync(path.join(tmpdir(), "shardlab-runner-"))));
  afterAll(async () => {
    await runnerCommand("stop", "--all"); // what a failure may have left
    rmSync(folder, { recursive: true, force: true });
  });

  /** A command of the runner, with nobody's settings and in a folder of its own. */
  function runnerCommand(command: string, ...words: string[]): Promise<Ended> {
    const folders = ["--runnerDir", path.join(folder, "runner"), "--tmpDir", folder];
    const env = { PATH: process.env["PATH"], HOME: folder, SHARDLAB_NODE: process.execPath };
    return run(process.execPath, [runner.path, command, ...folders, ...words], env);
  }

  const bin = ["--binDir", path.join(root, "lib/bin")];
  const sharded = ["--topology", "sharded", "--shards", "2", ...bin];

  it("boots two shards and config servers of three members each, and a router; the driver shards a collection and uses it", async () => {
    const started = await runnerCommand("start", "--id", "lab", ...sharded);
    expect(started.code).toBe(0);
    const uri = /^mongodb:\/\/\S+$/m.exec(started.stdout)?.[0];
    const client = await new MongoClient(uri!, { serverSelectionTimeoutMS: 5_000 }).connect();
    const admin = client.db("admin");
    const { shards } = await admin.command({ listShards: 1 });
    // <set>/<host>,<host>,<host>
    expect((shards as { host: string }[]).map(({ host }) => host.split(",").length)).toEqual([3, 3]);
    await admin.command({ shardCollection: "library.events", key: { deviceId: "hashed" } });
    const events = client.db("library").collection<{ _id: number; deviceId: string }>("events");
    await events.insertMany(
      Array.from({ length: 1_000 }, (_, _id) => ({ _id, deviceId: `dev-${_id % 100}` })),
      { ordered: false, writeConcern: { w: 3, j: true } },
    );
    await events.createIndex({ _id: 1, deviceId: 1 });
    expect(await events.countDocuments({ deviceId: "dev-42" })).toBe(10);
    expect((await events.updateMany({ deviceId: "dev-42" }, { $set: { seen: true } })).modifiedCount).toBe(
      10,
    );
    expect(
      await events
        .find()
        .sort({ _id: -1 })
        .skip(10)
        .limit(3)
        .map(({ _id }) => _id)
        .toArray(),
    ).toEqual([989, 988, 987]);
    const rows = await events
      .aggregate<{ n: number }>([{ $group: { _id: "$deviceId", n: { $sum: 1 } } }])
      .toArray();
    expect([rows.length, new Set(rows.map(({ n }) => n))]).toEqual([100, new Set([10])]);
    const plan = await events.find({ deviceId: "dev-42" }).explain("queryPlanner");
    expect(plan["queryPlanner"]).toMatchObject({ winningPlan: { stage: "SINGLE_SHARD" } });
    const parts = await events.aggregate([{ $collStats: { count: {} } }]).toArray();
    expect(parts.reduce((sum, part) => sum + Number(part["count"]), 0)).toBe(1_000);
    expect(parts).toHaveLength(2);
    await client.close();

    expect((await runnerCommand("ls")).stdout).toContain("lab");
    expect((await runnerCommand("stop", "--id", "lab")).code).toBe(0);
    await expect(new MongoClient(uri!, { serverSelectionTimeoutMS: 500 }).connect()).rejects.toThrow();
    expect(readdirSync(folder).filter((name) => name.startsWith("db-"))).toEqual([]);
  });

  it("runs a program with a cluster around it", async () => {
    const script = "console.log(process.env.MONGODB_URI)";
    const { code, stdout } = await runnerCommand(
      "exec",
      ...sharded,
      "--secondaries",
      "0",
      "--",
      "--",
      process.execPath,
      "-e",
      script,
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(/^mongodb:\/\/127\.0\.0\.1:\d+\/$/m);
  });
});
