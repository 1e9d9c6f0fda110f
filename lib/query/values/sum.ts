/**
 * A running total over MongoDB's number types, as `$sum` and `$avg` keep it.
 *
 * The total has the widest type it met: integers stay exact, however many;
 * doubles are added with a correction for what rounding lost, so that the
 * order of the documents hardly matters; decimals are exact to 34 digits.
 *
 *     int32 1, int32 2                 → int32 3
 *     int32 2147483647, int32 1        → int64 2147483648
 *     int64 1, int32 2                 → int64 3
 *     int32 1, double 0.5, "text"      → double 1.5     (what is no number is left out)
 */
import { asBigInt, asNumber, double, int32, int64, isNumeric, type RawValue } from "../../bson/index.js";
import { addDecimals } from "./decimal.js";
import { fitsInt32, fitsInt64, numericRank } from "./numeric.js";

/** Whole numbers up to here are added as JavaScript numbers without loss. */
const SAFE = 2 ** 52;

export class NumberTotal {
  /** How many numbers were added. */
  count = 0;
  #rank = 0;
  /** Exact sum of integers: `#large + #small`. */
  #small = 0;
  #large = 0n;
  /** Sum of doubles, and what its roundings lost. */
  #doubles = 0;
  #lost = 0;
  #decimals: RawValue | undefined;

  /** Adds a number; anything else is left out. */
  add(v: RawValue | undefined): void {
    if (v === undefined || !isNumeric(v)) return;
    this.count++;
    const rank = numericRank(v);
    if (rank > this.#rank) this.#rank = rank;
    switch (rank) {
      case 0:
        this.#addInteger(asNumber(v));
        break;
      case 1: {
        const n = asNumber(v);
        if (Math.abs(n) <= SAFE) this.#addInteger(n);
        else this.#large += asBigInt(v);
        break;
      }
      case 2:
        this.#addDouble(asNumber(v));
        break;
      default:
        this.#decimals = this.#decimals === undefined ? v : addDecimals(this.#decimals, v);
    }
  }

  #addInteger(n: number): void {
    const sum = this.#small + n;
    if (Math.abs(sum) <= SAFE) {
      this.#small = sum;
    } else {
      this.#large += BigInt(this.#small) + BigInt(n);
      this.#small = 0;
    }
  }

  /** A new total of what this one and another have added. */
  plus(other: NumberTotal): NumberTotal {
    const sum = new NumberTotal();
    sum.count = this.count + other.count;
    sum.#rank = Math.max(this.#rank, other.#rank);
    sum.#large = this.#large + other.#large;
    sum.#small = this.#small;
    sum.#addInteger(other.#small);
    sum.#doubles = this.#doubles;
    sum.#lost = this.#lost + other.#lost;
    sum.#addDouble(other.#doubles);
    sum.#decimals = this.#decimals ?? other.#decimals;
    if (this.#decimals && other.#decimals) sum.#decimals = addDecimals(this.#decimals, other.#decimals);
    return sum;
  }

  /** Neumaier's summation. */
  #addDouble(n: number): void {
    const sum = this.#doubles + n;
    if (Number.isFinite(sum)) {
      this.#lost +=
        Math.abs(this.#doubles) >= Math.abs(n) ? this.#doubles - sum + n : n - sum + this.#doubles;
    }
    this.#doubles = sum;
  }

  /** The sum: int32 0 for none. Integers beyond 64 bits become a double. */
  total(): RawValue {
    const integer = this.#large + BigInt(this.#small);
    switch (this.#rank) {
      case 0:
        if (fitsInt32(Number(integer))) return int32(Number(integer));
        return fitsInt64(integer) ? int64(integer) : double(Number(integer));
      case 1:
        return fitsInt64(integer) ? int64(integer) : double(Number(integer));
      case 2:
        return double(this.#asDouble(integer));
      default: {
        let sum = this.#decimals!;
        if (integer !== 0n)
          sum = addDecimals(sum, fitsInt64(integer) ? int64(integer) : double(Number(integer)));
        const doubles = this.#doubles + this.#lost;
        return doubles === 0 ? sum : addDecimals(sum, double(doubles));
      }
    }
  }

  #asDouble(integer: bigint): number {
    return Number.isFinite(this.#doubles) ? this.#doubles + (this.#lost + Number(integer)) : this.#doubles;
  }
}
