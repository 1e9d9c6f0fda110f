/**
 * moveCollection and unshardCollection (facts §8.3), and an unsharded collection that does not live on its database's
 * primary shard: `library.books` was moved from shardA, the primary, to shardB.
 */
import { describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "./support/cluster.js";
import { startCluster } from "./support/cluster.js";

const BOOKS = [
  { _id: 1, title: "Emma", year: 1815 },
  { _id: 2, title: "Ulysses", year: 1922 },
  { _id: 3, title: "Middlemarch", year: 1871 },
];

async function moved(): Promise<TestCluster> {
  const cluster = await startCluster({ shards: 3 });
  await cluster.admin({ enableSharding: "library", primaryShard: "shardA" });
  await cluster.ok("library", { create: "books", validator: { title: { $type: "string" } } });
  await cluster.ok("library", {
    createIndexes: "books",
    indexes: [{ key: { year: 1 }, name: "year", unique: true }],
  });
  await cluster.ok("library", { insert: "books", documents: BOOKS });
  await cluster.ok("library", { insert: "members", documents: [{ _id: 7, favourite: 2 }] });
  await cluster.admin({ moveCollection: "library.books", toShard: "shardB" });
  return cluster;
}

const titles = async (cluster: TestCluster, command: Doc): Promise<unknown[]> =>
  (await cluster.all("library", command)).map(({ title }) => title);
const on = async (cluster: TestCluster, shard: string, name = "books"): Promise<unknown> =>
  (await cluster.shard(shard, "library", { count: name })).n;
const entry = async (cluster: TestCluster, _id = "library.books"): Promise<Doc | undefined> =>
  (await cluster.all("config", { find: "collections", filter: { _id } }))[0];

describe("moveCollection", () => {
  test("documents, options and indexes go; the catalog knows where to", async () => {
    const cluster = await moved();
    expect(await on(cluster, "shardB")).toBe(3);
    const { cursor } = await cluster.shard("shardA", "library", { listCollections: 1, nameOnly: true });
    expect((cursor as { firstBatch: Doc[] }).firstBatch.map(({ name }) => name)).toEqual(["members"]);
    const stored = await entry(cluster);
    expect(stored).toMatchObject({ key: { _id: 1 }, unsplittable: true, unique: false });
    const chunks = await cluster.all("config", { find: "chunks", filter: { uuid: stored!.uuid } });
    expect(chunks.map(({ shard }) => shard)).toEqual(["shardB"]);
    const indexes = await cluster.all("library", { listIndexes: "books" });
    expect(indexes.map(({ name }) => name)).toEqual(["_id_", "year"]);
    const log = await cluster.all("config", { find: "changelog", filter: { what: /^moveCollection/ } });
    expect(log.map(({ what }) => what)).toEqual(["moveCollection.start", "moveCollection.end"]);
  });

  test("again, and back; to where it is, nothing happens", async () => {
    const cluster = await moved();
    const before = await entry(cluster);
    await cluster.admin({ moveCollection: "library.books", toShard: "shardB" });
    expect(await entry(cluster)).toEqual(before);
    await cluster.admin({ moveCollection: "library.books", toShard: "shardC" });
    expect([await on(cluster, "shardB"), await on(cluster, "shardC")]).toEqual([0, 3]);
    await cluster.admin({ moveCollection: "library.books", toShard: "shardA" });
    expect(await titles(cluster, { find: "books", sort: { _id: 1 } })).toEqual([
      "Emma",
      "Ulysses",
      "Middlemarch",
    ]);
    expect(await on(cluster, "shardA")).toBe(3);
    expect(await cluster.all("config", { find: "chunks" })).toHaveLength(1);
  });

  test.each<[string, Doc, number]>([
    ["no such collection", { moveCollection: "library.none", toShard: "shardB" }, 26],
    ["no such database", { moveCollection: "none.books", toShard: "shardB" }, 26],
    ["a sharded one", { moveCollection: "library.loans", toShard: "shardB" }, 26],
    ["a view", { moveCollection: "library.old", toShard: "shardB" }, 166],
    ["no such shard", { moveCollection: "library.books", toShard: "shardX" }, 70],
    ["no shard", { moveCollection: "library.books" }, 40414],
    ["the catalog", { moveCollection: "config.chunks", toShard: "shardB" }, 20],
  ])("%s: %s", async (_what, command, code) => {
    const cluster = await moved();
    await cluster.admin({ shardCollection: "library.loans", key: { memberId: 1 } });
    await cluster.ok("library", { create: "old", viewOn: "books", pipeline: [] });
    expect(await cluster.run("admin", command)).toMatchObject({ ok: 0, code });
  });

  test("is unknown before 8.0 (59), and on a shard", async () => {
    const old = await startCluster({ rules: "7.0" });
    expect(await old.run("admin", { moveCollection: "a.b", toShard: "shardA" })).toMatchObject({ code: 59 });
    const cluster = await moved();
    expect(
      await cluster.shard("shardA", "admin", { moveCollection: "a.b", toShard: "shardA" }),
    ).toMatchObject({
      code: 59,
    });
    expect(await cluster.run("admin", { abortMoveCollection: "library.books" })).toMatchObject({ code: 339 });
  });
});

describe("a collection away from its primary shard", () => {
  test("is read and written as any other", async () => {
    const cluster = await moved();
    expect(
      await titles(cluster, { find: "books", filter: { year: { $lt: 1900 } }, sort: { year: 1 } }),
    ).toEqual(["Emma", "Middlemarch"]);
    expect(await cluster.ok("library", { count: "books" })).toMatchObject({ n: 3 });
    expect(await cluster.ok("library", { distinct: "books", key: "year", query: { _id: 1 } })).toMatchObject({
      values: [1815],
    });
    await cluster.ok("library", { insert: "books", documents: [{ _id: 4, title: "Dracula", year: 1897 }] });
    await cluster.ok("library", {
      update: "books",
      updates: [{ q: { _id: 4 }, u: { $set: { seen: true } } }],
    });
    await cluster.ok("library", { delete: "books", deletes: [{ q: { _id: 1 }, limit: 1 }] });
    const modified = await cluster.ok("library", {
      findAndModify: "books",
      query: { _id: 4 },
      update: { $set: { year: 1898 } },
      new: true,
    });
    expect(modified.value).toEqual({ _id: 4, title: "Dracula", year: 1898, seen: true });
    await cluster.admin({
      bulkWrite: 1,
      ops: [{ insert: 0, document: { _id: 5, title: "Kim", year: 1901 } }],
      nsInfo: [{ ns: "library.books" }],
    });
    expect([await on(cluster, "shardA"), await on(cluster, "shardB")]).toEqual([0, 4]);
    // The unique index and the validator hold there.
    const twice = await cluster.ok("library", { insert: "books", documents: [{ title: "x", year: 1901 }] });
    expect(twice.writeErrors).toMatchObject([{ code: 11000 }]);
    const bad = await cluster.ok("library", { insert: "books", documents: [{ title: 7, year: 1 }] });
    expect(bad.writeErrors).toMatchObject([{ code: 121 }]);
    const [found] = await cluster.traced(() => cluster.ok("library", { find: "books" }));
    expect(found).toMatchObject({ targeting: { kind: "unsharded" }, shards: [{ shard: "shardB" }] });
    const plan = await cluster.ok("library", { explain: { find: "books" } });
    expect(JSON.stringify(plan)).toContain("shardB");
  });

  test("is joined with what is elsewhere, and written by pipelines", async () => {
    const cluster = await moved();
    const join = { $lookup: { from: "books", localField: "favourite", foreignField: "_id", as: "book" } };
    expect(
      await cluster.all("library", { aggregate: "members", pipeline: [join], cursor: {} }),
    ).toMatchObject([{ _id: 7, book: [{ title: "Ulysses" }] }]);
    const union = [{ $unionWith: "members" }, { $count: "n" }];
    expect(await cluster.all("library", { aggregate: "books", pipeline: union, cursor: {} })).toEqual([
      { n: 4 },
    ]);
    await cluster.ok("library", {
      aggregate: "members",
      pipeline: [{ $project: { title: "from $merge", year: "$_id" } }, { $merge: "books" }],
      cursor: {},
    });
    expect(await on(cluster, "shardB")).toBe(4);
    await cluster.ok("library", {
      aggregate: "books",
      pipeline: [{ $match: { _id: { $lte: 2 } } }, { $out: "books" }],
      cursor: {},
    });
    expect([await on(cluster, "shardA"), await on(cluster, "shardB")]).toEqual([0, 2]);
    await cluster.ok("library", { aggregate: "members", pipeline: [{ $out: "copy" }], cursor: {} });
    expect(await on(cluster, "shardA", "copy")).toBe(1);
  });

  test("stands behind views", async () => {
    const cluster = await moved();
    await cluster.ok("library", {
      create: "old",
      viewOn: "books",
      pipeline: [{ $match: { year: { $lt: 1900 } } }],
    });
    expect(await titles(cluster, { find: "old", sort: { _id: 1 } })).toEqual(["Emma", "Middlemarch"]);
    expect(await cluster.ok("library", { count: "old" })).toMatchObject({ n: 2 });
  });

  test("is listed, described and measured", async () => {
    const cluster = await moved();
    const names = async (command: Doc): Promise<unknown[]> =>
      (await cluster.all("library", command)).map(({ name }) => name);
    expect(await names({ listCollections: 1 })).toEqual(["books", "members"]);
    expect(await names({ listCollections: 1, nameOnly: true, filter: { name: "books" } })).toEqual(["books"]);
    const first = (await cluster.ok("library", { listCollections: 1, cursor: { batchSize: 1 } }))
      .cursor as Doc;
    expect(first).toMatchObject({ ns: "library.$cmd.listCollections", firstBatch: [{ name: "books" }] });
    const rest = await cluster.ok("library", { getMore: first.id, collection: "$cmd.listCollections" });
    expect(rest.cursor).toMatchObject({ nextBatch: [{ name: "members" }] });
    expect(await cluster.ok("library", { collStats: "books" })).toMatchObject({ count: 3, sharded: false });
    expect(await cluster.ok("library", { dbStats: 1 })).toMatchObject({ objects: 4 });
    expect(await cluster.ok("library", { validate: "books" })).toMatchObject({ valid: true });
    const rows = await cluster.all("admin", {
      aggregate: 1,
      pipeline: [{ $listClusterCatalog: { shards: true } }],
      cursor: {},
    });
    expect(rows.filter(({ db }) => db === "library")).toMatchObject([
      { ns: "library.books", sharded: false, shards: ["shardB"] },
      { ns: "library.members", sharded: false, shards: ["shardA"] },
    ]);
    expect(await cluster.all("admin", { checkMetadataConsistency: 1, cursor: {} })).toEqual([]);
  });

  test("is changed where it is: indexes, collMod, create", async () => {
    const cluster = await moved();
    await cluster.ok("library", { createIndexes: "books", indexes: [{ key: { title: 1 }, name: "title" }] });
    await cluster.ok("library", { dropIndexes: "books", index: "year" });
    await cluster.ok("library", { collMod: "books", validationLevel: "off" });
    const indexes = await cluster.shard("shardB", "library", { listIndexes: "books" });
    expect((indexes.cursor as { firstBatch: Doc[] }).firstBatch.map(({ name }) => name)).toEqual([
      "_id_",
      "title",
    ]);
    expect(await cluster.run("library", { create: "books" })).toMatchObject({ code: 48 });
    expect(await cluster.shard("shardA", "library", { listIndexes: "books" })).toMatchObject({ code: 26 });
  });

  test("stays where it is when its database moves", async () => {
    const cluster = await moved();
    await cluster.admin({ movePrimary: "library", to: "shardC" });
    expect([await on(cluster, "shardB"), await on(cluster, "shardC", "members")]).toEqual([3, 1]);
    expect(await titles(cluster, { find: "books", filter: { _id: 2 } })).toEqual(["Ulysses"]);
  });

  test("is renamed, also over another one", async () => {
    const cluster = await moved();
    await cluster.admin({ renameCollection: "library.books", to: "library.works" });
    expect(await on(cluster, "shardB", "works")).toBe(3);
    expect(await entry(cluster)).toBeUndefined();
    expect(await titles(cluster, { find: "works", filter: { _id: 2 } })).toEqual(["Ulysses"]);
    expect(
      await cluster.run("admin", { renameCollection: "library.members", to: "library.works" }),
    ).toMatchObject({
      code: 48,
    });
    await cluster.admin({ renameCollection: "library.members", to: "library.works", dropTarget: true });
    expect(await cluster.all("library", { find: "works" })).toEqual([{ _id: 7, favourite: 2 }]);
    expect(await entry(cluster, "library.works")).toBeUndefined();
    expect([await on(cluster, "shardA", "works"), await on(cluster, "shardB", "works")]).toEqual([1, 0]);
    expect(await cluster.all("admin", { checkMetadataConsistency: 1, cursor: {} })).toEqual([]);
  });

  test("is dropped, alone or with its database, and then the name is free on the primary shard", async () => {
    const cluster = await moved();
    await cluster.ok("library", { drop: "books" });
    expect(await entry(cluster)).toBeUndefined();
    await cluster.ok("library", { insert: "books", documents: [{ _id: 1, title: "new" }] });
    expect([await on(cluster, "shardA"), await on(cluster, "shardB")]).toEqual([1, 0]);
    await cluster.admin({ moveCollection: "library.books", toShard: "shardC" });
    await cluster.ok("library", { dropDatabase: 1 });
    expect(await cluster.all("config", { find: "collections" })).toEqual([]);
    expect(await on(cluster, "shardC")).toBe(0);
  });

  test("can be sharded: its one chunk is where it is", async () => {
    const cluster = await moved();
    await cluster.admin({ shardCollection: "library.books", key: { year: 1 } });
    const stored = await entry(cluster);
    expect(stored).toMatchObject({ key: { year: 1 } });
    expect(stored).not.toHaveProperty("unsplittable");
    const chunks = await cluster.all("config", { find: "chunks" });
    expect(chunks.map(({ shard }) => shard)).toEqual(["shardB"]);
    await cluster.admin({ split: "library.books", middle: { year: 1900 } });
    await cluster.admin({ moveChunk: "library.books", find: { year: 1900 }, to: "shardC" });
    expect(await titles(cluster, { find: "books", sort: { year: 1 } })).toEqual([
      "Emma",
      "Middlemarch",
      "Ulysses",
    ]);
    expect(await cluster.all("admin", { checkMetadataConsistency: 1, cursor: {} })).toEqual([]);
  });

  test("keeps its shard from being removed", async () => {
    const cluster = await moved();
    await cluster.admin({ removeShard: "shardB" });
    expect(await cluster.admin({ removeShard: "shardB" })).toMatchObject({
      state: "ongoing",
      collectionsToMove: ["library.books"],
    });
    expect(await cluster.run("admin", { moveCollection: "library.books", toShard: "shardB" })).toMatchObject({
      code: 70,
    });
    await cluster.admin({ moveCollection: "library.books", toShard: "shardA" });
    expect(await cluster.admin({ removeShard: "shardB" })).toMatchObject({ state: "completed" });
  });
});

describe("unshardCollection", () => {
  test("zone ranges of the key that it had go with it; those of a key that it will get stay", async () => {
    const cluster = await moved();
    await cluster.admin({ addShardToZone: "shardA", zone: "low" });
    await cluster.admin({ shardCollection: "library.loans", key: { memberId: 1 } });
    const zone = { min: { memberId: 1 }, max: { memberId: 5 }, zone: "low" };
    await cluster.admin({ updateZoneKeyRange: "library.loans", ...zone });
    await cluster.admin({ unshardCollection: "library.loans", toShard: "shardC" });
    expect(await cluster.all("config", { find: "tags" })).toEqual([]);
    await cluster.admin({ updateZoneKeyRange: "library.loans", ...zone });
    await cluster.admin({ moveCollection: "library.loans", toShard: "shardB" });
    expect(await cluster.all("config", { find: "tags" })).toMatchObject([{ ns: "library.loans" }]);
    const { cursor } = await cluster.admin({ checkMetadataConsistency: 1 });
    expect((cursor as { firstBatch: Doc[] }).firstBatch).toEqual([]);
  });

  test("all documents go to one shard, the one with the least data unless it is named", async () => {
    const cluster = await moved();
    await cluster.admin({ shardCollection: "library.loans", key: { _id: "hashed" } });
    await cluster.ok("library", {
      insert: "loans",
      documents: Array.from({ length: 30 }, (_, _id) => ({ _id })),
    });
    await cluster.admin({ unshardCollection: "library.loans", toShard: "shardC" });
    expect([await on(cluster, "shardA", "loans"), await on(cluster, "shardC", "loans")]).toEqual([0, 30]);
    expect(await entry(cluster, "library.loans")).toMatchObject({ key: { _id: 1 }, unsplittable: true });
    expect(await cluster.ok("library", { count: "loans" })).toMatchObject({ n: 30 });
    // Asked again there is nothing to do; elsewhere is moveCollection's business.
    expect(await cluster.admin({ unshardCollection: "library.loans" })).toMatchObject({ ok: 1 });
    expect(
      await cluster.run("admin", { unshardCollection: "library.loans", toShard: "shardA" }),
    ).toMatchObject({
      code: 118,
      errmsg: expect.stringContaining("Collection is already unsharded.") as string,
    });
    expect(await cluster.run("admin", { unshardCollection: "library.none" })).toMatchObject({ code: 26 });
    // What is split or refined is sharded; this is not.
    expect(await cluster.run("admin", { split: "library.loans", middle: { _id: 5 } })).toMatchObject({
      code: 118,
    });
    const refine = { refineCollectionShardKey: "library.loans", key: { _id: 1, x: 1 } };
    expect(await cluster.run("admin", refine)).toMatchObject({ code: 118 });
    expect(await cluster.all("admin", { checkMetadataConsistency: 1, cursor: {} })).toEqual([]);
  });

  test("without a shard's name: the one with the least data", async () => {
    const cluster = await startCluster();
    await cluster.admin({ enableSharding: "library", primaryShard: "shardA" });
    await cluster.ok("library", { insert: "big", documents: [{ pad: "x".repeat(10_000) }] });
    await cluster.admin({ shardCollection: "library.loans", key: { _id: 1 } });
    await cluster.ok("library", { insert: "loans", documents: [{ _id: 1 }] });
    await cluster.admin({ unshardCollection: "library.loans" });
    expect(await on(cluster, "shardB", "loans")).toBe(1);
  });
});
