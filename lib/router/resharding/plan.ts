/**
 * What a resharding is to do. One machine carries out three commands (facts-mongos.md §8.2, §8.3): they differ in where
 * the documents are, where they go, and what the catalog says afterwards.
 *
 *     reshardCollection    chunks of the old key on many shards  ──►  chunks of a new key on many shards
 *     moveCollection       one shard                             ──►  one shard
 *     unshardCollection    chunks on many shards                 ──►  one shard
 */
import type { RawValue } from "../../bson/index.js";
import type { ChunkStart } from "../catalog/chunkMap.js";
import type { ShardedCollection, ZoneRange } from "../catalog/entries.js";
import type { ShardKeyPattern } from "../keys/shardKeyPattern.js";

/** Which command asked for it. */
export type Provenance = "reshardCollection" | "moveCollection" | "unshardCollection";

/** Where the documents are: a sharded collection's chunks, or the one shard that has an unsharded collection. */
export type ReshardingSource =
  { readonly collection: ShardedCollection } | { readonly shard: string; readonly uuid: RawValue };

/** A resharding, planned. */
export interface ReshardingPlan {
  readonly provenance: Provenance;
  readonly ns: string;
  readonly source: ReshardingSource;
  /** The new shard key; `{_id: 1}` for what will not be sharded. */
  readonly key: ShardKeyPattern;
  /** The new chunks' lower bounds in order, with their shards. */
  readonly starts: readonly ChunkStart[];
  /** The result is an unsharded collection of which the catalog knows the shard (catalog/tracked.ts). */
  readonly unsplittable: boolean;
  /** The collection's new UUID. */
  readonly uuid: RawValue;
  /** The command as it came, for `$currentOp`. */
  readonly originatingCommand: Uint8Array;
  /** How long it takes at least, in milliseconds: 300,000 unless the user asked for less. */
  readonly minimumDurationMs: number;
  /** The zone ranges that replace the namespace's; as they are when absent. */
  readonly zones?: readonly ZoneRange[] | undefined;
}
