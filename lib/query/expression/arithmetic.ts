/** Arithmetic: `$add $subtract $multiply $divide $mod $abs $ceil $floor $round $trunc $pow $sqrt $exp $ln $log $log10`. */
import {
  BsonType,
  NULL,
  asBigInt,
  asMilliseconds,
  asNumber,
  date,
  double,
  int32,
  int64,
  isNumeric,
  type RawValue,
} from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import {
  divideDecimals,
  remainderOfDecimals,
  roundDecimal,
  roundDouble,
  subtractDecimals,
  toDecimal,
  type Rounding,
} from "../values/decimal.js";
import {
  addNumbers,
  integerValue,
  multiplyNumbers,
  numericRank,
  subtractNumbers,
  wholeNumber,
} from "../values/numeric.js";
import { typeName } from "../values/types.js";
import { binary, isNullish, unary, variadic, type Argument, type OperatorCompiler } from "./arguments.js";

function mismatch(message: string, code: number = ErrorCode.TypeMismatch): CommandError {
  return new CommandError(code, message);
}

/** A sum of numbers beyond int64 goes on as double, as in aggregation. */
function addOrWiden(a: RawValue, b: RawValue): RawValue {
  return addNumbers(a, b) ?? double(asNumber(a) + asNumber(b));
}

/** Numbers are added up; with one date among them the rest counts as milliseconds. */
function add(values: readonly Argument[]): Argument {
  let sum: RawValue | undefined;
  let sawDate = false;
  for (const v of values) {
    if (isNullish(v)) return NULL;
    if (v.type === BsonType.date) {
      if (sawDate) throw mismatch("only one date allowed in an $add expression", ErrorCode.BadValue);
      sawDate = true;
      const ms = int64(asBigInt(v));
      sum = sum === undefined ? ms : addOrWiden(sum, ms);
    } else if (isNumeric(v)) {
      sum = sum === undefined ? v! : addOrWiden(sum, v);
    } else {
      throw mismatch(`$add only supports numeric or date types, not ${typeName(v)}`);
    }
  }
  if (sum === undefined) return int32(0);
  return sawDate ? date(toMilliseconds(sum)) : sum;
}

/** A number as whole milliseconds, fractions rounded to the nearest. */
function toMilliseconds(v: RawValue): number | bigint {
  return v.type === BsonType.int32 || v.type === BsonType.int64 ? asBigInt(v) : Math.round(asNumber(v));
}

function subtract(a: Argument, b: Argument): Argument {
  if (isNullish(a) || isNullish(b)) return NULL;
  const left = a!;
  const right = b!;
  if (isNumeric(left) && isNumeric(right)) {
    return subtractNumbers(left, right) ?? double(asNumber(left) - asNumber(right));
  }
  if (left.type === BsonType.date) {
    if (right.type === BsonType.date) return int64(asBigInt(left) - asBigInt(right));
    if (isNumeric(right)) return date(BigInt(asMilliseconds(left)) - BigInt(toMilliseconds(right)));
  }
  throw mismatch(`can't $subtract ${typeName(right)} from ${typeName(left)}`);
}

function multiply(values: readonly Argument[]): Argument {
  let product: RawValue = int32(1);
  for (const v of values) {
    if (isNullish(v)) return NULL;
    if (!isNumeric(v)) throw mismatch(`$multiply only supports numeric types, not ${typeName(v)}`);
    product = multiplyNumbers(product, v) ?? double(asNumber(product) * asNumber(v));
  }
  return product;
}

/** Always a double, or a decimal where one of them is. */
function divide(a: Argument, b: Argument): Argument {
  if (isNullish(a) || isNullish(b)) return NULL;
  if (!isNumeric(a) || !isNumeric(b)) {
    throw mismatch(`$divide only supports numeric types, not ${typeName(a)} and ${typeName(b)}`);
  }
  if (asNumber(b) === 0) throw mismatch("can't $divide by zero", ErrorCode.BadValue);
  if (numericRank(a) === 3 || numericRank(b) === 3) return divideDecimals(a, b);
  return double(asNumber(a) / asNumber(b));
}

function modulo(a: Argument, b: Argument): Argument {
  if (isNullish(a) || isNullish(b)) return NULL;
  if (!isNumeric(a) || !isNumeric(b)) {
    throw mismatch(`$mod only supports numeric types, not ${typeName(a)} and ${typeName(b)}`, 16611);
  }
  if (asNumber(b) === 0) throw mismatch("can't $mod by zero", 16610);
  const rank = Math.max(numericRank(a), numericRank(b));
  if (rank === 3) return remainderOfDecimals(a, b);
  if (rank === 2) return double(asNumber(a) % asNumber(b));
  return integerValue(asBigInt(a) % asBigInt(b), rank === 0);
}

function abs(v: Argument, name: string): Argument {
  if (isNullish(v)) return NULL;
  const n = numeric(v, name);
  switch (n.type) {
    case BsonType.double:
      return double(Math.abs(asNumber(n)));
    case BsonType.decimal128:
      return asNumber(n) < 0 ? subtractDecimals(int32(0), n) : n;
    default: {
      const value = asBigInt(n);
      const result = integerValue(value < 0n ? -value : value, n.type === BsonType.int32);
      if (result === undefined) throw new CommandError(28680, "can't take $abs of long long min");
      return result;
    }
  }
}

