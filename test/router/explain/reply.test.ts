/** What stands around the plan in the reply of `explain`. */
import { beforeAll, describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "../support/cluster.js";
import { chain, explainOn, startExplained, winningPlan } from "../support/explained.js";

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startExplained();
});
const explain = explainOn(() => cluster);

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
