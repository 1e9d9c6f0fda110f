/** Pipelines that read or write a second collection, and views. */
import type { Scenario } from "../scenario.js";
import { layOut, range, routed } from "../scenario.js";

const ONE = "[MinKey, 50) A";
const TWO = "[50, MaxKey) B";
const run = (...pipeline: object[]): Record<string, unknown> => ({ aggregate: "items", pipeline, cursor: {} });
const batch = (...firstBatch: object[]): Record<string, unknown> => ({ cursor: { firstBatch } });

export const joins: Scenario = {
  file: "joins-and-views",
  title: "A second collection in the pipeline: joins, outputs, views",
  setUp: async (cluster) => {
    await layOut(cluster, "test.items", { x: 1 }, [[{ x: 50 }, "B"]]);
    await cluster.ok("test", { insert: "items", documents: range(0, 100).map((x) => ({ _id: x, x, g: x % 3 })) });
    await cluster.ok("test", { insert: "groups", documents: [{ _id: 0, name: "zero" }, { _id: 1, name: "one" }] });
    await cluster.ok("test", { create: "upper", viewOn: "items", pipeline: [{ $match: { x: { $gte: 60 } } }] });
  },
  steps: [
    routed("$lookup of an unsharded collection, from a shard that has both: that shard does it all", "§6", run({ $match: { x: 1 } }, { $lookup: { from: "groups", localField: "g", foreignField: "_id", as: "group" } }, { $project: { "group.name": 1 } }), "shardKey", "A", [ONE], batch({ _id: 1, group: [{ name: "one" }] })),
    routed("A view's $match routes as if it were the query's", "§4.1", { find: "upper", filter: { x: { $lt: 63 } }, projection: { _id: 0, x: 1 }, sort: { x: 1 } }, "bounds", "B", [TWO], batch({ x: 60 }, { x: 61 }, { x: 62 })),
    routed("A count of a view is a pipeline: 60 … 99", "§4.1", { count: "upper" }, "bounds", "B", [TWO], { n: 40 }),
  ],
};
