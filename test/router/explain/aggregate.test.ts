/** `explain` of an aggregation: the parts, and where they are merged (facts-mongos.md §5.2). */
import { beforeAll, describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "../support/cluster.js";
import { startCluster } from "../support/cluster.js";
import type { Explained } from "../support/sixDocuments.js";
import { explainSix, loadSix } from "../support/sixDocuments.js";

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startCluster();
  await loadSix(cluster);
});

const explain = (pipeline: object[], options: Doc = {}, on = cluster): Promise<Explained> =>
  explainSix(on, pipeline, options);

describe("explain (§5.2)", () => {
  test("names each shard, and where the merge is", async () => {
    const sorted = await explain([{ $sort: { q: 1 } }]);
    expect(sorted.mergeType).toBe("router");
    expect(Object.keys(sorted.shards)).toEqual(["shardA", "shardB"]);
    expect(await explain([{ $match: { x: 10 } }])).toMatchObject({ splitPipeline: null });
    const spilling = await explain([{ $group: { _id: "$k" } }], { allowDiskUse: true });
    expect(spilling.mergeType).toBe("anyShard");
  });

  test("a join with an unsharded collection is merged where that is", async () => {
    await cluster.ok("test", { insert: "plain", documents: [{ _id: 1 }] });
    const join = [{ $lookup: { from: "plain", localField: "q", foreignField: "_id", as: "p" } }];
    expect(await explain(join)).toMatchObject({ mergeType: "specificShard", mergeShard: "shardA" });
    expect(await explain([{ $out: "o" }])).toMatchObject({
      mergeType: "specificShard",
      mergeShard: "shardA",
    });
    expect(await explain([{ $merge: "o" }])).toMatchObject({ mergeType: "router" });
    for (const [rules, expected] of [
      ["7.0", { mergeType: "specificShard", mergeShardId: "shardA" }],
      ["5.0", { mergeType: "primaryShard" }],
    ] as const) {
      const old = await startCluster({ rules });
      await loadSix(old);
      await old.ok("test", { insert: "plain", documents: [{ _id: 1 }] });
      expect(await explain(join, {}, old)).toMatchObject(expected);
      expect((await explain([{ $sort: { q: 1 } }], {}, old)).mergeType).toBe("mongos");
    }
  });

  test("executionStats come from each shard; nothing is written", async () => {
    const reply = await cluster.ok("test", {
      explain: { aggregate: "c", pipeline: [{ $match: { q: { $gt: 2 } } }, { $out: "never" }], cursor: {} },
      verbosity: "executionStats",
    });
    expect(reply.splitPipeline).toMatchObject({ mergerPart: [{ $out: "never" }] });
    const shards = reply.shards as Record<string, { executionStats?: Doc; stages?: Doc[] }>;
    expect(JSON.stringify(shards.shardA)).toContain("nReturned");
    expect(await cluster.all("test", { listCollections: 1, filter: { name: "never" } })).toEqual([]);
  });

  test("{aggregate, explain: true} is the same", async () => {
    const reply = await cluster.ok("test", {
      aggregate: "c",
      pipeline: [{ $sort: { q: 1 } }],
      explain: true,
    });
    expect(reply).toMatchObject({ mergeType: "router", shards: { shardA: {}, shardB: {} } });
  });
});
