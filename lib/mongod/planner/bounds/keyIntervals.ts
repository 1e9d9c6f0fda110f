/**
 * Bounds of an index's fields, as they are stored.
 *
 * The query layer gives intervals of *values*. An index holds sortable keys,
 * made with the index's own collation and upside down where a field descends.
 * So each interval is translated once, into the components that the index would
 * store, and from then on united, intersected and compared as text:
 *
 *     index {a: 1, b: -1}     a: [1, 5)       low "1", high "5" exclusive
 *                             b: (3, inf]     low "inf" upside down, high "3" upside down, exclusive
 *
 * "Low" and "high" are therefore the index's, not the values': a forward scan
 * goes from low to high in every field.
 */
import type { Collation, RawValue } from "../../../bson/index.js";
import {
  array,
  describeValue,
  MAX_KEY,
  MIN_KEY,
  sortableKey,
  sortableValue,
  string,
} from "../../../bson/index.js";
import type { FieldBounds, KeyField } from "../../../query/index.js";

/** Above every continuation of a prefix: no component begins with this character. */
export const ABOVE = "\u00ff";

/** An interval of one field of an index. */
export interface KeyInterval {
  readonly low: string;
  readonly lowInclusive: boolean;
  readonly high: string;
  readonly highInclusive: boolean;
  /** The value that `low` stands for; for explain. */
  readonly lowValue: RawValue;
  readonly highValue: RawValue;
}

/** Ascending as stored, disjoint; [] where nothing can match. */
export type FieldIntervals = readonly KeyInterval[];

/** One list for each field of an index. */
export type IndexBounds = readonly FieldIntervals[];

/** Makes components of one field of one index. */
export class FieldCodec {
  private readonly descending: readonly boolean[] | undefined;
  /** All values. */
  readonly all: FieldIntervals;

  /**
   * @param field the index field
   * @param collation the index's own collation object
   */
  constructor(
    readonly field: KeyField,
    private readonly collation: Collation | undefined,
  ) {
    this.descending = field.kind === -1 ? [true] : undefined;
    this.all = [this.interval(MIN_KEY, true, MAX_KEY, true)];
  }

  /** A value's component. */
  component(value: RawValue): string {
    return this.descending
      ? sortableKey([value], this.descending, this.collation)
      : sortableValue(value, this.collation);
  }

  /** An interval of values, from the lesser to the greater. */
  interval(low: RawValue, lowInclusive: boolean, high: RawValue, highInclusive: boolean): KeyInterval {
    const from = this.component(low);
    const to = low === high ? from : this.component(high);
    return this.descending
      ? {
          low: to,
          lowInclusive: highInclusive,
          high: from,
          highInclusive: lowInclusive,
          lowValue: high,
          highValue: low,
        }
      : { low: from, lowInclusive, high: to, highInclusive, lowValue: low, highValue: high };
  }

  /** Bounds of values as the index has them. */
  intervals(bounds: FieldBounds): FieldIntervals {
    if (bounds.length === 1) {
      const only = bounds[0]!;
      const interval = this.interval(only.low, only.lowInclusive, only.high, only.highInclusive);
      return isEmpty(interval) ? [] : [interval];
    }
    return unite(
      bounds.map(({ low, lowInclusive, high, highInclusive }) =>
        this.interval(low, lowInclusive, high, highInclusive),
      ),
    );
  }

  /** Single values, in any order. */
  points(values: readonly RawValue[]): FieldIntervals {
    if (values.length === 1) return [this.interval(values[0]!, true, values[0]!, true)];
    return unite(values.map((value) => this.interval(value, true, value, true)));
  }

  /** All values outside of the intervals. */
  complement(intervals: FieldIntervals): FieldIntervals {
    const full = this.all[0] as KeyInterval;
    const result: KeyInterval[] = [];
    let { low, lowInclusive, lowValue } = full;
    for (const one of intervals) {
      result.push({
        low,
        lowInclusive,
        lowValue,
        high: one.low,
        highInclusive: !one.lowInclusive,
        highValue: one.lowValue,
      });
      low = one.high;
      lowInclusive = !one.highInclusive;
      lowValue = one.highValue;
    }
    result.push({ ...full, low, lowInclusive, lowValue });
    return result.filter((interval) => !isEmpty(interval));
  }

  /** Whether these are all values. */
  isAll(intervals: FieldIntervals): boolean {
    const [only] = intervals;
    const full = this.all[0] as KeyInterval;
    return (
      intervals.length === 1 &&
      only !== undefined &&
      only.low === full.low &&
      only.high === full.high &&
      only.lowInclusive &&
      only.highInclusive
    );
  }
}

/** Whether an interval is one value. */
export function isPoint(interval: KeyInterval): boolean {
  return interval.low === interval.high && interval.lowInclusive && interval.highInclusive;
}

function isEmpty({ low, high, lowInclusive, highInclusive }: KeyInterval): boolean {
  return low > high || (low === high && !(lowInclusive && highInclusive));
}

