/**
 * Collections to be joined. Two shards. `orders` is sharded on {x: 1}, cut at 50; `items` is sharded on
 * {sku: "hashed"}; the `plain` ones live on shardA, the primary of `test`; the primary of `other` is shardB.
 */
import type { TestCluster } from "./cluster.js";

/** What `orders` and `plainOrders` hold. */
export const ORDERS = [
  { _id: 1, x: 10, sku: "a" },
  { _id: 2, x: 60, sku: "b" },
  { _id: 3, x: 90, sku: "a" },
];
/** What `items` and `plainItems` hold. */
export const ITEMS = [
  { _id: "i1", sku: "a", price: 5 },
  { _id: "i2", sku: "b", price: 7 },
  { _id: "i3", sku: "c", price: 9 },
];
/** The chain ann → bob → cid, spread over the shards by name. */
const STAFF = [
  { _id: 1, name: "ann", boss: "bob" },
  { _id: 2, name: "bob", boss: "cid" },
  { _id: 3, name: "cid", boss: null },
];

/** Makes and fills the collections. */
export async function loadJoined(cluster: TestCluster): Promise<void> {
  await cluster.admin({ enableSharding: "test", primaryShard: "shardA" });
  await cluster.admin({ enableSharding: "other", primaryShard: "shardB" });
  await cluster.admin({ shardCollection: "test.orders", key: { x: 1 } });
  await cluster.admin({ split: "test.orders", middle: { x: 50 } });
  await cluster.admin({ moveChunk: "test.orders", find: { x: 50 }, to: "shardB" });
  await cluster.admin({ shardCollection: "test.items", key: { sku: "hashed" } });
  await cluster.admin({ shardCollection: "test.staff", key: { name: 1 } });
  await cluster.admin({ split: "test.staff", middle: { name: "b" } });
  await cluster.admin({ moveChunk: "test.staff", find: { name: "b" }, to: "shardB" });
  await cluster.ok("test", { insert: "orders", documents: ORDERS });
  await cluster.ok("test", { insert: "items", documents: ITEMS });
  await cluster.ok("test", { insert: "staff", documents: STAFF });
  await cluster.ok("test", { insert: "plainOrders", documents: ORDERS });
  await cluster.ok("test", { insert: "plainItems", documents: ITEMS });
  await cluster.ok("test", { insert: "plainStaff", documents: STAFF });
}
