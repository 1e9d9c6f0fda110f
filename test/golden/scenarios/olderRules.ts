/** What older releases did with the same operations. */
import type { Scenario } from "../scenario.js";
import { layOut, place, range, refused, retryable, routed, stepwise } from "../scenario.js";

const ONE = "[MinKey, 100) A";
const TWO = "[100, MaxKey) B";

const loans: Scenario["setUp"] = async (cluster) => {
  await layOut(cluster, "test.loans", { member: 1 }, [[{ member: 100 }, "B"]]);
  await cluster.ok("test", { insert: "loans", documents: range(0, 200).map((member) => ({ _id: member, member, name: `n${member % 10}` })) });
};

export const OLDER_RULES: readonly Scenario[] = [
  {
    file: "rules-6.0-single-writes",
    title: "Before 7.1: a write of one document must name the key or _id",
    rules: "6.0",
    setUp: loans,
    steps: [
      refused("An update without the key", "§4.3", { update: "loans", updates: [{ q: { name: "n3" }, u: { $set: { due: 1 } } }] }, 72),
      refused("A delete of one", "§4.3", { delete: "loans", deletes: [{ q: { name: "n3" }, limit: 1 }] }, 61),
      refused("findAndModify", "§4.3", { findAndModify: "loans", query: { name: "n3" }, remove: true }, 61),
      refused("findAndModify, also by _id", "§4.3", { findAndModify: "loans", query: { _id: 3 }, remove: true }, 61),
      refused("An upsert", "§4.4", { update: "loans", updates: [{ q: { name: "Zoe" }, u: { $set: { due: 1 } }, upsert: true }] }, 61),
      routed("With the key all is well", "§4.3", { update: "loans", updates: [{ q: { member: 150 }, u: { $set: { due: 1 } } }] }, "shardKey", "B", [TWO], { n: 1 }),
      routed("With _id too: every shard is asked", "§4.3", { update: "loans", updates: [{ q: { _id: 3 }, u: { $set: { due: 1 } } }] }, "allShards", "AB", [ONE, TWO], { n: 1 }),
      routed("And with a filter that targets one shard", "§4.3", { delete: "loans", deletes: [{ q: { member: { $gte: 150 } }, limit: 1 }] }, "bounds", "B", [TWO], { n: 1 }),
      stepwise(routed("A key may change, if the filter names it", "§4.5", retryable({ update: "loans", updates: [{ q: { member: 1 }, u: { $set: { member: 101.5 } } }] }, 1), "shardKey", "AB", [ONE], { n: 1 }), "search A 1", "insert B", "delete A"),
      refused("It may not if the filter has only _id", "§4.5", retryable({ update: "loans", updates: [{ q: { _id: 2 }, u: { $set: { member: 102.5 } } }] }, 2), 31025),
    ],
  },
  {
    file: "rules-4.2-keys",
    title: "4.2: documents must have the key; its value may change",
    rules: "4.2",
    setUp: loans,
    steps: [
      refused("A document without the key", "§4.2", { insert: "loans", documents: [{ name: "Ann" }] }, 61),
      stepwise(routed("A changed key, the first release that allows it", "§4.5", retryable({ update: "loans", updates: [{ q: { member: 1 }, u: { $set: { member: 101.5 } } }] }, 1), "shardKey", "AB", [ONE], { n: 1 }), "search A 1", "insert B", "delete A"),
    ],
  },
  {
    file: "rules-2.4-hashed-chunks",
    title: "2.4: a hashed collection begins with two chunks for each shard; keys never change",
    rules: "2.4",
    setUp: async (cluster) => {
      await cluster.admin({ enableSharding: "test", primaryShard: "shardA" });
      await cluster.admin({ shardCollection: "test.events", key: { deviceId: "hashed" } });
      // Six chunks, in pairs on shardA, shardB, shardC (§2.4); nothing is moved, `place` only checks the number.
      await place(cluster, "test.events", "AABBCC");
      await cluster.ok("test", { insert: "events", documents: range(0, 50).map((i) => ({ _id: i, deviceId: `dev-${i}` })) });
    },
    steps: [
      routed("dev-1 hashes to -9121815034321164931: the first of six", "§2.2, §2.4", { find: "events", filter: { deviceId: "dev-1" } }, "shardKey", "A", ["[MinKey, -6148914691236517204) A"]),
      routed("dev-0 hashes to 2254643809256703712: the fourth", "§2.2, §2.4", { find: "events", filter: { deviceId: "dev-0" } }, "shardKey", "B", ["[0, 3074457345618258602) B"]),
      routed("dev-42 hashes to 7632986869154119240: the last", "§2.2, §2.4", { find: "events", filter: { deviceId: "dev-42" } }, "shardKey", "C", ["[6148914691236517204, MaxKey) C"]),
      refused("A key's value never changes", "§4.5", retryable({ update: "events", updates: [{ q: { deviceId: "dev-1" }, u: { $set: { deviceId: "dev-2" } } }] }, 1), 66),
    ],
  },
];
