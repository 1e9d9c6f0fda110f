/**
 * Intervals of BSON values on one index field.
 *
 * A field's bounds are a list of intervals in ascending order that neither
 * overlap nor touch in a shared point. The empty list is the bounds of a
 * filter that nothing can match.
 *
 *     { n: { $in: [1, 5] } }      [1, 1], [5, 5]
 *     { n: { $gt: 5 } }           (5, Infinity]
 *     { n: { $ne: 5 } }           [MinKey, 5), (5, MaxKey]
 *
 * Bounds on an index with a collation are in that collation's order: all
 * functions here take it, and all bounds that they are given must agree on it.
 */
import {
  MAX_KEY,
  MIN_KEY,
  compareValues,
  describeValue,
  type Collation,
  type RawValue,
} from "../../bson/index.js";

/** A range of values; `low` = `high` with both ends included is a point. */
export interface Interval {
  readonly low: RawValue;
  readonly lowInclusive: boolean;
  readonly high: RawValue;
  readonly highInclusive: boolean;
}

/** Ordered, disjoint intervals; [] = nothing can match. */
export type FieldBounds = readonly Interval[];

/** [MinKey, MaxKey]: nothing is known about the field. */
export const FULL_RANGE: FieldBounds = [
  { low: MIN_KEY, lowInclusive: true, high: MAX_KEY, highInclusive: true },
];

/** The interval of one value. */
export function point(v: RawValue): Interval {
  return { low: v, lowInclusive: true, high: v, highInclusive: true };
}

/** True where one value lies in an interval (`collation`: values that it holds equal). */
export function isPoint(interval: Interval, collation?: Collation): boolean {
  const { low, lowInclusive, high, highInclusive } = interval;
  return lowInclusive && highInclusive && compareValues(low, high, collation) === 0;
}

/** True for the bounds that every value lies in. */
export function isFullRange(bounds: FieldBounds): boolean {
  const [only] = bounds;
  return (
    bounds.length === 1 &&
    only!.lowInclusive &&
    only!.highInclusive &&
    compareValues(only!.low, MIN_KEY) === 0 &&
    compareValues(only!.high, MAX_KEY) === 0
  );
}

/** True where the value lies in one of the intervals. */
export function boundsContain(bounds: FieldBounds, v: RawValue, collation?: Collation): boolean {
  let first = 0;
  let last = bounds.length - 1;
  while (first <= last) {
    const middle = (first + last) >> 1;
    const { low, lowInclusive, high, highInclusive } = bounds[middle]!;
    const fromLow = compareValues(v, low, collation);
    if (fromLow < 0 || (fromLow === 0 && !lowInclusive)) {
      last = middle - 1;
      continue;
    }
    const toHigh = compareValues(v, high, collation);
    if (toHigh < 0 || (toHigh === 0 && highInclusive)) return true;
    first = middle + 1;
  }
  return false;
}

function isEmpty({ low, lowInclusive, high, highInclusive }: Interval, collation?: Collation): boolean {
  const order = compareValues(low, high, collation);
  return order > 0 || (order === 0 && !(lowInclusive && highInclusive));
}

function compareLows(a: Interval, b: Interval, collation?: Collation): number {
  return compareValues(a.low, b.low, collation) || Number(b.lowInclusive) - Number(a.lowInclusive);
}

function compareHighs(a: Interval, b: Interval, collation?: Collation): number {
  return compareValues(a.high, b.high, collation) || Number(a.highInclusive) - Number(b.highInclusive);
}

/** Intervals in any order as bounds: sorted, the overlapping and the touching ones joined, the empty ones gone. */
export function unite(intervals: readonly Interval[], collation?: Collation): FieldBounds {
  const sorted = intervals
    .filter((interval) => !isEmpty(interval, collation))
    .sort((a, b) => compareLows(a, b, collation));
  const result: Interval[] = [];
  for (const interval of sorted) {
    const previous = result.at(-1);
    if (previous === undefined || isGap(previous, interval, collation)) {
      result.push(interval);
    } else if (compareHighs(previous, interval, collation) < 0) {
      const { high, highInclusive } = interval;
      result[result.length - 1] = { ...previous, high, highInclusive };
    }
  }
  return result;
}

/** True where some value may lie between the end of `a` and the start of `b`. */
function isGap(a: Interval, b: Interval, collation?: Collation): boolean {
  const order = compareValues(a.high, b.low, collation);
  return order < 0 || (order === 0 && !a.highInclusive && !b.lowInclusive);
}

/** What both bounds allow. */
export function intersect(a: FieldBounds, b: FieldBounds, collation?: Collation): FieldBounds {
  const result: Interval[] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    const left = a[i]!;
    const right = b[j]!;
    const lower = compareLows(left, right, collation) >= 0 ? left : right;
    const upper = compareHighs(left, right, collation) <= 0 ? left : right;
    const common: Interval = {
      low: lower.low,
      lowInclusive: lower.lowInclusive,
      high: upper.high,
      highInclusive: upper.highInclusive,
    };
    if (!isEmpty(common, collation)) result.push(common);
    if (upper === left) i++;
    else j++;
  }
  return result;
}

/** All values outside the bounds. */
export function complement(bounds: FieldBounds, collation?: Collation): FieldBounds {
  const result: Interval[] = [];
  let low = MIN_KEY;
  let lowInclusive = true;
  for (const interval of bounds) {
    result.push({ low, lowInclusive, high: interval.low, highInclusive: !interval.lowInclusive });
    low = interval.high;
    lowInclusive = !interval.highInclusive;
  }
  result.push({ low, lowInclusive, high: MAX_KEY, highInclusive: true });
  return result.filter((interval) => !isEmpty(interval, collation));
}

/** An interval as explain prints it: `[5, 5]`, `(5, inf.0]`, `["a", {})`. */
export function describeInterval({ low, lowInclusive, high, highInclusive }: Interval): string {
  return `${lowInclusive ? "[" : "("}${describeValue(low)}, ${describeValue(high)}${highInclusive ? "]" : ")"}`;
}
