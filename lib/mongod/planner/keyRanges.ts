/**
 * From bounds of values to ranges of keys.
 *
 * The query layer says which *values* each field of an index may have, as
 * intervals. An index is a sorted list of strings, so it is read by *ranges of
 * strings*; a compound key is the concatenation of its components:
 *
 *     index {a: 1, b: 1, c: 1}     filter {a: {$in: [1, 2]}, b: {$gt: 5}, c: 7}
 *
 *     a: [1,1] [2,2]     points: every combination becomes a prefix     "1" "2"
 *     b: (5, inf]        the first real range closes each prefix        "1"(5…inf]  "2"(5…inf]
 *     c: [7, 7]          cannot narrow the ranges: checked key by key   (residual)
 *
 * A component's encoding is never the beginning of another one's, and its
 * first character is never \u00ff. So `prefix + "\u00ff"` lies right above every
 * key that starts with `prefix`, and inclusive or exclusive ends all become
 * half-open ranges [from, to). A descending field is encoded upside down:
 * its intervals change ends.
 */
import type { RawValue, SortableKey } from "../../bson/index.js";
import { BsonType, compareValues, describeValue, sortableKey, sortableValue } from "../../bson/index.js";
import type { FieldBounds, Interval, KeyField } from "../../query/index.js";

/** Above every continuation of a prefix. */
export const ABOVE = "\u00ff";

/** More combinations than this are not spelt out; the rest is checked key by key. */
const MOST_RANGES = 4096;

/** Keys with `from` ≤ key < `to`. */
export interface KeyRange {
  readonly from: SortableKey;
  readonly to: SortableKey;
  /** The one key the range can hold, when it pins every field. */
  readonly point?: SortableKey;
}

/** The ranges of an index that hold every key within the bounds. */
export interface KeyRanges {
  /** Ascending, disjoint. */
  readonly ranges: readonly KeyRange[];
  /** Fields from here on are not narrowed by the ranges. */
  readonly narrowed: number;
}

/** Whether an interval is a single value. */
export function isPoint(interval: Interval): boolean {
  return interval.lowInclusive && interval.highInclusive && compareValues(interval.low, interval.high) === 0;
}

/** Whether bounds allow every value. */
export function isFull(bounds: FieldBounds): boolean {
  const [only] = bounds;
  return (
    bounds.length === 1 &&
    only !== undefined &&
    only.low.type === BsonType.minKey &&
    only.high.type === BsonType.maxKey &&
    only.lowInclusive &&
    only.highInclusive
  );
}

/** Whether a value lies within bounds. */
export function withinBounds(value: RawValue, bounds: FieldBounds): boolean {
  for (const interval of bounds) {
    const low = compareValues(value, interval.low);
    if (low < 0 || (low === 0 && !interval.lowInclusive)) continue;
    const high = compareValues(value, interval.high);
    if (high < 0 || (high === 0 && interval.highInclusive)) return true;
  }
  return false;
}

/**
 * The key ranges for bounds on each field of an index.
 * @param fields the index's fields
 * @param bounds one for each field
 */
export function keyRanges(fields: readonly KeyField[], bounds: readonly FieldBounds[]): KeyRanges {
  let prefixes: string[] = [""];
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i] as KeyField;
    const intervals = bounds[i] ?? [];
    if (isFull(intervals)) return { ranges: prefixes.map(wholePrefix), narrowed: i };
    if (prefixes.length * intervals.length > MOST_RANGES)
      return { ranges: prefixes.map(wholePrefix), narrowed: i };
    if (!intervals.every(isPoint)) {
      const ranges = prefixes.flatMap((prefix) =>
        intervals.map((interval) => intervalRange(prefix, field, interval)),
      );
      return { ranges: inOrder(ranges), narrowed: i + 1 };
    }
    const components = intervals.map((interval) => component(interval.low, field)).sort(byText);
    prefixes = prefixes.flatMap((prefix) => components.map((text) => prefix + text));
  }
  return {
    ranges: prefixes.map((point) => ({ from: point, to: point + ABOVE, point })),
    narrowed: fields.length,
  };
}

function wholePrefix(prefix: string): KeyRange {
  return { from: prefix, to: prefix + ABOVE };
}

function intervalRange(prefix: string, field: KeyField, interval: Interval): KeyRange {
  const low = prefix + component(interval.low, field);
  const high = prefix + component(interval.high, field);
  return field.kind === -1
    ? { from: interval.highInclusive ? high : high + ABOVE, to: interval.lowInclusive ? low + ABOVE : low }
    : { from: interval.lowInclusive ? low : low + ABOVE, to: interval.highInclusive ? high + ABOVE : high };
}

function component(value: RawValue, field: KeyField): string {
  return field.kind === -1 ? sortableKey([value], [true]) : sortableValue(value);
}

function inOrder(ranges: KeyRange[]): KeyRange[] {
  return ranges.filter((range) => range.from < range.to).sort((a, b) => byText(a.from, b.from));
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Bounds as explain prints them.
 * @example `(5, inf.0]`, `["a", "b")`, `[MinKey, MaxKey]`
 */
export function describeInterval(interval: Interval, backward: boolean): string {
  const { low, high, lowInclusive, highInclusive } = interval;
  return backward
    ? `${highInclusive ? "[" : "("}${describeValue(high)}, ${describeValue(low)}${lowInclusive ? "]" : ")"}`
    : `${lowInclusive ? "[" : "("}${describeValue(low)}, ${describeValue(high)}${highInclusive ? "]" : ")"}`;
}
