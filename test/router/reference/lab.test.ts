/**
 * The lesson "Sharding", recorded on MongoDB 8.3.11 with two shards: every
 * experiment that needs no balancer, statement by statement, with the recorded
 * output (facts-mongos.md §11, S004).
 *
 * Two things are left to chance on a real cluster: the primary shard of
 * `library` was shardB, and the hashed collections got [MinKey, 0) on shardB.
 * Here shardA already holds a little data, so that shardB has the least, and
 * the seed is one that deals the halves in that order.
 */
import { toDocument } from "shardlab/bson";
import { beforeAll, describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "../support/cluster.js";
import { startCluster } from "../support/cluster.js";

const SEED = 2;
const N = 100_000;

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await startCluster({ seed: SEED });
  await cluster.admin({ enableSharding: "elsewhere", primaryShard: "shardA" });
  await cluster.ok("elsewhere", { insert: "c", documents: [{ pad: "x".repeat(5000) }] });
});

/** insertMany of `make(0)` … `make(n - 1)` in batches of 10,000, unordered, as the lesson does. */
async function insertMany(collection: string, make: (i: number) => Doc, n = N): Promise<number> {
  let inserted = 0;
  for (let from = 0; from < n; from += 10_000) {
    const documents = Array.from({ length: Math.min(10_000, n - from) }, (_, i) =>
      toDocument({ _id: from + i, ...make(from + i) }),
    );
    inserted += Number(
      (await cluster.ok("library", { insert: collection, ordered: false }, { documents })).n,
    );
  }
  return inserted;
}

const find = (collection: string, filter: Doc): Doc => ({ find: collection, filter });

/** What the lesson prints of an explain: stage and shard names. */
async function route(filter: Doc): Promise<[unknown, unknown[]]> {
  const explain = find("events", filter);
  const reply = await cluster.ok("library", { explain, verbosity: "queryPlanner" });
  const plan = (reply.queryPlanner as { winningPlan: { stage: string; shards: Doc[] } }).winningPlan;
  return [plan.stage, plan.shards.map(({ shardName }) => shardName)];
}

describe("The pieces of a sharded cluster (sh-topology.js)", () => {
  test("config.shards lists the two shards with their hosts", async () => {
    const shards = await cluster.all("config", { find: "shards", filter: {}, projection: { host: 1 } });
    expect(shards.map(({ _id }) => _id)).toEqual(["shardA", "shardB"]);
    for (const { _id, host } of shards) expect(host).toMatch(new RegExp(`^${String(_id)}/[^/]+:\\d+$`));
  });

  test("balancer enabled: true | mode: full", async () => {
    // sh.getBalancerState() reads this document; none means enabled.
    const [settings] = await cluster.all("config", find("settings", { _id: "balancer" }));
    expect(settings?.stopped ?? false).toBe(false);
    expect(await cluster.admin({ balancerStatus: 1 })).toMatchObject({ mode: "full" });
  });
});

describe("enableSharding is optional (sh-shard-collection.js)", () => {
  test("shardCollection ok: 1, and the database was created with a primary shard", async () => {
    expect(await cluster.admin({ shardCollection: "library.loans", key: { memberId: 1 } })).toMatchObject({
      ok: 1,
    });
    const databases = { find: "databases", filter: { _id: "library" }, projection: { primary: 1 } };
    expect(await cluster.all("config", databases)).toEqual([{ _id: "library", primary: "shardB" }]);
  });

  test("the primary shard is the home of the database's unsharded collections", async () => {
    await cluster.ok("library", { insert: "members", documents: [{ _id: 1 }] });
    expect(await cluster.shard("shardB", "library", { count: "members" })).toMatchObject({ n: 1 });
    expect(await cluster.shard("shardA", "library", { count: "members" })).toMatchObject({ n: 0 });
  });
});

