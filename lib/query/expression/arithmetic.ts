/**
 * Arithmetic on numbers and dates: `$add $subtract $multiply $divide $mod`.
 *
 * The result has the widest type among the operands (int, long, double,
 * decimal); int that grows beyond 32 bits becomes long, long beyond 64 bits
 * double. The running total of `$add` and `$multiply` is kept in 64 bits and
 * looks at its type at the end: `2147483647 + 1 - 1` is an int again.
 */
import {
  BsonType,
  NULL,
  asBigInt,
  asNumber,
  date,
  double,
  int64,
  isNumeric,
  type RawValue,
} from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import {
  addDecimals,
  divideDecimals,
  multiplyDecimals,
  remainderOfDecimals,
  roundDecimal,
  toDecimal,
  toFinite,
} from "../values/decimal.js";
import { fitsInt64, int64Of, integerValue, numericRank, subtractNumbers } from "../values/numeric.js";
import { typeName } from "../values/types.js";
import { binary, isNullish, variadic, type Argument, type OperatorCompiler } from "./arguments.js";

function mismatch(message: string): CommandError {
  return new CommandError(ErrorCode.TypeMismatch, message);
}

function dateOverflow(): CommandError {
  return new CommandError(ErrorCode.Overflow, "date overflow");
}

/** A number as whole milliseconds: doubles rounded half away from zero, decimals half to even. */
export function milliseconds(v: RawValue): bigint {
  switch (v.type) {
    case BsonType.double: {
      const n = asNumber(v);
      if (!(n >= -(2 ** 63) && n < 2 ** 63)) throw dateOverflow();
      return BigInt(n < 0 ? -Math.round(-n) : Math.round(n));
    }
    case BsonType.decimal128: {
      const rounded = int64Of(roundDecimal(v, 0, "halfEven"));
      if (rounded === undefined) throw dateOverflow();
      return rounded;
    }
    default:
      return asBigInt(v);
  }
}

function checkedDate(ms: bigint): RawValue {
  if (!fitsInt64(ms)) throw dateOverflow();
  return date(ms);
}

/** Numbers are added up; with one date among them the rest counts as milliseconds. */
export function add(values: readonly Argument[]): Argument {
  let rank = 0;
  let integer = 0n;
  let real = 0;
  let decimal: RawValue | undefined;
  let total: bigint | undefined; // milliseconds, once there is a date
  for (const v of values) {
    if (isNullish(v)) return NULL;
    if (v.type === BsonType.date) {
      if (total !== undefined) throw new CommandError(16612, "only one date allowed in an $add expression");
      total =
        asBigInt(v) + (decimal ? milliseconds(decimal) : rank === 2 ? milliseconds(double(real)) : integer);
    } else if (!isNumeric(v)) {
      throw mismatch(`$add only supports numeric or date types, not ${typeName(v)}`);
    } else if (total !== undefined) {
      total += milliseconds(v);
    } else {
      const before = rank;
      rank = Math.max(rank, numericRank(v));
      if (rank > before && rank >= 2) {
        if (rank === 2) real = Number(integer);
        else decimal = toDecimal(before === 2 ? double(real) : int64(integer));
      }
      if (rank === 3) decimal = addDecimals(decimal!, v);
      else if (rank === 2) real += asNumber(v);
      else {
        const sum = integer + asBigInt(v);
        if (fitsInt64(sum)) integer = sum;
        else {
          rank = 2;
          real = Number(integer) + asNumber(v);
        }
      }
    }
    if (total !== undefined && !fitsInt64(total)) throw dateOverflow();
  }
  if (total !== undefined) return date(total);
  if (rank === 3) return decimal;
  return rank === 2 ? double(real) : integerValue(integer, rank === 0);
}

/** Difference of numbers or dates; a number taken from a date counts as milliseconds. */
export function subtract(a: Argument, b: Argument): Argument {
  if (isNullish(a) || isNullish(b)) return NULL;
  const left: RawValue = a;
  const right: RawValue = b;
  if (isNumeric(left) && isNumeric(right)) {
    return subtractNumbers(left, right) ?? double(asNumber(left) - asNumber(right));
  }
  if (left.type !== BsonType.date)
    throw mismatch(`can't $subtract ${typeName(right)} from ${typeName(left)}`);
  if (right.type === BsonType.date) return int64(asBigInt(left) - asBigInt(right));
  if (isNumeric(right)) return checkedDate(asBigInt(left) - milliseconds(right));
  throw mismatch(`can't $subtract ${typeName(right)} from Date`);
}

/** Product of numbers. */
export function multiply(values: readonly Argument[]): Argument {
  let rank = 0;
  let integer = 1n;
  let real = 1;
  let decimal: RawValue | undefined;
  for (const v of values) {
    if (isNullish(v)) return NULL;
    if (!isNumeric(v)) throw mismatch(`$multiply only supports numeric types, not ${typeName(v)}`);
    const before = rank;
    rank = Math.max(rank, numericRank(v));
    if (rank === 3) {
      decimal ??= toDecimal(before === 2 ? double(real) : int64(integer));
      decimal = multiplyDecimals(decimal, v);
      continue;
    }
    real *= asNumber(v);
    if (rank === 2) continue;
    integer *= asBigInt(v);
    if (!fitsInt64(integer)) rank = 2;
  }
  if (rank === 3) return decimal;
  return rank === 2 ? double(real) : integerValue(integer, rank === 0);
}

/** Always a double, or a decimal where one of them is. Throws 2 for a division by zero. */
export function divide(a: Argument, b: Argument): Argument {
  if (isNullish(a) || isNullish(b)) return NULL;
  if (!isNumeric(a) || !isNumeric(b)) {
    throw mismatch(`$divide only supports numeric types, not ${typeName(a)} and ${typeName(b)}`);
  }
  if (asNumber(b) === 0 && isZero(b)) throw new CommandError(ErrorCode.BadValue, "can't $divide by zero");
  if (numericRank(a) === 3 || numericRank(b) === 3) return divideDecimals(a, b);
  return double(asNumber(a) / asNumber(b));
}

/** Truly zero: the nearest double of 1E-6000 is zero, too. */
function isZero(v: RawValue): boolean {
  const d = toFinite(v);
  return typeof d !== "number" && d.coefficient === 0n;
}

function modulo(a: Argument, b: Argument): Argument {
  if (isNullish(a) || isNullish(b)) return NULL;
  if (!isNumeric(a) || !isNumeric(b)) {
    throw new CommandError(16611, `$mod only supports numeric types, not ${typeName(a)} and ${typeName(b)}`);
  }
  const rank = Math.max(numericRank(a), numericRank(b));
  if (asNumber(b) === 0 && (rank < 3 || isZero(b))) {
    throw new CommandError(rank === 3 ? 5733415 : 16610, "can't $mod by zero");
  }
  if (rank === 3) return remainderOfDecimals(a, b);
  if (rank === 2) return double(asNumber(a) % asNumber(b));
  return integerValue(asBigInt(a) % asBigInt(b), rank === 0);
}

export const ARITHMETIC: Readonly<Record<string, OperatorCompiler>> = {
  $add: variadic(add),
  $subtract: binary(subtract),
  $multiply: variadic(multiply),
  $divide: binary(divide),
  $mod: binary(modulo),
};
