/** Upserts: the key must say where a new document would go. */
import type { Scenario } from "../scenario.js";
import { layOut, refused, routed, stepwise } from "../scenario.js";

const ONE = "[MinKey, 100) A";
const TWO = "[100, MaxKey) B";

export const upserts: Scenario = {
  file: "upserts",
  title: "Upserts: the key says where a new document goes",
  setUp: (cluster) => layOut(cluster, "test.loans", { member: 1 }, [[{ member: 100 }, "B"]]),
  steps: [
    routed("The whole key: looked for and inserted on its shard", "§4.4", { update: "loans", updates: [{ q: { member: 150 }, u: { $set: { name: "Ann" } }, upsert: true }] }, "shardKey", "B", [TWO], { n: 1, nModified: 0 }),
    routed("Again: now it is there", "§4.4", { update: "loans", updates: [{ q: { member: 150 }, u: { $set: { name: "Bob" } }, upsert: true }] }, "shardKey", "B", [TWO], { n: 1, nModified: 1 }),
    stepwise(routed("Without the key: searched on all, then inserted where its key, null, belongs (7.1+)", "§4.4", { update: "loans", updates: [{ q: { name: "Cid" }, u: { $set: { due: 1 } }, upsert: true }] }, "allShards", "AB", [ONE, TWO], { n: 1, nModified: 0 }), "search A 0", "search B 0", "insert A"),
    refused("Many documents and an upsert: only with the whole key", "§4.4", { update: "loans", updates: [{ q: { name: "Dan" }, u: { $set: { due: 1 } }, multi: true, upsert: true }] }, 61),
    routed("With it, it is allowed", "§4.4", { update: "loans", updates: [{ q: { member: 8 }, u: { $set: { due: 1 } }, multi: true, upsert: true }] }, "shardKey", "A", [ONE], { n: 1, nModified: 0 }),
    routed("findAndModify", "§4.4", { findAndModify: "loans", query: { member: 160 }, update: { $set: { due: 1 } }, upsert: true }, "shardKey", "B", [TWO], { lastErrorObject: { n: 1, updatedExisting: false } }),
  ],
};
