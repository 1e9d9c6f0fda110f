/**
 * Walking an index whose bounds have gaps.
 *
 *     index {a: 1, b: 1}     a: [1, 1] [5, 5]     b: [7, 9]
 *
 *     key (1, 3)   b lies before its interval   → look up (1, 7)
 *     key (1, 8)   within                       → take it
 *     key (1, 12)  b lies behind its last one   → look up what follows every (1, …)
 *     key (2, 0)   a lies between two intervals → look up (5, 7)
 *     key (5, 12)  nothing more can come        → end
 *
 * The scan examines the keys it lands on, and where one is out of bounds the
 * checker says where to look next. These are MongoDB's steps one by one,
 * because they decide how many keys are examined: `{$in: [1, 5]}` over the keys
 * 1 2 3 4 5 6 examines 1, 2 (from there straight to 5), 5 and 6, four keys.
 */
import { componentEnd } from "../../../bson/index.js";
import type { KeyField } from "../../../query/index.js";
import { ABOVE, type FieldIntervals, type IndexBounds, type KeyInterval } from "./keyIntervals.js";

/** What to do with a key. */
export type KeyState = "valid" | "seek" | "done";

const BEHIND = -1;
const WITHIN = 0;
const AHEAD = 1;

/** Decides, key by key, how a scan goes on. */
export class BoundsChecker {
  /**
   * Where to look after `"seek"`. A forward scan goes on with the first key not below it, a backward scan
   * with the last key below it.
   */
  target = "";
  /** The interval of each field that the scan is in. */
  private readonly current: number[];
  private readonly ends: number[];
  private readonly descending: readonly boolean[];

  /**
   * @param bounds none of the lists is empty
   * @param fields the index's fields
   */
  constructor(
    private readonly bounds: IndexBounds,
    fields: readonly KeyField[],
    private readonly backward: boolean,
  ) {
    this.current = bounds.map((intervals) => this.first(intervals));
    this.ends = bounds.map(() => 0);
    this.descending = fields.map(({ kind }) => kind === -1);
    this.seekTo("", 0);
  }

  /** Whether a key lies within the bounds, wherever the scan is. */
  contains(key: string): boolean {
    let at = 0;
    for (let i = 0; i < this.bounds.length; i++) {
      const end = componentEnd(key, at, this.descending[i]);
      if (this.find(i, key.slice(at, end)).where !== WITHIN) return false;
      at = end;
    }
    return true;
  }

  /** Judges the next key of the scan. */
  check(key: string): KeyState {
    const { bounds, current, ends } = this;
    for (let i = 0, at = 0; i < ends.length; i++) {
      at = componentEnd(key, at, this.descending[i]);
      ends[i] = at;
    }
    let at = this.firstOutside(key);
    if (at === -1) return "valid";
    let where = this.locate(at, current[at] as number, this.part(key, at));
    if (where === BEHIND) {
      // Behind the interval we are in, perhaps within an earlier one: a field to the left has moved on.
      this.restart(at);
      at = this.firstOutside(key);
      if (at === -1) return "valid";
      where = this.locate(at, current[at] as number, this.part(key, at));
      if (where === BEHIND) {
        this.seekTo(this.prefix(key, at), at);
        return "seek";
      }
    }
    for (; at < bounds.length; at++) {
      const found = this.find(at, this.part(key, at));
      if (found.where === WITHIN) {
        current[at] = found.interval;
      } else if (found.where === BEHIND) {
        current[at] = found.interval;
        this.restart(at + 1);
        this.seekTo(this.prefix(key, at), at);
        return "seek";
      } else {
        if (!this.canAdvance(key, at)) return "done";
        this.restart(at);
        const prefix = this.prefix(key, at);
        this.target = this.backward ? prefix : prefix + ABOVE;
        return "seek";
      }
    }
    return "valid";
  }

  private part(key: string, i: number): string {
    return key.slice(i === 0 ? 0 : this.ends[i - 1], this.ends[i]);
  }

  private prefix(key: string, fields: number): string {
    return fields === 0 ? "" : key.slice(0, this.ends[fields - 1]);
  }

  private first(intervals: FieldIntervals): number {
    return this.backward ? intervals.length - 1 : 0;
  }

  private last(intervals: FieldIntervals): number {
    return this.backward ? 0 : intervals.length - 1;
  }

  private restart(from: number): void {
    for (let i = from; i < this.bounds.length; i++)
      this.current[i] = this.first(this.bounds[i] as FieldIntervals);
  }

  /** The first field that is not in the interval we are in; -1: none. */
  private firstOutside(key: string): number {
    for (let i = 0; i < this.bounds.length; i++)
      if (this.locate(i, this.current[i] as number, this.part(key, i)) !== WITHIN) return i;
    return -1;
  }

  /** Where a component lies as seen from an interval, in the direction of the scan. */
  private locate(field: number, interval: number, part: string): number {
    const { low, lowInclusive, high, highInclusive } = (this.bounds[field] as FieldIntervals)[
      interval
    ] as KeyInterval;
    if (part < low || (part === low && !lowInclusive)) return this.backward ? AHEAD : BEHIND;
    if (part > high || (part === high && !highInclusive)) return this.backward ? BEHIND : AHEAD;
    return WITHIN;
  }

  /** The first interval, in the direction of the scan, that the component is not ahead of. */
  private find(field: number, part: string): { where: number; interval: number } {
    const intervals = this.bounds[field] as FieldIntervals;
    const count = intervals.length;
    const nth = (n: number): number => (this.backward ? count - 1 - n : n);
    let low = 0;
    let high = count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.locate(field, nth(middle), part) === AHEAD) low = middle + 1;
      else high = middle;
    }
    if (low === count) return { where: AHEAD, interval: -1 };
    return { where: this.locate(field, nth(low), part), interval: nth(low) };
  }

  /** Whether a greater value of one of the first `fields` fields could still be within bounds. */
  private canAdvance(key: string, fields: number): boolean {
    for (let i = 0; i < fields; i++) {
      const intervals = this.bounds[i] as FieldIntervals;
      if (this.current[i] !== this.last(intervals)) return true;
      const { low, lowInclusive, high, highInclusive } = intervals[this.current[i] as number] as KeyInterval;
      if (!(this.backward ? lowInclusive : highInclusive)) return true;
      if (this.part(key, i) !== (this.backward ? low : high)) return true;
    }
    return false;
  }

  /** Aims at the start of the current intervals of the fields from `field` on. */
  private seekTo(prefix: string, field: number): void {
    let target = prefix;
    for (let i = field; i < this.bounds.length; i++) {
      const { low, lowInclusive, high, highInclusive } = (this.bounds[i] as FieldIntervals)[
        this.current[i] as number
      ] as KeyInterval;
      target += this.backward ? high : low;
      if (this.backward ? highInclusive : lowInclusive) continue;
      this.target = this.backward ? target : target + ABOVE;
      return;
    }
    this.target = this.backward ? target + ABOVE : target;
  }
}
