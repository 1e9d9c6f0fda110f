/**
 * Decimal128 arithmetic: add, multiply, divide, round.
 *
 * A finite decimal is coefficient × 10^exponent with up to 34 digits. The
 * operations below work on exact BigInt coefficients and round once at the
 * end, to 34 digits, ties to even, as IEEE 754-2008 wants it:
 *
 *     1.5 + 0.25 = 15e-1 + 25e-2 = 150e-2 + 25e-2 = 175e-2 = 1.75
 *
 * Trailing zeros carry meaning (1.50 is not written 1.5), so the result keeps
 * the exponent that the standard prefers: the lesser one of a sum, the sum of
 * both of a product, their difference for a quotient where that is exact.
 * Decimals are rare in shard keys: this module is exact first and fast second.
 */
import { readDecimal } from "../../bson/decimal.js";
import { BsonType, asBigInt, asNumber, writeInt32, type RawValue } from "../../bson/index.js";

/** A finite decimal: signed coefficient × 10^exponent. */
export interface Finite {
  readonly coefficient: bigint;
  readonly exponent: number;
}

/** Digits of a coefficient. */
export const DIGITS = 34;

const MAX_EXPONENT = 6111;
const MIN_EXPONENT = -6176;

/** Any number as a decimal; a double counts with 15 digits, as in MongoDB's mixed arithmetic. A number for NaN and ±Infinity. */
export function toFinite(v: RawValue): Finite | number {
  if (v.type === BsonType.int32 || v.type === BsonType.int64)
    return { coefficient: asBigInt(v), exponent: 0 };
  if (v.type === BsonType.double) {
    const n = asNumber(v);
    return Number.isFinite(n) ? parse(n.toPrecision(15))! : n;
  }
  const d = readDecimal(v.bytes, v.start);
  if (d.kind === "nan") return NaN;
  if (d.kind === "infinity") return d.negative ? -Infinity : Infinity;
  return { coefficient: d.negative ? -d.coefficient : d.coefficient, exponent: d.exponent };
}

/** A number in decimal text, such as `-1.5e3`; undefined for anything else. */
function parse(text: string): Finite | undefined {
  const match = /^([+-]?)(?:(\d+)\.?(\d*)|\.(\d+))(?:[eE]([+-]?\d+))?$/.exec(text);
  if (!match) return undefined;
  const fraction = match[3] ?? match[4] ?? "";
  let digits = ((match[2] ?? "") + fraction).replace(/^0+(?=\d)/, "");
  let exponent = Math.max(-1e9, Math.min(1e9, Number(match[5] ?? 0))) - fraction.length;
  // Of a text of a million digits 40 decide, and whether something follows them.
  if (digits.length > 40) {
    exponent += digits.length - 41;
    digits = digits.slice(0, 40) + (/[1-9]/.test(digits.slice(40)) ? "1" : "0");
  }
  const magnitude = BigInt(digits);
  return { coefficient: match[1] === "-" ? -magnitude : magnitude, exponent };
}

/** Sixteen bytes of a decimal: see bson/decimal.ts. The coefficient has at most 34 digits. */
function encode(negative: boolean, coefficient: bigint, exponent: number): RawValue {
  const bytes = new Uint8Array(16);
  for (let i = 0, rest = coefficient; i < 4; i++, rest >>= 32n) {
    writeInt32(bytes, 4 * i, Number(BigInt.asIntN(32, rest)));
  }
  const biased = exponent - MIN_EXPONENT;
  bytes[14]! |= (biased << 1) & 0xff;
  bytes[15] = (biased >> 7) | (negative ? 0x80 : 0);
  return { type: BsonType.decimal128, bytes, start: 0, end: 16 };
}

/** NaN, ±Infinity or 0 as a decimal. */
export function fromNumber(n: number): RawValue {
  if (Number.isFinite(n)) return encode(n < 0, 0n, 0);
  const value = encode(n < 0, 0n, MIN_EXPONENT);
  value.bytes[15]! |= Number.isNaN(n) ? 0x7c : 0x78;
  return value;
}

