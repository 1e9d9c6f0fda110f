/** `explain` of writes, those in two phases included (facts-mongos.md §5.1). */
import { beforeAll, describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "../support/cluster.js";
import { explainOn, startExplained, statsOf, winningPlan } from "../support/explained.js";

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startExplained();
});
const explain = explainOn(() => cluster);

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
