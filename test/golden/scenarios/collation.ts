/** Chunks are in byte order; a query may see strings in another. */
import type { Scenario } from "../scenario.js";
import { layOut, routed, stepwise } from "../scenario.js";

const ONE = '[MinKey, "m") A';
const TWO = '["m", MaxKey) B';
/** Case does not count. */
const collation = { locale: "en", strength: 2 };

export const collations: Scenario = {
  file: "collation",
  title: "Collations: chunks are in byte order, so a query that sees strings otherwise must look everywhere",
  setUp: async (cluster) => {
    await layOut(cluster, "test.people", { name: 1 }, [[{ name: "m" }, "B"]]);
    await cluster.ok("test", { insert: "people", documents: [{ _id: 1, name: "anna" }, { _id: 2, name: "Zoe" }, { _id: 3, name: "zoe" }, { _id: 4, name: 7 }] });
  },
  steps: [
    routed("Byte order: capitals come before small letters, so Zoe is on shardA", "§4.1", { find: "people", filter: { name: "Zoe" } }, "shardKey", "A", [ONE]),
    routed("zoe is on shardB", "§4.1", { find: "people", filter: { name: "zoe" } }, "shardKey", "B", [TWO]),
    routed("Where case doesn't count both are wanted: the key says nothing", "§4.1 collation", { count: "people", query: { name: "zoe" }, collation }, "allShards", "AB", [ONE, TWO], { n: 2 }),
    routed("A number is the same number under any collation", "§4.1 collation", { find: "people", filter: { name: 7 }, collation }, "shardKey", "A", [ONE]),
    routed("The simple collation is byte order", "§4.1 collation", { find: "people", filter: { name: "zoe" }, collation: { locale: "simple" } }, "shardKey", "B", [TWO]),
    stepwise(routed("A write of one document searches it first, as if the key weren't there", "§4.3", { update: "people", updates: [{ q: { name: "ANNA" }, u: { $set: { seen: true } }, collation }] }, "allShards", "AB", [ONE, TWO], { n: 1, nModified: 1 }), "search A 1", "search B 0", "write A"),
  ],
};
