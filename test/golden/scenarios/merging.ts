/** What shards do and what is left for the router. */
import type { Scenario } from "../scenario.js";
import { layOut, range, routed } from "../scenario.js";

const ONE = "[MinKey, 50) A";
const TWO = "[50, MaxKey) B";
const BOTH = [ONE, TWO];

export const merging: Scenario = {
  file: "merging",
  title: "Merging: what shards do and what is left for the router",
  setUp: async (cluster) => {
    await layOut(cluster, "test.items", { x: 1 }, [[{ x: 50 }, "B"]]);
    await cluster.ok("test", { insert: "items", documents: range(0, 100).map((x) => ({ _id: x, x, g: x % 3 })) });
  },
  steps: [
    routed("Without a sort the streams are put together", "§6", { find: "items" }, "allShards", "AB", BOTH),
    routed("A sort: each shard sorts, the router merges", "§6", { find: "items", sort: { g: 1 } }, "allShards", "AB", BOTH),
    routed("A limit goes to the shards, and is applied again", "§6", { find: "items", sort: { g: 1 }, limit: 5 }, "allShards", "AB", BOTH),
    routed("A skip stays with the router: the shards get limit + skip", "§6", { find: "items", sort: { x: 1 }, skip: 10, limit: 5 }, "allShards", "AB", BOTH),
    routed("A batch size is for each shard's batches too", "§6", { find: "items", sort: { x: 1 }, batchSize: 3 }, "allShards", "AB", BOTH),
    routed("On one shard the command is passed on whole", "§6", { find: "items", filter: { x: { $gte: 60 } }, sort: { x: 1 }, skip: 10, limit: 5 }, "bounds", "B", [TWO]),
  ],
};
