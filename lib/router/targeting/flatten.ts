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
 *
 * A list of a million values fans out into a million intervals that differ in
 * one field only, so they are made when somebody looks at them.
 */
import type { RawValue } from "../../bson/index.js";
import { compareValues } from "../../bson/index.js";
import { CommandError } from "../../protocol/index.js";
import type { FieldBounds, Interval } from "../../query/index.js";

/** A closed interval of whole keys, one value per key field on each side; one and the same list for a point. */
export interface KeyInterval {
  readonly low: readonly RawValue[];
  readonly high: readonly RawValue[];
}

/** MongoDB refuses filters that flatten to more points than this (§4.1). */
const MAX_INTERVALS = 4_000_000;

/** Intervals of whole keys in ascending order. */
export class KeyIntervals implements Iterable<KeyInterval> {
  readonly #points: readonly RawValue[];
  readonly #fanOut: FieldBounds | undefined;
  readonly #lowest: readonly RawValue[];
  readonly #highest: readonly RawValue[];
  readonly length: number;

  /**
   * @param points the values of the leading fields that are single points
   * @param fanOut the bounds of the first field that is none; undefined where all are
   * @param rest the bounds of the fields behind it, which only widen
   */
  private constructor(points: readonly RawValue[], fanOut?: FieldBounds, rest: readonly FieldBounds[] = []) {
    this.#points = points;
    this.#fanOut = fanOut;
    this.#lowest = rest.map((field) => field[0]!.low);
    this.#highest = rest.map((field) => field[field.length - 1]!.high);
    this.length = fanOut ? fanOut.length : points.length === 0 ? 0 : 1;
  }

  /** No interval: nothing can match. */
  static readonly NONE = new KeyIntervals([]);

  /** One point. */
  static point(values: readonly RawValue[]): KeyIntervals {
    return new KeyIntervals(values);
  }

  /**
   * Flattens bounds.
   * @param bounds one list of intervals per key field, in key order
   * @returns none when nothing can match
   * @throws CommandError Location17439 beyond 4,000,000 intervals
   */
  static flatten(bounds: readonly FieldBounds[]): KeyIntervals {
    if (bounds.some((field) => field.length === 0)) return KeyIntervals.NONE;
    const first = bounds.findIndex((field) => field.length > 1 || !isPoint(field[0]!));
    const points = bounds.slice(0, first < 0 ? bounds.length : first).map((field) => field[0]!.low);
    if (first < 0) return KeyIntervals.point(points);
    const fanOut = bounds[first]!;
    if (fanOut.length > MAX_INTERVALS) {
      throw new CommandError(17439, "combinatorial limit of $in partitioning of results exceeded");
    }
    return new KeyIntervals(points, fanOut, bounds.slice(first + 1));
  }

  /** The interval at a position from 0 to {@link length} - 1. */
  at(position: number): KeyInterval {
    const interval = this.#fanOut?.[position];
    if (!interval) return { low: this.#points, high: this.#points };
    const low = [...this.#points, interval.low, ...this.#lowest];
    if (this.#lowest.length === 0 && isPoint(interval)) return { low, high: low };
    return { low, high: [...this.#points, interval.high, ...this.#highest] };
  }

  *[Symbol.iterator](): Iterator<KeyInterval> {
    for (let position = 0; position < this.length; position++) yield this.at(position);
  }
}

function isPoint({ low, high }: Interval): boolean {
  return low === high || compareValues(low, high) === 0;
}
