/** movePrimary, addShard, removeShard (facts §8.4), and what validate and dataSize add up. */
import { EndpointUnreachableError } from "shardlab/protocol";
import type { RulesVersion } from "shardlab/router";
import { describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "./support/cluster.js";
import { chunksOf, startCluster } from "./support/cluster.js";

const docs = (n: number): Doc[] => Array.from({ length: n }, (_, i) => ({ _id: i, x: i - n / 2 }));

async function onShard(cluster: TestCluster, shard: string, db = "library"): Promise<unknown[]> {
  const reply = await cluster.shard(shard, db, { listCollections: 1 });
  return (reply.cursor as { firstBatch: Doc[] }).firstBatch
    .map(({ name }) => name)
    .filter((name) => name !== "system.views")
    .sort();
}

describe("movePrimary", () => {
  /** On shardA: plain with an index, log (capped), a view; sharded c with a chunk on each shard. */
  async function library(): Promise<TestCluster> {
    const cluster = await startCluster();
    await cluster.admin({ enableSharding: "library", primaryShard: "shardA" });
    await cluster.ok("library", { insert: "plain", documents: docs(300) });
    await cluster.ok("library", {
      createIndexes: "plain",
      indexes: [{ key: { x: -1 }, name: "x", unique: true }],
    });
    await cluster.ok("library", { create: "log", capped: true, size: 8192, max: 3 });
    await cluster.ok("library", { insert: "log", documents: [{ n: 3 }, { n: 1 }, { n: 2 }] });
    await cluster.ok("library", {
      create: "high",
      viewOn: "plain",
      pipeline: [{ $match: { x: { $gt: 147 } } }],
    });
    await cluster.admin({ shardCollection: "library.c", key: { x: 1 } });
    await cluster.ok("library", { insert: "c", documents: docs(10) });
    return cluster;
  }

  test("documents, indexes, options and views go; sharded collections stay; the catalog follows", async () => {
    const cluster = await library();
    const before = await cluster.all("library", { find: "plain" });
    const [{ version }] = (await cluster.all("config", { find: "databases" })) as [{ version: Doc }];
    expect(await cluster.admin({ movePrimary: "library", to: "shardB" })).toMatchObject({ ok: 1 });
    expect(await cluster.all("config", { find: "databases" })).toEqual([
      { _id: "library", primary: "shardB", version: { ...version, lastMod: 2 } },
    ]);
    expect(await cluster.all("library", { find: "plain" })).toEqual(before);
    expect(await cluster.all("library", { listIndexes: "plain" })).toMatchObject([
      { name: "_id_" },
      { name: "x", key: { x: -1 }, unique: true },
    ]);
    expect((await cluster.all("library", { find: "log" })).map(({ n }) => n)).toEqual([3, 1, 2]);
    const [log] = await cluster.all("library", { listCollections: 1, filter: { name: "log" } });
    expect(log).toMatchObject({ options: { capped: true, size: 8192, max: 3 } });
    expect(await cluster.all("library", { find: "high", sort: { x: 1 } })).toMatchObject([
      { x: 148 },
      { x: 149 },
    ]);
    expect(await chunksOf(cluster, "library.c")).toMatchObject([{ shard: "shardA" }]);
    expect(await cluster.ok("library", { count: "c" })).toMatchObject({ n: 10 });
    expect(await onShard(cluster, "shardA")).toEqual(["c"]);
    expect(await onShard(cluster, "shardB")).toEqual(["c", "high", "log", "plain"]);
    const log2 = await cluster.all("config", {
      find: "changelog",
      filter: { what: /^movePrimary/ },
      sort: { time: 1 },
    });
    expect(log2.map(({ what, ns, details }) => [what, ns, details])).toEqual([
      ["movePrimary.start", "library", { from: "shardA", to: "shardB" }],
      ["movePrimary.end", "library", { from: "shardA", to: "shardB" }],
    ]);
    // And back, as if nothing had been.
    await cluster.admin({ movePrimary: "library", to: "shardA" });
    expect(await cluster.all("library", { find: "plain" })).toEqual(before);
    expect(await onShard(cluster, "shardB")).toEqual(["c"]);
  });

  test.each(["insert", "createIndexes", "create"])(
    "the recipient fails at %s: nothing has moved",
    async (step) => {
      const cluster = await library();
      let left = step === "insert" ? 2 : 1;
      cluster.shards.get("shardB")!.failWhen = (command) =>
        command === step && --left === 0 ? new EndpointUnreachableError("gone") : undefined;
      expect(await cluster.run("admin", { movePrimary: "library", to: "shardB" })).toMatchObject({ ok: 0 });
      cluster.shards.get("shardB")!.failWhen = undefined;
      expect(await cluster.all("config", { find: "databases" })).toMatchObject([{ primary: "shardA" }]);
      expect(await cluster.ok("library", { count: "plain" })).toMatchObject({ n: 300 });
      expect(await onShard(cluster, "shardB")).not.toContain("plain");
      expect(
        (await cluster.all("config", { find: "changelog", filter: { what: "movePrimary.error" } })).length,
      ).toBe(1);
      await cluster.admin({ movePrimary: "library", to: "shardB" });
      expect(await cluster.ok("library", { count: "plain" })).toMatchObject({ n: 300 });
    },
  );

  test("a cursor that is open goes on", async () => {
    const cluster = await library();
    const first = await cluster.ok("library", { find: "plain", batchSize: 10, sort: { _id: 1 } });
    await cluster.admin({ movePrimary: "library", to: "shardB" });
    const { id } = first.cursor as { id: bigint };
    const more = await cluster.ok("library", { getMore: BigInt(id.toString()), collection: "plain" });
    expect((more.cursor as { nextBatch: Doc[] }).nextBatch).toHaveLength(290);
  });

  test.each<[Doc, number, string]>([
    [{ movePrimary: "library", to: "shardX" }, 70, "Requested primary shard shardX does not exist"],
    [{ movePrimary: "library", to: "" }, 72, "you have to specify where you want to move it"],
    [{ movePrimary: "library" }, 40414, "movePrimary.to"],
    [{ movePrimary: "config", to: "shardB" }, 72, "Can't move primary for config database"],
    [{ movePrimary: "a.b", to: "shardB" }, 73, "a.b"],
    [{ movePrimary: "never", to: "shardB" }, 26, "database never not found"],
  ])("%j: %i", async (command, code, gist) => {
    const reply = await (await library()).run("admin", command);
    expect(reply).toMatchObject({ ok: 0, code });
    expect(reply.errmsg).toContain(gist);
  });

  test("to where it is: ok; a name that the recipient has: 48, and that one is whole", async () => {
    const cluster = await library();
    expect(await cluster.admin({ movePrimary: "library", to: "shardA" })).toMatchObject({ ok: 1 });
    await cluster.shard("shardB", "library", { insert: "plain", documents: [{ stray: 1 }] });
    expect(await cluster.run("admin", { movePrimary: "library", to: "shardB" })).toMatchObject({ code: 48 });
    expect(await onShard(cluster, "shardB")).toEqual(["plain"]);
  });
});

describe("removeShard", () => {
  const notes: [RulesVersion, string, Doc][] = [
    [
      "8.0",
      "you need to call moveCollection for collectionsToMove and afterwards movePrimary for the dbsToMove",
      { collectionsToMove: ["library.plain"] },
    ],
    ["7.0", "you need to drop or movePrimary these databases", {}],
  ];
  test.each(notes)("rules %s: started, ongoing, completed", async (rules, note, more) => {
    const cluster = await startCluster({ rules });
    await cluster.admin({ enableSharding: "library", primaryShard: "shardA" });
    await cluster.admin({ shardCollection: "library.c", key: { x: 1 } });
    await cluster.ok("library", { insert: "plain", documents: [{ a: 1 }] });
    const ask = async (): Promise<Doc> => {
      const {
        $clusterTime: _time,
        operationTime: _at,
        ...reply
      } = await cluster.admin({ removeShard: "shardA" });
      return reply;
    };
    const stays = { note, dbsToMove: ["library"], ...more, ok: 1 };
    expect(await ask()).toEqual({
      msg: "draining started successfully",
      state: "started",
      shard: "shardA",
      ...stays,
    });
    expect(await cluster.admin({ listShards: 1 })).toMatchObject({ shards: [{ draining: true }, {}] });
    const counts = { chunks: 1, dbs: 1, jumboChunks: 0, ...(rules === "8.0" && { collectionsToMove: 1 }) };
    expect(await ask()).toEqual({ msg: "draining ongoing", state: "ongoing", remaining: counts, ...stays });
    // After that answer a round of the balancer has run.
    expect(await ask()).toMatchObject({ state: "ongoing", remaining: { chunks: 0, dbs: 1 } });
    expect(await chunksOf(cluster, "library.c")).toMatchObject([{ shard: "shardB" }]);
    await cluster.admin({ movePrimary: "library", to: "shardB" });
    expect(await ask()).toEqual({
      msg: "removeshard completed successfully",
      state: "completed",
      shard: "shardA",
      ok: 1,
    });
    expect((await cluster.all("config", { find: "shards" })).map(({ _id }) => _id)).toEqual(["shardB"]);
    expect(await cluster.ok("library", { count: "plain" })).toMatchObject({ n: 1 });
    expect(await cluster.run("admin", { removeShard: "shardA" })).toMatchObject({
      code: 70,
      errmsg: "Shard shardA does not exist",
    });
    const log = await cluster.all("config", {
      find: "changelog",
      filter: { what: /^removeShard/ },
      sort: { time: 1 },
    });
    expect(log.map(({ what, details }) => [what, details])).toEqual([
      ["removeShard.start", { shard: "shardA" }],
      ["removeShard", { shard: "shardA" }],
    ]);
  });

  test("a draining shard gets nothing new", async () => {
    const cluster = await startCluster({ shards: 3 });
    await cluster.admin({ removeShard: "shardA" });
    await cluster.admin({ shardCollection: "library.h", key: { d: "hashed" } });
    expect((await chunksOf(cluster, "library.h")).map(({ shard }) => shard).sort()).toEqual([
      "shardB",
      "shardC",
    ]);
    expect(await cluster.all("config", { find: "databases" })).toMatchObject([{ primary: "shardB" }]);
    expect(await cluster.run("admin", { enableSharding: "new", primaryShard: "shardA" })).toMatchObject({
      code: 70,
    });
    expect(await cluster.run("admin", { movePrimary: "library", to: "shardA" })).toMatchObject({ code: 70 });
    // A second router reads it from config.shards, as does this one after a reload.
    await cluster.admin({ flushRouterConfig: 1 });
    await cluster.ok("config", {
      update: "shards",
      updates: [{ q: { _id: "shardA" }, u: { $unset: { draining: 1 } } }],
    });
    expect(await cluster.admin({ movePrimary: "library", to: "shardA" })).toMatchObject({ ok: 1 });
  });

  test("not the last one that stays (20), nor the only one of a zone in use (163)", async () => {
    const cluster = await startCluster();
    await cluster.admin({ removeShard: "shardA" });
    expect(await cluster.run("admin", { removeShard: "shardB" })).toMatchObject({
      code: 20,
      errmsg: "Operation not allowed because it would remove the last shard",
    });
    const zoned = await startCluster();
    const tag = (tags: string[]): Doc => ({ q: { _id: "shardA" }, u: { $set: { tags } } });
    await zoned.ok("config", { update: "shards", updates: [tag(["EU", "unused"])] });
    await zoned.ok("config", {
      insert: "tags",
      documents: [{ ns: "a.b", min: { x: 0 }, max: { x: 1 }, tag: "EU" }],
    });
    const reply = await zoned.run("admin", { removeShard: "shardA" });
    expect(reply).toMatchObject({ code: 163, codeName: "ZoneStillInUse" });
    expect(reply.errmsg).toContain("the only shard for zone EU");
    await zoned.ok("config", { update: "shards", updates: [tag(["unused"])] });
    expect(await zoned.admin({ removeShard: "shardA" })).toMatchObject({ state: "started" });
  });
});

describe("added up over the shards", () => {
  async function halves(): Promise<TestCluster> {
    const cluster = await startCluster();
    await cluster.admin({ enableSharding: "library", primaryShard: "shardA" });
    await cluster.admin({ shardCollection: "library.c", key: { x: 1 } });
    await cluster.admin({ split: "library.c", middle: { x: 0 } });
    await cluster.admin({ moveChunk: "library.c", find: { x: 0 }, to: "shardB" });
    // {_id: int32, x: int32}: 4 + (1+4+4) + (1+2+4) + 1 = 21 bytes.
    await cluster.ok("library", { insert: "c", documents: docs(10) });
    await cluster.ok("library", { insert: "plain", documents: docs(4) });
    return cluster;
  }

  test("validate: raw by shard", async () => {
    const cluster = await halves();
    const reply = await cluster.ok("library", { validate: "c" });
    expect(reply).toMatchObject({
      raw: { shardA: { ns: "library.c", nrecords: 5, valid: true }, shardB: { nrecords: 5, valid: true } },
      valid: true,
    });
    expect(Object.keys((await cluster.ok("library", { validate: "plain" })).raw as Doc)).toEqual(["shardA"]);
    expect(await cluster.run("library", { validate: "never" })).toMatchObject({ code: 26 });
    expect(await cluster.run("never", { validate: "never" })).toMatchObject({ code: 26 });
  });

  test("dataSize", async () => {
    const cluster = await halves();
    expect(await cluster.ok("library", { dataSize: "library.c" })).toMatchObject({
      size: 210,
      numObjects: 10,
    });
    expect(await cluster.ok("admin", { dataSize: "library.plain" })).toMatchObject({
      size: 84,
      numObjects: 4,
    });
  });

  test("collStats, sharded and not (§6)", async () => {
    const cluster = await halves();
    const stats = await cluster.ok("library", { collStats: "c" });
    expect(stats).toMatchObject({
      sharded: true,
      capped: false,
      ns: "library.c",
      count: 10,
      size: 210,
      numOrphanDocs: 0,
      avgObjSize: 21,
      nindexes: 2,
      nchunks: 2,
      scaleFactor: 1,
      shards: { shardA: { count: 5, size: 105 }, shardB: { count: 5, size: 105 } },
    });
    // Each of the two indexes takes a block of 4 KB on each of the two shards.
    expect(stats.indexSizes).toEqual({ _id_: 8192, x_1: 8192 });
    expect(await cluster.ok("library", { collStats: "c", scale: 1024 })).toMatchObject({
      scaleFactor: 1024,
      avgObjSize: 21,
      storageSize: 8,
    });
    expect(await cluster.ok("library", { collStats: "plain" })).toMatchObject({
      sharded: false,
      primary: "shardA",
      count: 4,
      nchunks: 1,
      shards: { shardA: { count: 4 } },
    });
    expect(await cluster.run("never", { collStats: "c" })).toMatchObject({ code: 26 });
  });

  test("listDatabases tells where a database is; one without collections is not listed", async () => {
    const cluster = await halves();
    await cluster.admin({ enableSharding: "empty" });
    const { databases } = await cluster.admin({
      listDatabases: 1,
      filter: { name: { $in: ["library", "empty"] } },
    });
    const [library, ...others] = databases as [Doc & { sizeOnDisk: number; shards: Record<string, number> }];
    expect(others).toEqual([]);
    expect(Object.keys(library.shards)).toEqual(["shardA", "shardB"]);
    expect(library.shards.shardA! + library.shards.shardB!).toBe(library.sizeOnDisk);
  });
});
