/**
 * Functions of one or two numbers: rounding, powers and logarithms, trigonometry,
 * bits, `$rand`.
 *
 * Doubles, ints and longs are computed as doubles, decimals with their own 34
 * digits (values/decimalMath.ts). NaN passes through wherever it can.
 */
import {
  BsonType,
  NULL,
  asBigInt,
  asDocument,
  asNumber,
  compareValues,
  describeValue,
  double,
  int32,
  getField,
  int64,
  isEmptyDocument,
  isNumeric,
  type RawValue,
} from "../../bson/index.js";
import { CommandError, ErrorCode, notSimulated } from "../../protocol/index.js";
import {
  multiplyDecimals,
  roundDecimal,
  roundDouble,
  subtractDecimals,
  toDecimal,
  toFinite,
  type Rounding,
} from "../values/decimal.js";
import {
  exponentialOfDecimal,
  logOfDecimal,
  naturalLogOfDecimal,
  powerOfDecimals,
  squareRootOfDecimal,
} from "../values/decimalMath.js";
import {
  DECIMAL_FUNCTIONS,
  arcTangent2OfDecimals,
  degreeFactor,
  type DecimalFunction,
} from "../values/decimalTrigonometry.js";
import { int32Of, integerValue, numericRank } from "../values/numeric.js";
import { typeName } from "../values/types.js";
import {
  binary,
  compileArguments,
  compileOptional,
  isNullish,
  namedArguments,
  unary,
  variadic,
  type Argument,
  type OperatorCompiler,
} from "./arguments.js";
import { add, divide, multiply } from "./arithmetic.js";
import { compile } from "./compile.js";
import type { Expression } from "./context.js";
import { formatDouble } from "./text.js";

function numeric(v: RawValue, name: string, code = 28765): RawValue {
  if (!isNumeric(v)) throw new CommandError(code, `${name} only supports numeric types, not ${typeName(v)}`);
  return v;
}

const isDecimal = (v: RawValue): boolean => v.type === BsonType.decimal128;

function abs(v: Argument, name: string): Argument {
  if (isNullish(v)) return NULL;
  const n = numeric(v, name);
  if (n.type === BsonType.double) return double(Math.abs(asNumber(n)));
  if (isDecimal(n)) return asNumber(n) < 0 ? subtractDecimals(int32(0), n) : n;
  const value = asBigInt(n);
  const result = integerValue(value < 0n ? -value : value, n.type === BsonType.int32);
  if (result === undefined) throw new CommandError(28680, "can't take $abs of long long min");
  return result;
}

function rounded(rounding: Rounding): OperatorCompiler {
  return unary((v, name) => (isNullish(v) ? NULL : roundAt(numeric(v, name), 0, rounding, name)));
}

function roundAt(v: RawValue, place: number, rounding: Rounding, name: string): RawValue {
  switch (v.type) {
    case BsonType.double:
      return double(roundDouble(asNumber(v), place, rounding));
    case BsonType.decimal128:
      return roundDecimal(v, place, rounding);
    default: {
      if (place >= 0) return v;
      const n = asBigInt(v);
      const result = cutInteger(n, 10n ** BigInt(-place), rounding);
      const value = integerValue(result, v.type === BsonType.int32);
      if (value !== undefined) return value;
      throw new CommandError(
        51080,
        `invalid conversion from Decimal128 result in ${name} resulting from arguments: [${n}, ${place}]`,
      );
    }
  }
}

function cutInteger(n: bigint, unit: bigint, rounding: Rounding): bigint {
  let quotient = n / unit;
  const twice = 2n * (n % unit);
  const size = twice < 0n ? -twice : twice;
  if (rounding === "halfEven" && (size > unit || (size === unit && quotient % 2n !== 0n))) {
    quotient += n < 0n ? -1n : 1n;
  }
  return quotient * unit;
}

/** `$round` (ties to even) and `$trunc`, with an optional place from -20 to 100. */
function toPlace(rounding: Rounding): OperatorCompiler {
  return (argument, scope, name) => {
    const [number, precision] = compileArguments(argument, scope, name, 1, 2);
    return (context) => {
      const v = number!(context);
      if (isNullish(v)) return NULL;
      numeric(v, name, 51081);
      if (precision === undefined) return roundAt(v, 0, rounding, name);
      const place = precision(context);
      if (isNullish(place)) return NULL;
      const digits = int32Of(place);
      if (digits === undefined) {
        throw new CommandError(51082, `precision argument to  ${name} must be a integral value`);
      }
      if (digits < -20 || digits > 100) {
        throw new CommandError(
          51083,
          `cannot apply ${name} with precision value ${digits} value must be in [-20, 100]`,
        );
      }
      return roundAt(v, digits, rounding, name);
    };
  };
}

