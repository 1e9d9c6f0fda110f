/**
 * Accumulators over a sliding window: what comes in at its end and goes out at
 * its beginning.
 *
 *     $sum $avg $stdDevPop …     merged states in two stacks (fold.ts)
 *     $min $max                  the values that may yet become the extreme one
 *     $minN $topN $median …      all values in order (orderedBag.ts)
 *     $push $addToSet …          the values, with their number where equal ones count once
 *
 * A window that begins at the first document of the partition never loses any.
 */
import {
  NULL,
  array,
  asNumber,
  double,
  int32,
  isNumeric,
  sortableValue,
  type Collation,
  type RawValue,
} from "../../../bson/index.js";
import type { Sort } from "../../sort/index.js";
import { NumberTotal } from "../../values/sum.js";
import { isNullish } from "../../values/types.js";
import { Memory, type Accumulator } from "../accumulate/accumulator.js";
import { mean, members } from "../accumulate/basic.js";
import { Moments, percentileRank } from "../accumulate/statistics.js";
import { GrowingFold, Queue, SlidingFold, type Fold } from "./fold.js";
import { OrderedBag } from "./orderedBag.js";

/** A running result over a window. Values go in the order in which they came. */
export interface Sliding {
  add(v: RawValue | undefined, doc: Uint8Array): void;
  remove(v: RawValue | undefined): void;
  result(): RawValue;
}

/** A fold for a window that loses documents, or for one that doesn't. */
export function foldFor<S>(growing: boolean, merge: (a: S, b: S) => S): Fold<S> {
  return growing ? new GrowingFold(merge) : new SlidingFold(merge);
}

/** An accumulator in a window that never loses a document. */
export class Growing implements Sliding {
  constructor(readonly accumulator: Accumulator) {}

  add(v: RawValue | undefined, doc: Uint8Array): void {
    this.accumulator.add(v, doc);
  }

  remove(): void {
    throw new Error("a window that begins at the first document loses none");
  }

  result(): RawValue {
    return this.accumulator.result();
  }
}

/** `$sum` or `$avg`. */
export class SlidingTotal implements Sliding {
  readonly #fold: Fold<NumberTotal>;

  constructor(
    readonly average: boolean,
    growing: boolean,
  ) {
    this.#fold = foldFor<NumberTotal>(growing, (a, b) => a.plus(b));
  }

  add(v: RawValue | undefined): void {
    if (v === undefined || !isNumeric(v)) return;
    const total = new NumberTotal();
    total.add(v);
    this.#fold.push(total);
  }

  remove(v: RawValue | undefined): void {
    if (v !== undefined && isNumeric(v)) this.#fold.shift();
  }

  result(): RawValue {
    const total = this.#fold.total() ?? new NumberTotal();
    return this.average ? mean(total.total(), int32(total.count)) : total.total();
  }
}

/** `$stdDevPop` or `$stdDevSamp`; null where a value is not finite. */
export class SlidingDeviation implements Sliding {
  readonly #fold = new SlidingFold<Moments>((a, b) => {
    const both = new Moments();
    both.merge(a);
    both.merge(b);
    return both;
  });
  #unusable = 0;

  constructor(readonly sample: boolean) {}

  add(v: RawValue | undefined): void {
    if (v === undefined || !isNumeric(v)) return;
    const n = asNumber(v);
    if (!Number.isFinite(n)) {
      this.#unusable++;
      return;
    }
    const moments = new Moments();
    moments.add(n);
    this.#fold.push(moments);
  }

  remove(v: RawValue | undefined): void {
    if (v === undefined || !isNumeric(v)) return;
    if (Number.isFinite(asNumber(v))) this.#fold.shift();
    else this.#unusable--;
  }

  result(): RawValue {
    return this.#unusable > 0 ? NULL : (this.#fold.total() ?? new Moments()).deviation(this.sample);
  }
}

interface Candidate {
  readonly key: string;
  readonly order: number;
  readonly value: RawValue;
}

/** `$min` or `$max`: in the queue is each value that is more extreme than all that came after it. */
export class SlidingExtreme implements Sliding {
  readonly #candidates = new Queue<Candidate>();
  #added = 0;
  #removed = 0;

  constructor(
    readonly wanted: -1 | 1,
    readonly growing: boolean,
    readonly collation: Collation | undefined,
  ) {}

  add(v: RawValue | undefined): void {
    if (isNullish(v)) return;
    const key = sortableValue(v, this.collation);
    for (let last = this.#candidates.last(); last !== undefined; last = this.#candidates.last()) {
      if (this.wanted < 0 ? last.key <= key : last.key > key) break;
      // Of equal greatest values the last one counts, unless none is ever lost.
      if (this.wanted > 0 && this.growing && last.key === key) break;
      this.#candidates.pop();
    }
    this.#candidates.push({ key, order: this.#added++, value: v });
  }

