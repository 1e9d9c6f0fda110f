/**
 * What checkMetadataConsistency can find, in MongoDB's names and words: the manual's pages "Inconsistency Types".
 *
 *     {type: "RoutingTableRangeGap", description: "Found a gap between two consecutive chunks",
 *      details: {namespace: "library.loans", collectionUUID: UUID, chunkA: {…}, chunkB: {…}}}
 *
 * The last two types are ours: a mongos does not look for them, and a catalog that has them is broken all the same.
 */
import { DocumentWriter } from "../../bson/index.js";

const DESCRIPTIONS = {
  CollectionOptionsMismatch: "Found collection with mismatching options across shards and/or config server",
  CorruptedChunkHistory: "Found chunk with a corrupted history",
  CorruptedChunkShardKey: "Found chunk with a shard key pattern violation",
  CorruptedZoneShardKey: "Found zone with a shard key pattern violation",
  HiddenShardedCollection: "Found sharded collection but relative database does not exist",
  InconsistentIndex: "Found an index of a sharded collection that is inconsistent between different shards",
  MisplacedCollection: "Unsharded collection found on shard different from database primary shard",
  MissingLocalCollection: "Collection registered on the sharding catalog not found on the given shards",
  MissingRoutingTable: "There is a sharded collection without routing table",
  MissingShardKeyIndex: "Found sharded collection without a shard key index",
  RoutingTableMissingMaxKey: "Routing table has a gap because last chunk boundary does not reach MaxKey",
  RoutingTableMissingMinKey: "Routing table has a gap because first chunk does not start from MinKey",
  RoutingTableRangeGap: "Found a gap between two consecutive chunks",
  RoutingTableRangeOverlap: "Found two overlapping consecutive chunks",
  TrackedUnshardedCollectionHasInvalidKey: "Found tracked unsharded collection with invalid shard-key",
  TrackedUnshardedCollectionHasMultipleChunks: "Found tracked unsharded collection with more than one chunks",
  ZonesRangeOverlap: "Found two overlapping zones",
  ChunkOnUnknownShard: "Found chunk of a shard that is not in config.shards",
  ChunksWithoutCollection: "Found chunks of a collection that is not in config.collections",
} as const;

/** The names of what can be wrong. */
export type InconsistencyType = keyof typeof DESCRIPTIONS;

/** One document of the command's answer. */
export function inconsistency(type: InconsistencyType, details: DocumentWriter): Uint8Array {
  return new DocumentWriter()
    .string("type", type)
    .string("description", DESCRIPTIONS[type])
    .document("details", details.finish())
    .finish();
}