function pow(a: Argument, b: Argument, name: string): Argument {
  if (isNullish(a) || isNullish(b)) return NULL;
  if (!isNumeric(a)) throw new CommandError(28762, `${name}'s base must be numeric, not ${typeName(a)}`);
  if (!isNumeric(b)) throw new CommandError(28763, `${name}'s exponent must be numeric, not ${typeName(b)}`);
  const base = asNumber(a);
  const exponent = asNumber(b);
  if (base === 0 && exponent < 0) {
    throw new CommandError(28764, "$pow cannot take a base of 0 and a negative exponent");
  }
  const rank = Math.max(numericRank(a), numericRank(b));
  if (rank === 3) return powerOfDecimals(a, b);
  if (rank === 2) return double(power(base, exponent));
  if (Math.abs(base) > 1 && (exponent < 0 || exponent > 63)) return double(base ** exponent);
  // Powers of 0, 1 and -1 depend on whether the exponent is 0, odd or even.
  const n = asBigInt(b);
  const reduced = Math.abs(base) > 1 ? n : n === 0n ? 0n : n % 2n === 0n ? 2n : 1n;
  return integerValue(asBigInt(a) ** reduced, rank === 0) ?? double(base ** exponent);
}

/** C's pow: 1 to any power is 1, and so is -1 to an infinite one, where JavaScript has NaN. */
function power(base: number, exponent: number): number {
  if (base === 1 || (base === -1 && !Number.isFinite(exponent) && !Number.isNaN(exponent))) return 1;
  return base ** exponent;
}

/** The number as a double for a check of its domain: a decimal too small for one, but not zero, stays beside zero. */
function nearestNumber(v: RawValue): number {
  const n = asNumber(v);
  return n === 0 && isDecimal(v) ? compareValues(v, int32(0)) * Number.MIN_VALUE : n;
}

/** A function of one number; `valid` and `complaint` guard its domain. */
function real(
  apply: (n: number) => number,
  decimals: (v: RawValue) => RawValue,
  domain?: { valid: (n: number) => boolean; code: number; message: (shown: string) => string },
): OperatorCompiler {
  return unary((v, name) => {
    if (isNullish(v)) return NULL;
    const n = nearestNumber(numeric(v, name));
    if (domain !== undefined && !Number.isNaN(n) && !domain.valid(n)) {
      throw new CommandError(domain.code, domain.message(formatDouble(n)));
    }
    return isDecimal(v) ? decimals(v) : double(apply(n));
  });
}

function positive(name: string, code: number) {
  return {
    valid: (n: number) => n > 0,
    code,
    message: (shown: string) => `${name}'s argument must be a positive number, but is ${shown}`,
  };
}

function logarithm(a: Argument, b: Argument, name: string): Argument {
  if (isNullish(a) || isNullish(b)) return NULL;
  if (!isNumeric(a)) throw new CommandError(28756, `${name}'s argument must be numeric, not ${typeName(a)}`);
  if (!isNumeric(b)) throw new CommandError(28757, `${name}'s base must be numeric, not ${typeName(b)}`);
  const n = nearestNumber(a);
  const base = nearestNumber(b);
  if (!(n > 0) && !Number.isNaN(n)) {
    throw new CommandError(28758, `${name}'s argument must be a positive number, but is ${formatDouble(n)}`);
  }
  if (!(base > 0 && base !== 1) && !Number.isNaN(base)) {
    throw new CommandError(
      28759,
      `${name}'s base must be a positive number not equal to 1, but is ${formatDouble(base)}`,
    );
  }
  if (isDecimal(a) || isDecimal(b)) return logOfDecimal(a, b);
  return double(Math.log(n) / Math.log(base));
}

type Interval = readonly [low: number, high: number, shown: string];
const EVERYWHERE: Interval = [-Infinity, Infinity, ""];

/** Sine and its kin. An argument outside the interval is 50989. */
function trigonometric(name: DecimalFunction, interval: Interval = EVERYWHERE): OperatorCompiler {
  const [low, high, shown] = interval;
  const open = shown.startsWith("(");
  return unary((v, operator) => {
    if (isNullish(v)) return NULL;
    const n = asNumber(numeric(v, operator));
    if (Number.isNaN(n)) return v.type === BsonType.double || isDecimal(v) ? v : double(n);
    // A decimal may be beyond all doubles and still finite.
    const isFinite = isDecimal(v) && typeof toFinite(v) !== "number";
    const outside = open
      ? (n <= low || n >= high) && !(interval === FINITE && isFinite)
      : n < low || n > high;
    if (shown !== "" && outside) {
      const value = isDecimal(v)
        ? describeValue(v)
        : formatDouble(n).toLowerCase().replace("infinity", "inf");
      throw new CommandError(50989, `cannot apply ${operator} to ${value}, value must be in ${shown}`);
    }
    return isDecimal(v) ? DECIMAL_FUNCTIONS[name](v) : double(Math[name](n));
  });
}

const FINITE: Interval = [-Infinity, Infinity, "(-inf,inf)"];
const UNIT: Interval = [-1, 1, "[-1,1]"];

function arcTangent2(a: Argument, b: Argument, name: string): Argument {
  if (isNullish(a)) return NULL;
  numeric(a, name, 51044);
  if (isNullish(b)) return NULL;
  numeric(b, name, 51045);
  if (isDecimal(a) || isDecimal(b)) return arcTangent2OfDecimals(toDecimal(a), toDecimal(b));
  return double(Math.atan2(asNumber(a), asNumber(b)));
}

