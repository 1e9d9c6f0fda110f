/** Rows of rows.ts about the balancer. */
import { chunksOf } from "../support/cluster.js";
import { tryRow } from "./releases.js";

tryRow(
  "a round of the balancer",
  async (cluster) => {
    await cluster.admin({ enableSharding: "test", primaryShard: "shardA" });
    await cluster.admin({ shardCollection: "test.c", key: { x: 1 } });
    for (const x of [1, 2, 3, 4, 5, 6, 7]) await cluster.admin({ split: "test.c", middle: { x } });
    for (const x of [4, 5, 6, 7]) await cluster.admin({ moveChunk: "test.c", find: { x }, to: "shardB" });
    const { migrations } = await cluster.admin({ balancerRound: 1 });
    return (migrations as unknown[]).length;
  },
  { shards: 4 },
);

tryRow(
  "chunks after an hour",
  async (cluster) => {
    await cluster.admin({ enableSharding: "test" });
    await cluster.admin({ shardCollection: "test.c", key: { x: 1 } });
    for (const x of [1, 2]) await cluster.admin({ split: "test.c", middle: { x } });
    // Each answer lets the ten seconds of a round pass.
    for (let round = 0; round <= 360; round++) await cluster.admin({ balancerStatus: 1 });
    return (await chunksOf(cluster, "test.c")).length;
  },
  { shards: 1 },
);

tryRow(
  "chunks that grow",
  async (cluster) => {
    await cluster.admin({ enableSharding: "test" });
    await cluster.admin({ shardCollection: "test.c", key: { x: 1 } });
    // 100 bytes each.
    const documents = Array.from({ length: 200 }, (_, x) => ({ _id: x, x, pad: "p".repeat(69) }));
    await cluster.ok("test", { insert: "c", documents });
    return (await chunksOf(cluster, "test.c")).length;
  },
  { chunkSizeBytes: 10_000 },
);
