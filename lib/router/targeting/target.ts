/**
 * Targeting: which shards must an operation ask?
 *
 * A router holds no documents. From the filter alone it must name the shards
 * that can hold a match, and it may only err on the side of too many:
 *
 *     filter ──► 1. every key field pinned by equality? ──► one point ──► one chunk ──► one shard
 *                2. else: index bounds of the shard key ──► intervals ──► chunks they meet ──► their owners
 *                3. nothing known about the key           ──► every shard that owns a chunk
 *
 * A worked example, key {ts: 1}, chunks cut at 100 and 200:
 *
 *     MinKey ────── 100 ────── 200 ────── MaxKey
 *        shardA        shardB      shardA
 *
 *     {ts: 42}                    pinned            chunk 0          shardA
 *     {ts: {$gte: 120, $lt: 150}} bounds 120..150   chunk 1          shardB
 *     {ts: {$lt: 100}}            bounds -inf..100  chunks 0, 1      shardA, shardB (see below)
 *     {user: 7}                   nothing known     chunks 0, 1, 2   shardA, shardB
 *     {ts: {$in: []}}             nothing can match: one arbitrary shard, the first chunk's
 *     {$and: [{ts: 1}, {ts: 2}]}  likewise: pinned twice is not pinned, and the bounds are empty
 *
 * A *hashed* field is pinned through its hash: `{deviceId: "dev-42"}` becomes the
 * point NumberLong("7632986869154119240"). Equality and `$in` survive hashing,
 * order does not: a range over a hashed field says nothing, so step 3 applies.
 * That is the price of spreading writes evenly.
 *
 * Intervals are closed on both sides, so `{ts: {$lt: 100}}` also asks the owner
 * of the chunk that begins at 100, as a real mongos does.
 *
 * Chunk bounds are in byte order. Under another collation an equality on a string
 * (or on an object or array, which may hold one) says nothing: its equals may lie
 * in any chunk. Numbers, dates and the like go on to pin and to bound.
 *
 * Everything here is pure: filter and chunk map in, a decision out. Rules:
 * facts-mongos.md §4.1.
 */
import type { RawValue } from "../../bson/index.js";
import { describeDocument, sortableKey } from "../../bson/index.js";
import type { FilterNode } from "../../query/index.js";
import { isFullRange, keyBounds, pinnedValue } from "../../query/index.js";
import type { ChunkMap } from "../catalog/chunkMap.js";
import type { ShardKeyPattern } from "../keys/shardKeyPattern.js";
import { KeyIntervals } from "./flatten.js";

/** A run of neighbouring chunks, both indexes included. */
export type ChunkRun = readonly [first: number, last: number];

/** Where an operation goes, and why. */
export interface Targeting {
  /**
   * - `shardKey`: the whole key is pinned, one chunk;
   * - `bounds`: part of chunk space;
   * - `allShards`: nothing known about the key;
   * - `none`: nothing can match.
   */
  readonly kind: "shardKey" | "bounds" | "allShards" | "none";
  /** Chunks that the bounds meet, ascending and apart; empty for `none`. */
  readonly chunks: readonly ChunkRun[];
  /** Shards to ask, ascending by id; never empty. */
  readonly shards: readonly string[];
  /** The bounds in chunk space; one point for `shardKey`. */
  readonly intervals: KeyIntervals;
}

/** The part of a sharded collection that targeting reads. */
export interface RoutingTable {
  readonly key: ShardKeyPattern;
  readonly chunks: ChunkMap;
}

/**
 * Targets a filter.
 * @param node the filter, compiled with the command's effective collation (support/collations.ts), which its
 *   predicates carry
 * @param table the collection's shard key and chunk map
 * @throws CommandError Location17439 for a filter with more than 4,000,000 points
 */
export function targetFilter(node: FilterNode, { key, chunks }: RoutingTable): Targeting {
  const pinned = pinnedKey(node, key);
  if (pinned) return targetPoint(key.pointOf(pinned), chunks);
  const bounds = keyBounds(node, key.fields).fields;
  const intervals = KeyIntervals.flatten(bounds);
  if (intervals.length === 0) return { kind: "none", chunks: [], shards: [chunks.ownerOf(0)], intervals };
  if (isFullRange(bounds[0]!)) return targetEverything(chunks, intervals);
  const runs = runsMeeting(intervals, chunks);
  return { kind: "bounds", chunks: runs, shards: ownersOf(runs, chunks), intervals };
}

/** Targets one point of chunk space. */
export function targetPoint(point: readonly RawValue[], chunks: ChunkMap): Targeting {
  const index = chunks.find(sortableKey(point));
  return {
    kind: "shardKey",
    chunks: [[index, index]],
    shards: [chunks.ownerOf(index)],
    intervals: KeyIntervals.point(point),
  };
}

/** Targets every shard that owns a chunk. */
export function targetEverything(chunks: ChunkMap, intervals = KeyIntervals.NONE): Targeting {
  return { kind: "allShards", chunks: [[0, chunks.size - 1]], shards: chunks.owningShards(), intervals };
}

/**
 * The key's original values where the filter pins every field by equality to a
 * value that a shard key can hold (no array, no regular expression) and that
 * equals only itself: under a collation that is no string and no object.
 */
export function pinnedKey(node: FilterNode, key: ShardKeyPattern): RawValue[] | undefined {
  const values: RawValue[] = [];
  for (const { path } of key.fields) {
    const value = pinnedValue(node, path);
    if (!value) return undefined;
    values.push(value);
  }
  return values;
}

/** Intervals as text for a trace: `{ ts: 120 } .. { ts: 150 }`; a point without the dots. */
export function describeIntervals(intervals: KeyIntervals, key: ShardKeyPattern, most = 8): string {
  const texts: string[] = [];
  for (let position = 0; position < Math.min(most, intervals.length); position++) {
    const { low, high } = intervals.at(position);
    const from = describeDocument(key.boundOf(low));
    const to = describeDocument(key.boundOf(high));
    texts.push(from === to ? from : `${from} .. ${to}`);
  }
  if (intervals.length > most) texts.push(`and ${intervals.length - most} more`);
  return texts.join(", ");
}

/** The chunks that meet any of the intervals, as ascending runs that do not touch. */
function runsMeeting(intervals: KeyIntervals, chunks: ChunkMap): ChunkRun[] {
  const merged: ChunkRun[] = [];
  for (const { low, high } of intervals) {
    const lowKey = sortableKey(low);
    const run = chunks.meeting(lowKey, low === high ? lowKey : sortableKey(high));
    const previous = merged[merged.length - 1];
    if (previous && run[0] <= previous[1] + 1) {
      merged[merged.length - 1] = [previous[0], Math.max(previous[1], run[1])];
    } else {
      merged.push(run);
    }
  }
  return merged;
}

/** Owners of the chunks in the runs; stops looking once every owning shard is in. */
function ownersOf(runs: readonly ChunkRun[], chunks: ChunkMap): string[] {
  const all = chunks.owningShards();
  const found = new Set<string>();
  for (const [first, last] of runs) {
    for (let index = first; index <= last; index++) {
      found.add(chunks.ownerOf(index));
      if (found.size === all.length) return [...all];
    }
  }
  return [...found].sort();
}
