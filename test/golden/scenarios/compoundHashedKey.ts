/** A compound key with a hashed field (4.4+). */
import type { Scenario } from "../scenario.js";
import { layOut, range, routed } from "../scenario.js";

const ONE = '[(MinKey, MinKey), ("eu", MinKey)) A';
const TWO = '[("eu", MinKey), ("eu", 0)) B';
const THREE = '[("eu", 0), ("us", MinKey)) C';
const FOUR = '[("us", MinKey), (MaxKey, MaxKey)) A';

export const compoundHashedKey: Scenario = {
  file: "compound-hashed-key",
  title: 'A compound hashed key {region: 1, device: "hashed"}: ranges of regions, and devices spread inside each',
  setUp: async (cluster) => {
    const { MinKey } = await import("bson");
    const least = new MinKey();
    await layOut(cluster, "test.fleet", { region: 1, device: "hashed" }, [[{ region: "eu", device: least }, "B"], [{ region: "eu", device: 0n }, "C"], [{ region: "us", device: least }, "A"]]);
    const documents = range(0, 60).map((i) => ({ region: ["asia", "eu", "us"][i % 3], device: `dev-${i}` }));
    await cluster.ok("test", { insert: "fleet", documents, ordered: false });
  },
  steps: [
    routed("Both fields; dev-1 hashes to -9121815034321164931", "§2.2, §4.1 step 1", { find: "fleet", filter: { region: "eu", device: "dev-1" } }, "shardKey", "B", [TWO]),
    routed("The same region; dev-42 hashes to 7632986869154119240", "§2.2, §4.1 step 1", { find: "fleet", filter: { region: "eu", device: "dev-42" } }, "shardKey", "C", [THREE]),
    routed("The ranged prefix keeps its order", "§4.1", { find: "fleet", filter: { region: "us" } }, "bounds", "A", [FOUR]),
    routed("One region on two shards", "§4.1", { find: "fleet", filter: { region: "eu" } }, "bounds", "BC", [TWO, THREE]),
    routed("A range of regions", "§4.1", { find: "fleet", filter: { region: { $gte: "a", $lte: "f" } } }, "bounds", "ABC", [ONE, TWO, THREE]),
    routed("$in on the hashed field: a point for each", "§4.1", { find: "fleet", filter: { region: "us", device: { $in: ["dev-1", "dev-42"] } } }, "bounds", "A", [FOUR]),
    routed("A range over the hashed field: only the region helps", "§4.1", { find: "fleet", filter: { region: "eu", device: { $gt: "dev-0" } } }, "bounds", "BC", [TWO, THREE]),
    routed("The hashed field alone: the first field decides", "§4.1", { find: "fleet", filter: { device: "dev-1" } }, "allShards", "ABC", [ONE, TWO, THREE, FOUR]),
  ],
};
