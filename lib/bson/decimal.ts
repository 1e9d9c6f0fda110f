/**
 * Decimal128, read exactly.
 *
 * A finite decimal is coefficient × 10^exponent with a coefficient of up to 34
 * digits and an exponent from -6176 to 6111. The binary form (IEEE 754-2008,
 * binary integer coefficient), from the most significant bit:
 *
 *     sign 1 | exponent 14 (+6176) | coefficient 113        first two exponent bits not 11
 *     sign 1 | 11 | exponent 14 | …                         coefficient too large: means 0
 *     sign 1 | 11110 …                                      infinity
 *     sign 1 | 11111 …                                      NaN
 *
 * Decimals are rare in shard keys, so this module is exact and short (BigInt)
 * where the rest of the folder is exact and fast.
 */
import { readInt32, readUint32 } from "./bytes.js";

/** A decimal taken apart. The value is (negative ? -1 : 1) × coefficient × 10^exponent for kind "finite". */
export interface Decimal {
  readonly kind: "finite" | "infinity" | "nan";
  readonly negative: boolean;
  readonly coefficient: bigint;
  readonly exponent: number;
}

const BIAS = 6176;
const MAX_COEFFICIENT = 10n ** 34n - 1n;

/** Reads the sixteen bytes at `at`. */
export function readDecimal(bytes: Uint8Array, at: number): Decimal {
  const top = readInt32(bytes, at + 12);
  const negative = top < 0;
  const combination = (top >>> 26) & 31;
  if (combination === 31) return { kind: "nan", negative: false, coefficient: 0n, exponent: 0 };
  if (combination === 30) return { kind: "infinity", negative, coefficient: 0n, exponent: 0 };
  if (combination >= 24)
    return { kind: "finite", negative, coefficient: 0n, exponent: ((top >>> 15) & 0x3fff) - BIAS };
  const coefficient =
    (BigInt(top & 0x1ffff) << 96n) |
    (BigInt(readUint32(bytes, at + 8)) << 64n) |
    (BigInt(readUint32(bytes, at + 4)) << 32n) |
    BigInt(readUint32(bytes, at));
  return {
    kind: "finite",
    negative,
    coefficient: coefficient > MAX_COEFFICIENT ? 0n : coefficient,
    exponent: ((top >>> 17) & 0x3fff) - BIAS,
  };
}

/** The nearest double. */
export function decimalToNumber(d: Decimal): number {
  if (d.kind === "nan") return NaN;
  const magnitude = d.kind === "infinity" ? Infinity : Number(`${d.coefficient}e${d.exponent}`);
  return d.negative ? -magnitude : magnitude;
}

/**
 * The integer part, or the nearest integer with ties to even. NaN gives 0;
 * everything of 10^40 and above, infinity included, gives ±10^40: far out of
 * the range of int64, and cheap to make.
 */
export function decimalToBigInt(d: Decimal, mode: "truncate" | "nearestEven"): bigint {
  if (d.kind === "nan") return 0n;
  const magnitude = d.kind === "infinity" ? 10n ** 40n : integerMagnitude(d, mode);
  return d.negative ? -magnitude : magnitude;
}

function integerMagnitude(d: Decimal, mode: "truncate" | "nearestEven"): bigint {
  if (d.coefficient === 0n || d.exponent < -35) return 0n;
  if (d.exponent >= 0) return d.exponent > 40 ? 10n ** 40n : d.coefficient * 10n ** BigInt(d.exponent);
  const unit = 10n ** BigInt(-d.exponent);
  const floor = d.coefficient / unit;
  if (mode === "truncate") return floor;
  const twice = 2n * (d.coefficient - floor * unit);
  return twice > unit || (twice === unit && (floor & 1n) === 1n) ? floor + 1n : floor;
}

/** Decimal text in the form of the specification, e.g. `1.50`, `1E+3`, `-Infinity`. */
export function decimalToString(d: Decimal): string {
  if (d.kind === "nan") return "NaN";
  const sign = d.negative ? "-" : "";
  if (d.kind === "infinity") return `${sign}Infinity`;
  const digits = d.coefficient.toString();
  const adjusted = d.exponent + digits.length - 1;
  if (d.exponent > 0 || adjusted < -6) {
    const fraction = digits.length > 1 ? `.${digits.slice(1)}` : "";
    return `${sign}${digits[0]}${fraction}E${adjusted < 0 ? "" : "+"}${adjusted}`;
  }
  if (d.exponent === 0) return sign + digits;
  const point = digits.length + d.exponent;
  if (point > 0) return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
  return `${sign}0.${"0".repeat(-point)}${digits}`;
}

/** Position of the first digit: 0 for 1…9.99, 3 for 1234. The coefficient must not be 0. */
export function adjustedExponent(coefficient: bigint, exponent: number): number {
  return coefficient.toString().length - 1 + exponent;
}

/** -1, 0 or 1: order of two finite magnitudes (signs ignored). */
export function compareDecimalMagnitudes(a: Decimal, b: Decimal): number {
  if (a.coefficient === 0n || b.coefficient === 0n) {
    return Number(a.coefficient !== 0n) - Number(b.coefficient !== 0n);
  }
  const byPosition =
    adjustedExponent(a.coefficient, a.exponent) - adjustedExponent(b.coefficient, b.exponent);
  if (byPosition !== 0) return Math.sign(byPosition);
  // Same first position: the exponents differ by at most 33, so the common unit is small.
  const unit = Math.min(a.exponent, b.exponent);
  const left = a.coefficient * 10n ** BigInt(a.exponent - unit);
  const right = b.coefficient * 10n ** BigInt(b.exponent - unit);
  return left === right ? 0 : left < right ? -1 : 1;
}

/** -1, 0 or 1: a finite decimal's magnitude against a finite, non-negative double, exactly. */
export function compareDecimalMagnitudeToDouble(d: Decimal, magnitude: number): number {
  if (d.coefficient === 0n) return magnitude === 0 ? 0 : -1;
  if (magnitude === 0) return 1;
  const position = adjustedExponent(d.coefficient, d.exponent);
  if (position > 308) return 1; // the greatest double is 1.8e308
  if (position < -324) return -1; // the least is 4.9e-324
  const binary = exactDouble(magnitude);
  // d.coefficient × 10^x against mantissa × 2^y, negative powers moved to the other side
  let left = d.coefficient;
  let right = binary.mantissa;
  if (d.exponent >= 0) left *= 10n ** BigInt(d.exponent);
  else right *= 10n ** BigInt(-d.exponent);
  if (binary.exponent >= 0) right <<= BigInt(binary.exponent);
  else left <<= BigInt(-binary.exponent);
  return left === right ? 0 : left < right ? -1 : 1;
}

const view = new DataView(new ArrayBuffer(8));

/** A finite, non-negative double as mantissa × 2^exponent, exactly. */
export function exactDouble(magnitude: number): { mantissa: bigint; exponent: number } {
  view.setFloat64(0, magnitude, false);
  const high = view.getUint32(0, false);
  const biased = high >>> 20;
  const fraction = BigInt(high & 0xfffff) * 4294967296n + BigInt(view.getUint32(4, false));
  return biased === 0
    ? { mantissa: fraction, exponent: -1074 }
    : { mantissa: fraction + 4503599627370496n, exponent: biased - 1075 };
}

/** A whole number as a decimal with exponent 0. */
export function decimalOfInteger(n: bigint): Decimal {
  return { kind: "finite", negative: n < 0n, coefficient: n < 0n ? -n : n, exponent: 0 };
}
