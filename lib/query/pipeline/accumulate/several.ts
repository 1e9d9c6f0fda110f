/**
 * Accumulators that give several of their values: `$firstN $lastN $minN $maxN`
 * and, by a sort of their own, `$top $topN $bottom $bottomN`.
 */
import { NULL, array, sortableValue, type Collation, type RawValue } from "../../../bson/index.js";
import type { Sort } from "../../sort/index.js";
import { isNullish } from "../../values/types.js";
import { Memory, detach, type Accumulator } from "./accumulator.js";

/** The first `n` values; a missing one is null. */
export class FirstN implements Accumulator {
  readonly #values: RawValue[] = [];
  readonly #memory = new Memory("$firstN");

  constructor(readonly n: number) {}

  add(v: RawValue | undefined): void {
    if (this.#values.length >= this.n) return;
    const value = detach(v ?? NULL);
    this.#memory.take(value);
    this.#values.push(value);
  }

  result(): RawValue {
    return array(this.#values);
  }
}

/** The last `n` values; a missing one is null. */
export class LastN implements Accumulator {
  #values: RawValue[] = [];
  #start = 0;
  readonly #memory = new Memory("$lastN");

  constructor(readonly n: number) {}

  add(v: RawValue | undefined): void {
    const value = detach(v ?? NULL);
    this.#memory.take(value);
    this.#values.push(value);
    if (this.#values.length - this.#start <= this.n) return;
    this.#memory.release(this.#values[this.#start]!);
    this.#start++;
    // Cutting off when half of the list is dead costs a constant amount per value.
    if (this.#start > 16 && this.#start * 2 > this.#values.length) {
      this.#values = this.#values.slice(this.#start);
      this.#start = 0;
    }
  }

  result(): RawValue {
    return array(this.#values.slice(this.#start));
  }
}

interface Entry {
  readonly key: string;
  readonly value: RawValue;
}

/** The `n` entries of least or greatest key, in ascending order; equal keys in the order of arrival. */
class Ranking {
  readonly entries: Entry[] = [];
  readonly #memory: Memory;

  constructor(
    readonly n: number,
    readonly end: "least" | "greatest",
    name: string,
  ) {
    this.#memory = new Memory(name);
  }

  offer(key: string, v: RawValue): void {
    const { entries } = this;
    if (entries.length >= this.n) {
      // One that only equals the entry to be dropped does not replace it.
      if (this.end === "least" ? key >= entries.at(-1)!.key : key <= entries[0]!.key) return;
      const dropped = this.end === "least" ? entries.pop()! : entries.shift()!;
      this.#memory.release(dropped.value);
    }
    let low = 0;
    let high = entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (entries[middle]!.key <= key) low = middle + 1;
      else high = middle;
    }
    const value = detach(v);
    this.#memory.take(value);
    if (low === entries.length) entries.push({ key, value });
    else entries.splice(low, 0, { key, value });
  }
}

/** `$minN`, ascending, or `$maxN`, descending; null and missing values don't count. */
export class ExtremeN implements Accumulator {
  readonly #ranking: Ranking;

  constructor(
    n: number,
    readonly wanted: -1 | 1,
    readonly collation: Collation | undefined,
  ) {
    this.#ranking = new Ranking(n, wanted < 0 ? "least" : "greatest", wanted < 0 ? "$minN" : "$maxN");
  }

  add(v: RawValue | undefined): void {
    if (!isNullish(v)) this.#ranking.offer(sortableValue(v, this.collation), v);
  }

  result(): RawValue {
    const values = this.#ranking.entries.map(({ value }) => value);
    return array(this.wanted < 0 ? values : values.reverse());
  }
}

/** `$topN` and `$bottomN`: outputs of the first or the last `n` documents of a sort, in its order. */
export class Ranked implements Accumulator {
  readonly #ranking: Ranking;

  /** @param single `$top` and `$bottom`: the output itself instead of an array of one */
  constructor(
    readonly sort: Sort,
    n: number,
    end: "least" | "greatest",
    readonly single: boolean,
    name: string,
  ) {
    this.#ranking = new Ranking(n, end, name);
  }

  add(v: RawValue | undefined, doc: Uint8Array): void {
    this.#ranking.offer(this.sort.key(doc), v ?? NULL);
  }

  result(): RawValue {
    const values = this.#ranking.entries.map(({ value }) => value);
    return this.single ? (values[0] ?? NULL) : array(values);
  }
}
