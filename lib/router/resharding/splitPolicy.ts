/**
 * Where the new chunks begin and who gets them: pure policy (facts-mongos.md §8.2).
 *
 *     samples of the new key, ascending    a a b c c c d e f f g h …        ten for each chunk wanted
 *     every tenth is a bound, once         a     …  d    …   g
 *     zone ranges give bounds too, and are shared out among the shards of their zone
 *     chunks                               S1 S2 S3 S1 S2 S3 …              round robin
 *
 * Where the collection has fewer documents than ten for each chunk, the steps are as many documents as there are for each.
 * A key with fewer values than chunks are wanted can't be cut so often.
 */
import type { SortableKey } from "../../bson/index.js";
import { compareDocuments, documentSortableKey } from "../../bson/index.js";
import { CommandError } from "../../protocol/index.js";
import type { ChunkStart } from "../catalog/chunkMap.js";
import type { ZoneRange } from "../catalog/entries.js";
import type { PlacedKey } from "../ddl/splitPoints.js";
import type { ShardKeyPattern } from "../keys/shardKeyPattern.js";

/** What the policy goes by. */
export interface SplitRequest {
  readonly key: ShardKeyPattern;
  /** Chunks wanted. */
  readonly chunks: number;
  /** Samples that make up one chunk. */
  readonly samplesPerChunk: number;
  /** Zone ranges, ascending, bounds complete. */
  readonly zones: readonly ZoneRange[];
  /** Shards for chunks in no zone, in the order of their turns. */
  readonly shards: readonly string[];
  /** A zone's shards, in the order of their turns. */
  readonly shardsOf: (zone: string) => readonly string[];
}

/**
 * The new chunks.
 * @param samples keys of documents, ascending
 * @throws CommandError Location4952606 for too few different keys, Location4952607 for a zone without a shard
 */
export function splitBySamples(samples: readonly PlacedKey[], request: SplitRequest): ChunkStart[] {
  const { key, zones, chunks } = request;
  const bounds = new Map<SortableKey, Uint8Array>();
  const add = (bound: Uint8Array): void => void bounds.set(documentSortableKey(bound), bound);
  add(key.minimum);
  for (const { min, max } of zones) {
    add(min);
    if (compareDocuments(max, key.maximum) < 0) add(max);
  }
  const wanted = Math.max(0, chunks - bounds.size);
  const points = samplePoints(samples, wanted, request.samplesPerChunk, new Set(bounds.keys()));
  if (points.length < wanted) {
    throw new CommandError(
      4952606,
      "The shard key provided does not have enough cardinality to make the required number of chunks of " +
        `${chunks}, it can only make ${bounds.size + points.length} chunks`,
    );
  }
  for (const { values } of points) add(key.boundOf(values));
  const sorted = [...bounds].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, bound]) => bound);
  return place(sorted, request);
}

/** Different keys, one of so many samples each; all different keys where that would be too few. */
function samplePoints(
  samples: readonly PlacedKey[],
  wanted: number,
  samplesPerChunk: number,
  taken: ReadonlySet<SortableKey>,
): PlacedKey[] {
  if (wanted === 0) return [];
  const step = Math.max(1, Math.min(samplesPerChunk, Math.floor(samples.length / (wanted + 1))));
  const usable = new Map<SortableKey, PlacedKey>();
  // The first piece has its documents too.
  for (let i = step; i < samples.length && usable.size < wanted; i += step) {
    const sample = samples[i]!;
    if (!taken.has(sample.key)) usable.set(sample.key, sample);
  }
  if (usable.size === wanted) return [...usable.values()];
  const all = new Map<SortableKey, PlacedKey>();
  for (const sample of samples) if (!taken.has(sample.key)) all.set(sample.key, sample);
  // The smallest key is a bound too where it has to be; the chunk below it is empty then.
  const distinct = [...all.values()];
  const enough = distinct.length > wanted ? distinct.slice(1) : distinct;
  if (enough.length <= wanted) return enough;
  return Array.from({ length: wanted }, (_, i) => enough[Math.floor((i * enough.length) / wanted)]!);
}

/** Gives each chunk to the next shard of its zone, or of all. */
function place(bounds: readonly Uint8Array[], { zones, shards, shardsOf }: SplitRequest): ChunkStart[] {
  const turns = new Map<string | undefined, number>();
  let at = 0;
  return bounds.map((min) => {
    while (at < zones.length && compareDocuments(zones[at]!.max, min) <= 0) at += 1;
    const range = zones[at];
    const zone = range && compareDocuments(range.min, min) <= 0 ? range.zone : undefined;
    const candidates = zone === undefined ? shards : shardsOf(zone);
    if (candidates.length === 0) {
      throw new CommandError(4952607, `no shard belongs to the zone ${String(zone)}`);
    }
    const turn = turns.get(zone) ?? 0;
    turns.set(zone, turn + 1);
    return { min, shard: candidates[turn % candidates.length]! };
  });
}