/** A decimal of at most 34 digits; beyond the range of exponents it is infinite, or has fewer digits and at last none. */
export function fromFinite({ coefficient, exponent }: Finite): RawValue {
  const negative = coefficient < 0n;
  let magnitude = negative ? -coefficient : coefficient;
  let power = exponent;
  if (magnitude === 0n) return encode(false, 0n, Math.max(MIN_EXPONENT, Math.min(MAX_EXPONENT, power)));
  if (power < MIN_EXPONENT) {
    magnitude = shorten(magnitude, Math.min(MIN_EXPONENT - power, 100));
    power = MIN_EXPONENT;
  }
  if (power > MAX_EXPONENT) {
    if (power - MAX_EXPONENT + digitsOf(magnitude) > DIGITS)
      return fromNumber(negative ? -Infinity : Infinity);
    magnitude *= 10n ** BigInt(power - MAX_EXPONENT);
    power = MAX_EXPONENT;
  }
  return encode(negative, magnitude, power);
}

/** Divides by 10^digits, ties to even. */
function shorten(coefficient: bigint, digits: number): bigint {
  const unit = 10n ** BigInt(digits);
  const magnitude = coefficient < 0n ? -coefficient : coefficient;
  let quotient = magnitude / unit;
  const twice = 2n * (magnitude % unit);
  if (twice > unit || (twice === unit && quotient % 2n === 1n)) quotient++;
  return coefficient < 0n ? -quotient : quotient;
}

/** How many digits a whole number has. */
export function digitsOf(coefficient: bigint): number {
  return (coefficient < 0n ? -coefficient : coefficient).toString().length;
}

/** Rounded to 34 digits, ties to even. */
export function fit(d: Finite): Finite {
  const surplus = digitsOf(d.coefficient) - DIGITS;
  if (surplus <= 0) return d;
  const coefficient = shorten(d.coefficient, surplus);
  return fit({ coefficient, exponent: d.exponent + surplus });
}

/** Both with the lesser exponent; a summand too small to matter counts as nothing (beyond 80 digits). */
function align(a: Finite, b: Finite): [bigint, bigint, number] {
  const high = a.exponent >= b.exponent ? a : b;
  const low = high === a ? b : a;
  let gap = high.exponent - low.exponent;
  let small = low.coefficient;
  if (gap > 80 && high.coefficient !== 0n) {
    small = 0n;
    gap = DIGITS;
  } else if (high.coefficient === 0n) {
    gap = 0;
  }
  const exponent = small === 0n ? high.exponent - gap : low.exponent;
  const large = high.coefficient * 10n ** BigInt(gap);
  return high === a ? [large, small, exponent] : [small, large, exponent];
}

/** a + b */
export function addDecimals(a: RawValue, b: RawValue): RawValue {
  const left = toFinite(a);
  const right = toFinite(b);
  if (typeof left === "number" || typeof right === "number") return fromNumber(asNumber(a) + asNumber(b));
  const [x, y, exponent] = align(left, right);
  return fromFinite(fit({ coefficient: x + y, exponent }));
}

/** a - b */
export function subtractDecimals(a: RawValue, b: RawValue): RawValue {
  const left = toFinite(a);
  const right = toFinite(b);
  if (typeof left === "number" || typeof right === "number") return fromNumber(asNumber(a) - asNumber(b));
  const [x, y, exponent] = align(left, right);
  return fromFinite(fit({ coefficient: x - y, exponent }));
}

/** a × b */
export function multiplyDecimals(a: RawValue, b: RawValue): RawValue {
  const left = toFinite(a);
  const right = toFinite(b);
  if (typeof left === "number" || typeof right === "number") return fromNumber(asNumber(a) * asNumber(b));
  return fromFinite(
    fit({ coefficient: left.coefficient * right.coefficient, exponent: left.exponent + right.exponent }),
  );
}

/** a ÷ b; the caller refuses zero. */
export function divideDecimals(a: RawValue, b: RawValue): RawValue {
  const left = toFinite(a);
  const right = toFinite(b);
  if (typeof left === "number") return fromNumber(left / asNumber(b));
  if (typeof right === "number") return fromNumber(Number.isNaN(right) ? NaN : 0);
  const ideal = left.exponent - right.exponent;
  const extra = Math.max(0, DIGITS + 2 + digitsOf(right.coefficient) - digitsOf(left.coefficient));
  const dividend = left.coefficient * 10n ** BigInt(extra);
  let coefficient = dividend / right.coefficient;
  let exponent = ideal - extra;
  if (coefficient * right.coefficient !== dividend) {
    // One more digit that is never 0 or 5 keeps the single rounding honest.
    const negative = left.coefficient < 0n !== right.coefficient < 0n;
    coefficient = coefficient * 10n + (negative ? -1n : 1n);
    exponent--;
  } else {
    while (exponent < ideal && coefficient % 10n === 0n && coefficient !== 0n) {
      coefficient /= 10n;
      exponent++;
    }
  }
  return fromFinite(fit({ coefficient, exponent }));
}

