/**
 * The lesson "Choosing a shard key: cardinality, frequency, monotonicity":
 * what it says about each key of its orders, shown on a cluster
 * (facts-mongos.md §11, S002).
 */
import { ObjectId } from "bson";
import { beforeAll, describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "../support/cluster.js";
import { startCluster } from "../support/cluster.js";

const STATUSES = ["cancelled", "delivered", "paid", "pending", "returned", "shipped"];
const COUNTRIES = Array.from({ length: 15 }, (_, i) => `C${String.fromCharCode(65 + i)}`);
const N = 3000;

/** Every tenth order is of the huge tenant, customer 0. */
const ORDERS = Array.from({ length: N }, (_, i) => ({
  _id: new ObjectId((0x6_0000_0000 + i).toString(16).padStart(24, "0")),
  orderNo: i,
  status: STATUSES[i % 6]!,
  shipping: { country: COUNTRIES[i % 15]! },
  customerId: i % 10 === 0 ? 0 : (i * 7) % 500,
  createdAt: new Date(Date.UTC(2026, 0, 1) + i * 60_000),
}));

async function shop(key: Doc): Promise<TestCluster> {
  const cluster = await startCluster();
  await cluster.admin({ enableSharding: "shop", primaryShard: "shardA" });
  await cluster.admin({ shardCollection: "shop.orders", key });
  return cluster;
}

const load = (cluster: TestCluster, documents: Doc[] = ORDERS): Promise<Doc> =>
  cluster.ok("shop", { insert: "orders", documents });

/** Splits at every value that it can be split at, by the median, until nothing divides any more. */
async function splitFully(cluster: TestCluster, finds: Doc[]): Promise<number> {
  for (const find of finds) {
    while ((await cluster.run("admin", { split: "shop.orders", find })).ok === 1);
  }
  return (await cluster.all("config", { find: "chunks" })).length;
}

async function shardsAsked(cluster: TestCluster, filter: Doc): Promise<string[]> {
  const entries = await cluster.traced(() => cluster.all("shop", { find: "orders", filter }));
  return entries[0]!.shards.map(({ shard }) => shard);
}

describe("cardinality", () => {
  test("country with 15 values can never use more than 15 chunks (and one without data before the first)", async () => {
    const cluster = await shop({ "shipping.country": 1 });
    await load(cluster);
    const chunks = await splitFully(
      cluster,
      COUNTRIES.map((country) => ({ "shipping.country": country })),
    );
    expect(chunks).toBeLessThanOrEqual(16);
    for (const country of COUNTRIES) {
      const find = { "shipping.country": country };
      expect(await cluster.run("admin", { split: "shop.orders", find })).toMatchObject({ ok: 0, code: 87 });
    }
  });

  test("status has 6 values and would never scale", async () => {
    const cluster = await shop({ status: 1 });
    await load(cluster);
    const finds = STATUSES.map((status) => ({ status }));
    expect(await splitFully(cluster, finds)).toBeLessThanOrEqual(7);
  });
});

describe("frequency", () => {
  test("one huge tenant makes a chunk that nothing divides; { customerId, createdAt } divides it", async () => {
    const alone = await shop({ customerId: 1 });
    await load(alone);
    await alone.admin({ split: "shop.orders", middle: { customerId: 1 } });
    expect(await alone.run("admin", { split: "shop.orders", find: { customerId: 0 } })).toMatchObject({
      code: 87,
    });

    const compound = await shop({ customerId: 1, createdAt: 1 });
    await load(compound);
    await compound.admin({ split: "shop.orders", middle: { customerId: 1, createdAt: new Date(0) } });
    const find = { customerId: 0, createdAt: ORDERS[0]!.createdAt };
    expect(await compound.run("admin", { split: "shop.orders", find })).toMatchObject({ ok: 1 });
  });
});

describe("monotonic writes", () => {
  test.each<[string, Doc, Doc]>([
    ["createdAt", { createdAt: 1 }, { createdAt: ORDERS[1000]!.createdAt }],
    ["ObjectId", { _id: 1 }, { _id: ORDERS[1000]!._id }],
  ])(
    "%s as a ranged key sends every new order to the last chunk, on one shard",
    async (_name, key, middle) => {
      const cluster = await shop(key);
      await cluster.admin({ split: "shop.orders", middle });
      await cluster.admin({ moveChunk: "shop.orders", find: middle, to: "shardB" });
      const entries = await cluster.traced(() => load(cluster, ORDERS.slice(1000)));
      expect(entries.flatMap(({ shards }) => shards.map(({ shard, sent }) => [shard, sent]))).toEqual([
        ["shardB", 2000],
      ]);
    },
  );

  test("createdAt increases in 100.0 % of consecutive inserts", async () => {
    const cluster = await startCluster();
    await load(cluster);
    const find = { find: "orders", projection: { createdAt: 1 }, sort: { $natural: 1 }, limit: 2000 };
    const found = await cluster.all("shop", find);
    const increases = found.filter(
      ({ createdAt }, i) =>
        i > 0 && (createdAt as Date).getTime() >= (found[i - 1]!.createdAt as Date).getTime(),
    );
    expect(((100 * increases.length) / (found.length - 1)).toFixed(1)).toBe("100.0");
  });

  test("{ customerId: 'hashed' } spreads them", async () => {
    const cluster = await shop({ customerId: "hashed" });
    await load(cluster);
    for (const shard of ["shardA", "shardB"]) {
      const { n } = await cluster.shard(shard, "shop", { count: "orders" });
      expect(Number(n) / N).toBeGreaterThan(0.3);
    }
  });
});

describe("query isolation: { customerId: 1, createdAt: 1 }", () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await shop({ customerId: 1, createdAt: 1 });
    await cluster.admin({ split: "shop.orders", middle: { customerId: 250, createdAt: new Date(0) } });
    const find = { customerId: 300, createdAt: new Date(0) };
    await cluster.admin({ moveChunk: "shop.orders", find, to: "shardB" });
    await load(cluster);
  });

  test.each<[string, Doc, string[]]>([
    ["my orders", { customerId: 7 }, ["shardA"]],
    ["my orders of a day", { customerId: 300, createdAt: { $gte: new Date(0) } }, ["shardB"]],
    ["all orders of a day", { createdAt: { $gte: new Date(0) } }, ["shardA", "shardB"]],
    ["by status", { status: "paid" }, ["shardA", "shardB"]],
  ])("%s", async (_name, filter, shards) => {
    expect(await shardsAsked(cluster, filter)).toEqual(shards);
  });

  test("analyze(field): the lesson's own measure, by aggregation over both shards", async () => {
    const analyze = async (field: string): Promise<Doc> => {
      const pipeline = [
        { $group: { _id: `$${field}`, n: { $sum: 1 } } },
        { $group: { _id: null, distinct: { $sum: 1 }, maxFreq: { $max: "$n" } } },
      ];
      const [row] = await cluster.all("shop", { aggregate: "orders", pipeline, cursor: {} });
      return {
        field,
        distinctValues: row!.distinct,
        topValueSharePct: +((100 * Number(row!.maxFreq)) / N).toFixed(2),
      };
    };
    expect(await Promise.all(["status", "shipping.country", "orderNo"].map(analyze))).toEqual([
      { field: "status", distinctValues: 6, topValueSharePct: 16.67 },
      { field: "shipping.country", distinctValues: 15, topValueSharePct: 6.67 },
      { field: "orderNo", distinctValues: N, topValueSharePct: 0.03 },
    ]);
    // Customer 0: 300 orders with i % 10 = 0, and of the others none, because 7i = 0 (mod 500) only for i = 0, 500, ….
    expect(await analyze("customerId")).toMatchObject({ topValueSharePct: 10 });
  });
});

