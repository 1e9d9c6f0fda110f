/** Collections that are not sharded. */
import type { Scenario } from "../scenario.js";
import { routed } from "../scenario.js";

export const unsharded: Scenario = {
  file: "unsharded",
  title: "Unsharded collections live whole on their database's primary shard",
  setUp: async (cluster) => {
    await cluster.admin({ enableSharding: "test", primaryShard: "shardB" });
    await cluster.ok("test", { insert: "plain", documents: [{ _id: 1, a: 1 }, { _id: 2, a: 2 }] });
  },
  steps: [
    routed("A find", "§1.1", { find: "plain", filter: { a: 1 } }, "unsharded", "B", []),
    routed("An insert", "§1.1", { insert: "plain", documents: [{ _id: 3, a: 3 }] }, "unsharded", "B", [], { n: 1 }),
    routed("An update of one document needs no key", "§1.1", { update: "plain", updates: [{ q: { a: 1 }, u: { $set: { b: 1 } } }] }, "unsharded", "B", [], { n: 1, nModified: 1 }),
    routed("A count", "§1.1", { count: "plain" }, "unsharded", "B", [], { n: 3 }),
    routed("A whole pipeline", "§1.1", { aggregate: "plain", pipeline: [{ $group: { _id: null, n: { $sum: "$a" } } }], cursor: {} }, "unsharded", "B", [], { cursor: { firstBatch: [{ _id: null, n: 6 }] } }),
    routed("A collection that is not there: its primary would have it", "§1.1", { find: "nothing" }, "unsharded", "B", []),
  ],
};
