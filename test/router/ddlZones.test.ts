/**
 * shardCollection of a collection that has zone ranges already (facts §1.3, §1.4): config.tags is read, the ranges are
 * checked against the key, and each range and each hole becomes a chunk.
 */
import { Long, MaxKey, MinKey } from "bson";
import type { RulesVersion } from "shardlab/router";
import { describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "./support/cluster.js";
import { chunksOf, startCluster } from "./support/cluster.js";

const min = new MinKey();
const max = new MaxKey();

/** Three shards, A in EU, B in EU and US, C in none; ranges as zone commands would write them. */
async function zoned(ranges: [Doc, Doc, string][], rules: RulesVersion = "8.0"): Promise<TestCluster> {
  const cluster = await startCluster({ shards: 3, rules });
  await cluster.admin({ enableSharding: "library", primaryShard: "shardC" });
  const tags: Record<string, string[]> = { shardA: ["EU"], shardB: ["EU", "US"] };
  for (const [_id, zones] of Object.entries(tags)) {
    await cluster.ok("config", { update: "shards", updates: [{ q: { _id }, u: { $set: { tags: zones } } }] });
  }
  const documents = ranges.map(([low, high, tag]) => ({ ns: "library.c", min: low, max: high, tag }));
  if (documents.length > 0) await cluster.ok("config", { insert: "tags", documents });
  return cluster;
}

describe("an empty collection with zones (§1.4)", () => {
  test("one chunk a range on a shard of its zone, in turn; holes in turn over all shards", async () => {
    const cluster = await zoned([
      [{ x: 0 }, { x: 10 }, "EU"],
      [{ x: 10 }, { x: 20 }, "EU"],
      [{ x: 50 }, { x: 60 }, "US"],
    ]);
    await cluster.admin({ shardCollection: "library.c", key: { x: 1 } });
    const chunks = await chunksOf(cluster, "library.c");
    expect(chunks.map(({ min: low }) => low.x)).toEqual([min, 0, 10, 20, 50, 60]);
    const [hole1, eu1, eu2, hole2, us, hole3] = chunks.map(({ shard }) => shard);
    expect([eu1, eu2, us]).toEqual(["shardA", "shardB", "shardB"]);
    expect([hole1, hole2, hole3].sort()).toEqual(["shardA", "shardB", "shardC"]);
    // Every shard with a chunk has the collection and its index.
    const reply = await cluster.shard("shardA", "library", { listIndexes: "c" });
    expect((reply.cursor as { firstBatch: Doc[] }).firstBatch.map(({ name }) => name)).toEqual([
      "_id_",
      "x_1",
    ]);
  });

  test("a range over everything leaves no hole", async () => {
    const cluster = await zoned([[{ x: min }, { x: max }, "US"]]);
    await cluster.admin({ shardCollection: "library.c", key: { x: 1 } });
    expect(await chunksOf(cluster, "library.c")).toMatchObject([{ shard: "shardB" }]);
  });

  test("one with documents stays in one chunk where it is; the balancer sorts it out", async () => {
    const cluster = await zoned([[{ x: 0 }, { x: 10 }, "EU"]]);
    await cluster.ok("library", { insert: "c", documents: [{ x: 5 }] });
    await cluster.ok("library", { createIndexes: "c", indexes: [{ key: { x: 1 }, name: "x_1" }] });
    await cluster.admin({ shardCollection: "library.c", key: { x: 1 } });
    expect(await chunksOf(cluster, "library.c")).toMatchObject([{ shard: "shardC" }]);
  });

  test.each<[string, [Doc, Doc, string][], Doc, number, string]>([
    [
      "a zone without a shard",
      [[{ x: 0 }, { x: 10 }, "ASIA"]],
      { x: 1 },
      405,
      "not able to find a chunk distribution that satisfies the given set of zones",
    ],
    [
      "other fields",
      [[{ y: 0 }, { y: 10 }, "EU"]],
      { x: 1 },
      72,
      "the proposed shard key { x: 1 } does not match",
    ],
    [
      "fewer fields",
      [[{ x: 0 }, { x: 10 }, "EU"]],
      { x: 1, y: 1 },
      72,
      "does not match with the shard key of the existing zone { x: 0 } -->> { x: 10 }",
    ],
    [
      "fields that differ between min and max",
      [[{ x: 0 }, { y: 10 }, "EU"]],
      { x: 1 },
      72,
      "have non-matching keys",
    ],
    [
      "a hashed field with a bound that is no hash",
      [[{ x: 0 }, { x: 10 }, "EU"]],
      { x: "hashed" },
      72,
      "whose boundaries are not of type NumberLong, MinKey or MaxKey",
    ],
    [
      "ranges that overlap",
      [
        [{ x: 0 }, { x: 10 }, "EU"],
        [{ x: 5 }, { x: 15 }, "US"],
      ],
      { x: 1 },
      178,
      "overlaps with the one before",
    ],
  ])("%s", async (_what, ranges, key, code, gist) => {
    const cluster = await zoned(ranges);
    const reply = await cluster.run("admin", { shardCollection: "library.c", key });
    expect(reply).toMatchObject({ ok: 0, code });
    expect(reply.errmsg).toContain(gist);
    // Nothing was created for nothing.
    expect(await cluster.all("library", { listCollections: 1 })).toEqual([]);
  });
});

describe("presplitHashedZones (§1.3, §2.4)", () => {
  const presplit = (key: Doc): Doc => ({ shardCollection: "library.c", key, presplitHashedZones: true });

  test("a hashed prefix: one zone over everything, one piece a shard of the zone", async () => {
    const cluster = await zoned([[{ d: min }, { d: max }, "EU"]]);
    await cluster.admin(presplit({ d: "hashed" }));
    expect(await chunksOf(cluster, "library.c")).toEqual([
      { min: { d: min }, max: { d: 0 }, shard: "shardA" },
      { min: { d: 0 }, max: { d: max }, shard: "shardB" },
    ]);
  });

  test("up to 7.1 two pieces a shard", async () => {
    const cluster = await zoned([[{ d: min }, { d: max }, "EU"]], "7.0");
    await cluster.admin(presplit({ d: "hashed" }));
    const chunks = await chunksOf(cluster, "library.c");
    expect(chunks.map(({ shard }) => shard)).toEqual(["shardA", "shardA", "shardB", "shardB"]);
    expect(chunks.slice(1).map(({ min: low }) => String(low.d))).toEqual([
      "-4611686018427387902",
      "0",
      "4611686018427387902",
    ]);
  });

  test("a ranged prefix: the pieces carry it, holes stay whole", async () => {
    const cluster = await zoned([[{ c: "DE", d: min, e: min }, { c: "FR", d: min, e: min }, "EU"]]);
    await cluster.admin(presplit({ c: 1, d: "hashed", e: 1 }));
    const chunks = await chunksOf(cluster, "library.c");
    expect(chunks.map(({ min: low }) => low)).toEqual([
      { c: min, d: min, e: min },
      { c: "DE", d: min, e: min },
      { c: "DE", d: 0, e: min },
      { c: "FR", d: min, e: min },
    ]);
    expect(chunks.slice(1, 3).map(({ shard }) => shard)).toEqual(["shardA", "shardB"]);
  });

  const long = Long.fromNumber(5);
  test.each<[string, [Doc, Doc, string][], Doc, number]>([
    ["no zones", [], { d: "hashed" }, 31387],
    ["no hashed field", [[{ x: min }, { x: max }, "EU"]], { x: 1 }, 31387],
    ["a hashed prefix, not the whole range", [[{ d: min }, { d: long }, "EU"]], { d: "hashed" }, 31412],
    ["MinKey in the prefix", [[{ c: min, d: min }, { c: "FR", d: min }, "EU"]], { c: 1, d: "hashed" }, 31388],
    [
      "a hash in the lower bound",
      [[{ c: "DE", d: long }, { c: "FR", d: min }, "EU"]],
      { c: 1, d: "hashed" },
      31389,
    ],
    ["one prefix", [[{ c: "DE", d: min }, { c: "DE", d: max }, "EU"]], { c: 1, d: "hashed" }, 31390],
    [
      "a value after the hash",
      [[{ c: "DE", d: min, e: 1 }, { c: "FR", d: min, e: min }, "EU"]],
      { c: 1, d: "hashed", e: 1 },
      31391,
    ],
  ])("%s", async (_what, ranges, key, code) => {
    const cluster = await zoned(ranges);
    expect(await cluster.run("admin", presplit(key))).toMatchObject({
      ok: 0,
      code,
      codeName: `Location${code}`,
    });
  });

  test("documents: 31387", async () => {
    const cluster = await zoned([[{ d: min }, { d: max }, "EU"]]);
    await cluster.ok("library", { insert: "c", documents: [{ d: 1 }] });
    await cluster.ok("library", { createIndexes: "c", indexes: [{ key: { d: "hashed" }, name: "d" }] });
    expect(await cluster.run("admin", presplit({ d: "hashed" }))).toMatchObject({ code: 31387 });
  });
});
