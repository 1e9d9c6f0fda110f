/**
 * Fixed-point numbers of 110 digits after the point, on which functions of decimals are calculated: series for powers
 * of e, logarithms and arc tangents, and the constants that they need.
 */
import type { RawValue } from "../../bson/index.js";
import { DIGITS, digitsOf, fit, fromFinite, type Finite } from "./decimal.js";

export const SCALE = 110;
export const ONE = 10n ** BigInt(SCALE);
/** Errors of the series stay far below this. */
const NOISE = 10n ** 20n;
/** Below 10^-40 a function equals the first term of its series in all 34 digits. */
export const TINY = -40;

/** A fixed-point number: n / 10^110. */
export type Fixed = bigint;

export const times = (a: Fixed, b: Fixed): Fixed => (a * b) / ONE;
export const over = (a: Fixed, b: Fixed): Fixed => (a * ONE) / b;

/** A decimal in fixed point; digits beyond the scale are cut. */
export function toFixed({ coefficient, exponent }: Finite): Fixed {
  const shift = exponent + SCALE;
  return shift >= 0 ? coefficient * 10n ** BigInt(shift) : coefficient / 10n ** BigInt(-shift);
}

/** Rounded to 34 digits; digits that only noise keeps from being zeros are taken for zeros. */
export function fromFixed(n: Fixed, exponent = 0): RawValue {
  const rest = ((n % NOISE) + NOISE) % NOISE;
  let cleaned = n;
  if (rest < NOISE / 1000n) cleaned = n - rest;
  else if (rest > NOISE - NOISE / 1000n) cleaned = n + NOISE - rest;
  let result: Finite = { coefficient: cleaned, exponent: exponent - SCALE };
  if (cleaned === 0n) return fromFinite({ coefficient: 0n, exponent: 0 });
  // An exact result is written short: without zeros behind the point.
  const digits = digitsOf(cleaned);
  if (digits <= DIGITS || cleaned % 10n ** BigInt(digits - DIGITS) === 0n) {
    let { coefficient, exponent: power } = result;
    while (power < 0 && coefficient % 10n === 0n) {
      coefficient /= 10n;
      power++;
    }
    result = { coefficient, exponent: power };
  }
  return fromFinite(fit(result));
}

/** The integer part of a square root, by Newton's method. */
export function squareRoot(n: bigint): bigint {
  if (n < 2n) return n;
  let guess = 1n << BigInt((n.toString(2).length + 1) >> 1);
  for (;;) {
    const next = (guess + n / guess) >> 1n;
    if (next >= guess) return guess;
    guess = next;
  }
}

export const root = (a: Fixed): Fixed => squareRoot(a * ONE);

/** Σ x^(2i+1)/(2i+1), signs alternating for the arc tangent. */
function arcSeries(x: Fixed, alternating: boolean): Fixed {
  const square = times(x, x);
  let power = x;
  let sum = 0n;
  for (let i = 1n; power !== 0n; i += 2n) {
    sum += alternating && i % 4n === 3n ? -(power / i) : power / i;
    power = times(power, square);
  }
  return sum;
}

/** arctan x: the argument is halved four times, then summed as a series. */
export function arcTangent(x: Fixed): Fixed {
  let y = x;
  for (let i = 0; i < 4; i++) y = over(y, ONE + root(ONE + times(y, y)));
  return 16n * arcSeries(y, true);
}

let constants: { ln10: Fixed; pi: Fixed } | undefined;

/** ln 10 and π, computed once. */
export function known(): { ln10: Fixed; pi: Fixed } {
  if (constants === undefined) {
    // ln 10 = 3 ln 2 + ln 1.25; Machin: π = 16 atan 1/5 − 4 atan 1/239
    const ln2 = 2n * arcSeries(ONE / 3n, false);
    const ln10 = 3n * ln2 + 2n * arcSeries(ONE / 9n, false);
    const pi = 16n * arcSeries(ONE / 5n, true) - 4n * arcSeries(ONE / 239n, true);
    constants = { ln10, pi };
  }
  return constants;
}

let finest: { pi: bigint; digits: number } | undefined;

/** π × 10^digits, cut: for angles so large that 110 digits of π say nothing about them. */
export function piTo(digits: number): bigint {
  if (finest === undefined || finest.digits < digits) {
    const guarded = 10n ** BigInt(digits + 20);
    const pi = 16n * inverseArc(5n, guarded) - 4n * inverseArc(239n, guarded);
    finest = { pi: pi / 10n ** 20n, digits };
  }
  return finest.pi / 10n ** BigInt(finest.digits - digits);
}

/** one × arctan(1/n) */
function inverseArc(n: bigint, one: bigint): bigint {
  let power = one / n;
  let sum = 0n;
  for (let i = 1n; power !== 0n; i += 2n) {
    sum += i % 4n === 1n ? power / i : -(power / i);
    power /= n * n;
  }
  return sum;
}

/** e^x as n × 10^power. |x| must be below 10^5. */
export function exponential(x: Fixed): { n: Fixed; power: number } {
  const { ln10 } = known();
  let power = x / ln10;
  if (x < 0n) power -= 1n;
  const reduced = (x - power * ln10) >> 16n;
  let sum = ONE;
  let term = ONE;
  for (let i = 1n; term !== 0n; i++) {
    term = times(term, reduced) / i;
    sum += term;
  }
  for (let i = 0; i < 16; i++) sum = times(sum, sum);
  return { n: sum, power: Number(power) };
}

/** ln of a positive number. */
export function logarithm({ coefficient, exponent }: Finite): Fixed {
  const digits = digitsOf(coefficient);
  const power = exponent + digits - 1;
  let m = toFixed({ coefficient, exponent: 1 - digits }); // 1 ≤ m < 10
  let doublings = 0n;
  for (; m > 2n * ONE; doublings++) m >>= 1n;
  const ln2 = 2n * arcSeries(ONE / 3n, false);
  return 2n * arcSeries(over(m - ONE, m + ONE), false) + doublings * ln2 + BigInt(power) * known().ln10;
}

/** Place of the first digit: 0 for 1…9.99. */
export const magnitude = (d: Finite): number => digitsOf(d.coefficient) - 1 + d.exponent;

export const absolute = (n: bigint): bigint => (n < 0n ? -n : n);

/** e to the power of x. */
export function powerOfE(x: Fixed): RawValue {
  const { n, power } = exponential(x);
  return fromFixed(n, power);
}
