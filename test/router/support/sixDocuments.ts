/**
 * Six documents on two shards, and how a pipeline over them is cut.
 *
 * `c` is sharded on {x: 1} and cut at 50:
 *
 *     shardA   x 10 q 1 k a    x 20 q 2 k b    x 30 q 3 k a
 *     shardB   x 60 q 4 k b    x 70 q 5 k c    x 80 q 6 k A
 */
import type { Doc, TestCluster } from "./cluster.js";

/** What `c` holds. */
export const DOCUMENTS = [
  { _id: 1, x: 10, q: 1, k: "a", t: [1, 2] },
  { _id: 2, x: 20, q: 2, k: "b", t: [2] },
  { _id: 3, x: 30, q: 3, k: "a", t: [] },
  { _id: 4, x: 60, q: 4, k: "b", t: [1] },
  { _id: 5, x: 70, q: 5, k: "c", t: [3, 1] },
  { _id: 6, x: 80, q: 6, k: "A", t: [2] },
];

/** Makes and fills `c`. */
export async function loadSix(on: TestCluster): Promise<void> {
  await on.admin({ enableSharding: "test", primaryShard: "shardA" });
  await on.admin({ shardCollection: "test.c", key: { x: 1 } });
  await on.admin({ split: "test.c", middle: { x: 50 } });
  await on.admin({ moveChunk: "test.c", find: { x: 50 }, to: "shardB" });
  await on.ok("test", { insert: "c", documents: DOCUMENTS });
}

/** The explain of an aggregation. */
export type Explained = Doc & {
  splitPipeline: { shardsPart: Doc[]; mergerPart: Doc[] } | null;
  shards: Doc;
};

/** Explains a pipeline over `c`. */
export const explainSix = (on: TestCluster, pipeline: object[], options: Doc = {}): Promise<Explained> =>
  on.ok("test", {
    explain: { aggregate: "c", pipeline, cursor: {}, ...options },
    verbosity: "queryPlanner",
  }) as Promise<Explained>;

/** The names of a pipeline's stages. */
export const stagesOf = (part: Doc[]): string[] => part.map((stage) => Object.keys(stage)[0]!);
