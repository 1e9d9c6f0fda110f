/**
 * Statistics of numbers: `$stdDevPop $stdDevSamp`, `$median $percentile`.
 * Everything that is no number is left out; they calculate in doubles.
 */
import { NULL, array, asNumber, double, isNumeric, type RawValue } from "../../../bson/index.js";
import { CommandError, ErrorCode } from "../../../protocol/index.js";
import type { Accumulator } from "./accumulator.js";

/**
 * Number, mean and sum of squared distances from the mean, brought up to date value by value (Welford), which unlike
 * a sum of squares loses no digits to cancellation.
 */
export class Moments {
  count = 0;
  mean = 0;
  squares = 0;

  add(n: number): void {
    this.count++;
    const distance = n - this.mean;
    if (distance === 0) return;
    this.mean += distance / this.count;
    this.squares += distance * (n - this.mean);
  }

  /** Takes in the moments of other values (Chan, Golub, LeVeque). */
  merge(other: Moments): void {
    if (other.count === 0) return;
    const count = this.count + other.count;
    const distance = other.mean - this.mean;
    this.mean += (distance * other.count) / count;
    this.squares += other.squares + (distance * distance * this.count * other.count) / count;
    this.count = count;
  }

  /** The standard deviation of a population or a sample; null where there are too few values for one. */
  deviation(sample: boolean): RawValue {
    const divisor = sample ? this.count - 1 : this.count;
    return divisor <= 0 ? NULL : double(Math.sqrt(this.squares / divisor));
  }
}

export class StandardDeviation implements Accumulator {
  readonly #moments = new Moments();

  constructor(readonly sample: boolean) {}

  add(v: RawValue | undefined): void {
    if (v !== undefined && isNumeric(v)) this.#moments.add(asNumber(v));
  }

  result(): RawValue {
    return this.#moments.deviation(this.sample);
  }
}

/** Place of percentile `p` (0…1) among `count` sorted values: the first that at least p of them don't exceed. */
export function percentileRank(p: number, count: number): number {
  return Math.max(0, Math.ceil(p * count) - 1);
}

/** Percentiles of sorted doubles: values that occur among them. Null (or nulls) without any. */
function percentilesOf(sorted: ArrayLike<number>, p: readonly number[], single: boolean): RawValue {
  const values = p.map((each) =>
    sorted.length === 0 ? NULL : double(sorted[percentileRank(each, sorted.length)]!),
  );
  return single ? values[0]! : array(values);
}

/** Values that one group may hold. */
const MAX_VALUES = (100 * 1024 * 1024) / 8;

export class Percentiles implements Accumulator {
  #values = new Float64Array(16);
  #count = 0;

  /** @param single `$median`: the value instead of an array */
  constructor(
    readonly p: readonly number[],
    readonly single: boolean,
  ) {}

  add(v: RawValue | undefined): void {
    if (v === undefined || !isNumeric(v)) return;
    const n = asNumber(v);
    if (Number.isNaN(n)) return;
    if (this.#count === this.#values.length) this.#grow();
    this.#values[this.#count++] = n;
  }

  #grow(): void {
    if (this.#count >= MAX_VALUES) {
      throw new CommandError(
        ErrorCode.ExceededMemoryLimit,
        `${this.single ? "$median" : "$percentile"} used too much memory and cannot spill to disk`,
      );
    }
    const larger = new Float64Array(this.#values.length * 2);
    larger.set(this.#values);
    this.#values = larger;
  }

  result(): RawValue {
    return percentilesOf(this.#values.subarray(0, this.#count).sort(), this.p, this.single);
  }
}
