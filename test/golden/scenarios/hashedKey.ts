/** A hashed key: equality finds its shard, order is gone. */
import type { Scenario } from "../scenario.js";
import { place, range, routed } from "../scenario.js";

// Three shards, three chunks (§2.4).
const LOW = "[MinKey, -3074457345618258602) C";
const MIDDLE = "[-3074457345618258602, 3074457345618258602) A";
const HIGH = "[3074457345618258602, MaxKey) B";
const ALL = [LOW, MIDDLE, HIGH];

export const hashedKey: Scenario = {
  file: "hashed-key",
  title: 'A hashed key {deviceId: "hashed"}: equality finds its shard, order is gone',
  setUp: async (cluster) => {
    await cluster.admin({ enableSharding: "test", primaryShard: "shardA" });
    await cluster.admin({ shardCollection: "test.events", key: { deviceId: "hashed" } });
    await place(cluster, "test.events", "CAB");
    const documents = range(0, 300).map((i) => ({ _id: i, deviceId: `dev-${i % 100}`, i }));
    await cluster.ok("test", { insert: "events", documents, ordered: false });
  },
  steps: [
    routed("dev-1 hashes to -9121815034321164931, below the first cut", "§2.2", { find: "events", filter: { deviceId: "dev-1" } }, "shardKey", "C", [LOW]),
    routed("dev-0 hashes to 2254643809256703712, between the cuts", "§2.2", { find: "events", filter: { deviceId: "dev-0" } }, "shardKey", "A", [MIDDLE]),
    routed("dev-42 hashes to 7632986869154119240, above the second cut", "§2.2", { find: "events", filter: { deviceId: "dev-42" } }, "shardKey", "B", [HIGH]),
    routed("$in: each value is hashed", "§4.1", { find: "events", filter: { deviceId: { $in: ["dev-1", "dev-42"] } } }, "bounds", "BC", [LOW, HIGH]),
    routed("$or of equalities: the same", "§4.1", { find: "events", filter: { $or: [{ deviceId: "dev-1" }, { deviceId: "dev-42" }] } }, "bounds", "BC", [LOW, HIGH]),
    routed("A range over a hashed field says nothing", "§4.1", { find: "events", filter: { deviceId: { $gte: "dev-1", $lt: "dev-2" } } }, "allShards", "ABC", ALL),
    routed("A prefix says nothing either", "§4.1", { find: "events", filter: { deviceId: { $regex: "^dev-4" } } }, "allShards", "ABC", ALL),
    routed("Nor does another field", "§4.1", { find: "events", filter: { i: 42 } }, "allShards", "ABC", ALL),
    routed("A missing field hashes as null, 2338878944348059895", "§2.3", { find: "events", filter: { deviceId: null } }, "shardKey", "A", [MIDDLE]),
    routed("2.9 is cut off and hashes as 2, 848411777775835583", "§2.1", { find: "events", filter: { deviceId: 2.9 } }, "shardKey", "A", [MIDDLE]),
    routed("-1 hashes to 1140205862565771219: the sign of a value is not that of its hash", "§2.2", { find: "events", filter: { deviceId: -1 } }, "shardKey", "A", [MIDDLE]),
    routed("Neighbouring documents are spread", "§2.2, §4.2", { insert: "events", documents: [{ deviceId: "dev-0" }, { deviceId: "dev-1" }, { deviceId: "dev-42" }], ordered: false }, "shardKey", "ABC", [`${LOW} 1`, `${MIDDLE} 1`, `${HIGH} 1`], { n: 3 }),
  ],
};
