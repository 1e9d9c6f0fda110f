/** Inserts follow the key. */
import type { Scenario } from "../scenario.js";
import { layOut, range, routed } from "../scenario.js";

const ONE = "[MinKey, 100) A";
const TWO = "[100, MaxKey) B";

export const inserts: Scenario = {
  file: "inserts",
  title: "Inserts: every document goes to the chunk of its key",
  setUp: (cluster) => layOut(cluster, "test.loans", { member: 1 }, [[{ member: 100 }, "B"]]),
  steps: [
    routed("One document, one chunk", "§4.2", { insert: "loans", documents: [{ _id: 1, member: 7 }] }, "shardKey", "A", [`${ONE} 1`], { n: 1 }),
    routed("Unordered: one batch for each shard, at the same time", "§4.2", { insert: "loans", documents: [{ member: 1 }, { member: 101 }, { member: 2 }], ordered: false }, "shardKey", "AB", [`${ONE} 2`, `${TWO} 1`], { n: 3 }),
    routed("Ordered: a new batch whenever the shard changes, one after another", "§4.2", { insert: "loans", documents: [{ member: 1 }, { member: 101 }, { member: 2 }] }, "shardKey", "AB", [`${ONE} 2`, `${TWO} 1`], { n: 3 }),
    routed("A key that only grows: every new document goes to the last chunk", "§4.2", { insert: "loans", documents: range(1000, 1010).map((member) => ({ member })) }, "shardKey", "B", [`${TWO} 10`], { n: 10 }),
    routed("A missing key counts as null (4.4+)", "§4.2", { insert: "loans", documents: [{ name: "Ann" }] }, "shardKey", "A", [`${ONE} 1`], { n: 1 }),
    routed("_id is unique on each shard only: this one is on shardA already, and goes to shardB", "§7", { insert: "loans", documents: [{ _id: 1, member: 150 }] }, "shardKey", "B", [`${TWO} 1`], { n: 1 }),
    routed("So both have it, and only the key tells them apart", "§7", { find: "loans", filter: { _id: 1 } }, "allShards", "AB", [ONE, TWO]),
  ],
};
