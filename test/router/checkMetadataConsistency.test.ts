/**
 * checkMetadataConsistency: each fault is made by hand, past the router, and must be found under MongoDB's name; types,
 * sentences and details are those of the manual's pages "Inconsistency Types".
 *
 * `db.c` is sharded on {a: 1}: [MinKey, 5) on shardA, the primary shard, [5, MaxKey) on shardB; `db.u` is unsharded.
 */
import type { Long } from "bson";
import { MaxKey, MinKey, UUID } from "bson";
import { fromDocument } from "shardlab/bson";
import { request } from "shardlab/protocol";
import { beforeEach, describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "./support/cluster.js";
import { startCluster } from "./support/cluster.js";

const min = new MinKey();
const max = new MaxKey();
let cluster: TestCluster;

beforeEach(async () => {
  cluster = await twoChunks();
});

async function twoChunks(): Promise<TestCluster> {
  const made = await startCluster();
  await made.admin({ enableSharding: "db", primaryShard: "shardA" });
  await made.admin({ shardCollection: "db.c", key: { a: 1 } });
  await made.admin({ split: "db.c", middle: { a: 5 } });
  await made.admin({ moveChunk: "db.c", find: { a: 5 }, to: "shardB" });
  await made.ok("db", { insert: "c", documents: [{ a: 1 }, { a: 7 }] });
  await made.ok("db", { insert: "u", documents: [{ _id: 1 }] });
  return made;
}

/** A command straight to the config server: the router does not learn of it. */
async function onConfig(command: Doc): Promise<Doc> {
  const reply = fromDocument((await cluster.config.run(request("config", command))).body) as Doc;
  expect(reply).toMatchObject({ ok: 1 });
  return reply;
}

const stored = async (collection: string, filter: Doc = {}): Promise<Doc[]> =>
  ((await onConfig({ find: collection, filter, sort: { min: 1 } })).cursor as { firstBatch: Doc[] })
    .firstBatch;
const update = (collection: string, q: Doc, u: Doc): Promise<Doc> =>
  onConfig({ update: collection, updates: [{ q, u }] });
const remove = (collection: string, q: Doc): Promise<Doc> =>
  onConfig({ delete: collection, deletes: [{ q, limit: 0 }] });
const insert = (collection: string, ...documents: Doc[]): Promise<Doc> =>
  onConfig({ insert: collection, documents });

const check = (db = "db", what: unknown = 1, more: Doc = {}): Promise<Doc[]> =>
  cluster.all(db, { checkMetadataConsistency: what, ...more });
const uuid = async (): Promise<unknown> => (await stored("collections", { _id: "db.c" }))[0]!.uuid;

describe("nothing is wrong", () => {
  test("on no level, with indexes or without", async () => {
    for (const checkIndexes of [false, true]) {
      expect(await check("admin", 1, { checkIndexes })).toEqual([]);
      expect(await check("db", 1, { checkIndexes })).toEqual([]);
      expect(await check("db", "c", { checkIndexes })).toEqual([]);
      expect(await check("db", "u", { checkIndexes })).toEqual([]);
    }
  });

  test("after splits, moves, merges, zones, a refined key, a rename, a drop, a hashed key", async () => {
    await cluster.admin({ split: "db.c", middle: { a: 3 } });
    await cluster.admin({ moveChunk: "db.c", find: { a: 3 }, to: "shardB" });
    await cluster.admin({ mergeChunks: "db.c", bounds: [{ a: 3 }, { a: max }] });
    await cluster.admin({ addShardToZone: "shardA", zone: "low" });
    await cluster.admin({ updateZoneKeyRange: "db.c", min: { a: min }, max: { a: 3 }, zone: "low" });
    await cluster.ok("db", { createIndexes: "c", indexes: [{ key: { a: 1, b: 1 }, name: "ab" }] });
    await cluster.admin({ refineCollectionShardKey: "db.c", key: { a: 1, b: 1 } });
    await cluster.admin({ renameCollection: "db.c", to: "db.d" });
    await cluster.admin({ shardCollection: "db.h", key: { h: "hashed" } });
    await cluster.admin({ shardCollection: "db.gone", key: { h: "hashed" } });
    await cluster.ok("db", { drop: "gone" });
    await cluster.ok("db", { create: "v", viewOn: "d", pipeline: [] });
    expect(await check("admin", 1, { checkIndexes: true })).toEqual([]);
  });

  test("with a collection whose own collation is not the simple one, or that has options", async () => {
    const collation = { locale: "en", strength: 2 };
    await cluster.ok("db", { create: "k", collation, validator: { a: { $exists: true } } });
    const key = { shardCollection: "db.k", key: { a: "hashed" }, collation: { locale: "simple" } };
    await cluster.admin(key);
    expect(await check("admin", 1, { checkIndexes: true })).toEqual([]);
  });
});

describe("the routing table", () => {
  test("RoutingTableRangeGap: nobody owns [4, 5)", async () => {
    await update("chunks", { max: { a: 5 } }, { $set: { max: { a: 4 } } });
    const [chunkA, chunkB] = await stored("chunks");
    expect(await check()).toEqual([
      {
        type: "RoutingTableRangeGap",
        description: "Found a gap between two consecutive chunks",
        details: { namespace: "db.c", collectionUUID: await uuid(), chunkA, chunkB },
      },
    ]);
  });

  test("RoutingTableRangeOverlap: [5, 10) has two owners", async () => {
    await update("chunks", { max: { a: 5 } }, { $set: { max: { a: 10 } } });
    const [chunkA, chunkB] = await stored("chunks");
    expect(await check("db", "c")).toEqual([
      {
        type: "RoutingTableRangeOverlap",
        description: "Found two overlapping consecutive chunks",
        details: { namespace: "db.c", collectionUUID: await uuid(), chunkA, chunkB },
      },
    ]);
  });

  test("RoutingTableMissingMinKey and RoutingTableMissingMaxKey", async () => {
    await update("chunks", { max: { a: 5 } }, { $set: { min: { a: 0 } } });
    await update("chunks", { min: { a: 5 } }, { $set: { max: { a: 9 } } });
    const collectionUUID = await uuid();
    expect(await check("admin")).toEqual([
      {
        type: "RoutingTableMissingMinKey",
        description: "Routing table has a gap because first chunk does not start from MinKey",
        details: { namespace: "db.c", collectionUUID, minKeyObj: { a: 0 }, globalMin: { a: min } },
      },
      {
        type: "RoutingTableMissingMaxKey",
        description: "Routing table has a gap because last chunk boundary does not reach MaxKey",
        details: { namespace: "db.c", collectionUUID, maxKeyObj: { a: 9 }, globalMax: { a: max } },
      },
    ]);
  });

  test("MissingRoutingTable: no chunk at all", async () => {
    await remove("chunks", {});
    expect(await check()).toEqual([
      {
        type: "MissingRoutingTable",
        description: "There is a sharded collection without routing table",
        details: { namespace: "db.c", collectionUUID: await uuid() },
      },
    ]);
  });

  test("CorruptedChunkShardKey: a bound that is none of this key", async () => {
    await update("chunks", { max: { a: max } }, { $set: { max: { b: max } } });
    const chunk = (await stored("chunks"))[1];
    const details = { namespace: "db.c", collectionUUID: await uuid(), chunk, shardKeyPattern: { a: 1 } };
    expect((await check())[0]).toEqual({
      type: "CorruptedChunkShardKey",
      description: "Found chunk with a shard key pattern violation",
      details,
    });
  });

  test("a chunk without bounds is found, not stumbled over", async () => {
    await update("chunks", { max: { a: max } }, { $unset: { min: 1, max: 1 }, $set: { shard: 7 } });
    const types = (await check()).map(({ type }) => type);
    expect(types).toContain("CorruptedChunkShardKey");
    expect(types).toContain("RoutingTableMissingMaxKey");
  });

  test.each([
    [{ $set: { history: [] } }, "The history field is empty"],
    [{ $unset: { onCurrentShardSince: 1 } }, "The onCurrentShardSince field is missing"],
    [
      { $set: { "history.0.shard": "shardA" } },
      "The first element in the history for this chunk must be the owning shard shardB but it is shardA",
    ],
  ])("CorruptedChunkHistory: %j", async (change, errMsg) => {
    await update("chunks", { shard: "shardB" }, change);
    const [, chunk] = await stored("chunks");
    expect(await check()).toMatchObject([
      { type: "CorruptedChunkHistory", details: { namespace: "db.c", chunk: { _id: chunk!._id }, errMsg } },
    ]);
  });

  test("a chunk of a shard that is not there (our own type)", async () => {
    await update("chunks", { shard: "shardB" }, { $set: { shard: "shardX", "history.0.shard": "shardX" } });
    expect(await check()).toMatchObject([{ type: "ChunkOnUnknownShard", details: { namespace: "db.c" } }]);
  });

  test("chunks of no collection (our own type): only the whole cluster is asked about them", async () => {
    const [chunk] = await stored("chunks");
    const dead = new UUID("00000000-0000-4000-8000-00000000dead");
    await insert("chunks", { ...chunk, _id: 1, uuid: dead });
    expect(await check("admin")).toEqual([
      {
        type: "ChunksWithoutCollection",
        description: "Found chunks of a collection that is not in config.collections",
        details: { collectionUUID: dead, numChunks: 1 },
      },
    ]);
    expect(await check("db")).toEqual([]);
  });
});

describe("zones", () => {
  test("ZonesRangeOverlap: [0, 100) and [50, 150)", async () => {
    const zone = (from: number, to: number): Doc => ({
      ns: "db.c",
      min: { a: from },
      max: { a: to },
      tag: "z",
    });
    await insert("tags", { _id: 1, ...zone(0, 100) }, { _id: 2, ...zone(50, 150) });
    expect(await check()).toEqual([
      {
        type: "ZonesRangeOverlap",
        description: "Found two overlapping zones",
        details: {
          namespace: "db.c",
          collectionUUID: await uuid(),
          zoneA: zone(0, 100),
          zoneB: zone(50, 150),
        },
      },
    ]);
  });

  test("CorruptedZoneShardKey: a range of another key", async () => {
    const zone = { ns: "db.c", tag: "z", min: { b: 0 }, max: { b: 1 } };
    await insert("tags", { _id: 1, ...zone });
    const details = { namespace: "db.c", collectionUUID: await uuid(), zone, shardKeyPattern: { a: 1 } };
    expect(await check()).toEqual([
      {
        type: "CorruptedZoneShardKey",
        description: "Found zone with a shard key pattern violation",
        details,
      },
    ]);
  });
});

describe("the shards", () => {
  test("MissingLocalCollection: an owner, or the primary shard, has no such collection", async () => {
    await cluster.shard("shardB", "db", { drop: "c" });
    expect(await check()).toEqual([
      {
        type: "MissingLocalCollection",
        description: "Collection registered on the sharding catalog not found on the given shards",
        details: { namespace: "db.c", uuid: await uuid(), shard: "shardB" },
      },
    ]);
  });

  test("MissingShardKeyIndex: on one owner", async () => {
    await cluster.shard("shardB", "db", { dropIndexes: "c", index: "a_1" });
    expect(await check("db", "c")).toEqual([
      {
        type: "MissingShardKeyIndex",
        description: "Found sharded collection without a shard key index",
        details: { namespace: "db.c", shard: "shardB", shardKey: { a: 1 } },
      },
    ]);
  });

  test("an index of a hashed key may go: the releases that have the command allow it (facts §1.5)", async () => {
    await cluster.admin({ shardCollection: "db.h", key: { h: "hashed" } });
    await cluster.shard("shardB", "db", { dropIndexes: "h", index: "h_hashed" });
    expect(await check("db", "h")).toEqual([]);
    expect(await check("db", "h", { checkIndexes: true })).toMatchObject([
      {
        type: "InconsistentIndex",
        details: { info: { missingFromShards: ["shardB"], indexName: "h_hashed" } },
      },
    ]);
  });

  test("InconsistentIndex: one is missing, one differs; only on request", async () => {
    const create = (shard: string, name: string, more: Doc = {}): Promise<Doc> =>
      cluster.shard(shard, "db", { createIndexes: "c", indexes: [{ key: { [name]: 1 }, name, ...more }] });
    await create("shardA", "x");
    await create("shardA", "t", { expireAfterSeconds: 10 });
    await create("shardB", "t", { expireAfterSeconds: 20 });
    expect(await check()).toEqual([]);
    const described = "Found an index of a sharded collection that is inconsistent between different shards";
    expect(await check("db", 1, { checkIndexes: true })).toEqual([
      {
        type: "InconsistentIndex",
        description: described,
        details: {
          namespace: "db.c",
          info: {
            missingFromShards: [],
            inconsistentProperties: [
              { k: "expireAfterSeconds", v: 10 },
              { k: "expireAfterSeconds", v: 20 },
            ],
            indexName: "t",
          },
        },
      },
      {
        type: "InconsistentIndex",
        description: described,
        details: {
          namespace: "db.c",
          info: { missingFromShards: ["shardB"], inconsistentProperties: [], indexName: "x" },
        },
      },
    ]);
  });

  test("CollectionOptionsMismatch: between shards", async () => {
    await cluster.shard("shardB", "db", { collMod: "c", validator: { a: 1 } });
    const [finding, ...others] = await check();
    expect(others).toEqual([]);
    expect(finding).toMatchObject({
      type: "CollectionOptionsMismatch",
      description: "Found collection with mismatching options across shards and/or config server",
      details: {
        namespace: "db.c",
        options: [
          { options: {}, shards: ["shardA"] },
          { options: { validator: { a: 1 } }, shards: ["shardB"] },
        ],
      },
    });
  });

  test("CollectionOptionsMismatch: the catalog has another collation", async () => {
    await update("collections", { _id: "db.c" }, { $set: { defaultCollation: { locale: "fr" } } });
    expect(await check()).toMatchObject(
      ["shardA", "shardB"].map((shard) => ({
        type: "CollectionOptionsMismatch",
        details: {
          options: [
            { options: { defaultCollation: {} }, shards: [shard] },
            { options: { defaultCollation: { locale: "fr" } }, shards: ["config"] },
          ],
        },
      })),
    );
  });

  test("MisplacedCollection: an unsharded one where it does not belong", async () => {
    await cluster.shard("shardB", "db", { insert: "x", documents: [{ _id: 1 }, { _id: 2 }] });
    const found = await check();
    expect(found).toEqual([
      {
        type: "MisplacedCollection",
        description: "Unsharded collection found on shard different from database primary shard",
        details: {
          namespace: "db.x",
          shard: "shardB",
          localUUID: (found[0]!.details as Doc).localUUID,
          numDocs: 2,
        },
      },
    ]);
    expect((found[0]!.details as Doc).localUUID).toBeInstanceOf(UUID);
    expect(await check("db", "x")).toEqual(found);
    expect(await check("admin")).toEqual(found);
    expect(await check("db", "u")).toEqual([]);
  });
});

describe("databases and collections that are not sharded", () => {
  test("HiddenShardedCollection: its database is gone", async () => {
    await remove("databases", { _id: "db" });
    const [collection] = await stored("collections", { _id: "db.c" });
    expect((await check("admin"))[0]).toEqual({
      type: "HiddenShardedCollection",
      description: "Found sharded collection but relative database does not exist",
      details: { namespace: "db.c", collection },
    });
  });

  test("tracked unsharded collections: key {_id: 1}, one chunk, where it says", async () => {
    const [chunk] = await stored("chunks");
    const [collection] = await stored("collections");
    const tracked = new UUID("00000000-0000-4000-8000-000000000001");
    await insert("collections", {
      ...collection,
      _id: "db.t",
      uuid: tracked,
      key: { _id: 1 },
      unsplittable: true,
    });
    await insert("chunks", { ...chunk, _id: 1, uuid: tracked, min: { _id: min }, max: { _id: max } });
    await cluster.shard("shardA", "db", { create: "t" });
    expect(await check("db", 1, { checkIndexes: true })).toEqual([]);

    await update("chunks", { _id: 1 }, { $set: { max: { _id: 0 } } });
    await insert("chunks", { ...chunk, _id: 2, uuid: tracked, min: { _id: 0 }, max: { _id: max } });
    expect(await check()).toEqual([
      {
        type: "TrackedUnshardedCollectionHasMultipleChunks",
        description: "Found tracked unsharded collection with more than one chunks",
        details: { namespace: "db.t", uuid: tracked, numChunks: 2 },
      },
    ]);
    await update("collections", { _id: "db.t" }, { $set: { key: { a: 1 } } });
    expect((await check("db", "t")).map(({ type }) => type)).toContain(
      "TrackedUnshardedCollectionHasInvalidKey",
    );
  });
});

describe("the command", () => {
  test("batches: the cursor's rest comes by getMore, as the manual says", async () => {
    for (const name of ["x", "y", "z"]) await cluster.shard("shardB", "db", { create: name });
    const { cursor } = await cluster.ok("db", { checkMetadataConsistency: 1, cursor: { batchSize: 2 } });
    const { id, ns, firstBatch } = cursor as { id: Long | bigint | number; ns: string; firstBatch: Doc[] };
    expect(ns).toBe("db.$cmd.aggregate");
    expect(firstBatch).toHaveLength(2);
    const more = await cluster.ok("db", { getMore: BigInt(id.toString()), collection: "$cmd.aggregate" });
    expect(more.cursor).toMatchObject({ nextBatch: [{ details: { namespace: "db.z" } }] });
  });

  test.each([
    ["db", { checkMetadataConsistency: 2 }, 9],
    ["db", { checkMetadataConsistency: { a: 1 } }, 14],
    ["db", { checkMetadataConsistency: "a$" }, 73],
    ["db", { checkMetadataConsistency: 1, checkIndexes: "yes" }, 14],
    ["db", { checkMetadataConsistency: 1, cursor: { batchSize: -1 } }, 51024],
    ["db", { checkMetadataConsistency: 1, cursor: { size: 1 } }, 40415],
    ["nowhere", { checkMetadataConsistency: 1 }, 26],
  ])("refused: %s %j", async (db, command, code) => {
    expect(await cluster.run(db, command)).toMatchObject({ ok: 0, code });
  });

  test("a shard that does not answer is named", async () => {
    cluster.shards.get("shardB")!.failWhen = () => new Error("gone");
    expect(await cluster.run("db", { checkMetadataConsistency: 1 })).toMatchObject({ ok: 0 });
  });
});
