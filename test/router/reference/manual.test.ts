/**
 * Today's manual, "Shard Keys": each of its statements, under the rules of
 * today unless they say otherwise (facts-mongos.md §11, S001).
 */
import { describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "../support/cluster.js";
import { startCluster } from "../support/cluster.js";

/** `db.c` with this key, cut at `middle`: the lower part on shardA, the upper on shardB. */
async function cutAt(key: Doc, middle: Doc, more: Doc = {}): Promise<TestCluster> {
  const cluster = await startCluster();
  await cluster.admin({ enableSharding: "db", primaryShard: "shardA" });
  await cluster.admin({ shardCollection: "db.c", key, ...more });
  await cluster.admin({ split: "db.c", middle });
  await cluster.admin({ moveChunk: "db.c", find: middle, to: "shardB" });
  return cluster;
}

const index = (key: Doc, more: Doc = {}): Doc => ({
  createIndexes: "c",
  indexes: [{ key, name: Object.entries(key).flat().join("_"), ...more }],
});

const indexesOf = async (cluster: TestCluster): Promise<unknown[]> =>
  (await cluster.all("db", { listIndexes: "c" })).map(({ name, unique }) =>
    unique ? `${String(name)} unique` : name,
  );

const insert = (...documents: Doc[]): Doc => ({ insert: "c", documents });

describe("Shard key indexes", () => {
  test.each<[string, Doc, number | undefined]>([
    ["the shard key", { a: 1, b: 1 }, undefined],
    ["a compound index with the key as prefix", { a: 1, b: 1, c: 1 }, undefined],
    ["the key's fields in another order", { b: 1, a: 1 }, 72],
    ["a part of the key", { a: 1 }, 72],
  ])("an index on %s", async (_what, key, code) => {
    const cluster = await startCluster();
    await cluster.ok("db", insert({ a: 1, b: 1 }));
    await cluster.ok("db", index(key));
    const reply = await cluster.run("admin", { shardCollection: "db.c", key: { a: 1, b: 1 } });
    expect(reply.code).toBe(code);
  });

  test("the last valid index can't be dropped any more (6.0+); where it could, recreating it recovers", async () => {
    const cluster = await cutAt({ x: 1 }, { x: 0 });
    expect(await cluster.run("db", { dropIndexes: "c", index: "x_1" })).toMatchObject({ ok: 0, code: 370 });

    const old = await startCluster({ rules: "5.0" });
    await old.admin({ enableSharding: "db" });
    await old.admin({ shardCollection: "db.c", key: { x: 1 } });
    await old.ok("db", { dropIndexes: "c", index: "x_1" });
    expect(await indexesOf(old)).toEqual(["_id_"]);
    await old.ok("db", index({ x: 1 }));
    expect(await indexesOf(old)).toEqual(["_id_", "x_1"]);
  });
});

describe("Unique indexes", () => {
  test("uniqueness is that of the whole key combination, not of its components", async () => {
    const cluster = await cutAt({ x: 1, y: 1 }, { x: 0, y: 0 }, { unique: true });
    expect(await cluster.ok("db", insert({ x: 1, y: 1 }, { x: 1, y: 2 }, { x: 2, y: 1 }))).toMatchObject({
      n: 3,
    });
    expect(await cluster.ok("db", insert({ x: 1, y: 2 }))).toMatchObject({
      n: 0,
      writeErrors: [{ code: 11000 }],
    });
  });

  test.each<[string, Doc, number | undefined]>([
    ["the shard key", { x: 1 }, undefined],
    ["a compound index where the shard key is a prefix", { x: 1, y: 1 }, undefined],
    ["another field", { y: 1 }, 67],
    ["the shard key, but not first", { y: 1, x: 1 }, 67],
  ])("an already sharded collection: unique index on %s", async (_what, key, code) => {
    const cluster = await startCluster();
    await cluster.ok("db", index({ x: 1, z: 1 }));
    await cluster.admin({ shardCollection: "db.c", key: { x: 1 } });
    const reply = await cluster.run("db", {
      createIndexes: "c",
      indexes: [{ key, name: "u", unique: true }],
    });
    expect(reply.code).toBe(code);
  });

  test("a collection with a unique index on something else can't be sharded", async () => {
    const cluster = await startCluster();
    await cluster.ok("db", index({ email: 1 }, { unique: true }));
    expect(await cluster.run("admin", { shardCollection: "db.c", key: { x: 1 } })).toMatchObject({
      ok: 0,
      code: 72,
    });
    expect(await cluster.run("admin", { shardCollection: "db.c", key: { email: 1 } })).toMatchObject({
      ok: 1,
    });
  });

  test("_id is unique per shard only: _id 1 on shard A and another _id 1 on shard B", async () => {
    const cluster = await cutAt({ x: 1 }, { x: 0 });
    expect(await cluster.ok("db", insert({ _id: 1, x: -1 }, { _id: 1, x: 1 }))).toMatchObject({ n: 2 });
    expect(await cluster.all("db", { find: "c", filter: { _id: 1 }, sort: { x: 1 } })).toEqual([
      { _id: 1, x: -1 },
      { _id: 1, x: 1 },
    ]);
    expect(await cluster.ok("db", insert({ _id: 1, x: -2 }))).toMatchObject({
      n: 0,
      writeErrors: [{ code: 11000 }],
    });
  });

  test("as the shard key, _id is unique over the cluster", async () => {
    const cluster = await cutAt({ _id: 1 }, { _id: 0 });
    expect(await cluster.ok("db", insert({ _id: 1 }, { _id: -1 }))).toMatchObject({ n: 2 });
    expect(await cluster.ok("db", insert({ _id: 1 }))).toMatchObject({
      n: 0,
      writeErrors: [{ code: 11000 }],
    });
  });

  test("as a prefix of the shard key, _id is unique per shard only", async () => {
    const cluster = await cutAt({ _id: 1, x: 1 }, { _id: 1, x: 0 });
    expect(await cluster.ok("db", insert({ _id: 1, x: -1 }, { _id: 1, x: 1 }))).toMatchObject({ n: 2 });
  });

  test("a missing field counts as null in the unique key index", async () => {
    const cluster = await cutAt({ x: 1 }, { x: 0 }, { unique: true });
    expect(await cluster.ok("db", insert({ _id: 1 }))).toMatchObject({ n: 1 });
    for (const second of [{ _id: 2 }, { _id: 3, x: null }]) {
      expect(await cluster.ok("db", insert(second))).toMatchObject({ n: 0, writeErrors: [{ code: 11000 }] });
    }
  });

  test("unique: true creates the unique index on an empty collection", async () => {
    const cluster = await startCluster();
    await cluster.admin({ shardCollection: "db.c", key: { x: 1 }, unique: true });
    expect(await indexesOf(cluster)).toEqual(["_id_", "x_1 unique"]);
  });

  test("unique: true on a collection with documents wants a unique index on exactly the key", async () => {
    const cluster = await startCluster();
    const shardIt = { shardCollection: "db.c", key: { x: 1 }, unique: true };
    await cluster.ok("db", insert({ x: 1, y: 1 }));
    expect(await cluster.run("admin", shardIt)).toMatchObject({ ok: 0, code: 72 });
    await cluster.ok("db", index({ x: 1, y: 1 }, { unique: true }));
    expect(await cluster.run("admin", shardIt)).toMatchObject({ ok: 0, code: 72 });
    await cluster.ok("db", index({ x: 1 }, { unique: true }));
    expect(await cluster.run("admin", shardIt)).toMatchObject({ ok: 1 });
  });

  test("a hashed index can't be unique", async () => {
    const cluster = await startCluster();
    const shardIt = { shardCollection: "db.c", key: { x: "hashed" }, unique: true };
    expect(await cluster.run("admin", shardIt)).toMatchObject({ ok: 0, code: 72 });
  });
});

describe("Missing shard key fields: key { x: 1, y: 1 }", () => {
  /** Cut so that the three rows of the manual's table lie in three chunks. */
  const table = async (): Promise<TestCluster> => {
    const cluster = await cutAt({ x: 1, y: 1 }, { x: "h", y: null });
    await cluster.admin({ split: "db.c", middle: { x: null, y: "a" } });
    return cluster;
  };

  test.each<[Doc, Doc, string, Doc]>([
    [{ x: "hello" }, { x: "hello", y: null }, "shardB", { x: "h", y: null }],
    [{ y: "goodbye" }, { x: null, y: "goodbye" }, "shardA", { x: null, y: "a" }],
    [{ z: "oops" }, { x: null, y: null }, "shardA", { x: { _bsontype: "MinKey" } }],
  ])("%j falls into the same range as %j", async (missing, explicit, shard, bound) => {
    const cluster = await table();
    for (const document of [missing, explicit]) {
      const [entry] = await cluster.traced(() => cluster.ok("db", insert(document)));
      expect(entry!.shards).toMatchObject([{ shard }]);
      expect(entry!.ranges).toHaveLength(1);
      expect(entry!.ranges[0]!.min).toMatchObject(bound);
    }
  });

  const FOUR = [
    { _id: 1, x: "hello" },
    { _id: 2, y: "goodbye" },
    { _id: 3, z: "oops" },
    { _id: 4, x: "hello", y: "goodbye" },
  ];

  test("$exists: false finds the documents with missing fields", async () => {
    const cluster = await table();
    await cluster.ok("db", insert(...FOUR, { _id: 5, x: "hello", y: null }));
    const filter = { $or: [{ x: { $exists: false } }, { y: { $exists: false } }] };
    expect((await cluster.all("db", { find: "c", filter, sort: { _id: 1 } })).map(({ _id }) => _id)).toEqual([
      1, 2, 3,
    ]);
  });

  test("equality to null matches both missing and null", async () => {
    const cluster = await table();
    await cluster.ok("db", insert(...FOUR, { _id: 5, x: null, y: "goodbye" }));
    const find = { find: "c", filter: { x: null }, sort: { _id: 1 } };
    expect((await cluster.all("db", find)).map(({ _id }) => _id)).toEqual([2, 3, 5]);
  });

  test("an upsert targets a document without the field by null and another condition", async () => {
    const cluster = await cutAt({ x: 1 }, { x: 0 });
    await cluster.ok("db", insert({ _id: 7 }, { _id: 8, x: null }));
    const updates = [{ q: { _id: 7, x: null }, u: { $set: { seen: true } }, upsert: true }];
    expect(await cluster.ok("db", { update: "c", updates })).toMatchObject({ n: 1, nModified: 1 });
    expect(await cluster.all("db", { find: "c", filter: {}, sort: { _id: 1 } })).toEqual([
      { _id: 7, seen: true },
      { _id: 8, x: null },
    ]);
  });
});
