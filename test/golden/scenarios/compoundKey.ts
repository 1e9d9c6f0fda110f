/** A compound key: the prefix is enough to target. */
import type { Scenario } from "../scenario.js";
import { layOut, range, routed } from "../scenario.js";

const ONE = "[(MinKey, MinKey), (10, 0)) A";
const TWO = "[(10, 0), (10, 50)) B";
const THREE = "[(10, 50), (20, 0)) C";
const FOUR = "[(20, 0), (MaxKey, MaxKey)) A";

export const compoundKey: Scenario = {
  file: "compound-key",
  title: "A compound key {customer: 1, day: 1}: the prefix is enough to target",
  setUp: async (cluster) => {
    await layOut(cluster, "test.orders", { customer: 1, day: 1 }, [[{ customer: 10, day: 0 }, "B"], [{ customer: 10, day: 50 }, "C"], [{ customer: 20, day: 0 }, "A"]]);
    const documents = range(0, 30).flatMap((customer) => range(0, 4).map((d) => ({ customer, day: d * 25 })));
    await cluster.ok("test", { insert: "orders", documents, ordered: false });
  },
  steps: [
    routed("Both fields: one point", "§4.1 step 1", { find: "orders", filter: { customer: 10, day: 25 } }, "shardKey", "B", [TWO]),
    routed("The prefix: (15, MinKey) .. (15, MaxKey)", "§4.1", { find: "orders", filter: { customer: 15 } }, "bounds", "C", [THREE]),
    routed("One customer in three chunks", "§4.1", { find: "orders", filter: { customer: 10 } }, "bounds", "ABC", [ONE, TWO, THREE]),
    routed("$in on the prefix: an interval for each value", "§4.1", { find: "orders", filter: { customer: { $in: [5, 25] } } }, "bounds", "A", [ONE, FOUR]),
    routed("A point, then a range", "§4.1 step 2", { find: "orders", filter: { customer: 10, day: { $gte: 60 } } }, "bounds", "C", [THREE]),
    routed("Behind a range the second field barely helps", "§4.1 step 2", { find: "orders", filter: { customer: { $gte: 12, $lte: 25 }, day: 25 } }, "bounds", "AC", [THREE, FOUR]),
    routed("The second field alone doesn't help at all", "§4.1", { find: "orders", filter: { day: 25 } }, "allShards", "ABC", [ONE, TWO, THREE, FOUR]),
    routed("The order of fields in a filter doesn't matter, nor an $and", "§4.1", { find: "orders", filter: { $and: [{ day: 25 }, { customer: 10 }] } }, "shardKey", "B", [TWO]),
    routed("A missing day is a null day, and null lies below 0", "§4.1", { find: "orders", filter: { customer: 10, day: null } }, "shardKey", "A", [ONE]),
  ],
};
