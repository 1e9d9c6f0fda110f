/**
 * Roots, powers and logarithms of Decimal128; decimalTrigonometry.ts has the functions of angles.
 *
 * A double has 16 digits, a decimal 34: these functions are computed on
 * fixed-point BigInts of 110 digits after the point, by the series of a first
 * course in analysis after the argument has been brought near zero, and are
 * rounded once. What is exact comes out short (√6.25 is 2.5, ln 1 is 0), all
 * else has 34 digits.
 *
 *     e^x    = 10^k · e^(x − k ln 10),  e^r = (e^(r/2^16))^(2^16)
 *     ln x   = ln m + k ln 10 with x = m·10^k,  ln m = 2 artanh((m−1)/(m+1))
 *     sin x  by its series, x brought below π/4
 *     atan x = 2 atan(x / (1 + √(1+x²))), four times, then its series
 *
 * Angles beyond 10^40 are refused: they would need as many digits of π more.
 */
import type { RawValue } from "../../bson/index.js";
import { digitsOf, fit, fromFinite, fromNumber, toFinite, type Finite } from "./decimal.js";
import {
  ONE,
  TINY,
  absolute,
  exponential,
  fromFixed,
  logarithm,
  magnitude,
  over,
  powerOfE,
  squareRoot,
  times,
  toFixed,
  type Fixed,
} from "./fixedPoint.js";

/** √x; the caller refuses negative numbers. */
export function squareRootOfDecimal(v: RawValue): RawValue {
  const d = toFinite(v);
  if (typeof d === "number") return fromNumber(d);
  // An even exponent, and digits enough for 34 of the root.
  const odd = d.exponent % 2 !== 0;
  let coefficient = odd ? d.coefficient * 10n : d.coefficient;
  let exponent = odd ? d.exponent - 1 : d.exponent;
  const ideal = Math.floor(d.exponent / 2);
  const short = squareRoot(coefficient);
  if (short * short === coefficient) {
    let value: Finite = { coefficient: short, exponent: exponent / 2 };
    if (value.exponent > ideal) value = { coefficient: short * 10n, exponent: ideal };
    return fromFinite(value);
  }
  coefficient *= 10n ** 80n;
  exponent -= 80;
  return fromFinite(trimmed(squareRoot(coefficient), exponent / 2, ideal));
}

/** 34 digits, without zeros at the end below the ideal exponent. */
function trimmed(coefficient: bigint, exponent: number, ideal: number): Finite {
  let result = fit({ coefficient, exponent });
  while (result.exponent < ideal && result.coefficient % 10n === 0n && result.coefficient !== 0n) {
    result = { coefficient: result.coefficient / 10n, exponent: result.exponent + 1 };
  }
  return result;
}

/** e^x */
export function exponentialOfDecimal(v: RawValue): RawValue {
  const d = toFinite(v);
  if (typeof d === "number") return fromNumber(d === -Infinity ? 0 : d);
  if (d.coefficient === 0n || magnitude(d) < TINY) return fromFinite({ coefficient: 1n, exponent: 0 });
  if (magnitude(d) > 4) return fromNumber(d.coefficient < 0n ? 0 : Infinity);
  return powerOfE(toFixed(d));
}

/** ln x for x > 0. */
export function naturalLogOfDecimal(v: RawValue): RawValue {
  const d = toFinite(v);
  return typeof d === "number" ? fromNumber(d) : fromFixed(logarithm(d));
}

/** Logarithm for a base; both positive, the base not 1. */
export function logOfDecimal(v: RawValue, base: RawValue): RawValue {
  const d = toFinite(v);
  const b = toFinite(base);
  if (typeof d === "number" || typeof b === "number") {
    const n = typeof d === "number" ? d : 1;
    return fromNumber(Number.isNaN(n) || Number.isNaN(b) || n === b ? NaN : typeof b === "number" ? 0 : n);
  }
  return fromFixed(over(logarithm(d), logarithm(b)));
}

/** x^y; the caller refuses 0 with a negative y. */
export function powerOfDecimals(v: RawValue, exponent: RawValue): RawValue {
  const x = toFinite(v);
  const y = toFinite(exponent);
  if (typeof x === "number" || typeof y === "number") {
    return fromNumber((typeof x === "number" ? x : sign(x)) ** (typeof y === "number" ? y : sign(y)));
  }
  const whole = integerOf(y);
  if (whole === 0n) return fromFinite({ coefficient: 1n, exponent: 0 });
  if (x.coefficient === 0n) return fromFinite({ coefficient: 0n, exponent: 0 });
  if (x.coefficient < 0n && whole === undefined) return fromNumber(NaN);
  if (whole !== undefined && whole > 0n && whole * BigInt(digitsOf(x.coefficient)) < 2000n) {
    const exact = { coefficient: x.coefficient ** whole, exponent: x.exponent * Number(whole) };
    return fromFinite(fit(exact));
  }
  const negative = x.coefficient < 0n && whole! % 2n !== 0n;
  const log = logarithm({ coefficient: absolute(x.coefficient), exponent: x.exponent });
  if (magnitude(y) > 40) return fromNumber(grows(log, y) ? (negative ? -Infinity : Infinity) : 0);
  const product = times(log, toFixed(y));
  if (absolute(product) > 20_000n * ONE) {
    return fromNumber(product > 0n ? (negative ? -Infinity : Infinity) : 0);
  }
  const { n, power } = exponential(product);
  return fromFixed(negative ? -n : n, power);
}

function sign(d: Finite): number {
  // Stands for the number among infinities: 0, 1 and -1 themselves, 0.5 below 1, 2 above.
  if (d.coefficient === 0n) return 0;
  const place = magnitude(d);
  const one = integerOf(d) === 1n || integerOf(d) === -1n;
  const size = one ? 1 : place >= 0 ? 2 : 0.5;
  return d.coefficient < 0n ? -size : size;
}

const grows = (log: Fixed, y: Finite): boolean => log > 0n === y.coefficient > 0n;

/** The value as a whole number; undefined for a fraction. Numbers beyond 10^60 are even and may stand as 10^60. */
export function integerOf(d: Finite): bigint | undefined {
  if (d.exponent >= 0) return d.coefficient * 10n ** BigInt(Math.min(d.exponent, 60));
  if (-d.exponent > 40) return d.coefficient === 0n ? 0n : undefined;
  const unit = 10n ** BigInt(-d.exponent);
  return d.coefficient % unit === 0n ? d.coefficient / unit : undefined;
}
