/** Writing to config.collections what the balancer may do with a collection (facts-mongos.md §3.4). */
import { DocumentWriter } from "../../bson/index.js";
import type { ChunkWriter } from "./chunkWrites.js";
import { unset } from "./chunkWrites.js";
import type { ShardedCollection } from "./entries.js";

/** What changes; undefined stays as it is. */
export interface BalancingOptions {
  /** 0: no size of its own. */
  readonly maxChunkSizeBytes: number | undefined;
  readonly enableAutoMerge: boolean | undefined;
  readonly balancing: boolean | undefined;
}

/** @throws CommandError after which config.collections has to be read again */
export async function writeBalancing(
  { config }: ChunkWriter,
  { ns }: ShardedCollection,
  { maxChunkSizeBytes, enableAutoMerge, balancing }: BalancingOptions,
): Promise<Partial<ShardedCollection>> {
  const fields = new DocumentWriter();
  const changes: Partial<ShardedCollection> = {};
  if (maxChunkSizeBytes) fields.int64("maxChunkSizeBytes", BigInt(maxChunkSizeBytes));
  if (maxChunkSizeBytes !== undefined) changes.maxChunkSizeBytes = maxChunkSizeBytes || undefined;
  if (enableAutoMerge !== undefined) {
    fields.bool("enableAutoMerge", enableAutoMerge);
    changes.enableAutoMerge = enableAutoMerge;
  }
  if (balancing !== undefined) {
    fields.bool("noBalance", !balancing);
    changes.noBalance = !balancing;
  }
  if (Object.keys(changes).length === 0) return changes;
  const set = fields.finish();
  const update = new DocumentWriter();
  if (set.length > 5) update.document("$set", set);
  if (maxChunkSizeBytes === 0) update.fieldsOf(unset("maxChunkSizeBytes"));
  await config.update("collections", { _id: ns }, update.finish());
  return changes;
}
