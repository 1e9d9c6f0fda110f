/**
 * The manual of MongoDB 2.4, "Shard Keys": each of its statements under
 * `rules: "2.4"` (facts-mongos.md §11, S000).
 */
import { ObjectId } from "bson";
import { describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "../support/cluster.js";
import { chunksOf, startCluster } from "../support/cluster.js";

async function sharded(key: Doc, shards = 2): Promise<TestCluster> {
  const cluster = await startCluster({ rules: "2.4", shards });
  await cluster.admin({ enableSharding: "db", primaryShard: "shardA" });
  await cluster.admin({ shardCollection: "db.c", key });
  return cluster;
}

const chunks = (cluster: TestCluster): Promise<Doc[]> =>
  cluster.all("config", { find: "chunks", filter: {}, sort: { min: 1 } });

async function asked(cluster: TestCluster, command: Doc): Promise<string[]> {
  const entries = await cluster.traced(() => cluster.all("db", command));
  return entries[0]!.shards.map(({ shard }) => shard);
}

describe("The shard key", () => {
  test("is a field or compound field that exists in every document", async () => {
    const cluster = await sharded({ a: 1, b: 1 });
    expect(await cluster.ok("db", { insert: "c", documents: [{ a: 1, b: 1 }] })).toMatchObject({ n: 1 });
    for (const document of [{ a: 1 }, { b: 1 }, { z: 1 }]) {
      const reply = await cluster.ok("db", { insert: "c", documents: [document] });
      expect(reply).toMatchObject({ n: 0, writeErrors: [{ code: 61 }] });
    }
  });

  test("is indexed: a collection with documents needs the index first", async () => {
    const cluster = await startCluster({ rules: "2.4" });
    await cluster.admin({ enableSharding: "db" });
    await cluster.ok("db", { insert: "c", documents: [{ a: 1 }] });
    const shardIt = { shardCollection: "db.c", key: { a: 1 } };
    expect(await cluster.run("admin", shardIt)).toMatchObject({ ok: 0, code: 72 });
    await cluster.ok("db", { createIndexes: "c", indexes: [{ key: { a: 1 }, name: "a_1" }] });
    expect(await cluster.run("admin", shardIt)).toMatchObject({ ok: 1 });
  });

  test("chunks are ranges that don't overlap, and every value falls in one", async () => {
    const cluster = await sharded({ a: 1 });
    for (const a of [0, 10, -10]) await cluster.admin({ split: "db.c", middle: { a } });
    const ranges = await chunks(cluster);
    expect(ranges).toHaveLength(4);
    for (let i = 1; i < ranges.length; i++) expect(ranges[i]!.min).toEqual(ranges[i - 1]!.max);
  });
});

describe("Considerations", () => {
  test("shard keys cannot be changed after insertion", async () => {
    const cluster = await sharded({ a: 1 });
    await cluster.ok("db", { insert: "c", documents: [{ _id: 1, a: 1, v: 1 }] });
    const session = { lsid: { id: new Uint8Array(16) }, txnNumber: 1n };
    const updates = [{ q: { a: 1 }, u: { $set: { a: 2 } } }];
    expect(await cluster.ok("db", { update: "c", updates, ...session })).toMatchObject({
      writeErrors: [{ code: 66 }],
    });
    const refine = { refineCollectionShardKey: "db.c", key: { a: 1, v: 1 } };
    expect(await cluster.run("admin", refine)).toMatchObject({ ok: 0, code: 59 });
    expect(await cluster.run("admin", { reshardCollection: "db.c", key: { v: 1 } })).toMatchObject({
      ok: 0,
      code: 59,
    });
  });

  test("the index on the shard key cannot be a multikey index", async () => {
    const cluster = await sharded({ a: 1 });
    expect(await cluster.ok("db", { insert: "c", documents: [{ a: [1, 2] }] })).toMatchObject({
      writeErrors: [{ code: 61 }],
    });
    await cluster.ok("db", { insert: "d", documents: [{ a: [1, 2] }] });
    await cluster.ok("db", { createIndexes: "d", indexes: [{ key: { a: 1 }, name: "a_1" }] });
    expect(await cluster.run("admin", { shardCollection: "db.d", key: { a: 1 } })).toMatchObject({
      ok: 0,
      code: 72,
    });
  });
});

describe("Hashed shard keys", () => {
  test.each([2, 3, 5])("an empty collection gets two chunks on each of %i shards", async (shards) => {
    const cluster = await sharded({ a: "hashed" }, shards);
    const perShard = new Map<unknown, number>();
    for (const { shard } of await chunks(cluster)) perShard.set(shard, (perShard.get(shard) ?? 0) + 1);
    expect([...perShard.values()]).toEqual(Array.from({ length: shards }, () => 2));
  });

  test("numInitialChunks controls how many", async () => {
    const cluster = await startCluster({ rules: "2.4" });
    await cluster.admin({ enableSharding: "db" });
    await cluster.admin({ shardCollection: "db.c", key: { a: "hashed" }, numInitialChunks: 10 });
    expect(await chunks(cluster)).toHaveLength(10);
  });

  test("split creates more on the empty collection", async () => {
    const cluster = await sharded({ a: "hashed" });
    await cluster.admin({ split: "db.c", middle: { a: 1n } });
    expect(await chunks(cluster)).toHaveLength(5);
  });

  test("queries take the value, not its hash", async () => {
    const cluster = await sharded({ a: "hashed" });
    await cluster.ok("db", { insert: "c", documents: [{ _id: 1, a: "dev-42" }] });
    const find = { find: "c", filter: { a: "dev-42" } };
    expect(await cluster.all("db", find)).toEqual([{ _id: 1, a: "dev-42" }]);
    expect(await asked(cluster, find)).toHaveLength(1);
  });

  test("it works well with ObjectIds: 1,000 of one second fall on all four chunks", async () => {
    const cluster = await sharded({ _id: "hashed" });
    const documents = Array.from({ length: 1000 }, (_, i) => ({
      _id: new ObjectId(`6935f000aabbccddee${i.toString(16).padStart(6, "0")}`),
    }));
    const [entry] = await cluster.traced(() => cluster.ok("db", { insert: "c", documents, ordered: false }));
    for (const { sent } of entry!.shards) expect(sent).toBeGreaterThan(400);
  });

  test("only a single field can be hashed", async () => {
    const cluster = await startCluster({ rules: "2.4" });
    await cluster.admin({ enableSharding: "db" });
    const shardIt = { shardCollection: "db.c", key: { a: "hashed", b: 1 } };
    expect(await cluster.run("admin", shardIt)).toMatchObject({ ok: 0, code: 2 });
  });
});

describe("Write scaling", () => {
  test("with an ObjectId as ranged key all inserts go to a single chunk, and so to a single shard", async () => {
    const cluster = await sharded({ _id: 1 });
    const id = (i: number): ObjectId => new ObjectId((0x6935f000 + i).toString(16) + "0".repeat(16));
    for (const i of [100, 200]) await cluster.admin({ split: "db.c", middle: { _id: id(i) } });
    await cluster.admin({ moveChunk: "db.c", find: { _id: id(200) }, to: "shardB" });
    const documents = Array.from({ length: 500 }, (_, i) => ({ _id: id(200 + i) }));
    const [entry] = await cluster.traced(() => cluster.ok("db", { insert: "c", documents }));
    expect(entry!.shards.map(({ shard, sent }) => [shard, sent])).toEqual([["shardB", 500]]);
  });
});

describe("Querying", () => {
  async function isolated(): Promise<TestCluster> {
    const cluster = await sharded({ zip: 1, user: 1 }, 3);
    for (const [zip, to] of [
      [3, "shardB"],
      [6, "shardC"],
    ] as const) {
      await cluster.admin({ split: "db.c", middle: { zip, user: 0 } });
      await cluster.admin({ moveChunk: "db.c", find: { zip, user: 0 }, to });
    }
    const documents = Array.from({ length: 90 }, (_, i) => ({
      _id: i,
      zip: i % 9,
      user: i,
      v: (i * 37) % 90,
    }));
    await cluster.ok("db", { insert: "c", documents });
    return cluster;
  }

  test.each<[string, Doc, string[]]>([
    ["the whole key", { zip: 7, user: 7 }, ["shardC"]],
    ["the first component of a compound key", { zip: 1 }, ["shardA"]],
    ["several values of it, in different chunks", { zip: { $in: [1, 4] } }, ["shardA", "shardB"]],
    ["without the key: all shards", { user: 7 }, ["shardA", "shardB", "shardC"]],
  ])("query isolation: %s", async (_what, filter, shards) => {
    expect(await asked(await isolated(), { find: "c", filter })).toEqual(shards);
  });

  test("sorting: a merge sort of the shards' sorted results", async () => {
    const cluster = await isolated();
    const find = { find: "c", filter: {}, sort: { v: -1 }, projection: { _id: 0, v: 1 } };
    expect((await cluster.all("db", find)).map(({ v }) => v)).toEqual(
      Array.from({ length: 90 }, (_, i) => 89 - i),
    );
  });

  test("a shard key does not make other fields unique (footnote 1)", async () => {
    const cluster = await isolated();
    const unique = (key: Doc): Doc => ({ createIndexes: "c", indexes: [{ key, name: "u", unique: true }] });
    expect(await cluster.run("db", unique({ v: 1 }))).toMatchObject({ ok: 0, code: 67 });
    expect(await cluster.run("db", unique({ zip: 1, user: 1, v: 1 }))).toMatchObject({ ok: 1 });
  });
});

describe("Indivisible chunks", () => {
  test("a key with too few values has chunks that can't be split", async () => {
    const cluster = await sharded({ state: 1 });
    await cluster.ok("db", {
      insert: "c",
      documents: Array.from({ length: 100 }, (_, i) => ({ _id: i, state: "NY" })),
    });
    expect(await cluster.run("admin", { split: "db.c", find: { state: "NY" } })).toMatchObject({
      ok: 0,
      code: 87,
    });
  });

  test("a chunk that grows beyond the chunk size is split by itself", async () => {
    const cluster = await startCluster({ rules: "2.4", chunkSizeBytes: 10_000 });
    await cluster.admin({ enableSharding: "db", primaryShard: "shardA" });
    await cluster.admin({ shardCollection: "db.c", key: { x: 1 } });
    const documents = Array.from({ length: 200 }, (_, x) => ({ _id: x, x, pad: "p".repeat(69) }));
    await cluster.ok("db", { insert: "c", documents });
    // 100 bytes each, 50 are half a chunk.
    expect((await chunksOf(cluster, "db.c")).map((chunk) => chunk.min.x).slice(1)).toEqual([50, 101, 152]);
  });
});
