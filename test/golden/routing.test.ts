/**
 * Golden routing traces.
 *
 * Each scenario sets a collection up, runs operations and writes what the router
 * did with them to a `.trace` file that reads as teaching material. The
 * expectations here (shards and ranges) are written by hand from the rules; a
 * snapshot alone would only say that nothing has changed.
 */
import type { RoutingTraceEntry } from "shardlab/router";
import { expect, test } from "vitest";
import type { Doc, TestCluster } from "../router/support/cluster.js";
import { startCluster } from "../router/support/cluster.js";
import { render } from "./render.js";

interface Step {
  /** The rule that the expectation follows from (facts-mongos.md). */
  readonly facts: string;
  readonly command: Doc;
  readonly kind: RoutingTraceEntry["targeting"]["kind"];
  /** Letters of the shards asked. */
  readonly shards: string;
  /** Lower bounds of the chunks met, as the scenario numbers its chunks from 0. */
  readonly chunks: readonly number[];
  /** Documents per chunk, for inserts. */
  readonly documents?: readonly number[];
}

interface Scenario {
  readonly file: string;
  readonly title: string;
  readonly setUp: (cluster: TestCluster) => Promise<void>;
  readonly steps: readonly Step[];
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);

/** Shards a collection on shardA and puts pieces elsewhere: `[lower bound, shard letter]`. */
async function layOut(cluster: TestCluster, ns: string, key: Doc, pieces: readonly [Doc, string][]): Promise<void> {
  const db = ns.slice(0, ns.indexOf("."));
  await cluster.admin({ enableSharding: db, primaryShard: "shardA" });
  await cluster.admin({ shardCollection: ns, key });
  for (const [middle] of pieces) await cluster.run("admin", { split: ns, middle });
  const chunks = await cluster.all("config", { find: "chunks", sort: { min: 1 } });
  const letters = ["A", ...pieces.map(([, letter]) => letter)];
  for (const [i, { min, max }] of chunks.entries()) {
    await cluster.admin({ moveChunk: ns, bounds: [min, max], to: `shard${letters[i]}` });
  }
}

