/**
 * configureQueryAnalyzer and what comes of it (facts §9.4, §9.6). `shop.orders` has 400 documents {_id: i, customer: i,
 * status: "s" + i % 4}; four ranges of customer: below 100, 200, 300 and the rest.
 */
import { describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "../support/cluster.js";
import { startCluster } from "../support/cluster.js";

async function orders(): Promise<TestCluster> {
  const cluster = await startCluster();
  await cluster.admin({ enableSharding: "shop", primaryShard: "shardA" });
  await cluster.ok("shop", {
    createIndexes: "orders",
    indexes: [{ key: { customer: 1 }, name: "customer" }],
  });
  const documents = Array.from({ length: 400 }, (_, i) => ({ _id: i, customer: i, status: `s${i % 4}` }));
  await cluster.ok("shop", { insert: "orders", documents });
  await cluster.admin({ setParameter: 1, analyzeShardKeyNumRanges: 4 });
  return cluster;
}

const configure = (more: Doc): Doc => ({ configureQueryAnalyzer: "shop.orders", ...more });
const full = configure({ mode: "full", samplesPerSecond: 50 });
const sampled = (cluster: TestCluster): Promise<Doc[]> =>
  cluster.all("admin", { aggregate: 1, pipeline: [{ $listSampledQueries: {} }], cursor: {} });
const analyze = (cluster: TestCluster, key: Doc = { customer: 1 }): Promise<Doc> =>
  cluster.admin({ analyzeShardKey: "shop.orders", key, keyCharacteristics: false });

describe("configuring", () => {
  test("says what was and what is; the document says since when", async () => {
    const cluster = await orders();
    const stored = async (): Promise<Doc | undefined> =>
      (await cluster.all("config", { find: "queryAnalyzers" }))[0];
    expect(await cluster.admin(configure({ mode: "off" }))).not.toHaveProperty("oldConfiguration");
    expect(await stored()).toBeUndefined();
    const first = await cluster.admin(configure({ mode: "full", samplesPerSecond: 5 }));
    expect(first.newConfiguration).toEqual({ mode: "full", samplesPerSecond: 5 });
    const begun = (await stored())!;
    expect(begun).toMatchObject({ _id: "shop.orders", mode: "full", samplesPerSecond: 5 });
    const second = await cluster.admin(configure({ mode: "full", samplesPerSecond: 0.5 }));
    expect(second).toMatchObject({
      oldConfiguration: { mode: "full", samplesPerSecond: 5 },
      newConfiguration: { mode: "full", samplesPerSecond: 0.5 },
    });
    expect((await stored())!.startTime).toEqual(begun.startTime);
    const off = await cluster.admin(configure({ mode: "off" }));
    expect(off).toMatchObject({
      oldConfiguration: { mode: "full", samplesPerSecond: 0.5 },
      newConfiguration: { mode: "off" },
    });
    expect(await stored()).toMatchObject({ mode: "off", stopTime: expect.any(Date) as Date });
    await cluster.admin(full);
    const again = (await stored())!;
    expect(again).not.toHaveProperty("stopTime");
    expect(again.startTime).not.toEqual(begun.startTime);
  });

  test.each<[string, Doc, number]>([
    ["0 a second", configure({ mode: "full", samplesPerSecond: 0 }), 72],
    ["51 a second", configure({ mode: "full", samplesPerSecond: 51 }), 72],
    ["a rate with off", configure({ mode: "off", samplesPerSecond: 5 }), 72],
    ["another mode", configure({ mode: "half" }), 2],
    ["no mode", configure({}), 40414],
    ["no such collection", { ...full, configureQueryAnalyzer: "shop.none" }, 26],
    ["the catalog", { ...full, configureQueryAnalyzer: "config.chunks" }, 20],
    ["a write concern", { ...full, writeConcern: { w: 1 } }, 72],
  ])("%s: %s", async (_what, command, code) => {
    expect(await (await orders()).run("admin", command)).toMatchObject({ ok: 0, code });
  });

  test("is over when the collection is dropped or renamed", async () => {
    const cluster = await orders();
    await cluster.admin(full);
    await cluster.admin({ renameCollection: "shop.orders", to: "shop.sales" });
    expect(await cluster.all("config", { find: "queryAnalyzers" })).toEqual([]);
    await cluster.admin({ ...full, configureQueryAnalyzer: "shop.sales" });
    await cluster.ok("shop", { drop: "sales" });
    expect(await cluster.all("config", { find: "queryAnalyzers" })).toEqual([]);
    await cluster.ok("shop", { find: "sales" });
    expect(await sampled(cluster)).toEqual([]);
  });
});

describe("sampling", () => {
  test("keeps each query in its form, and none of other collections", async () => {
    const cluster = await orders();
    await cluster.ok("shop", { find: "orders", filter: { customer: 1 } });
    await cluster.admin(full);
    await cluster.ok("shop", { find: "orders", filter: { customer: 7 }, sort: { status: 1 } });
    await cluster.ok("shop", { count: "orders", query: { status: "s1" } });
    await cluster.ok("shop", { distinct: "orders", key: "status", query: { customer: { $lt: 9 } } });
    await cluster.ok("shop", {
      aggregate: "orders",
      pipeline: [{ $match: { customer: 8 } }, { $count: "n" }],
      cursor: {},
    });
    await cluster.ok("shop", {
      update: "orders",
      updates: [
        { q: { customer: 1 }, u: { $set: { seen: true } } },
        { q: {}, u: { $set: { seen: true } }, multi: true },
      ],
    });
    await cluster.ok("shop", { delete: "orders", deletes: [{ q: { _id: 5 }, limit: 1 }] });
    await cluster.ok("shop", {
      findAndModify: "orders",
      query: { customer: 3 },
      update: { $set: { seen: 1 } },
    });
    await cluster.admin({
      bulkWrite: 1,
      ops: [{ update: 0, filter: { customer: 4 }, updateMods: { $set: { seen: 2 } } }],
      nsInfo: [{ ns: "shop.orders" }],
    });
    await cluster.ok("shop", { find: "other" });
    const rows = await sampled(cluster);
    expect(rows.map(({ cmdName, cmd }) => [cmdName, cmd])).toEqual([
      ["find", { filter: { customer: 7 } }],
      ["count", { filter: { status: "s1" } }],
      ["distinct", { filter: { customer: { $lt: 9 } } }],
      ["aggregate", { filter: { customer: 8 } }],
      ["update", { update: "orders", updates: [{ q: { customer: 1 }, u: { $set: { seen: true } } }] }],
      ["update", { update: "orders", updates: [{ q: {}, u: { $set: { seen: true } }, multi: true }] }],
      ["delete", { delete: "orders", deletes: [{ q: { _id: 5 }, limit: 1 }] }],
      ["findAndModify", { findAndModify: "orders", query: { customer: 3 }, update: { $set: { seen: 1 } } }],
      ["update", { update: "orders", updates: [{ q: { customer: 4 }, u: { $set: { seen: 2 } } }] }],
    ]);
    expect(new Set(rows.map(({ ns }) => ns))).toEqual(new Set(["shop.orders"]));
    // How single updates changed their documents.
    const diffs = await cluster.all("config", { find: "sampledQueriesDiff" });
    expect(diffs.map(({ diff }) => diff)).toEqual([
      { i: { seen: true } },
      { u: { seen: 1 } },
      { u: { seen: 2 } },
    ]);
    const indexes = await cluster.all("config", { listIndexes: "sampledQueries" });
    expect(indexes).toMatchObject([{}, { key: { expireAt: 1 }, expireAfterSeconds: 0 }]);
  });

  test("takes so many a second, and twice as many at once", async () => {
    const cluster = await orders();
    await cluster.admin(configure({ mode: "full", samplesPerSecond: 3 }));
    for (let i = 0; i < 20; i++) await cluster.ok("shop", { find: "orders", filter: { customer: i } });
    // The test's clock advances by some milliseconds with every look at it.
    const taken = (await sampled(cluster)).length;
    expect(taken).toBeGreaterThanOrEqual(6);
    expect(taken).toBeLessThanOrEqual(8);
  });

  test("goes on after the router's restart, and what fails of it fails no query", async () => {
    const cluster = await orders();
    await cluster.admin(full);
    const { config } = cluster;
    const run = config.run.bind(config);
    Object.assign(config, {
      run: (command: Parameters<typeof run>[0]) =>
        command.command === "insert" ? run({ ...command, command: "insertx" }) : run(command),
    });
    expect(await cluster.ok("shop", { find: "orders", filter: { customer: 1 } })).toMatchObject({ ok: 1 });
    Object.assign(config, { run });
    expect(await sampled(cluster)).toEqual([]);
  });
});

describe("distributions", () => {
  test("a whole key is one shard, a range several, no key all of them", async () => {
    const cluster = await orders();
    await cluster.admin(full);
    await cluster.ok("shop", { find: "orders", filter: { customer: 7 } });
    await cluster.ok("shop", { find: "orders", filter: { customer: 350 } });
    await cluster.ok("shop", { find: "orders", filter: { customer: { $gte: 150, $lt: 250 } } });
    await cluster.ok("shop", { count: "orders", query: { status: "s1" } });
    const { readDistribution, writeDistribution } = (await analyze(cluster)) as Record<string, Doc>;
    expect(readDistribution).toEqual({
      sampleSize: { total: 4, find: 3, aggregate: 0, count: 1, distinct: 0 },
      percentageOfSingleShardReads: 50,
      percentageOfMultiShardReads: 25,
      percentageOfScatterGatherReads: 25,
      // 7 | 150–250 twice | 350, and the scatter-gather one everywhere
      numReadsByRange: [2, 2, 2, 2],
    });
    expect(writeDistribution).toEqual({ sampleSize: { total: 0, update: 0, delete: 0, findAndModify: 0 } });
    // A hashed key knows points only.
    const hashed = (await analyze(cluster, { customer: "hashed" })).readDistribution as Doc;
    expect([hashed.percentageOfSingleShardReads, hashed.percentageOfScatterGatherReads]).toEqual([50, 50]);
  });

  test("writes: with and without the key, of one and of many, and those that change it", async () => {
    const cluster = await orders();
    await cluster.admin(full);
    await cluster.ok("shop", {
      update: "orders",
      updates: [
        { q: { customer: 1 }, u: { $set: { status: "x" } } },
        { q: { customer: 2 }, u: { $set: { customer: 1000 } } },
        { q: { status: "s3" }, u: { $set: { seen: 1 } } },
        { q: { status: "s3" }, u: { $set: { seen: 2 } }, multi: true },
        { q: { _id: 9 }, u: { customer: 9, status: "whole" } },
      ],
    });
    await cluster.ok("shop", { delete: "orders", deletes: [{ q: { customer: { $lt: 0 } }, limit: 0 }] });
    await cluster.ok("shop", { findAndModify: "orders", query: { customer: 20 }, remove: true });
    await cluster.ok("shop", {
      findAndModify: "orders",
      query: { status: "s2" },
      update: { $set: { seen: 3 } },
    });
    const { writeDistribution } = (await analyze(cluster)) as Record<string, Doc>;
    // Eight writes; whole key: 1, 2, the replacement by its new key, the removal.
    expect(writeDistribution).toMatchObject({
      sampleSize: { total: 8, update: 5, delete: 1, findAndModify: 2 },
      percentageOfSingleShardWrites: 50,
      percentageOfMultiShardWrites: 12.5,
      percentageOfScatterGatherWrites: 37.5,
      percentageOfShardKeyUpdates: 12.5,
      percentageOfSingleWritesWithoutShardKey: 25,
      percentageOfMultiWritesWithoutShardKey: 25,
    });
  });

  test("samples of the collection that had the name before don't count", async () => {
    const cluster = await orders();
    await cluster.admin(full);
    await cluster.ok("shop", { find: "orders", filter: { customer: 7 } });
    await cluster.ok("shop", { drop: "orders" });
    const documents = Array.from({ length: 40 }, (_, i) => ({ _id: i, customer: i }));
    await cluster.ok("shop", { insert: "orders", documents });
    expect((await analyze(cluster)).readDistribution).toEqual({
      sampleSize: { total: 0, find: 0, aggregate: 0, count: 0, distinct: 0 },
    });
  });
});