  remove(v: RawValue | undefined): void {
    if (isNullish(v)) return;
    if (this.#candidates.first()?.order === this.#removed) this.#candidates.shift();
    this.#removed++;
  }

  result(): RawValue {
    return this.#candidates.first()?.value ?? NULL;
  }
}

/** `$push`, or the elements of arrays for `$concatArrays`. */
export class SlidingList implements Sliding {
  readonly #values = new Queue<RawValue>();
  readonly #memory: Memory;

  constructor(readonly name: "$push" | "$concatArrays") {
    this.#memory = new Memory(name);
  }

  #each(v: RawValue | undefined): RawValue[] {
    if (this.name === "$concatArrays") return members(v, this.name);
    return v === undefined ? [] : [v];
  }

  add(v: RawValue | undefined): void {
    for (const each of this.#each(v)) {
      this.#memory.take(each);
      this.#values.push(each);
    }
  }

  remove(v: RawValue | undefined): void {
    for (const each of this.#each(v)) {
      this.#memory.release(each);
      this.#values.shift();
    }
  }

  result(): RawValue {
    return array(this.#values.toArray());
  }
}

/** `$addToSet`, or the elements of arrays for `$setUnion`: each value with the number of times it is there. */
export class SlidingSet implements Sliding {
  readonly #values = new Map<string, { value: RawValue; times: number }>();
  readonly #memory: Memory;

  constructor(
    readonly name: "$addToSet" | "$setUnion",
    readonly collation: Collation | undefined,
  ) {
    this.#memory = new Memory(name);
  }

  #each(v: RawValue | undefined): RawValue[] {
    if (this.name === "$setUnion") return members(v, this.name);
    return v === undefined ? [] : [v];
  }

  add(v: RawValue | undefined): void {
    for (const value of this.#each(v)) {
      const key = sortableValue(value, this.collation);
      const known = this.#values.get(key);
      if (known !== undefined) known.times++;
      else {
        this.#memory.take(value);
        this.#values.set(key, { value, times: 1 });
      }
    }
  }

  remove(v: RawValue | undefined): void {
    for (const value of this.#each(v)) {
      const key = sortableValue(value, this.collation);
      const known = this.#values.get(key)!;
      if (--known.times > 0) continue;
      this.#memory.release(known.value);
      this.#values.delete(key);
    }
  }

  result(): RawValue {
    return array([...this.#values.values()].map(({ value }) => value));
  }
}

/** `$minN`, `$maxN`, `$topN` and its like. */
export class SlidingRanking implements Sliding {
  readonly #bag = new OrderedBag<string, RawValue>();
  /** Keys of the entries, in order of arrival. */
  readonly #keys = new Queue<string>();
  #added = 0;
  #removed = 0;

  /**
   * @param sort of `$topN` and its like; undefined: by the values, those that are null left out
   * @param end which end of the order is wanted; `$maxN` gives it the other way round
   */
  constructor(
    readonly n: number,
    readonly end: "first" | "last",
    readonly sort: Sort | undefined,
    readonly single: boolean,
    readonly collation: Collation | undefined,
  ) {}

  add(v: RawValue | undefined, doc: Uint8Array): void {
    if (this.sort === undefined && isNullish(v)) return;
    const value = v ?? NULL;
    const key = this.sort === undefined ? sortableValue(value, this.collation) : this.sort.key(doc);
    this.#bag.add(key, this.#added++, value);
    this.#keys.push(key);
  }

  remove(v: RawValue | undefined): void {
    if (this.sort === undefined && isNullish(v)) return;
    this.#bag.remove(this.#keys.first()!, this.#removed++);
    this.#keys.shift();
  }

  result(): RawValue {
    const values = this.end === "first" ? this.#bag.first(this.n) : this.#bag.last(this.n);
    if (this.single) return values[0] ?? NULL;
    return array(this.sort === undefined && this.end === "last" ? values.reverse() : values);
  }
}

/** `$median` or `$percentile`. */
export class SlidingPercentiles implements Sliding {
  readonly #bag = new OrderedBag<number, number>();
  #added = 0;
  #removed = 0;

  constructor(
    readonly p: readonly number[],
    readonly single: boolean,
  ) {}

  add(v: RawValue | undefined): void {
    const n = v !== undefined && isNumeric(v) ? asNumber(v) : NaN;
    if (!Number.isNaN(n)) this.#bag.add(n, this.#added++, n);
  }

  remove(v: RawValue | undefined): void {
    const n = v !== undefined && isNumeric(v) ? asNumber(v) : NaN;
    if (!Number.isNaN(n)) this.#bag.remove(n, this.#removed++);
  }

  result(): RawValue {
    const { size } = this.#bag;
    const values = this.p.map((each) =>
      size === 0 ? NULL : double(this.#bag.at(percentileRank(each, size))!),
    );
    return this.single ? values[0]! : array(values);
  }
}
