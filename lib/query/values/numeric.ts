/**
 * Arithmetic on MongoDB's four number types.
 *
 * The result has the wider type of the two operands, in the order
 * int32 < int64 < double < decimal128; an int32 result that doesn't fit
 * becomes an int64. What happens beyond int64 differs: aggregation goes on as
 * double, `$inc` and `$mul` refuse. So the operations here return undefined
 * for that case and their callers decide.
 *
 *     int32 2147483647 + int32 1   → int64 2147483648
 *     int32 2 + double 0.5         → double 2.5
 *     int64 1 + decimal 0.50       → decimal 1.50
 */
import { BsonType, asBigInt, asNumber, double, int32, int64, type RawValue } from "../../bson/index.js";
import { addDecimals, multiplyDecimals, subtractDecimals, toFinite } from "./decimal.js";

const INT32_MIN = -2147483648;
const INT32_MAX = 2147483647;
const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/** Place in the order int32 0, int64 1, double 2, decimal 3. */
export function numericRank(v: RawValue): 0 | 1 | 2 | 3 {
  switch (v.type) {
    case BsonType.int32:
      return 0;
    case BsonType.int64:
      return 1;
    case BsonType.double:
      return 2;
    default:
      return 3;
  }
}

/** True where n can be stored in 32 bits. */
export function fitsInt32(n: number): boolean {
  return n >= INT32_MIN && n <= INT32_MAX && Number.isInteger(n);
}

/** True for an integer that an int64 holds. */
export function fitsInt64(n: bigint): boolean {
  return n >= INT64_MIN && n <= INT64_MAX;
}

/** An integer as int32 where `narrow` and it fits, else as int64; undefined beyond 64 bits. */
export function integerValue(n: bigint, narrow: boolean): RawValue | undefined {
  if (narrow && n >= BigInt(INT32_MIN) && n <= BigInt(INT32_MAX)) return int32(Number(n));
  return fitsInt64(n) ? int64(n) : undefined;
}

type Operation = {
  readonly numbers: (a: number, b: number) => number;
  readonly integers: (a: bigint, b: bigint) => bigint;
  readonly decimals: (a: RawValue, b: RawValue) => RawValue;
};

const ADD: Operation = { numbers: (a, b) => a + b, integers: (a, b) => a + b, decimals: addDecimals };
const SUBTRACT: Operation = {
  numbers: (a, b) => a - b,
  integers: (a, b) => a - b,
  decimals: subtractDecimals,
};
const MULTIPLY: Operation = {
  numbers: (a, b) => a * b,
  integers: (a, b) => a * b,
  decimals: multiplyDecimals,
};

function compute(operation: Operation, a: RawValue, b: RawValue): RawValue | undefined {
  const rankA = numericRank(a);
  const rankB = numericRank(b);
  const rank = rankA > rankB ? rankA : rankB;
  if (rank === 3) return operation.decimals(a, b);
  if (rank === 2) return double(operation.numbers(asNumber(a), asNumber(b)));
  if (rank === 0) {
    const result = operation.numbers(asNumber(a), asNumber(b));
    if (fitsInt32(result)) return int32(result === 0 ? 0 : result);
  }
  return integerValue(operation.integers(asBigInt(a), asBigInt(b)), rank === 0);
}

/** Sum of two numbers of any types; undefined when it exceeds int64. */
export function addNumbers(a: RawValue, b: RawValue): RawValue | undefined {
  return compute(ADD, a, b);
}

/** Difference of two numbers of any types; undefined when it exceeds int64. */
export function subtractNumbers(a: RawValue, b: RawValue): RawValue | undefined {
  return compute(SUBTRACT, a, b);
}

/** Product of two numbers of any types; undefined when it exceeds int64. */
export function multiplyNumbers(a: RawValue, b: RawValue): RawValue | undefined {
  return compute(MULTIPLY, a, b);
}

/** The value of a whole number of any type; undefined where it has a fraction or lies beyond ±2^53. */
export function wholeNumber(v: RawValue | undefined): number | undefined {
  if (v === undefined) return undefined;
  switch (v.type) {
    case BsonType.int32:
    case BsonType.double:
    case BsonType.int64:
    case BsonType.decimal128: {
      const n = asNumber(v);
      return Number.isSafeInteger(n) ? n : undefined;
    }
    default:
      return undefined;
  }
}

/**
 * The value of a number that 32 bits can hold, as MongoDB asks of counts and positions: a double or
 * decimal must be whole. Undefined for all else.
 */
export function int32Of(v: RawValue | undefined): number | undefined {
  const n = wholeNumber(v);
  return n !== undefined && fitsInt32(n) ? n : undefined;
}

/** Like {@link int32Of} for 64 bits. */
export function int64Of(v: RawValue | undefined): bigint | undefined {
  if (v === undefined) return undefined;
  switch (v.type) {
    case BsonType.int32:
    case BsonType.int64:
      return asBigInt(v);
    case BsonType.double: {
      const n = asNumber(v);
      return Number.isInteger(n) && n >= -(2 ** 63) && n < 2 ** 63 ? BigInt(n) : undefined;
    }
    case BsonType.decimal128: {
      const d = toFinite(v);
      if (typeof d === "number" || d.exponent > 20) return undefined;
      const unit = 10n ** BigInt(Math.min(40, Math.max(0, -d.exponent)));
      if (d.coefficient % unit !== 0n || -d.exponent > 40) return d.coefficient === 0n ? 0n : undefined;
      const n = (d.coefficient / unit) * 10n ** BigInt(Math.max(0, d.exponent));
      return fitsInt64(n) ? n : undefined;
    }
    default:
      return undefined;
  }
}
