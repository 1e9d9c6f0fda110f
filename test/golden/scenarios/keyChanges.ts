/** Changing a document's key. */
import type { Scenario } from "../scenario.js";
import { layOut, range, refused, retryable, routed, stepwise } from "../scenario.js";

const ONE = "[MinKey, 100) A";
const TWO = "[100, MaxKey) B";
const move = (q: object, u: object): Record<string, unknown> => ({ update: "loans", updates: [{ q, u }] });

export const keyChanges: Scenario = {
  file: "key-changes",
  title: "Changing a document's key: it may have to change shards",
  setUp: async (cluster) => {
    await layOut(cluster, "test.loans", { member: 1 }, [[{ member: 100 }, "B"]]);
    await cluster.ok("test", { insert: "loans", documents: range(0, 200).map((member) => ({ _id: member, member })) });
  },
  steps: [
    refused("Only as a retryable write, or in a transaction", "§4.5", move({ member: 1 }, { $set: { member: 101 } }), 20),
    stepwise(routed("As one: the document moves from shardA to shardB", "§4.5", retryable(move({ member: 1 }, { $set: { member: 150.5 } }), 1), "shardKey", "AB", [ONE], { n: 1, nModified: 1 }), "search A 1", "insert B", "delete A"),
    routed("There it is now", "§4.5", { find: "loans", filter: { member: 150.5 } }, "shardKey", "B", [TWO]),
    routed("And not where it was", "§4.5", { count: "loans", query: { member: 1 } }, "shardKey", "A", [ONE], { n: 0 }),
    stepwise(routed("Inside its shard: changed in place", "§4.5", retryable(move({ member: 2 }, { $set: { member: 2.5 } }), 2), "shardKey", "A", [ONE], { n: 1, nModified: 1 }), "search A 1", "write A"),
    refused("Not to an array", "§4.5", retryable(move({ member: 3 }, { $set: { member: [3, 4] } }), 3), 54),
    stepwise(routed("Without the key in the filter: searched first (7.1+)", "§4.5", retryable(move({ _id: 4 }, { $set: { member: 104.5 } }), 4), "allShards", "AB", [ONE, TWO], { n: 1, nModified: 1 }), "search A 1", "search B 0", "insert B", "delete A"),
    stepwise(routed("To the same value: nothing happens", "§4.5", move({ member: 5 }, { $set: { member: 5 } }), "shardKey", "A", [ONE], { n: 1, nModified: 0 }), "search A 1"),
  ],
};
