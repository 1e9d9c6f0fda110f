/**
 * What the router's cache of the catalog holds.
 */
import type { RawValue, SortableKey } from "../../bson/index.js";
import type { ShardKeyPattern } from "../keys/shardKeyPattern.js";
import type { ChunkMap } from "./chunkMap.js";
import type { ChunkVersion } from "./documents.js";

/** A database and its home. */
export interface Database {
  readonly name: string;
  readonly primary: string;
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
  /** The balancer leaves it alone: `sh.disableBalancing`. */
  noBalance: boolean;
  /** False: its chunks may not move at all, not even by hand: `setAllowMigrations`. @since MongoDB 4.2 */
  allowMigrations: boolean;
  /** Its own chunk size in bytes: configureCollectionBalancing. @since MongoDB 5.3 */
  maxChunkSizeBytes?: number | undefined;
  /** Whether the auto-merger takes part; absent: yes. @since MongoDB 7.0 */
  enableAutoMerge?: boolean | undefined;
  /** Where the chunks begin that are too large to move. */
  jumbo: ReadonlySet<SortableKey>;
}

/** What a new collection says of all that. */
export const BALANCED: Pick<ShardedCollection, "noBalance" | "allowMigrations" | "jumbo"> = {
  noBalance: false,
  allowMigrations: true,
  jumbo: new Set(),
};

/** A range of shard keys that belongs to a zone: one document of config.tags. */
export interface ZoneRange {
  readonly min: Uint8Array;
  readonly max: Uint8Array;
  readonly zone: string;
}

/** What `config.settings` says. */
export interface Settings {
  /** Whether the balancer moves anything: `off` where it is stopped; `autoSplitOnly` moves nothing either. */
  balancerMode: "full" | "autoSplitOnly" | "off";
  /** Times of day, `HH:MM`, between which it works; absent: always. */
  activeWindow?: { readonly start: string; readonly stop: string } | undefined;
  /** Whether chunks that belong together are merged by themselves. @since MongoDB 7.0 */
  autoMerge: boolean;
  /** Chunk size in bytes. */
  chunkSizeBytes: number;
}
