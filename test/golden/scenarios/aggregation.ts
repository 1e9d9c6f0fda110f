/** Where a pipeline is split. */
import type { Scenario } from "../scenario.js";
import { layOut, range, routed } from "../scenario.js";

const ONE = "[MinKey, 50) A";
const TWO = "[50, MaxKey) B";
const BOTH = [ONE, TWO];
const run = (...pipeline: object[]): Record<string, unknown> => ({ aggregate: "items", pipeline, cursor: {} });
const batch = (...firstBatch: object[]): Record<string, unknown> => ({ cursor: { firstBatch } });

export const aggregation: Scenario = {
  file: "aggregation",
  title: "Aggregation: the leading $match routes, the rest is split between shards and router",
  setUp: async (cluster) => {
    await layOut(cluster, "test.items", { x: 1 }, [[{ x: 50 }, "B"]]);
    await cluster.ok("test", { insert: "items", documents: range(0, 100).map((x) => ({ _id: x, x, g: x % 3 })) });
  },
  steps: [
    routed("The $match in front routes the pipeline", "§4.1", run({ $match: { x: 7 } }, { $count: "n" }), "shardKey", "A", [ONE], batch({ n: 1 })),
    routed("A range in one chunk: one shard runs everything", "§4.1", run({ $match: { x: { $gte: 60 } } }, { $group: { _id: null, n: { $sum: 1 } } }), "bounds", "B", [TWO], batch({ _id: null, n: 40 })),
    routed("$group: partial groups, three rows from each shard", "§6", run({ $group: { _id: "$g", n: { $sum: 1 } } }, { $sort: { _id: 1 } }), "allShards", "AB", BOTH, batch({ _id: 0, n: 34 }, { _id: 1, n: 33 }, { _id: 2, n: 33 })),
    routed("$count is a $group of everything", "§6", run({ $count: "n" }), "allShards", "AB", BOTH, batch({ n: 100 })),
    routed("$sort on the shards, merged by its key", "§6", run({ $sort: { x: -1 } }, { $limit: 2 }, { $project: { _id: 0, x: 1 } }), "allShards", "AB", BOTH, batch({ x: 99 }, { x: 98 })),
    routed("$project and $match run where the documents are", "§6", run({ $project: { x: 1 } }, { $match: { g: 0 } }), "allShards", "AB", BOTH, batch()),
    routed("$collStats: one row for each owning shard", "§6", run({ $collStats: { count: {} } }, { $project: { _id: 0, shard: 1, count: 1 } }), "allShards", "AB", BOTH),
  ],
};
