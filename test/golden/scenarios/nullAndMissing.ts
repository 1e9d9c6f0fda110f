/** Documents without the key, after the manual's table (§4.2). */
import type { Scenario } from "../scenario.js";
import { layOut, routed } from "../scenario.js";

const ONE = "[(MinKey, MinKey), (0, 0)) A";
const TWO = '[(0, 0), ("hello", MinKey)) B';
const THREE = '[("hello", MinKey), ("hello", "m")) C';
const FOUR = '[("hello", "m"), (MaxKey, MaxKey)) A';

export const nullAndMissing: Scenario = {
  file: "null-and-missing",
  title: "Null and missing fields under the key {x: 1, y: 1}: what is not there counts as null",
  setUp: async (cluster) => {
    const { MinKey } = await import("bson");
    await layOut(cluster, "test.greetings", { x: 1, y: 1 }, [[{ x: 0, y: 0 }, "B"], [{ x: "hello", y: new MinKey() }, "C"], [{ x: "hello", y: "m" }, "A"]]);
  },
  steps: [
    routed('{x: "hello"} lies at ("hello", null)', "§4.2", { insert: "greetings", documents: [{ x: "hello" }] }, "shardKey", "C", [`${THREE} 1`], { n: 1 }),
    routed('{x: "hello", y: null} lies there too', "§4.2", { insert: "greetings", documents: [{ x: "hello", y: null }] }, "shardKey", "C", [`${THREE} 1`], { n: 1 }),
    routed('{y: "goodbye"} lies at (null, "goodbye")', "§4.2", { insert: "greetings", documents: [{ y: "goodbye" }] }, "shardKey", "A", [`${ONE} 1`], { n: 1 }),
    routed("{z: 1} lies at (null, null)", "§4.2", { insert: "greetings", documents: [{ z: 1 }] }, "shardKey", "A", [`${ONE} 1`], { n: 1 }),
    routed('{x: "hello", y: "world"}: "world" lies behind "m"', "§4.2", { insert: "greetings", documents: [{ x: "hello", y: "world" }] }, "shardKey", "A", [`${FOUR} 1`], { n: 1 }),
    routed("Null by equality finds null and missing", "§4.1", { find: "greetings", filter: { x: "hello", y: null } }, "shardKey", "C", [THREE]),
    routed("Both null: the first chunk", "§4.1", { find: "greetings", filter: { x: null, y: null } }, "shardKey", "A", [ONE]),
    routed("$exists: false has the bounds of null, and a filter on the shard", "§4.1", { find: "greetings", filter: { x: { $exists: false } } }, "bounds", "A", [ONE]),
    routed("$exists: true: any value, so anywhere", "§4.1", { find: "greetings", filter: { x: { $exists: true } } }, "allShards", "ABC", [ONE, TWO, THREE, FOUR]),
    routed("Strings of the prefix", "§4.1", { find: "greetings", filter: { x: "hello" } }, "bounds", "AC", [THREE, FOUR]),
    routed("A number is not null: the chunk between", "§4.1", { find: "greetings", filter: { x: 7 } }, "bounds", "B", [TWO]),
  ],
};
