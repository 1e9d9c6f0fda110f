/** Writes of one document under today's rules. */
import type { Scenario } from "../scenario.js";
import { layOut, range, routed, stepwise } from "../scenario.js";

const ONE = "[MinKey, 100) A";
const TWO = "[100, MaxKey) B";

export const singleWrites: Scenario = {
  file: "single-writes",
  title: "Writes of one document: the key leads to it; without the key it is searched first",
  setUp: async (cluster) => {
    await layOut(cluster, "test.loans", { member: 1 }, [[{ member: 100 }, "B"]]);
    await cluster.ok("test", { insert: "loans", documents: range(0, 200).map((member) => ({ _id: member, member, name: `n${member % 10}` })) });
  },
  steps: [
    routed("The whole key: one shard", "§4.3", { update: "loans", updates: [{ q: { member: 150 }, u: { $set: { due: 1 } } }] }, "shardKey", "B", [TWO], { n: 1, nModified: 1 }),
    routed("A filter that happens to target one shard is as good", "§4.3", { update: "loans", updates: [{ q: { member: { $gte: 120 } }, u: { $set: { due: 2 } } }] }, "bounds", "B", [TWO], { n: 1, nModified: 1 }),
    routed("Exactly _id: every shard is asked, at most one has it", "§4.3", { update: "loans", updates: [{ q: { _id: 5 }, u: { $set: { due: 1 } } }] }, "allShards", "AB", [ONE, TWO], { n: 1, nModified: 1 }),
    stepwise(routed("Neither key nor _id: search on all, then write one (7.1+)", "§4.3", { update: "loans", updates: [{ q: { name: "n3" }, u: { $set: { due: 3 } } }] }, "allShards", "AB", [ONE, TWO], { n: 1, nModified: 1 }), "search A 1", "search B 1", "write A"),
    routed("A replacement keeps the key it names", "§4.3", { update: "loans", updates: [{ q: { member: 7 }, u: { member: 7, name: "Ann" } }] }, "shardKey", "A", [ONE], { n: 1, nModified: 1 }),
    routed("A delete by the key", "§4.3", { delete: "loans", deletes: [{ q: { member: 199 }, limit: 1 }] }, "shardKey", "B", [TWO], { n: 1 }),
    stepwise(routed("A delete of one, without the key: two phases too", "§4.3", { delete: "loans", deletes: [{ q: { name: "n4" }, limit: 1 }] }, "allShards", "AB", [ONE, TWO], { n: 1 }), "search A 1", "search B 1", "delete A"),
    routed("findAndModify by the key", "§4.3", { findAndModify: "loans", query: { member: 150 }, update: { $inc: { n: 1 } } }, "shardKey", "B", [TWO], { lastErrorObject: { n: 1 } }),
    stepwise(routed("findAndModify without it: two phases, also for _id", "§4.3", { findAndModify: "loans", query: { _id: 6 }, update: { $inc: { n: 1 } } }, "allShards", "AB", [ONE, TWO], { lastErrorObject: { n: 1 } }), "search A 1", "search B 0", "write A"),
    stepwise(routed("findAndModify with a sort: the first of all shards", "§4.3", { findAndModify: "loans", query: {}, sort: { member: -1 }, remove: true }, "allShards", "AB", [ONE, TWO], { value: { member: 198 } }), "search A 1", "search B 1", "delete B"),
  ],
};
