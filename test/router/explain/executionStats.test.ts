/** `explain` with statistics: totals, skip and limit (facts-mongos.md §5.1). */
import { Long } from "bson";
import { toDocument } from "shardlab/bson";
import { beforeAll, describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "../support/cluster.js";
import { explainOn, startExplained, statsOf, winningPlan } from "../support/explained.js";

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startExplained();
});
const explain = explainOn(() => cluster);

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
