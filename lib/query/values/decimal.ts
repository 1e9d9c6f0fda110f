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
import { Decimal128 } from "bson";
import { BsonType, asBigInt, asNumber, type RawValue } from "../../bson/index.js";

/** A finite decimal: signed coefficient × 10^exponent. */
interface Finite {
  readonly coefficient: bigint;
  readonly exponent: number;
}

const DIGITS = 34;

/** Any number as a decimal; a double counts with 15 digits, as in MongoDB's mixed arithmetic. A number for NaN and ±Infinity. */
function toFinite(v: RawValue): Finite | number {
  if (v.type === BsonType.int32 || v.type === BsonType.int64)
    return { coefficient: asBigInt(v), exponent: 0 };
  let text: string;
  if (v.type === BsonType.double) {
    const n = asNumber(v);
    if (!Number.isFinite(n)) return n;
    text = n.toPrecision(15);
  } else {
    text = new Decimal128(v.bytes.slice(v.start, v.end)).toString();
  }
  return parse(text);
}

function parse(text: string): Finite | number {
  const match = /^([+-]?)(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(text);
  if (!match) return text.startsWith("-") ? -Infinity : text === "NaN" ? NaN : Infinity;
  const fraction = match[3] ?? "";
  const magnitude = BigInt(match[2]! + fraction);
  return {
    coefficient: match[1] === "-" ? -magnitude : magnitude,
    exponent: Number(match[4] ?? 0) - fraction.length,
  };
}

function fromText(text: string): RawValue {
  const { bytes } = Decimal128.fromStringWithRounding(text);
  return { type: BsonType.decimal128, bytes, start: 0, end: 16 };
}

function fromNumber(n: number): RawValue {
  return fromText(Number.isNaN(n) ? "NaN" : n > 0 ? "Infinity" : n < 0 ? "-Infinity" : "0");
}

function fromFinite({ coefficient, exponent }: Finite): RawValue {
  return fromText(`${coefficient}E${exponent}`);
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

function digitsOf(coefficient: bigint): number {
  return (coefficient < 0n ? -coefficient : coefficient).toString().length;
}

/** At most 34 digits. */
function fit(d: Finite): Finite {
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
  const exponent = Math.min(left.exponent, right.exponent);
  const x = left.coefficient * 10n ** BigInt(left.exponent - exponent);
  const y = right.coefficient * 10n ** BigInt(right.exponent - exponent);
  return fromFinite(fit({ coefficient: x % y, exponent }));
}

export type Rounding = "halfEven" | "trunc" | "floor" | "ceil";

/** A decimal cut to `place` digits after the point (before it, where negative). */
export function roundDecimal(v: RawValue, place: number, rounding: Rounding): RawValue {
  const d = toFinite(v);
  if (typeof d === "number" || d.exponent >= -place) return v;
  return fromFinite(roundFinite(d, place, rounding));
}

function roundFinite(d: Finite, place: number, rounding: Rounding): Finite {
  const digits = -place - d.exponent;
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

/** A decimal from its text; undefined when it isn't one. */
export function decimalFromText(text: string): RawValue | undefined {
  return /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text) ? fromText(text) : undefined;
}
