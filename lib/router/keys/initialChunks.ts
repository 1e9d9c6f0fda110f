/**
 * The first chunks of an empty hashed collection.
 *
 * Hashes spread evenly over the signed 64-bit numbers, so the line can be cut
 * into equal pieces before there is any data:
 *
 *     n = 2   MinKey ────────────────── 0 ────────────────── MaxKey
 *     n = 4   MinKey ──── -4.6e18 ──── 0 ──── 4.6e18 ──── MaxKey
 *     n = 3   MinKey ────── -3.1e18 ────── 3.1e18 ────── MaxKey
 *
 * The arithmetic is MongoDB's to the last digit (facts-mongos.md §2.4): the
 * interval is `floor((2^63-1)/n) * 2`; an even n has a point at 0 and steps
 * outward by the interval, an odd n starts half an interval from 0.
 */
import type { RawValue } from "../../bson/index.js";
import { int64, MIN_KEY } from "../../bson/index.js";
import type { ShardKeyPattern } from "./shardKeyPattern.js";

const INT64_MAX = 2n ** 63n - 1n;

/**
 * The split points for n equal chunks of hash space, ascending.
 * @param n number of chunks, 1 or more
 * @returns n-1 numbers
 * @example hashedSplitPoints(4) // [-4611686018427387902n, 0n, 4611686018427387902n]
 */
export function hashedSplitPoints(n: number): bigint[] {
  const interval = (INT64_MAX / BigInt(n)) * 2n;
  const points = n % 2 === 0 ? [0n] : [];
  let point = n % 2 === 0 ? interval : interval / 2n;
  for (let pair = 0; pair < Math.floor((n - 1) / 2); pair++, point += interval) points.push(point, -point);
  return points.sort((a, b) => (a < b ? -1 : 1));
}

/**
 * The split points as bounds of a key that *starts* with its hashed field;
 * later fields are MinKey.
 */
export function hashedSplitBounds(pattern: ShardKeyPattern, n: number): RawValue[][] {
  return hashedSplitPoints(n).map((point) =>
    pattern.fields.map((_, position) => (position === 0 ? int64(point) : MIN_KEY)),
  );
}

/**
 * Which shard gets which chunk.
 *
 * - one chunk per shard (7.2+): chunk i → `shards[i mod S]`, the list shuffled by the caller;
 * - more (up to 7.1): contiguous runs, `perShard` chunks each, shards in ascending order.
 *
 * @param chunks number of chunks
 * @param shards shard ids in the order to use
 * @param perShard contiguous chunks that a shard gets at a time
 */
export function placeChunks(chunks: number, shards: readonly string[], perShard: number): string[] {
  return Array.from({ length: chunks }, (_, i) => shards[Math.floor(i / perShard) % shards.length]!);
}
