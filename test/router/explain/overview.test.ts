/** `explain` in one small collection: every stage of the router, and what each shard does below it (§5). */
import { beforeAll, describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "../support/cluster.js";
import { startCluster } from "../support/cluster.js";

/** Key {x: 1}, cut at 50: x = 0 … 49 on shardA, 50 … 99 on shardB; g = x mod 3. */
let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startCluster();
  await cluster.admin({ enableSharding: "test", primaryShard: "shardA" });
  await cluster.admin({ shardCollection: "test.c", key: { x: 1 } });
  await cluster.admin({ split: "test.c", middle: { x: 50 } });
  await cluster.admin({ moveChunk: "test.c", find: { x: 50 }, to: "shardB" });
  const documents = Array.from({ length: 100 }, (_, x) => ({ _id: x, x, g: x % 3, name: `n${x}` }));
  await cluster.ok("test", { insert: "c", documents });
  await cluster.ok("test", { insert: "plain", documents: [{ _id: 1, c: 5 }] });
});

describe("explain (§5)", () => {
  type Plan = { stage: string; shards: { shardName: string; winningPlan: Doc }[]; inputStage?: Doc };
  const explain = async (command: Doc, verbosity = "queryPlanner"): Promise<Doc> =>
    cluster.ok("test", { explain: command, verbosity });
  const planOf = (reply: Doc): Plan => (reply.queryPlanner as { winningPlan: Plan }).winningPlan;
  const stages = (plan: Doc | undefined): string =>
    // A LIMIT 1 below a single write is how the embedded shard says "one document".
    plan
      ? [String(plan.stage), stages(plan.inputStage as Doc | undefined)]
          .filter((name) => name !== "" && name !== "LIMIT")
          .join(" ← ")
      : "";

  test.each<[Doc, string, string[], string]>([
    [{ find: "c", filter: { x: 7 } }, "SINGLE_SHARD", ["shardA"], "FETCH ← IXSCAN"],
    [{ find: "c", filter: { g: 1 } }, "SHARD_MERGE", ["shardA", "shardB"], "SHARDING_FILTER ← COLLSCAN"],
    [
      { find: "c", filter: { x: { $gte: 10 } } },
      "SHARD_MERGE",
      ["shardA", "shardB"],
      "FETCH ← SHARDING_FILTER ← IXSCAN",
    ],
    [
      { find: "c", filter: { x: { $gte: 60 } } },
      "SINGLE_SHARD",
      ["shardB"],
      "FETCH ← SHARDING_FILTER ← IXSCAN",
    ],
    [
      { find: "c", sort: { g: 1 } },
      "SHARD_MERGE_SORT",
      ["shardA", "shardB"],
      "SORT ← SHARDING_FILTER ← COLLSCAN",
    ],
    [
      { count: "c", query: { g: 1 } },
      "SHARD_MERGE",
      ["shardA", "shardB"],
      "COUNT ← SHARDING_FILTER ← COLLSCAN",
    ],
    [{ find: "plain", filter: { c: 5 } }, "SINGLE_SHARD", ["shardA"], "COLLSCAN"],
    [
      { update: "c", updates: [{ q: { x: 7 }, u: { $set: { v: 1 } } }] },
      "SHARD_WRITE",
      ["shardA"],
      "UPDATE ← FETCH ← IXSCAN",
    ],
    [
      { update: "c", updates: [{ q: { g: 1 }, u: { $set: { v: 1 } }, multi: true }] },
      "SHARD_WRITE",
      ["shardA", "shardB"],
      "UPDATE ← COLLSCAN",
    ],
    [
      { delete: "c", deletes: [{ q: { x: 70 }, limit: 1 }] },
      "SHARD_WRITE",
      ["shardB"],
      "DELETE ← FETCH ← IXSCAN",
    ],
  ])("%j → %s %j", async (command, stage, shards, plan) => {
    const winning = planOf(await explain(command));
    expect(winning.stage).toBe(stage);
    expect(winning.shards.map(({ shardName }) => shardName)).toEqual(shards);
    expect(stages(winning.shards[0]!.winningPlan)).toBe(plan);
  });

  test("executionStats add up, and skip and limit apply to the sum", async () => {
    const reply = await explain({ find: "c", filter: { g: 0 }, skip: 3, limit: 20 }, "executionStats");
    expect(reply.executionStats).toMatchObject({
      nReturned: 20,
      executionStages: {
        stage: "SHARD_MERGE",
        limitAmount: 20,
        skipAmount: 3,
        shards: [{ shardName: "shardA" }, { shardName: "shardB" }],
      },
    });
    const whole = (await explain({ find: "c", filter: { g: 0 } }, "executionStats")).executionStats as Doc;
    expect([whole.nReturned, whole.totalDocsExamined, whole.totalKeysExamined]).toEqual([34, 100, 0]);
  });

  test("a single write without the key shows the search before it", async () => {
    const reply = await explain({ update: "c", updates: [{ q: { g: 1 }, u: { $set: { v: 1 } } }] });
    const winning = planOf(reply);
    expect(winning.stage).toBe("SHARD_WRITE");
    expect(winning.shards).toHaveLength(1);
    expect(planOf({ queryPlanner: winning.inputStage }).stage).toBe("SHARD_MERGE");
    expect(await cluster.ok("test", { count: "c", query: { v: 1 } })).toMatchObject({ n: 0 });
  });

  test("aggregate: one shard runs everything, or the pipeline is split", async () => {
    const one = await explain({ aggregate: "c", pipeline: [{ $match: { x: 7 } }], cursor: {} });
    expect(one.splitPipeline).toBeNull();
    expect(Object.keys(one.shards as Doc)).toEqual(["shardA"]);
    const pipeline = [{ $match: { g: 1 } }, { $group: { _id: "$g", n: { $sum: 1 } } }, { $sort: { _id: 1 } }];
    const split = await cluster.ok("test", { aggregate: "c", pipeline, explain: true });
    expect(split.mergeType).toBe("router");
    const { shardsPart, mergerPart } = split.splitPipeline as { shardsPart: Doc[]; mergerPart: Doc[] };
    expect(shardsPart.flatMap((stage) => Object.keys(stage))).toEqual(["$match", "$group"]);
    expect(mergerPart.flatMap((stage) => Object.keys(stage))).toEqual(["$group", "$sort"]);
    expect(Object.keys(split.shards as Doc)).toEqual(["shardA", "shardB"]);
  });

  test("a database that does not exist", async () => {
    const reply = await cluster.ok("nowhere", { explain: { find: "c" }, verbosity: "queryPlanner" });
    expect(reply.queryPlanner).toMatchObject({ winningPlan: { queryPlan: { stage: "EOF" } } });
  });
});