function angle(factor: number, toRadians: boolean): OperatorCompiler {
  return real(
    (n) => n * factor,
    (v) => multiplyDecimals(v, degreeFactor(toRadians)),
  );
}

/** `$bitAnd`, `$bitOr`, `$bitXor`: long where one of them is. */
function bits(identity: bigint, combine: (a: bigint, b: bigint) => bigint): OperatorCompiler {
  return variadic((values, name) => {
    let result = identity;
    let narrow = true;
    for (const v of values) {
      if (isNullish(v)) return NULL;
      if (v.type !== BsonType.int32 && v.type !== BsonType.int64) {
        throw new CommandError(ErrorCode.TypeMismatch, `${name} only supports int and long operands.`);
      }
      if (v.type === BsonType.int64) narrow = false;
      result = combine(result, asBigInt(v));
    }
    return narrow ? int32(Number(BigInt.asIntN(32, result))) : int64(result);
  });
}

function bitNot(v: Argument, name: string): Argument {
  if (isNullish(v)) return NULL;
  numeric(v, name);
  if (v.type === BsonType.int32) return int32(~asNumber(v));
  if (v.type === BsonType.int64) return int64(~asBigInt(v));
  throw new CommandError(ErrorCode.TypeMismatch, `${name} only supports int and long, not: ${typeName(v)}.`);
}

const random: OperatorCompiler = (argument, scope) => {
  if (argument.type !== BsonType.object && argument.type !== BsonType.array) {
    throw new CommandError(10065, "invalid parameter: expected an object ($rand)");
  }
  if (!isEmptyDocument(asDocument(argument))) {
    throw new CommandError(3040501, "$rand does not currently accept arguments");
  }
  const source = scope.options.random;
  if (source === undefined) throw notSimulated("$rand here");
  return () => double(source());
};

/**
 * `$sigmoid`: 1 / (1 + e^-x), of a number or of `{ input, onNull }`.
 * @since MongoDB 8.1
 */
const sigmoid: OperatorCompiler = (argument, scope) => {
  let input: Expression;
  let onNull: Expression | undefined;
  if (argument.type === BsonType.object && getField(asDocument(argument), "input") !== undefined) {
    const named = namedArguments(argument, ["input", "onNull"], {
      object: [ErrorCode.TypeMismatch, ""],
      unknown: [ErrorCode.IDLUnknownField, "BSON field '$sigmoid' has an unknown field: "],
    });
    input = compile(named.get("input")!, scope);
    onNull = compileOptional(named, "onNull", scope);
  } else {
    input = compile(argument, scope);
  }
  return (context) => {
    let v = input(context);
    if (isNullish(v)) {
      if (onNull === undefined) return NULL;
      v = onNull(context);
    }
    const opposite = multiply([int32(-1), v]);
    if (isNullish(opposite)) return NULL;
    if (isDecimal(opposite)) return divide(int32(1), add([int32(1), exponentialOfDecimal(opposite)]));
    return double(1 / (1 + Math.exp(asNumber(opposite))));
  };
};

export const FUNCTIONS: Readonly<Record<string, OperatorCompiler>> = {
  $abs: unary(abs),
  $ceil: rounded("ceil"),
  $floor: rounded("floor"),
  $round: toPlace("halfEven"),
  $trunc: toPlace("trunc"),
  $pow: binary(pow),
  $sqrt: real(Math.sqrt, squareRootOfDecimal, {
    valid: (n) => n >= 0,
    code: 28714,
    message: () => "$sqrt's argument must be greater than or equal to 0",
  }),
  $exp: real(Math.exp, exponentialOfDecimal),
  $ln: real(Math.log, naturalLogOfDecimal, positive("$ln", 28766)),
  $log10: real(Math.log10, (v) => logOfDecimal(v, int32(10)), positive("$log10", 28761)),
  $log: binary(logarithm),
  $sin: trigonometric("sin", FINITE),
  $cos: trigonometric("cos", FINITE),
  $tan: trigonometric("tan", FINITE),
  $asin: trigonometric("asin", UNIT),
  $acos: trigonometric("acos", UNIT),
  $atan: trigonometric("atan"),
  $atan2: binary(arcTangent2),
  $sinh: trigonometric("sinh"),
  $cosh: trigonometric("cosh"),
  $tanh: trigonometric("tanh"),
  $asinh: trigonometric("asinh"),
  $acosh: trigonometric("acosh", [1, Infinity, "[1,inf]"]),
  $atanh: trigonometric("atanh", UNIT),
  $degreesToRadians: angle(Math.PI / 180, true),
  $radiansToDegrees: angle(180 / Math.PI, false),
  $bitAnd: bits(-1n, (a, b) => a & b),
  $bitOr: bits(0n, (a, b) => a | b),
  $bitXor: bits(0n, (a, b) => a ^ b),
  $bitNot: unary(bitNot),
  $rand: random,
  $sigmoid: sigmoid,
};
