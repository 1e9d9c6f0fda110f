/** analyzeShardKey: key characteristics with figures that can be counted by hand (facts §9.2, §9.3, §9.5). */
import { describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "../support/cluster.js";
import { startCluster } from "../support/cluster.js";

/** 200 documents {_id: i, ts: i, device: "d" + i % 50, kind: i % 4 === 0 ? "a" : "b"}, and indexes. */
async function readings(options: { sharded?: boolean } = {}): Promise<TestCluster> {
  const cluster = await startCluster();
  await cluster.admin({ enableSharding: "lab", primaryShard: "shardA" });
  await cluster.ok("lab", {
    createIndexes: "readings",
    indexes: [
      { key: { ts: 1 }, name: "ts" },
      { key: { device: 1 }, name: "device" },
      { key: { kind: 1, ts: 1 }, name: "kind_ts" },
      { key: { device: "hashed" }, name: "hashed" },
      { key: { tag: 1 }, name: "tag" },
      { key: { some: 1 }, name: "some", sparse: true },
      { key: { code: 1 }, name: "code", unique: true },
    ],
  });
  if (options.sharded) {
    await cluster.admin({ shardCollection: "lab.plain", key: { _id: 1 } });
    await cluster.ok("lab", { createIndexes: "plain", indexes: [{ key: { device: 1 }, name: "device" }] });
    await cluster.admin({ split: "lab.plain", middle: { _id: 120 } });
    await cluster.admin({ moveChunk: "lab.plain", find: { _id: 120 }, to: "shardB" });
  }
  const documents = Array.from({ length: 200 }, (_, i) => ({
    _id: i,
    ts: i,
    device: `d${i % 50}`,
    kind: i % 4 === 0 ? "a" : "b",
    code: i,
    tag: i === 7 ? [1, 2] : i,
  }));
  await cluster.ok("lab", { insert: options.sharded ? "plain" : "readings", documents });
  return cluster;
}

const ask = (key: Doc, more: Doc = {}): Doc => ({
  analyzeShardKey: "lab.readings",
  key,
  readWriteDistribution: false,
  ...more,
});
const characteristics = async (cluster: TestCluster, command: Doc): Promise<Doc> =>
  (await cluster.admin(command)).keyCharacteristics as Doc;

describe("key characteristics", () => {
  test("a key that grows with time: every value once, monotonic with correlation 1", async () => {
    const found = await characteristics(await readings(), ask({ ts: 1 }));
    expect(found).toMatchObject({
      numDocsTotal: 200,
      numDocsSampled: 200,
      isUnique: false,
      numDistinctValues: 200,
      monotonicity: { recordIdCorrelationCoefficient: 1, type: "monotonic" },
    });
    expect(found.mostCommonValues).toHaveLength(5);
    expect((found.mostCommonValues as Doc[]).map(({ frequency }) => frequency)).toEqual([1, 1, 1, 1, 1]);
    expect(found).not.toHaveProperty("numOrphanDocs");
  });

  test("few values, the commonest first", async () => {
    const found = await characteristics(await readings(), ask({ kind: 1 }));
    expect(found).toMatchObject({ numDistinctValues: 2 });
    expect(found.mostCommonValues).toEqual([
      { value: { kind: "b" }, frequency: 150 },
      { value: { kind: "a" }, frequency: 50 },
    ]);
  });

  test("a key that comes round again is not monotonic; a hashed one never is", async () => {
    const cluster = await readings();
    const device = await characteristics(cluster, ask({ device: 1 }));
    expect(device).toMatchObject({ numDistinctValues: 50, monotonicity: { type: "not monotonic" } });
    expect((device.mostCommonValues as Doc[]).every(({ frequency }) => frequency === 4)).toBe(true);
    // The values are shown as they are, not as hashes.
    const hashed = await characteristics(cluster, ask({ device: "hashed" }));
    expect(hashed).toMatchObject({
      numDistinctValues: 50,
      monotonicity: { recordIdCorrelationCoefficient: 0, type: "not monotonic" },
    });
    expect((hashed.mostCommonValues as { value: Doc }[])[0]!.value.device).toMatch(/^d\d+$/);
  });

  test("unique only with a unique index on exactly the key; _id is", async () => {
    const cluster = await readings();
    expect(await characteristics(cluster, ask({ _id: 1 }))).toMatchObject({
      isUnique: true,
      numDistinctValues: 200,
      mostCommonValues: [0, 1, 2, 3, 4].map((_id) => ({ value: { _id }, frequency: 1 })),
    });
    expect(await characteristics(cluster, ask({ code: 1 }))).toMatchObject({ isUnique: true });
    expect(await characteristics(cluster, ask({ ts: 1 }))).toMatchObject({ isUnique: false });
  });

  test("a compound key, and what is missing counts as null", async () => {
    const cluster = await readings();
    await cluster.ok("lab", {
      insert: "readings",
      documents: [
        { _id: 900, code: 900 },
        { _id: 901, code: 901 },
      ],
    });
    expect(await characteristics(cluster, ask({ kind: 1, ts: 1 }))).toMatchObject({ numDistinctValues: 201 });
    const kind = await characteristics(cluster, ask({ kind: 1 }));
    expect((kind.mostCommonValues as Doc[]).at(-1)).toEqual({ value: { kind: null }, frequency: 2 });
  });

  test("over several shards values are counted together; orphans are spoken of", async () => {
    const cluster = await readings({ sharded: true });
    const found = await characteristics(cluster, { ...ask({ device: 1 }), analyzeShardKey: "lab.plain" });
    expect(found).toMatchObject({ numDocsTotal: 200, numOrphanDocs: 0, numDistinctValues: 50 });
    expect((found.mostCommonValues as Doc[]).map(({ frequency }) => frequency)).toEqual([4, 4, 4, 4, 4]);
    expect(found.note).toContain("numOrphanDocs");
  });

  test("a sample: a part, or a number", async () => {
    const cluster = await readings();
    expect(await characteristics(cluster, ask({ ts: 1 }, { sampleRate: 0.5 }))).toMatchObject({
      numDocsTotal: 200,
      numDocsSampled: 100,
      numDistinctValues: 100,
    });
    expect(await characteristics(cluster, ask({ ts: 1 }, { sampleSize: 20 }))).toMatchObject({
      numDocsSampled: 20,
    });
    expect(await cluster.run("admin", ask({ ts: 1 }, { sampleSize: 4 }))).toMatchObject({ code: 72 });
  });

  test("how many common values are shown is a parameter", async () => {
    const cluster = await readings();
    await cluster.admin({ setParameter: 1, analyzeShardKeyNumMostCommonValues: 3 });
    const found = await characteristics(cluster, ask({ device: 1 }));
    expect(found.mostCommonValues).toHaveLength(3);
  });
});

describe("what can't be analyzed", () => {
  test.each<[string, Doc, number]>([
    ["no such collection", { ...ask({ ts: 1 }), analyzeShardKey: "lab.none" }, 26],
    ["no such database", { ...ask({ ts: 1 }), analyzeShardKey: "none.none" }, 26],
    ["a view", { ...ask({ ts: 1 }), analyzeShardKey: "lab.view" }, 166],
    ["an empty collection", { ...ask({ _id: 1 }), analyzeShardKey: "lab.empty" }, 20],
    ["the catalog", { ...ask({ _id: 1 }), analyzeShardKey: "config.chunks" }, 20],
    ["no index", ask({ nothing: 1 }), 20],
    ["a multikey index", ask({ tag: 1 }), 20],
    ["a sparse index", ask({ some: 1 }), 20],
    ["a bad pattern", ask({ ts: -1 }), 2],
    ["no key", { analyzeShardKey: "lab.readings" }, 40414],
    ["a rate above 1", ask({ ts: 1 }, { sampleRate: 1.5 }), 51024],
    ["a rate of 0", ask({ ts: 1 }, { sampleRate: 0 }), 51024],
    ["both rate and size", ask({ ts: 1 }, { sampleRate: 0.5, sampleSize: 50 }), 72],
    ["nothing wanted", ask({ ts: 1 }, { keyCharacteristics: false }), 72],
    ["a read concern", ask({ ts: 1 }, { readConcern: { level: "local" } }), 72],
  ])("%s: %s", async (_what, command, code) => {
    const cluster = await readings();
    await cluster.ok("lab", { create: "view", viewOn: "readings", pipeline: [] });
    await cluster.ok("lab", { create: "empty" });
    expect(await cluster.run("admin", command)).toMatchObject({ ok: 0, code });
  });

  test("before 7.0 (59)", async () => {
    const old = await startCluster({ rules: "6.0" });
    expect(await old.run("admin", ask({ ts: 1 }))).toMatchObject({ code: 59 });
  });

  test("fewer values than ranges, when the queries are asked for too", async () => {
    const cluster = await readings();
    expect(await cluster.run("admin", { analyzeShardKey: "lab.readings", key: { device: 1 } })).toMatchObject(
      {
        ok: 0,
        code: 4952606,
      },
    );
    // Without an index there are no characteristics, and no error as long as something is left to say.
    const reply = await cluster.admin({ analyzeShardKey: "lab.readings", key: { code: 1, ts: 1 } });
    expect(reply).not.toHaveProperty("keyCharacteristics");
    expect(reply).toMatchObject({ readDistribution: { sampleSize: { total: 0 } } });
    expect(reply.readDistribution).not.toHaveProperty("percentageOfSingleShardReads");
  });

  test("a collection that was moved away is analyzed where it is", async () => {
    const cluster = await readings();
    await cluster.admin({ moveCollection: "lab.readings", toShard: "shardB" });
    expect(await characteristics(cluster, ask({ ts: 1 }))).toMatchObject({ numDocsTotal: 200 });
  });
});