describe("changing it later", () => {
  test("refineCollectionShardKey adds a suffix that splits what the key alone could not", async () => {
    const cluster = await shop({ country: 1 });
    const documents = Array.from({ length: 8 }, (_, i) => ({ _id: i, country: "DE", customerId: i }));
    await load(cluster, documents);
    // All documents have one value of the key: no point divides them, the chunk would become jumbo.
    const before = await splitFully(cluster, [{ country: "DE" }]);
    expect(before).toBe(1);
    const indexes = [{ key: { country: 1, customerId: 1 }, name: "both" }];
    await cluster.ok("shop", { createIndexes: "orders", indexes });
    const key = { country: 1, customerId: 1 };
    await cluster.admin({ refineCollectionShardKey: "shop.orders", key });
    await cluster.admin({ split: "shop.orders", middle: { country: "DE", customerId: 4 } });
    expect(await cluster.all("config", { find: "chunks" })).toHaveLength(before + 1);
    expect(await cluster.all("shop", { find: "orders", sort: { _id: 1 } })).toEqual(documents);
  });
  test("reshardCollection rewrites to { customerId: 'hashed' }", async () => {
    const cluster = await shop({ createdAt: 1 });
    await load(cluster);
    await cluster.admin({ reshardCollection: "shop.orders", key: { customerId: "hashed" } });
    const [entry] = await cluster.all("config", { find: "collections", filter: { _id: "shop.orders" } });
    expect(entry!.key).toEqual({ customerId: "hashed" });
    expect(await cluster.ok("shop", { count: "orders", query: {} })).toMatchObject({ n: N });
    // All orders of one customer are on one shard now, the huge tenant's too.
    for (const customerId of [0, 7]) {
      const find = { find: "orders", filter: { customerId } };
      const plan = (await cluster.ok("shop", { explain: find, verbosity: "queryPlanner" }))
        .queryPlanner as Doc;
      expect((plan.winningPlan as Doc).stage).toBe("SINGLE_SHARD");
    }
  });
  test("analyzeShardKey measures a candidate: cardinality, frequency, monotonicity and targeting", async () => {
    const cluster = await shop({ _id: 1 });
    await load(cluster);
    for (const name of ["customerId", "createdAt", "status"]) {
      await cluster.ok("shop", { createIndexes: "orders", indexes: [{ key: { [name]: 1 }, name }] });
    }
    await cluster.admin({ configureQueryAnalyzer: "shop.orders", mode: "full", samplesPerSecond: 50 });
    for (const customerId of [7, 14, 21])
      await cluster.ok("shop", { find: "orders", filter: { customerId } });
    await cluster.ok("shop", { find: "orders", filter: { status: "paid" } });
    const analyze = (key: Doc): Promise<Doc> =>
      cluster.admin({
        analyzeShardKey: "shop.orders",
        key,
        keyCharacteristics: true,
        readWriteDistribution: true,
      });
    // The huge tenant has 300 orders, 450 others have six each (7i mod 500, i no multiple of ten).
    const customer = await analyze({ customerId: 1 });
    const found = customer.keyCharacteristics as Doc & { mostCommonValues: Doc[] };
    expect(found).toMatchObject({ numDocsTotal: 3000, numDistinctValues: 451, isUnique: false });
    expect(found.mostCommonValues[0]).toEqual({ value: { customerId: 0 }, frequency: 300 });
    expect(found.mostCommonValues.slice(1).map(({ frequency }) => frequency)).toEqual([6, 6, 6, 6]);
    expect(customer.readDistribution).toMatchObject({
      sampleSize: { total: 4 },
      percentageOfSingleShardReads: 75,
      percentageOfScatterGatherReads: 25,
    });
    const createdAt = (await analyze({ createdAt: 1 })).keyCharacteristics as Doc;
    expect(createdAt).toMatchObject({ numDistinctValues: 3000, monotonicity: { type: "monotonic" } });
    // Six values can't be cut into a hundred ranges.
    const status = { analyzeShardKey: "shop.orders", key: { status: 1 } };
    expect(await cluster.run("admin", status)).toMatchObject({ ok: 0, code: 4952606 });
    const alone = await cluster.admin({ ...status, readWriteDistribution: false });
    expect(alone.keyCharacteristics).toMatchObject({ numDistinctValues: 6 });
  });
});
