/** What may be a shard key, which documents have one, and its index, under each release (facts-mongos.md §1.5, §2.3, §4.2). */
import { outcome, splitAtZero, tryRow } from "./releases.js";

tryRow("compound hashed key", async (cluster) => {
  await cluster.admin({ enableSharding: "lab" });
  const tries = [
    { region: 1, device: "hashed" },
    { device: "hashed", t: 1 },
  ].map((key, i) => outcome(cluster, "admin", { shardCollection: `lab.c${i}`, key }));
  const [prefix, suffix] = await Promise.all(tries);
  // A single hashed field is fine under every release; two are under none.
  await cluster.admin({ shardCollection: "lab.single", key: { device: "hashed" } });
  const two = await outcome(cluster, "admin", {
    shardCollection: "lab.two",
    key: { a: "hashed", b: "hashed" },
  });
  return prefix === suffix && two === 2 ? prefix : { prefix, suffix, two };
});

tryRow("insert without the key", async (cluster) => {
  await splitAtZero(cluster);
  // An explicit null is a value under every release, and sorts below 0.
  await cluster.ok("test", { insert: "c", documents: [{ _id: "null", x: null }] });
  const insert = await outcome(cluster, "test", { insert: "c", documents: [{ _id: "missing" }] });
  const onA = await cluster.shard("shardA", "test", { count: "c", query: { x: null } });
  return onA.n === (insert === "ok" ? 2 : 1) ? insert : { insert, n: onA.n };
});

tryRow("insert with half a compound key", async (cluster) => {
  await cluster.admin({ enableSharding: "lab" });
  await cluster.admin({ shardCollection: "lab.c", key: { x: 1, y: 1 } });
  return outcome(cluster, "lab", { insert: "c", documents: [{ x: "hello" }] });
});

tryRow("dropping the last key index", async (cluster) => {
  await splitAtZero(cluster);
  const drop = { dropIndexes: "c", index: "x_1" };
  const result = await outcome(cluster, "test", drop);
  if (result !== "ok") return result;
  // Without its index the collection can't move chunks; recreating it recovers (reference: Shard Key Indexes).
  const move = { moveChunk: "test.c", find: { x: -1 }, to: "shardB" };
  if ((await outcome(cluster, "admin", move)) === "ok") return "moved without an index";
  await cluster.ok("test", { createIndexes: "c", indexes: [{ key: { x: 1 }, name: "x_1" }] });
  return outcome(cluster, "admin", move);
});

tryRow("dropping the last hashed key index", async (cluster) => {
  await cluster.admin({ enableSharding: "lab" });
  await cluster.admin({ shardCollection: "lab.c", key: { d: "hashed" } });
  return outcome(cluster, "lab", { dropIndexes: "c", index: "d_hashed" });
});
