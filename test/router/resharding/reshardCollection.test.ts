/**
 * reshardCollection (facts-mongos.md §8.2). `test.c` has documents `{_id: i, a: i, b: 99 - i}`, chunks of `{a: 1}` on two shards.
 */
import { describe, expect, it } from "vitest";
import type { Doc, TestCluster } from "../support/cluster.js";
import { chunksOf, startCluster } from "../support/cluster.js";

async function prepared(count = 100): Promise<TestCluster> {
  const cluster = await startCluster();
  await cluster.admin({ enableSharding: "test", primaryShard: "shardA" });
  await cluster.admin({ shardCollection: "test.c", key: { a: 1 } });
  await cluster.admin({ split: "test.c", middle: { a: count / 2 } });
  await cluster.admin({ moveChunk: "test.c", find: { a: count / 2 }, to: "shardB" });
  const documents = Array.from({ length: count }, (_, i) => ({ _id: i, a: i, b: count - 1 - i }));
  await cluster.ok("test", { insert: "c", documents });
  return cluster;
}

const idsOn = async (cluster: TestCluster, shard: string, name = "c"): Promise<number[]> => {
  const { cursor } = await cluster.shard(shard, "test", { find: name, sort: { _id: 1 }, batchSize: 10_000 });
  return ((cursor as Doc).firstBatch as Doc[]).map(({ _id }) => Number(_id));
};

const entryOf = async (cluster: TestCluster): Promise<Doc> =>
  (await cluster.all("config", { find: "collections", filter: { _id: "test.c" } }))[0]!;