describe("Targeted versus scatter-gather, in explain (sh-route.js)", () => {
  beforeAll(async () => {
    await cluster.run("library", { drop: "events" });
    await cluster.admin({ shardCollection: "library.events", key: { deviceId: "hashed" } });
    expect(await insertMany("events", (i) => ({ deviceId: `dev-${i % 5000}`, i }))).toBe(N);
  });

  test.each<[string, Doc, string, string[]]>([
    ["deviceId = dev-42 (shard key, equality)", { deviceId: "dev-42" }, "SINGLE_SHARD", ["shardA"]],
    ["i = 42 (no shard key)", { i: 42 }, "SHARD_MERGE", ["shardA", "shardB"]],
    [
      "deviceId range (hashed key, range)",
      { deviceId: { $gte: "dev-1", $lt: "dev-2" } },
      "SHARD_MERGE",
      ["shardA", "shardB"],
    ],
  ])("%s", async (_label, filter, stage, shards) => {
    expect(await route(filter)).toEqual([stage, shards]);
  });

  test("the queries find the same whatever their route: 20, 1, and 1,111 devices of 20 documents", async () => {
    const counts = [{ deviceId: "dev-42" }, { i: 42 }, { deviceId: { $gte: "dev-1", $lt: "dev-2" } }].map(
      async (query) => (await cluster.ok("library", { count: "events", query })).n,
    );
    // "dev-1" <= name < "dev-2": dev-1, dev-10 … dev-19, dev-100 … dev-199, dev-1000 … dev-1999.
    expect(await Promise.all(counts)).toEqual([20, 1, (1 + 10 + 100 + 1000) * 20]);
  });
});

describe("Spot the bug: the timestamp as shard key (sh-hotspot.js)", () => {
  beforeAll(async () => {
    await cluster.admin({ shardCollection: "library.readings_ranged", key: { ts: 1 } });
    await cluster.admin({ shardCollection: "library.readings_hashed", key: { deviceId: "hashed" } });
    const reading = (i: number): Doc => ({ ts: i, deviceId: `dev-${i % 5000}` });
    for (const collection of ["readings_ranged", "readings_hashed"]) {
      expect(await insertMany(collection, reading)).toBe(N);
    }
  });

  /** The lesson's pipeline; the order of shards is that of their answers there, and of their names here. */
  const docsPerShard = (aggregate: string): Promise<Doc[]> =>
    cluster.all("library", {
      aggregate,
      pipeline: [
        { $collStats: { storageStats: {} } },
        { $project: { _id: 0, shard: 1, docs: "$storageStats.count" } },
        { $sort: { shard: 1 } },
      ],
      cursor: {},
    });

  test("readings_ranged [ { shard: 'shardB', docs: 100000 } ]", async () => {
    expect(await docsPerShard("readings_ranged")).toEqual([{ shard: "shardB", docs: 100_000 }]);
  });

  test("readings_hashed [ { shard: 'shardB', docs: 51100 }, { shard: 'shardA', docs: 48900 } ]", async () => {
    expect(await docsPerShard("readings_hashed")).toEqual([
      { shard: "shardA", docs: 48_900 },
      { shard: "shardB", docs: 51_100 },
    ]);
  });

  test("the fix has its cost: a time range is scatter-gather over the hashed key, targeted over the ranged one", async () => {
    const shardsOf = async (collection: string): Promise<number> => {
      const explain = find(collection, { ts: { $gte: 10, $lt: 20 } });
      const reply = await cluster.ok("library", { explain, verbosity: "queryPlanner" });
      return (reply.queryPlanner as { winningPlan: { shards: Doc[] } }).winningPlan.shards.length;
    };
    expect([await shardsOf("readings_hashed"), await shardsOf("readings_ranged")]).toEqual([2, 1]);
  });

  test("a compound key { deviceId: 1, ts: 1 } targets a time range of one device", async () => {
    await cluster.admin({ shardCollection: "library.compound", key: { deviceId: 1, ts: 1 } });
    await cluster.admin({ split: "library.compound", middle: { deviceId: "dev-3", ts: 0 } });
    await cluster.admin({ moveChunk: "library.compound", find: { deviceId: "dev-4", ts: 0 }, to: "shardA" });
    const [entry] = await cluster.traced(() =>
      cluster.all("library", find("compound", { deviceId: "dev-42", ts: { $gte: 10, $lt: 20 } })),
    );
    expect(entry!.shards.map(({ shard }) => shard)).toEqual(["shardA"]);
  });
});