function numeric(v: RawValue, name: string): RawValue {
  if (!isNumeric(v)) throw mismatch(`${name} only supports numeric types, not ${typeName(v)}`, 28765);
  return v;
}

function rounded(rounding: Rounding): (v: Argument, name: string) => Argument {
  return (v, name) => (isNullish(v) ? NULL : roundAt(numeric(v, name), 0, rounding));
}

function roundAt(v: RawValue, place: number, rounding: Rounding): RawValue {
  switch (v.type) {
    case BsonType.double:
      return double(roundDouble(asNumber(v), place, rounding));
    case BsonType.decimal128:
      return roundDecimal(v, place, rounding);
    default: {
      if (place >= 0) return v;
      const result = asBigInt(roundDecimal(toDecimal(v), place, rounding));
      return integerValue(result, v.type === BsonType.int32)!;
    }
  }
}

/** `$round` (ties to even) and `$trunc`, with an optional place from -20 to 100. */
function toPlace(rounding: Rounding): OperatorCompiler {
  return variadic(
    ([v, place], name) => {
      if (isNullish(v)) return NULL;
      numeric(v, name);
      if (place === undefined) return roundAt(v, 0, rounding);
      if (isNullish(place)) return NULL;
      const digits = wholeNumber(place);
      if (digits === undefined) throw mismatch(`${name} requires "place" argument to be an integer`, 51082);
      if (digits < -20 || digits > 100) {
        throw mismatch(
          `cannot apply ${name} with precision value ${digits} value must be in [-20, 100]`,
          51083,
        );
      }
      return roundAt(v, digits, rounding);
    },
    1,
    2,
  );
}

function pow(a: Argument, b: Argument, name: string): Argument {
  if (isNullish(a) || isNullish(b)) return NULL;
  if (!isNumeric(a)) throw mismatch(`${name}'s base must be numeric, not ${typeName(a)}`, 28762);
  if (!isNumeric(b)) throw mismatch(`${name}'s exponent must be numeric, not ${typeName(b)}`, 28763);
  const base = asNumber(a);
  const exponent = asNumber(b);
  if (base === 0 && exponent < 0)
    throw mismatch("$pow cannot take a base of 0 and a negative exponent", 28764);
  const rank = Math.max(numericRank(a), numericRank(b));
  if (rank === 3) return toDecimal(double(base ** exponent));
  if (rank === 2 || exponent < 0) return double(base ** exponent);
  const small = Math.abs(base) <= 1;
  if (!small && exponent > 63) return double(base ** exponent);
  const result =
    asBigInt(a) ** (small ? BigInt(exponent % 2 === 0 ? Math.min(exponent, 2) : 1) : asBigInt(b));
  return integerValue(result, rank === 0) ?? double(base ** exponent);
}

/** A function of doubles with a condition on its argument. */
function real(
  apply: (n: number) => number,
  valid: (n: number) => boolean,
  complaint: string,
  code: number,
): OperatorCompiler {
  return unary((v, name) => {
    if (isNullish(v)) return NULL;
    const n = asNumber(numeric(v, name));
    if (!valid(n) && !Number.isNaN(n)) throw mismatch(`${name}'s argument must be ${complaint}`, code);
    return v.type === BsonType.decimal128 ? toDecimal(double(apply(n))) : double(apply(n));
  });
}

function logarithm(a: Argument, b: Argument, name: string): Argument {
  if (isNullish(a) || isNullish(b)) return NULL;
  const n = asNumber(numeric(a, name));
  const base = asNumber(numeric(b, name));
  if (!(n > 0) && !Number.isNaN(n)) throw mismatch(`${name}'s argument must be a positive number`, 28758);
  if (!(base > 0 && base !== 1) && !Number.isNaN(base)) {
    throw mismatch(`${name}'s base must be a positive number not equal to 1`, 28759);
  }
  return double(Math.log(n) / Math.log(base));
}

const anyNumber = () => true;
const positive = (n: number) => n > 0;

export const ARITHMETIC: Readonly<Record<string, OperatorCompiler>> = {
  $add: variadic(add),
  $subtract: binary(subtract),
  $multiply: variadic(multiply),
  $divide: binary(divide),
  $mod: binary(modulo),
  $abs: unary(abs),
  $ceil: unary(rounded("ceil")),
  $floor: unary(rounded("floor")),
  $round: toPlace("halfEven"),
  $trunc: toPlace("trunc"),
  $pow: binary(pow),
  $sqrt: real(Math.sqrt, (n) => n >= 0, "greater than or equal to 0", 28714),
  $exp: real(Math.exp, anyNumber, "a number", 28765),
  $ln: real(Math.log, positive, "a positive number", 28766),
  $log10: real(Math.log10, positive, "a positive number", 28761),
  $log: binary(logarithm),
};