/** Remainder of the division cut off towards zero; the caller refuses zero. */
export function remainderOfDecimals(a: RawValue, b: RawValue): RawValue {
  const left = toFinite(a);
  const right = toFinite(b);
  if (typeof left === "number") return fromNumber(NaN);
  if (typeof right === "number") return Number.isNaN(right) ? fromNumber(NaN) : fromFinite(left);
  // The remainder of 1E+6000 by 3 without a number of 6000 digits: powers modulo the divisor.
  const ahead = left.exponent - right.exponent;
  if (ahead > 100) {
    const magnitude = right.coefficient < 0n ? -right.coefficient : right.coefficient;
    const coefficient = (left.coefficient * powerModulo(10n, BigInt(ahead), magnitude)) % magnitude;
    return fromFinite({ coefficient, exponent: right.exponent });
  }
  if (ahead < -100 && right.coefficient !== 0n) return fromFinite(left); // smaller than the divisor by far
  const exponent = Math.min(left.exponent, right.exponent);
  const x = left.coefficient * 10n ** BigInt(left.exponent - exponent);
  const y = right.coefficient * 10n ** BigInt(right.exponent - exponent);
  return fromFinite(fit({ coefficient: x % y, exponent }));
}

function powerModulo(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n;
  let square = base % modulus;
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % modulus;
    square = (square * square) % modulus;
  }
  return result;
}

export type Rounding = "halfEven" | "trunc" | "floor" | "ceil";

/**
 * A decimal with exactly `place` digits after the point (before it, where
 * negative): rounded, or filled up with zeros. NaN where that takes more than
 * 34 digits, as IEEE 754's quantize has it.
 */
export function roundDecimal(v: RawValue, place: number, rounding: Rounding): RawValue {
  const d = toFinite(v);
  if (typeof d === "number") return v;
  if (d.exponent < -place) return fromFinite(roundFinite(d, place, rounding));
  const added = d.exponent + place;
  if (d.coefficient !== 0n && digitsOf(d.coefficient) + added > DIGITS) return fromNumber(NaN);
  return fromFinite({ coefficient: d.coefficient * 10n ** BigInt(added), exponent: -place });
}

function roundFinite(d: Finite, place: number, rounding: Rounding): Finite {
  // Beyond the digits there are, one more place makes no difference, and 10^6000 none either.
  const digits = Math.min(-place - d.exponent, digitsOf(d.coefficient) + 1);
  const unit = 10n ** BigInt(digits);
  let coefficient = d.coefficient / unit;
  const rest = d.coefficient % unit;
  if (rounding === "halfEven") coefficient = shorten(d.coefficient, digits);
  else if (rounding === "floor" && rest < 0n) coefficient--;
  else if (rounding === "ceil" && rest > 0n) coefficient++;
  return { coefficient, exponent: -place };
}

/** A finite double rounded at `place` on its exact value: 19.25 → 19.2, but 1.255 (just below) → 1.25. */
export function roundDouble(n: number, place: number, rounding: Rounding): number {
  if (!Number.isFinite(n)) return n;
  const exact = exactFinite(n);
  if (exact.exponent >= -place) return n;
  const { coefficient, exponent } = roundFinite(exact, place, rounding);
  const rounded = Number(`${coefficient}e${exponent}`);
  return rounded === 0 && (n < 0 || Object.is(n, -0)) ? -0 : rounded;
}

/** Every double is a finite decimal: m × 2^-k = m × 5^k × 10^-k. */
function exactFinite(n: number): Finite {
  let power = 0;
  let scaled = n;
  while (!Number.isInteger(scaled)) {
    scaled *= 2;
    power++;
  }
  return { coefficient: BigInt(scaled) * 5n ** BigInt(power), exponent: -power };
}

/** A decimal of any number, for `$toDecimal`. */
export function toDecimal(v: RawValue): RawValue {
  const d = toFinite(v);
  return typeof d === "number" ? fromNumber(d) : fromFinite(d);
}

/**
 * A decimal from its text, `Infinity` and `NaN` in any case included; undefined when it isn't one.
 * @param text without blanks around it
 */
export function decimalFromText(text: string): RawValue | undefined {
  const special = /^([+-]?)(?:inf(?:inity)?|(nan))$/i.exec(text);
  if (special) return fromNumber(special[2] ? NaN : special[1] === "-" ? -Infinity : Infinity);
  const d = parse(text);
  return d && fromFinite(fit(d));
}
