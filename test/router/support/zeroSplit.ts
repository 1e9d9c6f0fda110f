/** The cluster of most tests about writes: a collection with key {x: 1}, below 0 on shardA, from 0 on shardB. */
import type { RulesVersion } from "shardlab/router";
import type { Doc, TestCluster } from "./cluster.js";
import { startCluster } from "./cluster.js";

/** Starts it: `test.c`, empty. */
export async function splitAtZero(rules: RulesVersion = "8.0"): Promise<TestCluster> {
  const cluster = await startCluster({ rules });
  await cluster.admin({ enableSharding: "test", primaryShard: "shardA" });
  await cluster.admin({ shardCollection: "test.c", key: { x: 1 } });
  await cluster.admin({ split: "test.c", middle: { x: 0 } });
  await cluster.admin({ moveChunk: "test.c", find: { x: 0 }, to: "shardB" });
  return cluster;
}

/** The session fields of a retryable write. */
export const session = (txnNumber: number): Doc => ({
  lsid: { id: new Uint8Array(16).fill(7) },
  txnNumber: BigInt(txnNumber),
});

/** `_id`s on one shard, asked past the router, ascending. */
export async function idsOn(cluster: TestCluster, shard: string, collection = "c"): Promise<unknown[]> {
  const reply = await cluster.shard(shard, "test", { find: collection, sort: { _id: 1 } });
  return (reply.cursor as { firstBatch: Doc[] }).firstBatch.map(({ _id }) => _id);
}

/** `_id`s on both shards. */
export async function layout(
  cluster: TestCluster,
  collection = "c",
): Promise<{ A: unknown[]; B: unknown[] }> {
  return { A: await idsOn(cluster, "shardA", collection), B: await idsOn(cluster, "shardB", collection) };
}
