/** addShardToZone, removeShardFromZone, updateZoneKeyRange (facts §10). Nothing moves: the balancer does that. */
import { Long, MaxKey, MinKey } from "bson";
import { describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "./support/cluster.js";
import { chunksOf, startCluster } from "./support/cluster.js";

const min = new MinKey();
const max = new MaxKey();

async function zoned(): Promise<TestCluster> {
  const cluster = await startCluster({ shards: 3 });
  await cluster.admin({ enableSharding: "db", primaryShard: "shardA" });
  await cluster.admin({ addShardToZone: "shardA", zone: "EU" });
  await cluster.admin({ addShardToZone: "shardB", zone: "US" });
  return cluster;
}

const range = (ns: string, low: Doc, high: Doc, zone: string | null): Doc => ({
  updateZoneKeyRange: ns,
  min: low,
  max: high,
  zone,
});
const tags = async (cluster: TestCluster): Promise<Doc[]> =>
  (await cluster.all("config", { find: "tags", sort: { min: 1 } })).map(({ _id: _, ...tag }) => tag);
const zonesOfShards = async (cluster: TestCluster): Promise<unknown[]> =>
  (await cluster.all("config", { find: "shards", sort: { _id: 1 } })).map((shard) => shard.tags);

describe("which shards are in a zone", () => {
  test("is a set in config.shards", async () => {
    const cluster = await zoned();
    await cluster.admin({ addShardToZone: "shardA", zone: "EU" });
    await cluster.admin({ addShardToZone: "shardA", zone: "SSD" });
    expect(await zonesOfShards(cluster)).toEqual([["EU", "SSD"], ["US"], undefined]);
    await cluster.admin({ removeShardFromZone: "shardA", zone: "EU" });
    await cluster.admin({ removeShardFromZone: "shardC", zone: "EU" });
    expect(await zonesOfShards(cluster)).toEqual([["SSD"], ["US"], undefined]);
  });

  test("the last shard of a zone with ranges stays (163); of one without, it goes", async () => {
    const cluster = await zoned();
    await cluster.admin(range("db.c", { x: 0 }, { x: 10 }, "EU"));
    expect(await cluster.run("admin", { removeShardFromZone: "shardA", zone: "EU" })).toMatchObject({
      code: 163,
      errmsg: "cannot remove a shard from zone if a chunk range is associated with it",
    });
    expect(await cluster.admin({ removeShardFromZone: "shardB", zone: "US" })).toMatchObject({ ok: 1 });
    await cluster.admin({ addShardToZone: "shardC", zone: "EU" });
    expect(await cluster.admin({ removeShardFromZone: "shardA", zone: "EU" })).toMatchObject({ ok: 1 });
  });

  test.each([
    [{ addShardToZone: "shardX", zone: "EU" }, 70],
    [{ removeShardFromZone: "shardX", zone: "EU" }, 70],
    [{ addShardToZone: "shardA" }, 40414],
    [{ addShardToZone: "shardA", zone: 7 }, 14],
  ])("%j: %i", async (command, code) => {
    expect(await (await zoned()).run("admin", command)).toMatchObject({ ok: 0, code });
  });
});

describe("which ranges belong to a zone", () => {
  test("bounds may be a prefix of the key: the rest is MinKey, above too", async () => {
    const cluster = await zoned();
    await cluster.admin({ shardCollection: "db.c", key: { country: 1, member: 1 } });
    await cluster.admin(range("db.c", { country: "DE" }, { country: "DF" }, "EU"));
    await cluster.admin(range("db.c", { country: "US", member: 5 }, { country: "US", member: max }, "US"));
    expect(await tags(cluster)).toEqual([
      { ns: "db.c", min: { country: "DE", member: min }, max: { country: "DF", member: min }, tag: "EU" },
      { ns: "db.c", min: { country: "US", member: 5 }, max: { country: "US", member: max }, tag: "US" },
    ]);
    // Taken back by the same bounds, and by no others.
    await cluster.admin(range("db.c", { country: "DE" }, { country: "DG" }, null));
    expect(await tags(cluster)).toHaveLength(2);
    await cluster.admin(range("db.c", { country: "DE" }, { country: "DF" }, null));
    expect((await tags(cluster)).map(({ tag }) => tag)).toEqual(["US"]);
  });

  test("the same again is fine; anything else that overlaps is refused (178)", async () => {
    const cluster = await zoned();
    await cluster.admin(range("db.c", { x: 0 }, { x: 10 }, "EU"));
    await cluster.admin(range("db.c", { x: 0 }, { x: 10 }, "EU"));
    await cluster.admin(range("db.c", { x: 10 }, { x: 20 }, "US"));
    for (const [low, high, zone] of [
      [0, 10, "US"],
      [5, 7, "EU"],
      [-1, 1, "EU"],
      [9, 11, "EU"],
      [-5, 50, "EU"],
    ] as const) {
      expect(await cluster.run("admin", range("db.c", { x: low }, { x: high }, zone))).toMatchObject({
        code: 178,
      });
    }
    expect(await cluster.run("admin", range("db.c", { x: 5 }, { x: 7 }, "US"))).toMatchObject({
      errmsg:
        "Zone range: { x: 5 } -->> { x: 7 }  on  US is overlapping with existing: { x: 0 } -->> { x: 10 }  on  EU",
    });
    expect(await tags(cluster)).toHaveLength(2);
    // Neighbours on either side don't overlap: the upper bound is exclusive.
    await cluster.admin(range("db.c", { x: -10 }, { x: 0 }, "US"));
    await cluster.admin(range("db.c", { x: 20 }, { x: 30 }, "EU"));
    expect(await tags(cluster)).toHaveLength(4);
    // Another collection has zones of its own.
    expect(await cluster.admin(range("db.d", { x: 5 }, { x: 7 }, "US"))).toMatchObject({ ok: 1 });
  });

  test.each<[string, Doc, number]>([
    ["a zone without shards", range("db.c", { x: 0 }, { x: 1 }, "MARS"), 177],
    ["min above max", range("db.c", { x: 1 }, { x: 0 }, "EU"), 9],
    ["an empty range", range("db.c", { x: 1 }, { x: 1 }, "EU"), 9],
    ["other names above than below", range("db.c", { x: 1 }, { y: 2 }, "EU"), 61],
    ["no prefix of the key", range("db.c", { y: 1 }, { y: 2 }, "EU"), 61],
    ["more than the key", range("db.c", { x: 1, y: 1 }, { x: 2, y: 1 }, "EU"), 61],
    ["what is no hash", range("db.h", { x: 1 }, { x: 2 }, "EU"), 72],
    ["no zone at all", { updateZoneKeyRange: "db.c", min: { x: 1 }, max: { x: 2 } }, 40414],
    ["a zone that is no string", { ...range("db.c", { x: 1 }, { x: 2 }, null), zone: 7 }, 14],
    ["no max", { updateZoneKeyRange: "db.c", min: { x: 1 }, zone: "EU" }, 40414],
  ])("%s: %s", async (_what, command, code) => {
    const cluster = await zoned();
    await cluster.admin({ shardCollection: "db.c", key: { x: 1 } });
    await cluster.admin({ shardCollection: "db.h", key: { x: "hashed" } });
    expect(await cluster.run("admin", command)).toMatchObject({ ok: 0, code });
    expect(await tags(cluster)).toEqual([]);
  });

  test("of a hashed key they are hashes", async () => {
    const cluster = await zoned();
    await cluster.admin({ shardCollection: "db.h", key: { x: "hashed" } });
    await cluster.admin(range("db.h", { x: min }, { x: Long.fromNumber(0) }, "EU"));
    expect((await tags(cluster)).map(({ tag }) => tag)).toEqual(["EU"]);
  });

  test("of a collection that is not sharded yet lay out its first chunks", async () => {
    const cluster = await zoned();
    await cluster.admin(range("db.later", { country: "A" }, { country: "M" }, "EU"));
    await cluster.admin(range("db.later", { country: "M" }, { country: max }, "US"));
    await cluster.admin({ shardCollection: "db.later", key: { country: 1 } });
    const chunks = await chunksOf(cluster, "db.later");
    expect(chunks.map((chunk) => [chunk.min.country, chunk.shard]).slice(1)).toEqual([
      ["A", "shardA"],
      ["M", "shardB"],
    ]);
  });
});
