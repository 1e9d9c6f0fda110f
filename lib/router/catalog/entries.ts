/**
 * What the router's cache of the catalog holds.
 */
import type { RawValue } from "../../bson/index.js";
import type { ShardKeyPattern } from "../keys/shardKeyPattern.js";
import type { ChunkMap } from "./chunkMap.js";
import type { ChunkVersion } from "./documents.js";

/** A database and its home. */
export interface Database {
  readonly name: string;
  readonly primary: string;
}

/** A key range on a shard whose documents moved away but could not be deleted there yet. */
export interface PendingDeletion {
  readonly shard: string;
  /** `_id` values of the documents. */
  readonly ids: readonly RawValue[];
}

/** A sharded collection with its chunk map. */
export interface ShardedCollection {
  readonly ns: string;
  readonly db: string;
  /** Name within the database. */
  readonly name: string;
  readonly uuid: RawValue;
  readonly key: ShardKeyPattern;
  readonly unique: boolean;
  /** The collection's own collation, complete; absent for the simple one. Chunk bounds are in byte order all the same. */
  readonly defaultCollation?: Uint8Array | undefined;
  /** Replaced, never changed in place: see ChunkMap. */
  chunks: ChunkMap;
  /** Highest chunk version. */
  version: ChunkVersion;
  /** Left behind by a migration whose last step failed; empty in ordinary life. */
  pendingDeletions: PendingDeletion[];
}

/** A range of shard keys that belongs to a zone: one document of config.tags. */
export interface ZoneRange {
  readonly min: Uint8Array;
  readonly max: Uint8Array;
  readonly zone: string;
}

/** What `config.settings` says. */
export interface Settings {
  balancerStopped: boolean;
  /** Chunk size in bytes. */
  chunkSizeBytes: number;
}
