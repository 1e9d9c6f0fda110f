/** Counts are added, distinct values united. */
import type { Scenario } from "../scenario.js";
import { layOut, range, routed } from "../scenario.js";

const ONE = "[MinKey, 50) A";
const TWO = "[50, MaxKey) B";

export const countsAndDistinct: Scenario = {
  file: "counts-and-distinct",
  title: "Counts are added up, distinct values united",
  setUp: async (cluster) => {
    await layOut(cluster, "test.items", { x: 1 }, [[{ x: 50 }, "B"]]);
    await cluster.ok("test", { insert: "items", documents: range(0, 100).map((x) => ({ _id: x, x, g: x % 3 })) });
  },
  steps: [
    routed("Everything: 50 + 50", "§6", { count: "items" }, "allShards", "AB", [ONE, TWO], { n: 100 }),
    routed("By the key: one shard counts", "§4.1 step 1", { count: "items", query: { x: 7 } }, "shardKey", "A", [ONE], { n: 1 }),
    routed("By a range: 60 … 99", "§4.1 step 2", { count: "items", query: { x: { $gte: 60 } } }, "bounds", "B", [TWO], { n: 40 }),
    routed("Skip and limit apply to the sum: 34 with g = 0, less 30", "§6", { count: "items", query: { g: 0 }, skip: 30, limit: 10 }, "allShards", "AB", [ONE, TWO], { n: 4 }),
    routed("Distinct: each shard has the same three, the union has three", "§6", { distinct: "items", key: "g" }, "allShards", "AB", [ONE, TWO], { values: [0, 1, 2] }),
    routed("Distinct where the filter targets", "§4.1 step 2", { distinct: "items", key: "x", query: { x: { $gte: 97 } } }, "bounds", "B", [TWO], { values: [97, 98, 99] }),
  ],
};