/** Intervals in any order, sorted and joined where they overlap. */
export function unite(intervals: readonly KeyInterval[]): FieldIntervals {
  const sorted = intervals.filter((interval) => !isEmpty(interval)).sort(compareLows);
  const result: KeyInterval[] = [];
  for (const interval of sorted) {
    const last = result[result.length - 1];
    if (last === undefined || isGap(last, interval)) {
      result.push(interval);
    } else if (compareHighs(last, interval) < 0) {
      const { high, highInclusive, highValue } = interval;
      result[result.length - 1] = { ...last, high, highInclusive, highValue };
    }
  }
  return result;
}

/** What both allow. */
export function intersect(a: FieldIntervals, b: FieldIntervals): FieldIntervals {
  const result: KeyInterval[] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    const left = a[i] as KeyInterval;
    const right = b[j] as KeyInterval;
    const { low, lowInclusive, lowValue } = compareLows(left, right) >= 0 ? left : right;
    const upper = compareHighs(left, right) <= 0 ? left : right;
    const { high, highInclusive, highValue } = upper;
    const common = { low, lowInclusive, lowValue, high, highInclusive, highValue };
    if (!isEmpty(common)) result.push(common);
    if (upper === left) i++;
    else j++;
  }
  return result;
}

function compareLows(a: KeyInterval, b: KeyInterval): number {
  return compareText(a.low, b.low) || Number(b.lowInclusive) - Number(a.lowInclusive);
}

function compareHighs(a: KeyInterval, b: KeyInterval): number {
  return compareText(a.high, b.high) || Number(a.highInclusive) - Number(b.highInclusive);
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** True where some value may lie between the end of `a` and the start of `b`. */
function isGap(a: KeyInterval, b: KeyInterval): boolean {
  return a.high < b.low || (a.high === b.low && !a.highInclusive && !b.lowInclusive);
}

/** Whether some value within the intervals is a string, or can have strings in it. */
export function mayHoldStrings(intervals: FieldIntervals, field: KeyField): boolean {
  return intervals.some(({ low, high }) => {
    const flip = field.kind === -1 ? 255 : 0;
    const one = low.charCodeAt(0) ^ flip;
    const other = high.charCodeAt(0) ^ flip;
    return Math.min(one, other) <= LAST_WITH_STRINGS && Math.max(one, other) >= FIRST_WITH_STRINGS;
  });
}

/** The first characters of components of strings, objects and arrays lie between these. */
const FIRST_WITH_STRINGS = sortableValue(string("")).charCodeAt(0);
const LAST_WITH_STRINGS = sortableValue(array([])).charCodeAt(0);

/** A single stretch of an index: keys with `from` ≤ key < `to`. */
export interface KeyRange {
  readonly from: string;
  readonly to: string;
  /** The one key within, where every field is a single value. */
  readonly point?: string;
}

/**
 * The bounds as one stretch of the index: single values, then at most one
 * interval, then whatever there is.
 * @returns undefined where the bounds have gaps
 */
export function singleRange(bounds: IndexBounds, codecs: readonly FieldCodec[]): KeyRange | undefined {
  let prefix = "";
  let at = 0;
  while (at < bounds.length) {
    const intervals = bounds[at] as FieldIntervals;
    if (intervals.length !== 1 || !isPoint(intervals[0] as KeyInterval)) break;
    prefix += (intervals[0] as KeyInterval).low;
    at++;
  }
  if (at === bounds.length) return { from: prefix, to: prefix + ABOVE, point: prefix };
  const [only, second] = bounds[at] as FieldIntervals;
  if (!only || second) return undefined;
  for (let i = at + 1; i < bounds.length; i++)
    if (!(codecs[i] as FieldCodec).isAll(bounds[i] as FieldIntervals)) return undefined;
  return {
    from: prefix + only.low + (only.lowInclusive ? "" : ABOVE),
    to: prefix + only.high + (only.highInclusive ? ABOVE : ""),
  };
}

/** More intervals than that would make an explain that no client can read. */
const MOST_SHOWN = 50_000;

/**
 * Bounds as explain prints them, in the direction of the scan.
 * @example { indexBounds: { a: ['[5, 5]'], b: ['[inf.0, 3)'] } }
 */
export function describeBounds(
  bounds: IndexBounds,
  fields: readonly KeyField[],
  backward: boolean,
): Record<string, unknown> {
  if (bounds.reduce((sum, intervals) => sum + intervals.length, 0) > MOST_SHOWN)
    return { warning: "index bounds omitted due to BSON size limit for explain" };
  const indexBounds = Object.fromEntries(
    fields.map(({ path }, i) => {
      const texts = (bounds[i] ?? []).map((interval) => describeInterval(interval, backward));
      return [path, backward ? texts.reverse() : texts];
    }),
  );
  return { indexBounds };
}

function describeInterval(interval: KeyInterval, backward: boolean): string {
  const { lowValue, highValue, lowInclusive, highInclusive } = interval;
  return backward
    ? `${highInclusive ? "[" : "("}${describeValue(highValue)}, ${describeValue(lowValue)}${lowInclusive ? "]" : ")"}`
    : `${lowInclusive ? "[" : "("}${describeValue(lowValue)}, ${describeValue(highValue)}${highInclusive ? "]" : ")"}`;
}
