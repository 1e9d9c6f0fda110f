/**
 * From bounds per field to intervals of whole keys.
 *
 * The planner's bounds say, for each field of the key, which values can match.
 * Chunks are ranges of whole keys, so the bounds must become intervals of
 * tuples. MongoDB's rule (facts-mongos.md §4.1 step 2) is deliberately coarse:
 *
 * - while every field so far is a single point, the point is kept;
 * - the first field with a range, or with several points, fans out into one
 *   interval per range or point;
 * - every later field only widens all of them, from the start of its first
 *   interval to the end of its last.
 *
 *     key {a: 1, b: 1}
 *     a = 7,          b in (3, 9)        (7, 3) .. (7, 9)                 points, then a range
 *     a in {1, 5},    b = 2              (1, 2) .. (1, 2), (5, 2) .. (5, 2)
 *     a in (1, 5),    b = 2              (1, 2) .. (5, 2)                 b barely helps
 *     a = anything,   b = 2              (MinKey, 2) .. (MaxKey, 2)       practically everything
 *
 * Whether an end belongs to its range is dropped here: intervals are closed on
 * both sides, as in MongoDB. The price is at most one shard too many.
 */
import type { RawValue } from "../../bson/index.js";
import { compareValues } from "../../bson/index.js";
import { CommandError } from "../../protocol/index.js";
import type { FieldBounds } from "../../query/index.js";

/** A closed interval of whole keys, one value per key field on each side. */
export interface KeyInterval {
  readonly low: readonly RawValue[];
  readonly high: readonly RawValue[];
}

/** MongoDB refuses filters that flatten to more points than this (§4.1). */
const MAX_INTERVALS = 4_000_000;

/**
 * Flattens bounds.
 * @param bounds one list of intervals per key field, in key order
 * @returns intervals in ascending order; empty when nothing can match
 * @throws CommandError Location17439 beyond 4,000,000 intervals
 */
export function flattenBounds(bounds: readonly FieldBounds[]): KeyInterval[] {
  if (bounds.some((field) => field.length === 0)) return [];
  const points: RawValue[] = [];
  let position = 0;
  for (; position < bounds.length && isPoint(bounds[position]!); position++) {
    points.push(bounds[position]![0]!.low);
  }
  const fanOut = bounds[position];
  if (!fanOut) return [{ low: points, high: points }];
  if (fanOut.length > MAX_INTERVALS) {
    throw new CommandError(17439, "the filter combines too many values of the shard key to be routed");
  }
  const rest = bounds.slice(position + 1);
  const lowest = rest.map((field) => field[0]!.low);
  const highest = rest.map((field) => field[field.length - 1]!.high);
  return fanOut.map(({ low, high }) => ({
    low: [...points, low, ...lowest],
    high: [...points, high, ...highest],
  }));
}

function isPoint(field: FieldBounds): boolean {
  const [only] = field;
  return field.length === 1 && compareValues(only!.low, only!.high) === 0;
}
