/**
 * Chunks that split by themselves as they grow: before 6.0.3 (facts §3.1). The chunk size is 10,000 bytes here, a
 * document has 100 bytes, so a chunk is too large with more than 100 documents and is cut at every 50.
 */
import { MaxKey, MinKey } from "bson";
import { toDocument } from "shardlab/bson";
import { expect, test } from "vitest";
import type { TestCluster } from "./support/cluster.js";
import { chunksOf, startCluster } from "./support/cluster.js";

const min = new MinKey();
const max = new MaxKey();

/** 100 bytes. */
const hundredBytes = (x: number): object => ({ _id: x, x, pad: "p".repeat(69) });

async function sharded(rules: "4.2" | "5.0" | "6.0", size = 10_000): Promise<TestCluster> {
  const cluster = await startCluster({ rules, chunkSizeBytes: size });
  await cluster.admin({ enableSharding: "db", primaryShard: "shardA" });
  await cluster.admin({ shardCollection: "db.c", key: { x: 1 } });
  return cluster;
}

const insert = (cluster: TestCluster, from: number, to: number): Promise<unknown> =>
  cluster.ok("db", {
    insert: "c",
    documents: Array.from({ length: to - from }, (_, i) => hundredBytes(from + i)),
  });

const begins = async (cluster: TestCluster): Promise<unknown[]> =>
  (await chunksOf(cluster, "db.c")).map((chunk) => chunk.min.x);

test("the documents of these tests have 100 bytes", () => {
  expect(toDocument(hundredBytes(7))).toHaveLength(100);
});

test("a chunk that holds more than the chunk size is cut at every half of it", async () => {
  const cluster = await sharded("5.0");
  await insert(cluster, 0, 100);
  expect(await begins(cluster)).toEqual([min]);
  await insert(cluster, 100, 170);
  expect(await chunksOf(cluster, "db.c")).toEqual([
    { min: { x: min }, max: { x: 50 }, shard: "shardA" },
    { min: { x: 50 }, max: { x: 101 }, shard: "shardA" },
    { min: { x: 101 }, max: { x: 152 }, shard: "shardA" },
    { min: { x: 152 }, max: { x: max }, shard: "shardA" },
  ]);
  const log = await cluster.all("config", { find: "changelog", filter: { what: "multi-split" } });
  expect(log.map(({ details }) => details)).toMatchObject([
    { number: 1, of: 4, chunk: { min: { x: min }, max: { x: 50 } }, owningShard: "shardA" },
    { number: 2, of: 4 },
    { number: 3, of: 4 },
    { number: 4, of: 4, before: { min: { x: min }, max: { x: max } } },
  ]);
});

test("documents with one key value stay together, however many they are", async () => {
  const cluster = await sharded("4.2");
  await cluster.ok("db", {
    insert: "c",
    documents: Array.from({ length: 300 }, (_, _id) => ({ ...hundredBytes(7), _id })),
  });
  expect(await begins(cluster)).toEqual([min]);
});

test("updates count too, and only what is near the limit is looked at", async () => {
  const cluster = await sharded("5.0");
  await insert(cluster, 0, 99);
  for (const x of [0, 40, 98]) {
    const updates = [{ q: { x }, u: { $set: { pad: "p".repeat(2_500) } } }];
    await cluster.ok("db", { update: "c", updates });
  }
  // After the first update 98 documents of 100 bytes and one of 2,531: 124 on the average, so 40 are half a chunk.
  // Then every piece is small enough for the other updates.
  expect(await begins(cluster)).toEqual([min, 40, 81]);
});

test("sh.disableAutoSplit keeps it from happening; since 6.0.3 it never does", async () => {
  const off = await sharded("5.0");
  await off.ok("config", {
    update: "settings",
    updates: [{ q: { _id: "autosplit" }, u: { $set: { enabled: false } }, upsert: true }],
  });
  await insert(off, 0, 300);
  expect(await begins(off)).toEqual([min]);
  const today = await sharded("6.0");
  await insert(today, 0, 300);
  expect(await begins(today)).toEqual([min]);
});

test("the balancer takes splitting with it when it is stopped (4.2 to 6.0.2), unless that is switched on again", async () => {
  const cluster = await sharded("5.0");
  await cluster.admin({ balancerStop: 1 });
  await insert(cluster, 0, 150);
  expect(await begins(cluster)).toEqual([min]);
  await cluster.ok("config", {
    update: "settings",
    updates: [{ q: { _id: "autosplit" }, u: { $set: { enabled: true } } }],
  });
  await insert(cluster, 150, 170);
  expect(await begins(cluster)).toEqual([min, 50, 101, 152]);
});

test("a shard that is gone when a chunk is due keeps no write from being answered", async () => {
  const cluster = await sharded("5.0");
  const shard = cluster.shards.get("shardA")!;
  shard.failWhen = (command) => (command === "find" ? new Error("gone") : undefined);
  await expect(insert(cluster, 0, 300)).rejects.toThrow();
  shard.failWhen = undefined;
  expect(await cluster.ok("db", { count: "c" })).toMatchObject({ n: 300 });
});
