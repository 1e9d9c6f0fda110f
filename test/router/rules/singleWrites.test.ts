/** Writes of one document, upserts and changed keys under each release (facts-mongos.md §4.3–§4.5). */
import { describe, expect, test } from "vitest";
import { RULES_VERSIONS } from "shardlab/router";
import type { Doc, TestCluster } from "../support/cluster.js";
import { startCluster } from "../support/cluster.js";
import { outcome, RETRYABLE, splitAtZero, tryRow } from "./releases.js";

const count = async (cluster: TestCluster, query: Doc): Promise<unknown> =>
  (await cluster.ok("test", { count: "c", query })).n;

/** The shard that has the one document with this filter, straight from the shards. */
async function shardOf(cluster: TestCluster, query: Doc): Promise<string | undefined> {
  const having: string[] = [];
  for (const id of cluster.shards.keys()) {
    if ((await cluster.shard(id, "test", { count: "c", query })).n === 1) having.push(id);
  }
  return having.length > 1 ? having.join() : having[0];
}

tryRow("updateOne without key and _id", async (cluster) => {
  await splitAtZero(cluster);
  const updates = [{ q: { g: 1 }, u: { $set: { v: 1 } } }];
  return [await outcome(cluster, "test", { update: "c", updates }), await count(cluster, { v: 1 })];
});

tryRow("deleteOne without key and _id", async (cluster) => {
  await splitAtZero(cluster);
  const deletes = [{ q: { g: 1 }, limit: 1 }];
  return [await outcome(cluster, "test", { delete: "c", deletes }), await count(cluster, {})];
});

tryRow("findAndModify without key and _id", async (cluster) => {
  await splitAtZero(cluster);
  const command = { findAndModify: "c", query: { g: 1 }, sort: { x: -1 }, remove: true };
  const reply = await cluster.run("test", command);
  return reply.code ?? reply.value;
});

tryRow("findAndModify by _id", async (cluster) => {
  await splitAtZero(cluster);
  const reply = await cluster.run("test", { findAndModify: "c", query: { _id: 3 }, remove: true });
  return reply.code ?? reply.value;
});

tryRow("deleteOne by a range on one shard", async (cluster) => {
  await splitAtZero(cluster);
  return outcome(cluster, "test", { delete: "c", deletes: [{ q: { x: { $gt: 0 } }, limit: 1 }] });
});

tryRow("findAndModify by a range on one shard", async (cluster) => {
  await splitAtZero(cluster);
  return outcome(cluster, "test", { findAndModify: "c", query: { x: { $gt: 0 } }, remove: true });
});

tryRow("upsert without the whole key", async (cluster) => {
  await splitAtZero(cluster);
  const updates = [{ q: { _id: "new" }, u: { $set: { x: 7 } }, upsert: true }];
  const result = await outcome(cluster, "test", { update: "c", updates });
  return [result, await shardOf(cluster, { _id: "new" })];
});

tryRow("findAndModify upsert without the whole key", async (cluster) => {
  await splitAtZero(cluster);
  const command = { findAndModify: "c", query: { _id: "new" }, update: { $set: { x: 7 } }, upsert: true };
  return [await outcome(cluster, "test", command), await shardOf(cluster, { _id: "new" })];
});

/** Updates the document with _id 0, whose x is -2, and says where it is then. */
async function change(cluster: TestCluster, q: Doc, x: number, extra: Doc): Promise<unknown[]> {
  await splitAtZero(cluster);
  const command = { update: "c", updates: [{ q, u: { $set: { x } } }], ...extra };
  return [await outcome(cluster, "test", command), await shardOf(cluster, { _id: 0 })];
}

tryRow("changing a key value", (cluster) => change(cluster, { x: -2 }, 10, RETRYABLE));

tryRow("changing a key value, not retryable", (cluster) => change(cluster, { x: -2 }, 10, {}));

tryRow("changing a key value within its shard", (cluster) => change(cluster, { x: -2 }, -10, RETRYABLE));

tryRow("changing a key value by _id", (cluster) => change(cluster, { _id: 0 }, 10, RETRYABLE));

/** What holds under every release, so that the rows above differ in nothing else. */
describe.each(RULES_VERSIONS)("under every release, here %s", (rules) => {
  const cases: [string, Doc, unknown][] = [
    ["updateOne by the key", { update: "c", updates: [{ q: { x: 1 }, u: { $set: { v: 1 } } }] }, "ok"],
    [
      "updateOne by _id goes everywhere",
      { update: "c", updates: [{ q: { _id: 1 }, u: { $set: { v: 1 } } }] },
      "ok",
    ],
    [
      "updateOne by a range on one shard",
      { update: "c", updates: [{ q: { x: { $lt: -1 } }, u: { $set: { v: 1 } } }] },
      "ok",
    ],
    ["deleteOne by the key", { delete: "c", deletes: [{ q: { x: 1 }, limit: 1 }] }, "ok"],
    ["deleteOne by _id goes everywhere", { delete: "c", deletes: [{ q: { _id: 1 }, limit: 1 }] }, "ok"],
    ["deleteMany without the key", { delete: "c", deletes: [{ q: { g: 1 }, limit: 0 }] }, "ok"],
    ["findAndModify by the key", { findAndModify: "c", query: { x: 1 }, remove: true }, "ok"],
    [
      "an upsert with the key",
      { update: "c", updates: [{ q: { x: 9 }, u: { $set: { v: 1 } }, upsert: true }] },
      "ok",
    ],
    [
      "updateMany with upsert needs the whole key",
      { update: "c", updates: [{ q: { g: 9 }, u: { $set: { v: 1 } }, multi: true, upsert: true }] },
      61,
    ],
    ["a replacement of many", { update: "c", updates: [{ q: { g: 1 }, u: { x: 1 }, multi: true }] }, 72],
    ["an array as key value", { insert: "c", documents: [{ x: [1] }] }, 61],
  ];
  test.each(cases)("%s", async (_name, command, expected) => {
    const cluster = await startCluster({ rules });
    await splitAtZero(cluster);
    expect(await outcome(cluster, "test", command)).toBe(expected);
  });
});
