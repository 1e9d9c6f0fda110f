/**
 * What the tests of `explain` start from, and how they read a plan.
 *
 *     test.c   key {x: 1}          shardA [MinKey, 50)   shardB [50, MaxKey)   documents x = 0 … 99, g = x mod 3
 *     test.h   key {d: "hashed"}   two chunks cut at 0
 *     test.p   not sharded, on shardA
 */
import type { Doc, TestCluster } from "./cluster.js";
import { startCluster } from "./cluster.js";

const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

/** Starts a cluster with the three collections. */
export async function startExplained(): Promise<TestCluster> {
  const cluster = await startCluster({ shards: 2 });
  await cluster.admin({ enableSharding: "test", primaryShard: "shardA" });
  await cluster.admin({ shardCollection: "test.c", key: { x: 1 } });
  await cluster.admin({ split: "test.c", middle: { x: 50 } });
  await cluster.admin({ moveChunk: "test.c", find: { x: 50 }, to: "shardB" });
  await cluster.ok("test", { createIndexes: "c", indexes: [{ key: { g: 1 }, name: "g_1" }] });
  await cluster.ok("test", { insert: "c", documents: range(100).map((x) => ({ _id: x, x, g: x % 3 })) });
  await cluster.admin({ shardCollection: "test.h", key: { d: "hashed" } });
  await cluster.ok("test", {
    insert: "h",
    documents: range(100).map((d) => ({ _id: d, d })),
    ordered: false,
  });
  await cluster.ok("test", { insert: "p", documents: [{ _id: 1, a: 1 }] });
  return cluster;
}

/** A router's plan, or a shard's. */
export interface Plan extends Doc {
  stage: string;
  inputStage?: Plan;
  shards: (Doc & { shardName: string; winningPlan: Plan })[];
}

/** Explains a command on a cluster. */
export const explainOn =
  (cluster: () => TestCluster) =>
  (command: Doc, verbosity = "queryPlanner", db = "test"): Promise<Doc> =>
    cluster().ok(db, { explain: command, verbosity });

/** The router's plan in a reply. */
export const winningPlan = (reply: Doc): Plan => (reply.queryPlanner as { winningPlan: Plan }).winningPlan;

/** The statistics in a reply. */
export const statsOf = (reply: Doc): Doc & { executionStages: Doc & { shards: Doc[] } } =>
  reply.executionStats as Doc & { executionStages: Doc & { shards: Doc[] } };

/** `SORT ← FETCH ← IXSCAN`, with `{filter}` behind a FETCH that has one. */
export const chain = (plan: Plan | undefined): string =>
  plan
    ? [
        plan.stage + (plan.stage === "FETCH" && plan.filter !== undefined ? "{filter}" : ""),
        ...(plan.inputStage ? [chain(plan.inputStage)] : []),
      ].join(" ← ")
    : "";
