/**
 * checkMetadataConsistency: each kind of contradiction is made by hand, on the config server or a shard, and is the only
 * one that is found. `db.c` is sharded on {x: 1} with chunks [MinKey, 0) on shardA and [0, MaxKey) on shardB.
 */
import { MaxKey, MinKey } from "bson";
import { fromDocument } from "shardlab/bson";
import { request } from "shardlab/protocol";
import { describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "./support/cluster.js";
import { startCluster } from "./support/cluster.js";

const min = new MinKey();
const max = new MaxKey();

async function sound(): Promise<TestCluster> {
  const cluster = await startCluster();
  await cluster.admin({ enableSharding: "db", primaryShard: "shardA" });
  await cluster.admin({ shardCollection: "db.c", key: { x: 1 } });
  await cluster.admin({ split: "db.c", middle: { x: 0 } });
  await cluster.admin({ moveChunk: "db.c", find: { x: 0 }, to: "shardB" });
  await cluster.ok("db", { insert: "c", documents: [{ x: -1 }, { x: 1 }] });
  await cluster.ok("db", { insert: "plain", documents: [{}] });
  await cluster.ok("db", { create: "view", viewOn: "plain", pipeline: [] });
  return cluster;
}

/** On the config server itself, past the router. */
async function onConfig(cluster: TestCluster, command: Doc): Promise<void> {
  const reply = fromDocument((await cluster.config.run(request("config", command))).body);
  expect(reply).toMatchObject({ ok: 1 });
}

const update = (collection: string, q: Doc, u: Doc): Doc => ({ update: collection, updates: [{ q, u }] });
const types = async (cluster: TestCluster, db = "admin", command: Doc = { checkMetadataConsistency: 1 }) =>
  (await cluster.all(db, { ...command, cursor: {} })).map(({ type }) => type);

test("a sound cluster has none, whatever is asked for", async () => {
  const cluster = await sound();
  expect(await types(cluster)).toEqual([]);
  expect(await types(cluster, "db")).toEqual([]);
  expect(await types(cluster, "db", { checkMetadataConsistency: "c", checkIndexes: true })).toEqual([]);
  expect(await types(cluster, "db", { checkMetadataConsistency: "plain" })).toEqual([]);
  expect(await cluster.run("none", { checkMetadataConsistency: 1 })).toMatchObject({ code: 26 });
});

const faults: Record<string, (cluster: TestCluster) => Promise<void>> = {
  RoutingTableRangeGap: (cluster) =>
    onConfig(cluster, update("chunks", { "min.x": 0 }, { $set: { min: { x: 5 } } })),
  RoutingTableRangeOverlap: (cluster) =>
    onConfig(cluster, update("chunks", { "max.x": 0 }, { $set: { max: { x: 5 } } })),
  RoutingTableMissingMinKey: (cluster) =>
    onConfig(cluster, update("chunks", { "max.x": 0 }, { $set: { min: { x: -9 } } })),
  RoutingTableMissingMaxKey: (cluster) =>
    onConfig(cluster, update("chunks", { "min.x": 0 }, { $set: { max: { x: 9 } } })),
  MissingRoutingTable: (cluster) => onConfig(cluster, { delete: "chunks", deletes: [{ q: {}, limit: 0 }] }),
  ZonesRangeOverlap: (cluster) =>
    onConfig(cluster, {
      insert: "tags",
      documents: [
        { ns: "db.c", min: { x: 0 }, max: { x: 10 }, tag: "A" },
        { ns: "db.c", min: { x: 5 }, max: { x: 20 }, tag: "B" },
      ],
    }),
  CorruptedZoneShardKey: (cluster) =>
    onConfig(cluster, {
      insert: "tags",
      documents: [{ ns: "db.c", min: { y: 0 }, max: { y: 1 }, tag: "A" }],
    }),
  MissingShardKeyIndex: async (cluster) => {
    expect(await cluster.shard("shardB", "db", { dropIndexes: "c", index: "x_1" })).toMatchObject({ ok: 1 });
  },
  MissingLocalCollection: async (cluster) => {
    expect(await cluster.shard("shardB", "db", { drop: "c" })).toMatchObject({ ok: 1 });
  },
  CollectionOptionsMismatch: async (cluster) => {
    const change = { collMod: "c", validator: { x: { $exists: true } } };
    expect(await cluster.shard("shardB", "db", change)).toMatchObject({ ok: 1 });
  },
  MisplacedCollection: async (cluster) => {
    expect(await cluster.shard("shardB", "db", { insert: "stray", documents: [{}] })).toMatchObject({
      ok: 1,
    });
  },
  HiddenShardedCollection: (cluster) =>
    onConfig(cluster, { delete: "databases", deletes: [{ q: { _id: "db" }, limit: 1 }] }),
  TrackedUnshardedCollectionHasMultipleChunks: async (cluster) => {
    await onConfig(
      cluster,
      update("collections", { _id: "db.c" }, { $set: { unsplittable: true, key: { _id: 1 } } }),
    );
    await onConfig(
      cluster,
      update("chunks", { "max.x": 0 }, { $set: { min: { _id: min }, max: { _id: 0 } } }),
    );
    await onConfig(
      cluster,
      update("chunks", { "min.x": 0 }, { $set: { min: { _id: 0 }, max: { _id: max } } }),
    );
  },
};

describe("found, and nothing else", () => {
  test.each(Object.keys(faults))("%s", async (type) => {
    const cluster = await sound();
    await faults[type]!(cluster);
    const found = await cluster.all("admin", { checkMetadataConsistency: 1, cursor: {} });
    expect(found.map((one) => one.type)).toEqual([type]);
    expect(found[0]!.description).toMatch(/^[A-Z]/);
    expect(JSON.stringify(found[0]!.details)).toContain("db.");
  });

  test("a chunk whose bounds are of another key", async () => {
    const cluster = await sound();
    await onConfig(cluster, update("chunks", { "min.x": 0 }, { $set: { min: { y: 0 } } }));
    expect(await types(cluster)).toContain("CorruptedChunkShardKey");
  });

  test("an index that one shard lacks, when asked for", async () => {
    const cluster = await sound();
    await cluster.shard("shardB", "db", { createIndexes: "c", indexes: [{ key: { y: 1 }, name: "y_1" }] });
    expect(await types(cluster)).toEqual([]);
    const found = await cluster.all("db", { checkMetadataConsistency: "c", checkIndexes: true, cursor: {} });
    expect(found).toMatchObject([
      {
        type: "InconsistentIndex",
        details: { namespace: "db.c", info: { indexName: "y_1", missingFromShards: ["shardA"] } },
      },
    ]);
  });

  test("only in what is asked for; in batches", async () => {
    const cluster = await sound();
    await cluster.shard("shardB", "db", { insert: "one", documents: [{}] });
    await cluster.shard("shardB", "db", { insert: "two", documents: [{}] });
    expect(await types(cluster, "db", { checkMetadataConsistency: "one" })).toEqual(["MisplacedCollection"]);
    expect(await types(cluster, "db", { checkMetadataConsistency: "c" })).toEqual([]);
    const first = (await cluster.ok("db", { checkMetadataConsistency: 1, cursor: { batchSize: 1 } }))
      .cursor as Doc;
    expect(first.firstBatch).toHaveLength(1);
    const collection = String(first.ns).slice(3);
    const next = (await cluster.ok("db", { getMore: first.id, collection })).cursor as Doc;
    expect(next.nextBatch).toHaveLength(1);
  });
});
