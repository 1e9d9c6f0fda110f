/**
 * `explain` through the router: facts-mongos.md §5.1, checked by hand.
 *
 *     test.c   key {x: 1}          shardA [MinKey, 50)   shardB [50, MaxKey)   documents x = 0 … 99, g = x mod 3
 *     test.h   key {d: "hashed"}   two chunks cut at 0
 *     test.p   not sharded, on shardA
 */
import { Long } from "bson";
import { toDocument } from "shardlab/bson";
import { beforeAll, describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "./support/cluster.js";
import { startCluster } from "./support/cluster.js";

let cluster: TestCluster;
const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

beforeAll(async () => {
  cluster = await startCluster({ shards: 2 });
  await cluster.admin({ enableSharding: "test", primaryShard: "shardA" });
  await cluster.admin({ shardCollection: "test.c", key: { x: 1 } });
  await cluster.admin({ split: "test.c", middle: { x: 50 } });
  await cluster.admin({ moveChunk: "test.c", find: { x: 50 }, to: "shardB" });
  await cluster.ok("test", { createIndexes: "c", indexes: [{ key: { g: 1 }, name: "g_1" }] });
  await cluster.ok("test", { insert: "c", documents: range(100).map((x) => ({ _id: x, x, g: x % 3 })) });
  await cluster.admin({ shardCollection: "test.h", key: { d: "hashed" } });
  await cluster.ok("test", {
    insert: "h",
    documents: range(100).map((d) => ({ _id: d, d })),
    ordered: false,
  });
  await cluster.ok("test", { insert: "p", documents: [{ _id: 1, a: 1 }] });
});

interface Plan extends Doc {
  stage: string;
  inputStage?: Plan;
  shards: (Doc & { shardName: string; winningPlan: Plan })[];
}

const explain = (command: Doc, verbosity = "queryPlanner", db = "test"): Promise<Doc> =>
  cluster.ok(db, { explain: command, verbosity });
const winningPlan = (reply: Doc): Plan => (reply.queryPlanner as { winningPlan: Plan }).winningPlan;
const statsOf = (reply: Doc): Doc & { executionStages: Doc & { shards: Doc[] } } =>
  reply.executionStats as Doc & { executionStages: Doc & { shards: Doc[] } };

/** `SORT ← FETCH ← IXSCAN`, with `{filter}` behind a FETCH that has one. */
const chain = (plan: Plan | undefined): string =>
  plan
    ? [
        plan.stage + (plan.stage === "FETCH" && plan.filter !== undefined ? "{filter}" : ""),
        ...(plan.inputStage ? [chain(plan.inputStage)] : []),
      ].join(" ← ")
    : "";

/** What a shard of the collection does for a command, in one line. */
const shardPlan = async (command: Doc): Promise<string> =>
  chain(winningPlan(await explain(command)).shards[0]!.winningPlan);

describe("the router's stage", () => {
  test.each<[string, Doc, string, string]>([
    ["one shard by the whole key", { find: "c", filter: { x: 7 } }, "SINGLE_SHARD", "A"],
    ["one shard by a range inside a chunk", { find: "c", filter: { x: { $gt: 60 } } }, "SINGLE_SHARD", "B"],
    ["several shards", { find: "c", filter: { g: 1 } }, "SHARD_MERGE", "AB"],
    ["several shards and a sort", { find: "c", sort: { g: 1 } }, "SHARD_MERGE_SORT", "AB"],
    [
      "a sort on one shard needs no merge",
      { find: "c", filter: { x: 7 }, sort: { g: 1 } },
      "SINGLE_SHARD",
      "A",
    ],
    ["count", { count: "c", query: { g: 1 } }, "SHARD_MERGE", "AB"],
    ["count by the key", { count: "c", query: { x: 70 } }, "SINGLE_SHARD", "B"],
    ["distinct", { distinct: "c", key: "g" }, "SHARD_MERGE", "AB"],
    [
      "update by the key",
      { update: "c", updates: [{ q: { x: 7 }, u: { $set: { v: 1 } } }] },
      "SHARD_WRITE",
      "A",
    ],
    [
      "update of many",
      { update: "c", updates: [{ q: {}, u: { $set: { v: 1 } }, multi: true }] },
      "SHARD_WRITE",
      "AB",
    ],
    [
      "update by _id: everywhere",
      { update: "c", updates: [{ q: { _id: 7 }, u: { $set: { v: 1 } } }] },
      "SHARD_WRITE",
      "AB",
    ],
    ["delete of many", { delete: "c", deletes: [{ q: { x: { $gt: 60 } }, limit: 0 }] }, "SHARD_WRITE", "B"],
    ["findAndModify by the key", { findAndModify: "c", query: { x: 70 }, remove: true }, "SHARD_WRITE", "B"],
    ["a hashed key by equality", { find: "h", filter: { d: 2 } }, "SINGLE_SHARD", "B"],
    ["a range over a hashed key", { find: "h", filter: { d: { $gte: 1, $lt: 9 } } }, "SHARD_MERGE", "AB"],
    ["an unsharded collection", { find: "p" }, "SINGLE_SHARD", "A"],
    [
      "a write to an unsharded collection",
      { delete: "p", deletes: [{ q: {}, limit: 0 }] },
      "SHARD_WRITE",
      "A",
    ],
  ])("%s: %j → %s on %s", async (_what, command, stage, letters) => {
    // hash64(2) = 848411777775835583 ≥ 0 (§2.2); which shard has the upper chunk is up to the seed.
    const upper = (await cluster.all("config", { find: "chunks", filter: { min: { d: 0n } } }))[0] as Doc;
    const plan = winningPlan(await explain(command));
    expect(plan.stage).toBe(stage);
    const expected =
      command.find === "h" && letters === "B" ? [String(upper.shard)] : [...letters].map((l) => `shard${l}`);
    expect(plan.shards.map(({ shardName }) => shardName)).toEqual(expected);
  });
});

describe("SHARDING_FILTER (§5.1)", () => {
  test.each<[string, Doc, string]>([
    ["no index", { find: "c", filter: { v: 1 } }, "SHARDING_FILTER ← COLLSCAN"],
    ["an index with the key", { find: "c", filter: { x: { $gt: 5 } } }, "FETCH ← SHARDING_FILTER ← IXSCAN"],
    [
      "and another condition",
      { find: "c", filter: { x: { $gt: 5 }, v: 1 } },
      "SHARDING_FILTER ← FETCH{filter} ← IXSCAN",
    ],
    ["another index", { find: "c", filter: { g: 1 } }, "SHARDING_FILTER ← FETCH ← IXSCAN"],
    ["the whole key by equality", { find: "c", filter: { x: 7 } }, "FETCH ← IXSCAN"],
    [
      "hashed: the hash in the index is not the value",
      { find: "h", filter: { d: 2 } },
      "FETCH{filter} ← IXSCAN",
    ],
    ["_id: filters by itself", { find: "c", filter: { _id: 7 } }, "EXPRESS_IXSCAN"],
    [
      "covered by an index with the key",
      { find: "c", filter: { x: { $gt: 5 } }, projection: { _id: 0, x: 1 } },
      "PROJECTION_COVERED ← SHARDING_FILTER ← IXSCAN",
    ],
    [
      "no longer covered",
      { find: "c", filter: { g: 1 }, projection: { _id: 0, g: 1 } },
      "PROJECTION_SIMPLE ← SHARDING_FILTER ← FETCH ← IXSCAN",
    ],
    ["sort", { find: "c", sort: { v: 1 } }, "SORT ← SHARDING_FILTER ← COLLSCAN"],
    ["a sort by the index", { find: "c", sort: { x: 1 } }, "FETCH ← SHARDING_FILTER ← IXSCAN"],
    ["limit", { find: "c", filter: { v: 1 }, limit: 2 }, "LIMIT ← SHARDING_FILTER ← COLLSCAN"],
    [
      "limit 1 on an index: no express plan, an orphan might be first",
      { find: "c", filter: { g: 1 }, limit: 1 },
      "LIMIT ← SHARDING_FILTER ← FETCH ← IXSCAN",
    ],
    ["count of everything counts orphans", { count: "c" }, "RECORD_STORE_FAST_COUNT"],
    [
      "count on the key's index",
      { count: "c", query: { x: { $gt: 60 } } },
      "COUNT ← SHARDING_FILTER ← IXSCAN",
    ],
    ["count on another index", { count: "c", query: { g: 1 } }, "COUNT ← SHARDING_FILTER ← FETCH ← IXSCAN"],
    ["count by the whole key", { count: "c", query: { x: 60 } }, "COUNT ← COUNT_SCAN"],
    ["count without an index", { count: "c", query: { v: 1 } }, "COUNT ← SHARDING_FILTER ← COLLSCAN"],
    [
      "distinct on the key: the scan filters",
      { distinct: "c", key: "x" },
      "PROJECTION_COVERED ← DISTINCT_SCAN",
    ],
    ["distinct on another index: it fetches too", { distinct: "c", key: "g" }, "DISTINCT_SCAN"],
    ["distinct without an index", { distinct: "c", key: "v", query: { v: 1 } }, "SHARDING_FILTER ← COLLSCAN"],
    [
      "an update looks at owners itself",
      { update: "c", updates: [{ q: { g: 1 }, u: { $set: { v: 1 } }, multi: true }] },
      "UPDATE ← FETCH ← IXSCAN",
    ],
    ["so does a delete", { delete: "c", deletes: [{ q: { v: 1 }, limit: 0 }] }, "DELETE ← COLLSCAN"],
    ["an unsharded collection has no orphans", { find: "p", filter: { a: 1 } }, "COLLSCAN"],
  ])("%s: %j → %s", async (_what, command, plan) => {
    expect(await shardPlan(command)).toBe(plan);
  });

  test("read concern available does without (§6)", async () => {
    const available = { find: "c", filter: { v: 1 }, readConcern: { level: "available" } };
    expect(await shardPlan(available)).toBe("COLLSCAN");
    const outside = {
      explain: { find: "c", filter: { v: 1 } },
      verbosity: "queryPlanner",
      readConcern: { level: "available" },
    };
    expect(chain(winningPlan(await cluster.ok("test", outside)).shards[0]!.winningPlan)).toBe("COLLSCAN");
    expect(await shardPlan({ ...available, readConcern: { level: "majority" } })).toBe(
      "SHARDING_FILTER ← COLLSCAN",
    );
  });

  test("DISTINCT_SCAN says whether it filters and fetches (8.2)", async () => {
    const scanOf = async (command: Doc): Promise<Doc> => {
      let plan = winningPlan(await explain(command)).shards[0]!.winningPlan;
      while (plan.inputStage) plan = plan.inputStage;
      return plan;
    };
    expect(await scanOf({ distinct: "c", key: "x" })).toMatchObject({
      isShardFiltering: true,
      isFetching: false,
    });
    expect(await scanOf({ distinct: "c", key: "g" })).toMatchObject({
      isShardFiltering: true,
      isFetching: true,
    });
    expect(await scanOf({ distinct: "c", key: "x", query: { x: 7 } })).toMatchObject({
      stage: "DISTINCT_SCAN",
      isShardFiltering: false,
      isFetching: false,
    });
  });

  test("COUNT_SCAN becomes an IXSCAN over the same keys; the key that ends it is not counted", async () => {
    const reply = await explain({ count: "c", query: { x: { $gt: 60 } } }, "executionStats");
    const { executionStages } = statsOf(reply).executionStages.shards[0] as { executionStages: Plan };
    // 61 … 99
    expect(executionStages.inputStage!.inputStage).toMatchObject({
      stage: "IXSCAN",
      nReturned: 39,
      indexBounds: { x: ["(60, inf.0]"] },
      keysExamined: 39,
    });
    expect(statsOf(reply)).toMatchObject({ nReturned: 0, totalKeysExamined: 39, totalDocsExamined: 0 });
    expect(statsOf(reply).executionStages).toMatchObject({ stage: "SINGLE_SHARD", nCounted: 39 });
  });

  test("a fetch for the filter's sake examines documents", async () => {
    const covered = { find: "c", filter: { g: 1 }, projection: { _id: 0, g: 1 } };
    // g = 1 for 1, 4, …, 97: 33 of 100
    expect(statsOf(await explain(covered, "executionStats"))).toMatchObject({
      nReturned: 33,
      totalKeysExamined: 33,
      totalDocsExamined: 33,
    });
  });

  test("rejected plans and trials are filtered alike", async () => {
    const reply = await explain({ find: "c", filter: { x: { $gte: 0 }, g: 1 } }, "allPlansExecution");
    const shard = winningPlan(reply).shards[0] as unknown as Doc & { rejectedPlans: Plan[] };
    expect([chain(shard.winningPlan as Plan), ...shard.rejectedPlans.map(chain)].sort()).toEqual([
      "SHARDING_FILTER ← FETCH{filter} ← IXSCAN",
      "SHARDING_FILTER ← FETCH{filter} ← IXSCAN",
    ]);
    const trials = statsOf(reply).allPlansExecution as {
      shardName: string;
      allPlans: { executionStages: Plan }[];
    }[];
    expect(trials.map(({ shardName }) => shardName)).toEqual(["shardA", "shardB"]);
    expect(trials[0]!.allPlans.map(({ executionStages }) => chain(executionStages))).toEqual([
      "SHARDING_FILTER ← FETCH{filter} ← IXSCAN",
      "SHARDING_FILTER ← FETCH{filter} ← IXSCAN",
    ]);
  });
});

describe("executionStats", () => {
  // g = 0 for 0, 3, …, 99: 34, of which 17 on each shard (0 … 48 and 51 … 99). Without an index: x.v is nowhere.
  const find = { find: "c", filter: { g: 0 }, hint: { $natural: 1 } };

  test.each<[string, Doc, Doc]>([
    ["no window: sums", {}, { nReturned: 34 }],
    ["limit caps the sum", { limit: 5 }, { nReturned: 5, limitAmount: 5 }],
    ["skip takes from the sum", { skip: 4 }, { nReturned: 30, skipAmount: 4 }],
    ["skip, then limit", { skip: 4, limit: 5 }, { nReturned: 5, limitAmount: 5, skipAmount: 4 }],
    ["a skip past the end", { skip: 40 }, { nReturned: 0, skipAmount: 40 }],
    ["a limit beyond the end", { skip: 30, limit: 50 }, { nReturned: 4, limitAmount: 50, skipAmount: 30 }],
    ["limit 0 is no limit", { limit: 0 }, { nReturned: 34 }],
  ])("%s: %j", async (_what, window, expected) => {
    const stats = statsOf(await explain({ ...find, ...window }, "executionStats"));
    const { nReturned, limitAmount, skipAmount } = stats.executionStages;
    expect({
      nReturned,
      ...(limitAmount !== undefined && { limitAmount }),
      ...(skipAmount !== undefined && { skipAmount }),
    }).toEqual(expected);
    expect(stats.nReturned).toBe(nReturned);
  });

  test("shards get limit + skip and no skip; their entries show what they did", async () => {
    const stats = statsOf(await explain({ ...find, skip: 4, limit: 5 }, "executionStats"));
    expect(stats.executionStages.shards.map(({ shardName, nReturned }) => [shardName, nReturned])).toEqual([
      ["shardA", 9],
      ["shardB", 9],
    ]);
  });

  test("on one shard the shard does the window, and the router has none", async () => {
    const one = { find: "c", filter: { x: { $gte: 60 } }, skip: 10, limit: 5 };
    const { executionStages, ...stats } = statsOf(await explain(one, "executionStats"));
    expect(stats.nReturned).toBe(5);
    expect(executionStages).toMatchObject({ stage: "SINGLE_SHARD", nReturned: 5 });
    expect(executionStages).not.toHaveProperty("limitAmount");
    expect(executionStages).not.toHaveProperty("skipAmount");
  });

  test.each<[string, Doc, Doc]>([
    ["limit", { limit: 5 }, { nCounted: 5, limitAmount: 5 }],
    ["skip", { skip: 5 }, { nCounted: 28, skipAmount: 5 }],
    ["both", { limit: 5, skip: 5 }, { nCounted: 5, limitAmount: 5, skipAmount: 5 }],
    ["a negative limit is a limit", { limit: -5 }, { nCounted: 5, limitAmount: 5 }],
    [
      "fewer than skip and limit want",
      { limit: 50, skip: 30 },
      { nCounted: 3, limitAmount: 50, skipAmount: 30 },
    ],
  ])("count, %s: nCounted of 33, nReturned 0", async (_what, window, expected) => {
    const stats = statsOf(await explain({ count: "c", query: { g: 1 }, ...window }, "executionStats"));
    const { stage, nReturned, nCounted, limitAmount, skipAmount } = stats.executionStages;
    expect([stage, nReturned, stats.nReturned]).toEqual(["SHARD_MERGE", 0, 0]);
    expect({
      nCounted,
      ...(limitAmount !== undefined && { limitAmount }),
      ...(skipAmount !== undefined && { skipAmount }),
    }).toEqual(expected);
  });

  test("count of everything: the sum of the shards' records", async () => {
    expect(statsOf(await explain({ count: "c" }, "executionStats")).executionStages).toMatchObject({
      stage: "SHARD_MERGE",
      nReturned: 0,
      nCounted: 100,
    });
  });

  test("fields stand in MongoDB's order", async () => {
    const reply = await explain({ ...find, skip: 4, limit: 5, sort: { x: 1 } }, "allPlansExecution");
    expect(Object.keys(reply).slice(0, 7)).toEqual([
      "queryPlanner",
      "executionStats",
      "queryShapeHash",
      "serverInfo",
      "serverParameters",
      "command",
      "ok",
    ]);
    const [shard] = winningPlan(reply).shards;
    expect(Object.keys(reply.queryPlanner as Doc)).toEqual(["winningPlan"]);
    expect(Object.keys(shard!).slice(0, 7)).toEqual([
      "explainVersion",
      "shardName",
      "connectionString",
      "serverInfo",
      "namespace",
      "parsedQuery",
      "indexFilterSet",
    ]);
    expect(Object.keys(shard!).slice(-2)).toEqual(["winningPlan", "rejectedPlans"]);
    expect(shard).toMatchObject({
      explainVersion: "1",
      connectionString: "shardA/127.0.0.1:27018",
      serverInfo: { host: "127.0.0.1", port: 27018 },
    });
    expect(reply.serverInfo).toMatchObject({ host: "127.0.0.1", port: 27017 });
    expect(Object.keys(statsOf(reply))).toEqual([
      "nReturned",
      "executionTimeMillis",
      "totalKeysExamined",
      "totalDocsExamined",
      "executionStages",
      "allPlansExecution",
    ]);
    expect(Object.keys(statsOf(reply).executionStages)).toEqual([
      "stage",
      "nReturned",
      "limitAmount",
      "skipAmount",
      "executionTimeMillis",
      "totalKeysExamined",
      "totalDocsExamined",
      "totalChildMillis",
      "shards",
    ]);
    expect(Object.keys(statsOf(reply).executionStages.shards[0]!)).toEqual([
      "shardName",
      "executionSuccess",
      "nReturned",
      "executionTimeMillis",
      "totalKeysExamined",
      "totalDocsExamined",
      "executionStages",
      "allPlansExecution",
    ]);
  });

  test("totalChildMillis is the sum of the shards' times, a long", async () => {
    const command = toDocument({ explain: find, verbosity: "executionStats" });
    const reply = await cluster.router.run({
      command: "explain",
      db: "test",
      body: command,
      sequences: new Map(),
    });
    const { deserialize } = await import("bson");
    const stages = (deserialize(reply.body, { promoteValues: false }) as Doc).executionStats as Doc;
    const { totalChildMillis, shards } = stages.executionStages as {
      totalChildMillis: unknown;
      shards: Doc[];
    };
    expect(totalChildMillis).toBeInstanceOf(Long);
    const millis = shards.map(({ executionTimeMillis }) => Number(executionTimeMillis));
    expect(Number(totalChildMillis)).toBe(millis[0]! + millis[1]!);
  });

  test("queryPlanner has no executionStats; executionStats has no trials", async () => {
    expect(await explain(find)).not.toHaveProperty("executionStats");
    expect(statsOf(await explain(find, "executionStats"))).not.toHaveProperty("allPlansExecution");
    expect(await cluster.ok("test", { explain: find })).toHaveProperty("executionStats.allPlansExecution");
  });
});

describe("writes", () => {
  const counts = async (): Promise<[unknown, unknown, unknown]> => [
    (await cluster.ok("test", { count: "c", query: {} })).n,
    (await cluster.ok("test", { count: "c", query: { v: 1 } })).n,
    (await cluster.ok("test", { count: "p", query: {} })).n,
  ];

  test.each<[string, Doc, Doc]>([
    [
      "updateMany",
      { update: "c", updates: [{ q: { g: 0 }, u: { $set: { v: 1 } }, multi: true }] },
      { nWouldModify: 17 },
    ],
    ["deleteMany", { delete: "c", deletes: [{ q: { g: 0 }, limit: 0 }] }, { nWouldDelete: 17 }],
    [
      "updateOne by the key",
      { update: "c", updates: [{ q: { x: 7 }, u: { $set: { v: 1 } } }] },
      { nWouldModify: 1 },
    ],
    [
      "upsert by the key",
      { update: "c", updates: [{ q: { x: 7.5 }, u: { $set: { v: 1 } }, upsert: true }] },
      { nWouldUpsert: 1 },
    ],
    ["findAndModify by the key", { findAndModify: "c", query: { x: 7 }, remove: true }, { nWouldDelete: 1 }],
    ["deleteMany, unsharded", { delete: "p", deletes: [{ q: {}, limit: 0 }] }, { nWouldDelete: 1 }],
  ])("%s is told and not done", async (_what, command, work) => {
    const before = await counts();
    const shard = statsOf(await explain(command, "executionStats")).executionStages.shards[0]!;
    expect(shard.executionStages).toMatchObject(work);
    expect(await counts()).toEqual(before);
    expect(before).toEqual([100, 0, 1]);
  });

  describe("two phases (7.1+): the write by _id, above the search", () => {
    const noKey: readonly [string, Doc, string, string, Doc][] = [
      [
        "updateOne",
        { update: "c", updates: [{ q: { g: 1 }, u: { $set: { z: 1 } } }] },
        "SHARD_MERGE",
        "EXPRESS_UPDATE",
        { nWouldModify: 0, nWouldUpsert: 0 },
      ],
      [
        "upsert",
        { update: "c", updates: [{ q: { g: 5 }, u: { $set: { z: 1 } }, upsert: true }] },
        "SHARD_MERGE",
        "UPDATE",
        { nWouldModify: 0, nWouldUpsert: 1 },
      ],
      [
        "deleteOne",
        { delete: "c", deletes: [{ q: { g: 1 }, limit: 1 }] },
        "SHARD_MERGE",
        "EXPRESS_DELETE",
        { nWouldDelete: 0 },
      ],
      [
        "findAndModify",
        { findAndModify: "c", query: { g: 1 }, update: { $inc: { z: 1 } } },
        "SHARD_MERGE",
        "UPDATE",
        { nWouldModify: 0 },
      ],
      [
        "findAndModify with a sort",
        { findAndModify: "c", query: { g: 1 }, sort: { x: 1 }, remove: true },
        "SHARD_MERGE_SORT",
        "DELETE",
        { nWouldDelete: 0 },
      ],
      [
        "findAndModify by _id",
        { findAndModify: "c", query: { _id: 1 }, remove: true },
        "SHARD_MERGE",
        "DELETE",
        { nWouldDelete: 0 },
      ],
    ];

    test.each(noKey)("%s: %j", async (_what, command, search, write, work) => {
      for (const verbosity of ["queryPlanner", "executionStats", "allPlansExecution"]) {
        const reply = await explain(command, verbosity);
        const plan = winningPlan(reply);
        expect([plan.stage, plan.shards.map(({ shardName }) => shardName)]).toEqual([
          "SHARD_WRITE",
          ["shardA"],
        ]);
        expect(plan.shards[0]!.winningPlan.stage).toBe(write);
        const input = winningPlan({ queryPlanner: plan.inputStage });
        expect([input.stage, input.shards.length]).toEqual([search, 2]);
        expect(Object.keys(reply.command as Doc).slice(0, -1)).toEqual(Object.keys(command));
        if (verbosity === "queryPlanner") {
          expect(reply).not.toHaveProperty("executionStats");
          continue;
        }
        const stats = statsOf(reply);
        expect(stats.executionStages.stage).toBe("SHARD_WRITE");
        expect(stats.executionStages.shards[0]!.executionStages).toMatchObject(work);
        const searched = stats.inputStage as Doc & { executionStages: Doc };
        expect(searched.executionStages.stage).toBe(search);
      }
      expect(await counts()).toEqual([100, 0, 1]);
    });

    test("the search finds one document on each shard", async () => {
      const command = noKey[0]![1];
      const searched = statsOf(await explain(command, "executionStats")).inputStage as Doc;
      expect(searched).toMatchObject({
        nReturned: 2,
        executionStages: { stage: "SHARD_MERGE", nReturned: 2 },
      });
      expect(searched.executionStages).not.toHaveProperty("limitAmount");
    });

    test("a positional update or projection keeps the filter that it points into", async () => {
      const update = { findAndModify: "c", query: { g: 1, a: 1 }, update: { $set: { "a.$": 3 } } };
      expect(winningPlan(await explain(update)).shards[0]!.winningPlan.stage).toBe("UPDATE");
      const projection = { findAndModify: "c", query: { g: 1, a: 1 }, fields: { "a.$": 1 }, remove: true };
      const plan = winningPlan(await explain(projection)).shards[0]!.winningPlan;
      expect([plan.stage, plan.inputStage?.stage]).toEqual(["PROJECTION_DEFAULT", "DELETE"]);
    });
  });

  test("bulkWrite of one operation is the update or delete that it is", async () => {
    const nsInfo = [{ ns: "test.c" }];
    const remove = { bulkWrite: 1, ops: [{ delete: 0, filter: { x: 70 } }], nsInfo };
    const reply = await explain(remove, "queryPlanner", "admin");
    expect(winningPlan(reply)).toMatchObject({ stage: "SHARD_WRITE", shards: [{ shardName: "shardB" }] });
    expect(reply.command).toEqual({ delete: "c", deletes: [{ q: { x: 70 }, limit: 1 }], $db: "test" });
    const change = {
      bulkWrite: 1,
      ops: [{ update: 0, filter: { g: 1 }, updateMods: { $set: { v: 1 } }, multi: true }],
      nsInfo,
    };
    expect(winningPlan(await explain(change, "queryPlanner", "admin")).shards).toHaveLength(2);
    expect(await counts()).toEqual([100, 0, 1]);
  });
});

describe("what is refused", () => {
  const bulk = (ops: Doc[]): Doc => ({ bulkWrite: 1, ops, nsInfo: [{ ns: "test.c" }] });

  test.each<[string, string, Doc, number, RegExp]>([
    ["an unknown command", "test", { foo: 1 }, 59, /^Explain failed due to unknown command: foo$/],
    ["insert", "test", { insert: "c", documents: [{ a: 1 }] }, 20, /^Cannot explain cmd: insert$/],
    ["ping", "test", { ping: 1 }, 20, /^Cannot explain cmd: ping$/],
    [
      "two updates",
      "test",
      {
        update: "c",
        updates: [
          { q: {}, u: {} },
          { q: {}, u: {} },
        ],
      },
      16,
      /^explained write batches must be of size 1$/,
    ],
    [
      "two updates, unsharded",
      "test",
      {
        update: "p",
        updates: [
          { q: {}, u: {} },
          { q: {}, u: {} },
        ],
      },
      16,
      /size 1$/,
    ],
    ["no delete", "test", { delete: "c", deletes: [] }, 16, /size 1$/],
    [
      "a bulkWrite of two",
      "admin",
      bulk([
        { delete: 0, filter: {} },
        { delete: 0, filter: {} },
      ]),
      16,
      /^explained bulkWrite must be of size 1$/,
    ],
    [
      "a bulkWrite of an insert",
      "admin",
      bulk([{ insert: 0, document: {} }]),
      20,
      /^Cannot explain cmd: insert$/,
    ],
    ["a bulkWrite elsewhere", "test", bulk([{ delete: 0, filter: {} }]), 13, /admin database/],
    [
      "an unknown operator: find's own error",
      "test",
      { find: "c", filter: { $foo: 1 } },
      2,
      /^unknown top level operator: \$foo/,
    ],
    [
      "an unknown field: find's own error",
      "test",
      { find: "c", foo: 1 },
      40415,
      /^BSON field '(find|FindCommandRequest).foo' is an unknown field/,
    ],
    ["a namespace that is none", "test", { find: "" }, 73, /^Invalid namespace/],
    [
      "what only a shard finds names the shard",
      "test",
      { find: "c", filter: { g: 1 }, hint: "nope" },
      2,
      /^Explain command on shard shardA failed :: caused by :: /,
    ],
    [
      "replacement of many",
      "test",
      { update: "c", updates: [{ q: {}, u: { a: 1 }, multi: true }] },
      72,
      /multi/,
    ],
  ])("%s", async (_what, db, command, code, errmsg) => {
    for (const verbosity of ["queryPlanner", "allPlansExecution"]) {
      const reply = await cluster.run(db, { explain: command, verbosity });
      expect([reply.ok, reply.code]).toEqual([0, code]);
      expect(reply.errmsg).toMatch(errmsg);
    }
  });

  test("a command that names another database", async () => {
    const reply = await cluster.run("test", {
      explain: { find: "c", $db: "other" },
      verbosity: "queryPlanner",
    });
    expect(reply).toMatchObject({ ok: 0, code: 73 });
  });

  test("a verbosity that is none", async () => {
    const reply = await cluster.run("test", { explain: { find: "c" }, verbosity: "all" });
    expect(reply).toMatchObject({ ok: 0, code: 2 });
  });

  test.each<["6.0" | "8.0", Doc, number | undefined]>([
    ["6.0", { update: "c", updates: [{ q: { g: 1 }, u: { $set: { v: 1 } } }] }, 72],
    ["6.0", { delete: "c", deletes: [{ q: { g: 1 }, limit: 1 }] }, 61],
    ["6.0", { findAndModify: "c", query: { g: 1 }, remove: true }, 61],
    ["6.0", { update: "c", updates: [{ q: { g: 1 }, u: { $set: { v: 1 } }, upsert: true }] }, 61],
    ["6.0", { update: "c", updates: [{ q: { _id: 1 }, u: { $set: { v: 1 } } }] }, undefined],
    ["8.0", { update: "c", updates: [{ q: { g: 1 }, u: { $set: { v: 1 } } }] }, undefined],
  ])("rules %s: %j → %s: explained as it would run (§4.3, §4.4)", async (rules, command, code) => {
    const older = await startCluster({ shards: 2, rules });
    await older.admin({ enableSharding: "test", primaryShard: "shardA" });
    await older.admin({ shardCollection: "test.c", key: { x: 1 } });
    await older.admin({ split: "test.c", middle: { x: 50 } });
    await older.admin({ moveChunk: "test.c", find: { x: 50 }, to: "shardB" });
    const reply = await older.run("test", { explain: command, verbosity: "queryPlanner" });
    expect([reply.ok, reply.code]).toEqual(code === undefined ? [1, undefined] : [0, code]);
  });
});

describe("around the plan", () => {
  test("command: what was explained, with its session and database", async () => {
    const lsid = { id: new Uint8Array(16) };
    const reply = await cluster.ok("test", {
      explain: { find: "c", filter: { x: 7 } },
      verbosity: "queryPlanner",
      comment: "why",
      lsid,
    });
    expect(Object.keys(reply.command as Doc)).toEqual(["find", "filter", "comment", "lsid", "$db"]);
    expect(reply.command).toMatchObject({ find: "c", filter: { x: 7 }, comment: "why", $db: "test" });
  });

  test("queryShapeHash: the same for other values, another for another question (8.0+)", async () => {
    const hash = async (command: Doc): Promise<unknown> => (await explain(command)).queryShapeHash;
    const seven = await hash({ find: "c", filter: { x: 7 } });
    expect(seven).toMatch(/^[0-9A-F]{64}$/);
    expect(await hash({ find: "c", filter: { x: 70 } })).toBe(seven);
    expect(await hash({ filter: { x: 9.5 }, find: "c" } as Doc).catch(() => seven)).toBe(seven);
    expect(await hash({ find: "c", filter: { g: 7 } })).not.toBe(seven);
    expect(await hash({ find: "c", filter: { x: "7" } })).not.toBe(seven);
    expect(await hash({ find: "c", filter: { x: 7 }, sort: { g: 1 } })).not.toBe(seven);
    const two = await hash({ find: "c", filter: { x: { $in: [1, 2] } } });
    expect(await hash({ find: "c", filter: { x: { $in: [1, 2, 3] } } })).toBe(two);
    expect(await hash({ find: "p", filter: { x: 7 } })).not.toBe(seven);
    expect(await hash({ distinct: "c", key: "x" })).toMatch(/^[0-9A-F]{64}$/);
    expect(await hash({ count: "c" })).toBeUndefined();
    expect(await hash({ delete: "c", deletes: [{ q: {}, limit: 0 }] })).toBeUndefined();
  });

  test("a database that does not exist: EOF, no shard, and it still does not exist", async () => {
    const reply = await explain({ find: "c", filter: { x: 7 } }, "executionStats", "nowhere");
    expect(reply.queryPlanner).toEqual({
      namespace: "nowhere.c",
      parsedQuery: { x: { $eq: 7 } },
      winningPlan: { queryPlan: { stage: "EOF", planNodeId: 1, type: "nonExistentNamespace" } },
    });
    expect(reply).not.toHaveProperty("executionStats");
    expect(Object.keys(reply).slice(0, 5)).toEqual([
      "queryPlanner",
      "queryShapeHash",
      "serverInfo",
      "serverParameters",
      "command",
    ]);
    const write = { update: "c", updates: [{ q: { x: 1 }, u: { $set: { v: 1 } }, upsert: true }] };
    await explain(write, "executionStats", "nowhere");
    const { databases } = (await cluster.admin({ listDatabases: 1 })) as { databases: { name: string }[] };
    expect(databases.map(({ name }) => name)).not.toContain("nowhere");
  });

  test("an IXSCAN on a hashed index has no multiKeyPaths, and its bounds are hashes (as recorded from 8.0.3)", async () => {
    const plan = winningPlan(await explain({ find: "h", filter: { d: 2 } })).shards[0]!.winningPlan;
    expect(plan).toMatchObject({ stage: "FETCH", filter: { d: { $eq: 2 } } });
    // hash64(2), §2.2
    expect(plan.inputStage).toEqual({
      stage: "IXSCAN",
      keyPattern: { d: "hashed" },
      indexName: "d_hashed",
      isMultiKey: false,
      isUnique: false,
      isSparse: false,
      isPartial: false,
      indexVersion: 2,
      direction: "forward",
      indexBounds: { d: ["[848411777775835583, 848411777775835583]"] },
    });
  });

  test("a view is explained as the aggregation that it is", async () => {
    await cluster.ok("test", { create: "high", viewOn: "c", pipeline: [{ $match: { x: { $gte: 60 } } }] });
    const onSharded = await explain({ find: "high", filter: { g: 1 } });
    // x >= 60 is shardB's alone: it runs everything.
    expect(onSharded).toMatchObject({ splitPipeline: null, shards: { shardB: {} } });
    expect(Object.keys(onSharded.shards as Doc)).toEqual(["shardB"]);
    await cluster.ok("test", {
      create: "ones",
      viewOn: "p",
      pipeline: [{ $match: { a: 1 } }, { $group: { _id: "$a" } }],
    });
    const onUnsharded = await explain({ find: "ones" });
    expect(Object.keys(onUnsharded.shards as Doc)).toEqual(["shardA"]);
    expect(onUnsharded).not.toHaveProperty("queryPlanner");
    for (const command of [{ count: "high" }, { distinct: "high", key: "g" }])
      expect(Object.keys((await explain(command)).shards as Doc)).toEqual(["shardB"]);
    await cluster.ok("test", { drop: "high" });
    await cluster.ok("test", { drop: "ones" });
  });

  test("a collation that sees strings otherwise says nothing about their chunks; numbers keep theirs (§4.1)", async () => {
    const collation = { locale: "en", strength: 2 };
    const asked = async (x: unknown): Promise<string[]> =>
      winningPlan(await explain({ find: "c", filter: { x }, collation })).shards.map(
        ({ shardName }) => shardName,
      );
    expect(await asked("seven")).toEqual(["shardA", "shardB"]);
    expect(await asked(7)).toEqual(["shardA"]);
    expect(winningPlan(await explain({ find: "c", filter: { x: "seven" } })).shards).toHaveLength(1);
    const write = {
      update: "c",
      updates: [{ q: { x: "seven" }, u: { $set: { v: 1 } }, multi: true, collation }],
    };
    expect(winningPlan(await explain(write)).shards).toHaveLength(2);
  });

  test("a collection that does not exist in a database that does", async () => {
    const plan = winningPlan(await explain({ find: "nothing" }));
    expect([plan.stage, plan.shards[0]!.shardName, chain(plan.shards[0]!.winningPlan)]).toEqual([
      "SINGLE_SHARD",
      "shardA",
      "EOF",
    ]);
  });
});