describe("Changing your mind later (sh-reshard.js), as far as sharding goes", () => {
  test("a populated collection needs an index on the key first", async () => {
    await insertMany("tickers", (i) => ({ ts: i, deviceId: `dev-${i % 5000}` }), 10_000);
    const shardIt = { shardCollection: "library.tickers", key: { ts: 1 } };
    expect(await cluster.run("admin", shardIt)).toMatchObject({ ok: 0, code: 72 });
    await cluster.ok("library", { createIndexes: "tickers", indexes: [{ key: { ts: 1 }, name: "ts_1" }] });
    expect(await cluster.run("admin", shardIt)).toMatchObject({ ok: 1 });
    const key = { find: "collections", filter: { _id: "library.tickers" }, projection: { key: 1 } };
    expect(await cluster.all("config", key)).toEqual([{ _id: "library.tickers", key: { ts: 1 } }]);
  });

  test("reshardCollection ts:1 -> deviceId:hashed ok: 1, at least five minutes", async () => {
    const command = { reshardCollection: "library.tickers", key: { deviceId: "hashed" } };
    const [entry] = await cluster.traced(() => cluster.admin(command));
    const { phases, documents } = entry!.resharding!;
    expect(phases.reduce((sum, { ms }) => sum + ms, 0)).toBeGreaterThanOrEqual(300_000);
    expect(documents).toBe(10_000);
    const key = { find: "collections", filter: { _id: "library.tickers" }, projection: { key: 1 } };
    expect(await cluster.all("config", key)).toEqual([
      { _id: "library.tickers", key: { deviceId: "hashed" } },
    ]);
    expect(await cluster.ok("library", { count: "tickers", query: {} })).toMatchObject({ n: 10_000 });
  });

  test("moveCollection takes an unsharded collection to another shard, unshardCollection ends sharding", async () => {
    await cluster.ok("library", { insert: "books", documents: [{ _id: 1 }, { _id: 2 }] });
    await cluster.admin({ moveCollection: "library.books", toShard: "shardA" });
    await cluster.admin({ moveCollection: "library.books", toShard: "shardB" });
    expect(await cluster.shard("shardB", "library", { count: "books" })).toMatchObject({ n: 2 });
    await cluster.admin({ unshardCollection: "library.tickers", toShard: "shardA" });
    expect(await cluster.shard("shardA", "library", { count: "tickers" })).toMatchObject({ n: 10_000 });
    expect(await cluster.ok("library", { count: "tickers", query: {} })).toMatchObject({ n: 10_000 });
  });
});

describe("Measuring a candidate (sh-analyze.js)", () => {
  /** What the document prints of an analysis. */
  async function analyze(key: Doc): Promise<unknown> {
    const reply = await cluster.admin({ analyzeShardKey: "library.readings", key });
    const found = reply.keyCharacteristics as Doc & { mostCommonValues: Doc[]; monotonicity: Doc };
    return {
      key,
      numDocsTotal: Number(found.numDocsTotal),
      numDistinctValues: Number(found.numDistinctValues),
      mostCommonFrequency: Number(found.mostCommonValues[0]!.frequency),
      monotonicity: found.monotonicity.type,
    };
  }

  test("{ ts: 1 } is monotonic, { deviceId: 1 } is not", async () => {
    await cluster.ok("library", { drop: "readings" });
    await insertMany("readings", (i) => ({ ts: i, deviceId: `dev-${i % 5000}` }), 20_000);
    for (const name of ["ts", "deviceId"]) {
      await cluster.ok("library", { createIndexes: "readings", indexes: [{ key: { [name]: 1 }, name }] });
    }
    expect(await analyze({ ts: 1 })).toEqual({
      key: { ts: 1 },
      numDocsTotal: 20_000,
      numDistinctValues: 20_000,
      mostCommonFrequency: 1,
      monotonicity: "monotonic",
    });
    expect(await analyze({ deviceId: 1 })).toEqual({
      key: { deviceId: 1 },
      numDocsTotal: 20_000,
      numDistinctValues: 5_000,
      mostCommonFrequency: 4,
      monotonicity: "not monotonic",
    });
  });
});