describe("reshardCollection", () => {
  it("puts every document where the new key says, once", async () => {
    const cluster = await prepared();
    const before = await entryOf(cluster);
    expect(
      await cluster.admin({ reshardCollection: "test.c", key: { b: 1 }, numInitialChunks: 4 }),
    ).toMatchObject({ ok: 1 });
    const after = await entryOf(cluster);
    expect(after).toMatchObject({ key: { b: 1 }, unique: false });
    expect(String(after.uuid)).not.toBe(String(before.uuid));
    const chunks = await chunksOf(cluster, "test.c");
    expect(chunks).toHaveLength(4);
    const perShard = ["shardA", "shardB"].map((id) => chunks.filter(({ shard }) => shard === id).length);
    expect(perShard).toEqual([2, 2]);
    for (const shard of ["shardA", "shardB"]) {
      const mine = chunks.filter((chunk) => chunk.shard === shard);
      const wanted = Array.from({ length: 100 }, (_, i) => i).filter((i) => {
        const inside = ({ min, max }: { min: Doc; max: Doc }): boolean =>
          !(Number(min.b) > 99 - i) && !(Number(max.b) <= 99 - i);
        return mine.some(inside);
      });
      expect(await idsOn(cluster, shard)).toEqual(wanted);
    }
    expect(await cluster.all("test", { find: "c", sort: { _id: 1 } })).toHaveLength(100);
    const names = await cluster.all("test", { listCollections: 1 });
    expect(names.map(({ name }) => name)).toEqual(["c"]);
    expect(await cluster.all("config", { find: "reshardingOperations" })).toEqual([]);
    // Nothing of the old chunks is left.
    expect(await cluster.all("config", { find: "chunks", filter: { uuid: before.uuid } })).toEqual([]);
    const indexes = await cluster.all("test", { listIndexes: "c" });
    expect(indexes.map(({ name }) => name).sort()).toEqual(["_id_", "a_1", "b_1"]);
  });

  it("takes five minutes of a virtual clock, and none as a demonstration", async () => {
    const cluster = await prepared();
    const [slow] = await cluster.traced(() =>
      cluster.admin({ reshardCollection: "test.c", key: { b: 1 }, numInitialChunks: 2 }),
    );
    const total = (phases: readonly { ms: number }[]): number => phases.reduce((sum, { ms }) => sum + ms, 0);
    expect(slow).toMatchObject({
      op: "reshardCollection",
      resharding: { key: "{ b: 1 }", chunks: 2, documents: 100 },
    });
    expect(slow!.resharding!.phases.map(({ state }) => state)).toEqual([
      "initializing",
      "preparing-to-donate",
      "cloning",
      "applying",
      "blocking-writes",
      "committing",
      "done",
    ]);
    expect(total(slow!.resharding!.phases)).toBeGreaterThanOrEqual(300_000);
    const [quick] = await cluster.traced(() =>
      cluster.admin({ reshardCollection: "test.c", key: { a: 1 }, numInitialChunks: 2, demoMode: true }),
    );
    expect(quick!.resharding).toMatchObject({ key: "{ a: 1 }", documents: 100 });
    expect(total(quick!.resharding!.phases)).toBeLessThan(60_000);
  });

  it("with the same key does nothing, or spreads the documents out anew", async () => {
    const cluster = await prepared();
    const before = await entryOf(cluster);
    await cluster.admin({ reshardCollection: "test.c", key: { a: 1 } });
    expect(await entryOf(cluster)).toEqual(before);
    await cluster.admin({
      reshardCollection: "test.c",
      key: { a: 1 },
      forceRedistribution: true,
      numInitialChunks: 10,
    });
    expect(String((await entryOf(cluster)).uuid)).not.toBe(String(before.uuid));
    expect(await chunksOf(cluster, "test.c")).toHaveLength(10);
  });

  it("replaces the zones by those that are given", async () => {
    const cluster = await prepared();
    await cluster.admin({ addShardToZone: "shardB", zone: "high" });
    await cluster.admin({ updateZoneKeyRange: "test.c", min: { a: 90 }, max: { a: 100 }, zone: "high" });
    expect(await cluster.run("admin", { reshardCollection: "test.c", key: { b: 1 } })).toMatchObject({
      code: 2,
    });
    const zones = [{ min: { b: 10 }, max: { b: 100 }, zone: "high" }];
    await cluster.admin({ reshardCollection: "test.c", key: { b: 1 }, zones, numInitialChunks: 6 });
    const inZone = (await chunksOf(cluster, "test.c")).filter(
      ({ min }) => typeof min.b === "number" && min.b >= 10 && min.b < 100,
    );
    expect(new Set(inZone.map(({ shard }) => shard))).toEqual(new Set(["shardB"]));
    const tags = await cluster.all("config", { find: "tags", projection: { _id: 0 } });
    expect(tags).toEqual([{ ns: "test.c", min: { b: 10 }, max: { b: 100 }, tag: "high" }]);
    const nobody = [{ min: { a: 1 }, max: { a: 2 }, zone: "nobody" }];
    expect(
      await cluster.run("admin", { reshardCollection: "test.c", key: { a: 1 }, zones: nobody }),
    ).toMatchObject({ code: 4952607 });
  });

  it.each<[string, unknown[], number]>([
    ["upside down", [{ min: { b: 20 }, max: { b: 10 }, zone: "high" }], 9],
    ["of other fields", [{ min: { a: 1 }, max: { a: 2 }, zone: "high" }], 61],
    ["of two kinds of fields", [{ min: { b: 1 }, max: { a: 2 }, zone: "high" }], 61],
    [
      "overlapping",
      [
        { min: { b: 1 }, max: { b: 9 }, zone: "high" },
        { min: { b: 5 }, max: { b: 20 }, zone: "high" },
      ],
      178,
    ],
  ])("refuses zones that are %s", async (_what, zones, code) => {
    const cluster = await prepared();
    await cluster.admin({ addShardToZone: "shardB", zone: "high" });
    const command = { reshardCollection: "test.c", key: { b: 1 }, zones };
    expect(await cluster.run("admin", command)).toMatchObject({ ok: 0, code });
  });

  it.each<[string, Doc, number]>([
    ["no such database", { reshardCollection: "nodb.c", key: { b: 1 } }, 26],
    ["no such collection", { reshardCollection: "test.none", key: { b: 1 } }, 26],
    ["an unsharded collection", { reshardCollection: "test.u", key: { b: 1 } }, 118],
    ["no key", { reshardCollection: "test.c" }, 40414],
    ["an empty key", { reshardCollection: "test.c", key: {} }, 2],
    ["unique", { reshardCollection: "test.c", key: { b: 1 }, unique: true }, 2],
    ["a collation", { reshardCollection: "test.c", key: { b: 1 }, collation: { locale: "de" } }, 2],
    [
      "another key to redistribute",
      { reshardCollection: "test.c", key: { b: 1 }, forceRedistribution: true },
      72,
    ],
    ["relaxed", { reshardCollection: "test.c", key: { b: 1 }, relaxed: true }, 72],
    [
      "too few values",
      { reshardCollection: "test.c", key: { missing: 1 }, numInitialChunks: 2 + 1 },
      4952606,
    ],
    ["no chunks", { reshardCollection: "test.c", key: { b: 1 }, numInitialChunks: 0 }, 51024],
    ["an unknown field", { reshardCollection: "test.c", key: { b: 1 }, chunks: 4 }, 40415],
    ["nothing to commit", { commitReshardCollection: "test.c" }, 339],
    ["nothing to abort", { abortReshardCollection: "test.c" }, 339],
  ])("refuses %s", async (_name, command, code) => {
    const cluster = await prepared(10);
    await cluster.ok("test", { insert: "u", documents: [{ _id: 1 }] });
    expect(await cluster.run("admin", command)).toMatchObject({ ok: 0, code });
  });

  it("refuses a unique index that the new key is no prefix of", async () => {
    const cluster = await prepared(10);
    await cluster.ok("test", {
      createIndexes: "c",
      indexes: [{ key: { a: 1, b: 1 }, name: "ab", unique: true }],
    });
    const command = { reshardCollection: "test.c", key: { b: 1 }, numInitialChunks: 2 };
    expect(await cluster.run("admin", command)).toMatchObject({ code: 72 });
  });

  it("fails where two documents with one _id come to one shard, and changes nothing", async () => {
    const cluster = await prepared(10);
    // On a sharded collection only the shards check _id: 1 is on shardA already, this one goes to shardB.
    await cluster.ok("test", { insert: "c", documents: [{ _id: 1, a: 9, b: 50 }] });
    const before = [await entryOf(cluster), await chunksOf(cluster, "test.c")];
    const command = { reshardCollection: "test.c", key: { b: 1 }, numInitialChunks: 1 };
    expect(await cluster.run("admin", command)).toMatchObject({ ok: 0, code: 11000 });
    expect([await entryOf(cluster), await chunksOf(cluster, "test.c")]).toEqual(before);
    expect(await cluster.all("test", { find: "c" })).toHaveLength(11);
    for (const shard of ["shardA", "shardB"]) {
      const { cursor } = await cluster.shard(shard, "test", { listCollections: 1 });
      expect(((cursor as Doc).firstBatch as Doc[]).map(({ name }) => name)).toEqual(["c"]);
    }
    expect(await cluster.all("config", { find: "reshardingOperations" })).toEqual([]);
    // The one that can't be is told from the one that can: two shards, two documents.
    await cluster.ok("test", { delete: "c", deletes: [{ q: { b: 50 }, limit: 1 }] });
    await cluster.admin(command);
  });
});
