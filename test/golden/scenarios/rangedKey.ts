/** A ranged key: neighbours lie together. */
import type { Scenario } from "../scenario.js";
import { layOut, range, routed } from "../scenario.js";

const [ONE, TWO, THREE, FOUR] = ["[MinKey, 100) A", "[100, 200) B", "[200, 300) A", "[300, MaxKey) C"] as const;
const ALL = [ONE, TWO, THREE, FOUR];

export const rangedKey: Scenario = {
  file: "ranged-key",
  title: "A ranged key {ts: 1}: neighbours lie together, so a range asks few shards",
  setUp: async (cluster) => {
    await layOut(cluster, "test.events", { ts: 1 }, [[{ ts: 100 }, "B"], [{ ts: 200 }, "A"], [{ ts: 300 }, "C"]]);
    await cluster.ok("test", { insert: "events", documents: range(0, 400).map((ts) => ({ _id: ts, ts, user: ts % 7 })) });
  },
  steps: [
    routed("The whole key by equality: one chunk, one shard", "§4.1 step 1", { find: "events", filter: { ts: 42 } }, "shardKey", "A", [ONE]),
    routed("A chunk includes its lower bound", "§3.1", { find: "events", filter: { ts: 100 } }, "shardKey", "B", [TWO]),
    routed("A range inside one chunk", "§4.1 step 2", { find: "events", filter: { ts: { $gte: 120, $lt: 150 } } }, "bounds", "B", [TWO]),
    routed("A range over three chunks asks their owners", "§4.1 step 2", { find: "events", filter: { ts: { $gte: 150, $lte: 350 } } }, "bounds", "ABC", [TWO, THREE, FOUR]),
    routed("Intervals are closed: $lt 100 also asks the chunk that begins at 100", "§4.1 step 2", { find: "events", filter: { ts: { $lt: 100 } } }, "bounds", "AB", [ONE, TWO]),
    routed("Above the last bound there is one shard", "§4.1 step 2", { find: "events", filter: { ts: { $gt: 300 } } }, "bounds", "C", [FOUR]),
    routed("$in: a point for each value", "§4.1", { find: "events", filter: { ts: { $in: [5, 250, 399] } } }, "bounds", "AC", [ONE, THREE, FOUR]),
    routed("$or: the union of its branches", "§4.1", { find: "events", filter: { $or: [{ ts: 5 }, { ts: 150 }] } }, "bounds", "AB", [ONE, TWO]),
    routed("$or with a branch that doesn't name the key", "§4.1", { find: "events", filter: { $or: [{ ts: 5 }, { user: 1 }] } }, "allShards", "ABC", ALL),
    routed("$and: the intervals are cut", "§4.1", { find: "events", filter: { $and: [{ ts: { $gte: 100 } }, { ts: { $lte: 150 } }] } }, "bounds", "B", [TWO]),
    routed("Nothing known about the key", "§4.1 step 3", { find: "events", filter: { user: 3 } }, "allShards", "ABC", ALL),
    routed("The whole collection", "§4.1 step 3", { find: "events" }, "allShards", "ABC", ALL),
    routed("$exists: false lies where null lies, below all numbers", "§4.1", { find: "events", filter: { ts: { $exists: false } } }, "bounds", "A", [ONE]),
    routed("Null by equality is a point as any other", "§4.1", { find: "events", filter: { ts: null } }, "shardKey", "A", [ONE]),
    routed("A regular expression with a prefix: strings lie behind all numbers", "§4.1", { find: "events", filter: { ts: { $regex: "^2026" } } }, "bounds", "C", [FOUR]),
    routed("$expr with a constant is as good as an equality", "§4.1", { find: "events", filter: { $expr: { $eq: ["$ts", 42] } } }, "bounds", "A", [ONE]),
    routed("Nothing can match: one arbitrary shard, the first chunk's", "§4.1 step 3", { find: "events", filter: { ts: { $in: [] } } }, "none", "A", []),
    routed("Bounds that contradict each other: the same", "§4.1 step 3", { find: "events", filter: { ts: { $gt: 300, $lt: 100 } } }, "none", "A", []),
  ],
};
