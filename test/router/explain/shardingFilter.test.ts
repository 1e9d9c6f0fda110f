/** SHARDING_FILTER: where a shard would drop documents that it does not own (facts-mongos.md §5.1). */
import { beforeAll, describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "../support/cluster.js";
import type { Plan } from "../support/explained.js";
import { chain, explainOn, startExplained, statsOf, winningPlan } from "../support/explained.js";

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startExplained();
});
const explain = explainOn(() => cluster);

/** What a shard of the collection does for a command, in one line. */
const shardPlan = async (command: Doc): Promise<string> =>
  chain(winningPlan(await explain(command)).shards[0]!.winningPlan);

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