const SCENARIOS: readonly Scenario[] = [
  {
    file: "ranged-key",
    title: "A ranged key {ts: 1}: neighbours lie together, so a range asks few shards",
    setUp: async (cluster) => {
      await layOut(cluster, "test.events", { ts: 1 }, [[{ ts: 100 }, "B"], [{ ts: 200 }, "A"], [{ ts: 300 }, "C"]]);
      await cluster.ok("test", { insert: "events", documents: range(0, 400).map((ts) => ({ _id: ts, ts, user: ts % 7 })) });
    },
    steps: [
      { facts: "§4.1 step 1: the whole key by equality", command: { find: "events", filter: { ts: 42 } }, kind: "shardKey", shards: "A", chunks: [0] },
      { facts: "§3.1: a chunk includes its lower bound", command: { find: "events", filter: { ts: 100 } }, kind: "shardKey", shards: "B", chunks: [1] },
      { facts: "§4.1 step 2: a range inside one chunk", command: { find: "events", filter: { ts: { $gte: 120, $lt: 150 } } }, kind: "bounds", shards: "B", chunks: [1] },
      { facts: "§4.1 step 2: a range over three chunks", command: { find: "events", filter: { ts: { $gte: 150, $lte: 350 } } }, kind: "bounds", shards: "ABC", chunks: [1, 2, 3] },
      { facts: "§4.1: both ends are closed, so the chunk beginning at 100 is asked too", command: { find: "events", filter: { ts: { $lt: 100 } } }, kind: "bounds", shards: "AB", chunks: [0, 1] },
      { facts: "§4.1: one point per value of $in", command: { find: "events", filter: { ts: { $in: [5, 250, 399] } } }, kind: "bounds", shards: "AC", chunks: [0, 2, 3] },
      { facts: "§4.1: union of the branches of $or", command: { find: "events", filter: { $or: [{ ts: 5 }, { ts: 150 }] } }, kind: "bounds", shards: "AB", chunks: [0, 1] },
      { facts: "§4.1: one branch without the key", command: { find: "events", filter: { $or: [{ ts: 5 }, { user: 1 }] } }, kind: "allShards", shards: "ABC", chunks: [0, 1, 2, 3] },
      { facts: "§4.1: nothing known about the key", command: { find: "events", filter: { user: 3 } }, kind: "allShards", shards: "ABC", chunks: [0, 1, 2, 3] },
      { facts: "§4.1: missing and null lie in the null chunk", command: { find: "events", filter: { ts: { $exists: false } } }, kind: "bounds", shards: "A", chunks: [0] },
      { facts: "§4.1: null by equality", command: { find: "events", filter: { ts: null } }, kind: "shardKey", shards: "A", chunks: [0] },
      { facts: "§4.1: strings sort behind all numbers", command: { find: "events", filter: { ts: { $regex: "^2026" } } }, kind: "bounds", shards: "C", chunks: [3] },
      { facts: "§4.1: nothing can match, one arbitrary shard", command: { find: "events", filter: { ts: { $in: [] } } }, kind: "none", shards: "A", chunks: [] },
    ],
  },
  {
    file: "hashed-key",
    title: 'A hashed key {deviceId: "hashed"}: equality finds its shard, order is gone',
    setUp: async (cluster) => {
      // dev-1 hashes to -9121815034321164931, dev-0 to 2254643809256703712, dev-42 to 7632986869154119240 (§2.2).
      await cluster.admin({ enableSharding: "test", primaryShard: "shardA" });
      await cluster.admin({ shardCollection: "test.events", key: { deviceId: "hashed" } });
      const chunks = await cluster.all("config", { find: "chunks", sort: { min: 1 } });
      // Three shards, three chunks: -3074457345618258602 and 3074457345618258602 are the cuts (§2.4).
      for (const [i, { min, max }] of chunks.entries()) {
        await cluster.admin({ moveChunk: "test.events", bounds: [min, max], to: `shard${"CAB"[i]}` });
      }
      const documents = range(0, 300).map((i) => ({ _id: i, deviceId: `dev-${i % 100}`, i }));
      await cluster.ok("test", { insert: "events", documents, ordered: false });
    },
    steps: [
      { facts: "§2.2: dev-1 hashes below the first cut", command: { find: "events", filter: { deviceId: "dev-1" } }, kind: "shardKey", shards: "C", chunks: [0] },
      { facts: "§2.2: dev-0 hashes between the cuts", command: { find: "events", filter: { deviceId: "dev-0" } }, kind: "shardKey", shards: "A", chunks: [1] },
      { facts: "§2.2: dev-42 hashes above the second cut", command: { find: "events", filter: { deviceId: "dev-42" } }, kind: "shardKey", shards: "B", chunks: [2] },
      { facts: "§4.1: $in hashes each value", command: { find: "events", filter: { deviceId: { $in: ["dev-1", "dev-42"] } } }, kind: "bounds", shards: "BC", chunks: [0, 2] },
      { facts: "§4.1: a range over a hashed field says nothing", command: { find: "events", filter: { deviceId: { $gte: "dev-1", $lt: "dev-2" } } }, kind: "allShards", shards: "ABC", chunks: [0, 1, 2] },
      { facts: "§4.1: a prefix neither", command: { find: "events", filter: { deviceId: { $regex: "^dev-4" } } }, kind: "allShards", shards: "ABC", chunks: [0, 1, 2] },
      { facts: "§2.3: a missing field hashes as null, 2338878944348059895", command: { find: "events", filter: { deviceId: null } }, kind: "shardKey", shards: "A", chunks: [1] },
      { facts: "§4.1: no shard key", command: { find: "events", filter: { i: 42 } }, kind: "allShards", shards: "ABC", chunks: [0, 1, 2] },
    ],
  },
  {
    file: "compound-key",
    title: "A compound key {customer: 1, day: 1}: the prefix is enough to target",
    setUp: async (cluster) => {
      await layOut(cluster, "test.orders", { customer: 1, day: 1 }, [[{ customer: 10, day: 0 }, "B"], [{ customer: 10, day: 50 }, "C"], [{ customer: 20, day: 0 }, "A"]]);
      const documents = range(0, 30).flatMap((customer) => range(0, 4).map((d) => ({ customer, day: d * 25 })));
      await cluster.ok("test", { insert: "orders", documents, ordered: false });
    },
    steps: [
      { facts: "§4.1 step 1: both fields", command: { find: "orders", filter: { customer: 10, day: 25 } }, kind: "shardKey", shards: "B", chunks: [1] },
      { facts: "§4.1: the prefix: (15, MinKey) .. (15, MaxKey)", command: { find: "orders", filter: { customer: 15 } }, kind: "bounds", shards: "C", chunks: [2] },
      { facts: "§4.1: customer 10 lies in three chunks", command: { find: "orders", filter: { customer: 10 } }, kind: "bounds", shards: "ABC", chunks: [0, 1, 2] },
      { facts: "§4.1 step 2: a point, then a range", command: { find: "orders", filter: { customer: 10, day: { $gte: 60 } } }, kind: "bounds", shards: "C", chunks: [2] },
      { facts: "§4.1 step 2: behind a range the second field barely helps", command: { find: "orders", filter: { customer: { $gte: 12, $lte: 25 }, day: 25 } }, kind: "bounds", shards: "AC", chunks: [2, 3] },
      { facts: "§4.1: the second field alone", command: { find: "orders", filter: { day: 25 } }, kind: "allShards", shards: "ABC", chunks: [0, 1, 2, 3] },
      { facts: "§4.1: fields under $and", command: { find: "orders", filter: { $and: [{ day: 25 }, { customer: 10 }] } }, kind: "shardKey", shards: "B", chunks: [1] },
    ],
  },
  {
    file: "writes",
    title: "Writes: inserts follow the key, updates and deletes follow the filter",
    setUp: async (cluster) => {
      await layOut(cluster, "test.loans", { member: 1 }, [[{ member: 100 }, "B"]]);
      await cluster.ok("test", { insert: "loans", documents: range(0, 200).map((member) => ({ _id: member, member })) });
    },
    steps: [
      { facts: "§4.2: each document to its own chunk", command: { insert: "loans", documents: [{ member: 1 }, { member: 101 }, { member: 2 }], ordered: false }, kind: "shardKey", shards: "AB", chunks: [0, 1], documents: [2, 1] },
      { facts: "§4.2: a monotonic key: every new document to the last chunk", command: { insert: "loans", documents: range(1000, 1010).map((member) => ({ member })) }, kind: "shardKey", shards: "B", chunks: [1], documents: [10] },
      { facts: "§4.2: a missing key field counts as null (4.4+)", command: { insert: "loans", documents: [{ name: "Ann" }] }, kind: "shardKey", shards: "A", chunks: [0], documents: [1] },
      { facts: "§4.3: targeted by the whole key", command: { update: "loans", updates: [{ q: { member: 150 }, u: { $set: { due: 1 } } }] }, kind: "shardKey", shards: "B", chunks: [1] },
      { facts: "§4.3: exactly _id: all shards are asked", command: { update: "loans", updates: [{ q: { _id: 5 }, u: { $set: { due: 1 } } }] }, kind: "allShards", shards: "AB", chunks: [0, 1] },
      { facts: "§4.3: two-phase (7.1+): search on all, write on one", command: { update: "loans", updates: [{ q: { name: "Ann" }, u: { $set: { due: 1 } } }] }, kind: "allShards", shards: "AB", chunks: [0, 1] },
      { facts: "§4.1: a multi update goes where its filter targets", command: { update: "loans", updates: [{ q: { member: { $gte: 120 } }, u: { $set: { old: true } }, multi: true }] }, kind: "bounds", shards: "B", chunks: [1] },
      { facts: "§4.1: a delete too", command: { delete: "loans", deletes: [{ q: { member: { $lt: 3 } }, limit: 0 }] }, kind: "bounds", shards: "A", chunks: [0] },
      { facts: "§4.3: findAndModify by the key", command: { findAndModify: "loans", query: { member: 150 }, update: { $inc: { n: 1 } } }, kind: "shardKey", shards: "B", chunks: [1] },
    ],
  },
  {
    file: "merging",
    title: "Merging: what shards do and what is left for the router",
    setUp: async (cluster) => {
      await layOut(cluster, "test.items", { x: 1 }, [[{ x: 50 }, "B"]]);
      await cluster.ok("test", { insert: "items", documents: range(0, 100).map((x) => ({ _id: x, x, g: x % 3 })) });
      await cluster.ok("test", { insert: "plain", documents: [{ a: 1 }] });
    },
    steps: [
      { facts: "§6: without a sort the streams are concatenated", command: { find: "items" }, kind: "allShards", shards: "AB", chunks: [0, 1] },
      { facts: "§6: sort: merge sort of sorted streams", command: { find: "items", sort: { g: 1 }, limit: 5 }, kind: "allShards", shards: "AB", chunks: [0, 1] },
      { facts: "§6: skip stays on the router, shards get limit + skip", command: { find: "items", sort: { x: 1 }, skip: 10, limit: 5 }, kind: "allShards", shards: "AB", chunks: [0, 1] },
      { facts: "§6: one shard: passed on whole", command: { find: "items", filter: { x: { $gte: 60 } }, sort: { x: 1 }, skip: 10, limit: 5 }, kind: "bounds", shards: "B", chunks: [1] },
      { facts: "§6: count: the sum", command: { count: "items" }, kind: "allShards", shards: "AB", chunks: [0, 1] },
      { facts: "§6: distinct: the union", command: { distinct: "items", key: "g" }, kind: "allShards", shards: "AB", chunks: [0, 1] },
      { facts: "§6: $group: partial groups, three rows from each shard", command: { aggregate: "items", pipeline: [{ $group: { _id: "$g", n: { $sum: 1 } } }], cursor: {} }, kind: "allShards", shards: "AB", chunks: [0, 1] },
      { facts: "§4.1: the leading $match routes the pipeline", command: { aggregate: "items", pipeline: [{ $match: { x: 7 } }, { $count: "n" }], cursor: {} }, kind: "shardKey", shards: "A", chunks: [0] },
      { facts: "§6: $sort on the shards, merge by its key", command: { aggregate: "items", pipeline: [{ $sort: { g: 1 } }, { $limit: 4 }], cursor: {} }, kind: "allShards", shards: "AB", chunks: [0, 1] },
      { facts: "§6: $collStats: one row per owning shard", command: { aggregate: "items", pipeline: [{ $collStats: { storageStats: {} } }], cursor: {} }, kind: "allShards", shards: "AB", chunks: [0, 1] },
      { facts: "§1.1: an unsharded collection lives on the primary", command: { find: "plain" }, kind: "unsharded", shards: "A", chunks: [] },
    ],
  },
];

for (const { file, title, setUp, steps } of SCENARIOS) {
  test(`${file}: ${title}`, async () => {
    const cluster = await startCluster({ shards: 3 });
    await setUp(cluster);
    const chunks = await cluster.all("config", { find: "chunks", sort: { min: 1 } });
    const parts = [`# ${title}`];
    for (const { facts, command, kind, shards, chunks: met, documents } of steps) {
      const entries = await cluster.traced(() => cluster.ok("test", command));
      const [entry] = entries;
      const what = JSON.stringify(command);
      expect(entries, what).toHaveLength(1);
      expect(entry!.targeting.kind, what).toBe(kind);
      expect(entry!.shards.map(({ shard }) => shard.slice(-1)).join(""), what).toBe(shards);
      expect(entry!.ranges.map(({ min }) => min), what).toEqual(met.map((i) => chunks[i]!.min));
      if (documents) expect(entry!.ranges.map((one) => one.documents), what).toEqual(documents);
      parts.push(`## ${facts}\n${render(command, entries)}`);
    }
    await expect(`${parts.join("\n\n")}\n`).toMatchFileSnapshot(`./${file}.trace`);
  });
}
