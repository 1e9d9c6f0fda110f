/** Writes of many documents. */
import type { Scenario } from "../scenario.js";
import { layOut, range, refused, routed } from "../scenario.js";

const ONE = "[MinKey, 100) A";
const TWO = "[100, MaxKey) B";

export const multiWrites: Scenario = {
  file: "multi-writes",
  title: "Writes of many documents go where their filter targets",
  setUp: async (cluster) => {
    await layOut(cluster, "test.loans", { member: 1 }, [[{ member: 100 }, "B"]]);
    await cluster.ok("test", { insert: "loans", documents: range(0, 200).map((member) => ({ _id: member, member, even: member % 2 === 0 })) });
  },
  steps: [
    routed("Bounds inside one chunk", "§4.1", { update: "loans", updates: [{ q: { member: { $gte: 120 } }, u: { $set: { old: true } }, multi: true }] }, "bounds", "B", [TWO], { n: 80, nModified: 80 }),
    routed("The whole key", "§4.1", { update: "loans", updates: [{ q: { member: 7 }, u: { $set: { old: true } }, multi: true }] }, "shardKey", "A", [ONE], { n: 1, nModified: 1 }),
    routed("Nothing known about the key: everywhere, and the counts are added", "§4.1", { update: "loans", updates: [{ q: { even: true }, u: { $set: { marked: 1 } }, multi: true }] }, "allShards", "AB", [ONE, TWO], { n: 100, nModified: 100 }),
    refused("Many documents can't change their keys", "§4.5", { update: "loans", updates: [{ q: { even: true }, u: { $inc: { member: 1 } }, multi: true }] }, 72),
    refused("A replacement is for one document", "§4.4", { update: "loans", updates: [{ q: { even: true }, u: { name: "Ann" }, multi: true }] }, 72),
    routed("A delete by bounds; 100 is the next chunk's, and is asked", "§4.1", { delete: "loans", deletes: [{ q: { member: { $gte: 90, $lt: 100 } }, limit: 0 }] }, "bounds", "AB", [ONE, TWO], { n: 10 }),
    routed("A delete of everything", "§4.1", { delete: "loans", deletes: [{ q: {}, limit: 0 }] }, "allShards", "AB", [ONE, TWO], { n: 190 }),
  ],
};
