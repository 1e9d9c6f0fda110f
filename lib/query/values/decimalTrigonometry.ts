/**
 * Sines, arcs and their hyperbolic kin of Decimal128, on fixed-point numbers (fixedPoint.ts): angles are brought below
 * π/4 and put into the series, so that all 34 digits are right.
 */
import type { RawValue } from "../../bson/index.js";
import { fit, fromFinite, fromNumber, toFinite, type Finite } from "./decimal.js";
import {
  ONE,
  TINY,
  SCALE,
  absolute,
  arcTangent,
  exponential,
  fromFixed,
  known,
  logarithm,
  magnitude,
  over,
  piTo,
  root,
  times,
  toFixed,
  type Fixed,
} from "./fixedPoint.js";
import { integerOf } from "./decimalMath.js";

/** Angle below π/4 and the octant's pair of quarter turns: x = r + q·π/2. */
function quarterTurns(d: Finite): { r: Fixed; q: number } {
  // As many more digits of π as the angle has before its point: those are lost in the turns.
  const digits = SCALE + Math.max(0, magnitude(d));
  const half = piTo(digits) / 2n;
  const shift = BigInt(digits - SCALE);
  const x =
    d.exponent + digits >= 0 ? d.coefficient * 10n ** BigInt(d.exponent + digits) : toFixed(d) * 10n ** shift;
  let q = x / half;
  let r = x - q * half;
  if (r > half / 2n) {
    r -= half;
    q += 1n;
  } else if (r < -half / 2n) {
    r += half;
    q -= 1n;
  }
  return { r: r / 10n ** shift, q: Number(((q % 4n) + 4n) % 4n) };
}

/** Sine (odd) or cosine (even) of a small angle. */
function waves(r: Fixed, odd: boolean): Fixed {
  const square = times(r, r);
  let term = odd ? r : ONE;
  let sum = 0n;
  for (let i = odd ? 2n : 1n; term !== 0n; i += 2n) {
    sum += term;
    term = -times(term, square) / (i * (i + 1n));
  }
  return sum;
}

function sineAndCosine(d: Finite): { sin: Fixed; cos: Fixed } {
  const { r, q } = quarterTurns(d);
  const s = waves(r, true);
  const c = waves(r, false);
  switch (q) {
    case 0:
      return { sin: s, cos: c };
    case 1:
      return { sin: c, cos: -s };
    case 2:
      return { sin: -s, cos: -c };
    default:
      return { sin: -c, cos: s };
  }
}

/** The functions by name; the caller keeps arguments within the domain. */
export const DECIMAL_FUNCTIONS = {
  sin: odd((d) => sineAndCosine(d).sin),
  cos: even((d) => sineAndCosine(d).cos),
  tan: odd((d) => {
    const { sin, cos } = sineAndCosine(d);
    return over(sin, cos);
  }),
  asin: odd((d) => arcSine(toFixed(d))),
  acos: (v: RawValue) => {
    const d = toFinite(v);
    return typeof d === "number" ? fromNumber(d) : fromFixed(known().pi / 2n - arcSine(toFixed(d)));
  },
  atan: odd((d) => (magnitude(d) > 100 ? halfTurn(d) : arcTangent(toFixed(d))), "quarter"),
  sinh: odd((d) => hyperbolic(d, -1n), "infinite"),
  cosh: even((d) => hyperbolic(d, 1n)),
  tanh: odd((d) => {
    if (magnitude(d) > 2) return d.coefficient < 0n ? -ONE : ONE;
    const { n, power } = exponential(2n * toFixed(d));
    const e = toFixed({ coefficient: n, exponent: power - SCALE });
    return over(e - ONE, e + ONE);
  }, "one"),
  asinh: odd((d) => inverseSinh(d), "infinite"),
  acosh: (v: RawValue) => {
    const d = toFinite(v);
    if (typeof d === "number") return fromNumber(d);
    if (magnitude(d) > 50) return fromFixed(logarithm(doubled(d)));
    const x = toFixed(d);
    return fromFixed(logOfFixed(x + root(times(x, x) - ONE)));
  },
  atanh: (v: RawValue) => {
    const d = toFinite(v);
    const whole = typeof d === "number" ? undefined : integerOf(d);
    if (whole === 1n || whole === -1n) return fromNumber(whole === 1n ? Infinity : -Infinity);
    return inverseTanh(v);
  },
} as const;
export type DecimalFunction = keyof typeof DECIMAL_FUNCTIONS;

const inverseTanh = odd((d) => {
  const x = toFixed(d);
  return logOfFixed(over(ONE + x, ONE - x)) / 2n;
});

/** sinh and cosh may leave the range of fixed-point numbers: such a result comes with its own power of ten. */
type Result = Fixed | { readonly n: Fixed; readonly power: number };

function finish(result: Result): RawValue {
  return typeof result === "bigint" ? fromFixed(result) : fromFixed(result.n, result.power);
}

function odd(
  apply: (d: Finite) => Result,
  atInfinity: "quarter" | "infinite" | "one" | "none" = "none",
): (v: RawValue) => RawValue {
  return (v) => {
    const d = toFinite(v);
    if (typeof d === "number") {
      if (Number.isNaN(d) || atInfinity === "none") return fromNumber(NaN);
      if (atInfinity === "infinite") return fromNumber(d);
      const limit = atInfinity === "one" ? ONE : known().pi / 2n;
      return fromFixed(d < 0 ? -limit : limit);
    }
    return d.coefficient === 0n || magnitude(d) < TINY ? fromFinite(d) : finish(apply(d));
  };
}

function even(apply: (d: Finite) => Result): (v: RawValue) => RawValue {
  return (v) => {
    const d = toFinite(v);
    if (typeof d === "number") return fromNumber(Math.abs(d));
    return d.coefficient === 0n || magnitude(d) < TINY ? fromFixed(ONE) : finish(apply(d));
  };
}

function halfTurn(d: Finite): Fixed {
  const quarter = known().pi / 2n;
  return d.coefficient < 0n ? -quarter : quarter;
}

function arcSine(x: Fixed): Fixed {
  const rest = root(ONE - times(x, x));
  const quarter = known().pi / 2n;
  if (rest === 0n) return x < 0n ? -quarter : quarter;
  return arcTangent(over(x, rest));
}

function hyperbolic(d: Finite, plus: 1n | -1n): Result {
  const x = absolute(toFixed(magnitude(d) > 4 ? { coefficient: 99_999n, exponent: 0 } : d));
  const { n, power } = exponential(x);
  const signed = plus === -1n && d.coefficient < 0n ? -1n : 1n;
  if (power > 60) return { n: (signed * n) / 2n, power };
  const e = toFixed({ coefficient: n, exponent: power - SCALE });
  return (signed * (e + plus * over(ONE, e))) / 2n;
}

function doubled(d: Finite): Finite {
  return { coefficient: absolute(d.coefficient) * 2n, exponent: d.exponent };
}

function logOfFixed(x: Fixed): Fixed {
  return logarithm({ coefficient: x, exponent: -SCALE });
}

function inverseSinh(d: Finite): Fixed {
  const negative = d.coefficient < 0n;
  let result: Fixed;
  if (magnitude(d) > 50) result = logarithm(doubled(d));
  else {
    const x = absolute(toFixed(d));
    result = logOfFixed(x + root(times(x, x) + ONE));
  }
  return negative ? -result : result;
}

/** The angle of the point (x, y), between −π and π. */
export function arcTangent2OfDecimals(y: RawValue, x: RawValue): RawValue {
  const top = toFinite(y);
  const side = toFinite(x);
  if (typeof top === "number" || typeof side === "number") {
    const eighths = (Math.atan2(approximate(top), approximate(side)) * 4) / Math.PI;
    if (Number.isNaN(eighths)) return fromNumber(NaN);
    return fromFixed((known().pi * BigInt(Math.round(eighths))) / 4n);
  }
  const { pi } = known();
  if (side.coefficient === 0n) {
    if (top.coefficient === 0n) return fromFinite({ coefficient: 0n, exponent: 0 });
    return fromFixed(halfTurn(top));
  }
  const distance = magnitude(top) - magnitude(side);
  if (top.coefficient === 0n || distance < -60) {
    if (side.coefficient > 0n) return top.coefficient === 0n ? fromFinite(top) : quotient(top, side);
    return fromFixed(top.coefficient < 0n ? -pi : pi);
  }
  if (distance > 60) return fromFixed(halfTurn(top));
  const shift = Math.min(top.exponent, side.exponent);
  const a = top.coefficient * 10n ** BigInt(top.exponent - shift);
  const b = side.coefficient * 10n ** BigInt(side.exponent - shift);
  const angle = arcTangent((a * ONE) / b);
  if (b > 0n) return fromFixed(angle);
  return fromFixed(a < 0n ? angle - pi : angle + pi);
}

function quotient(a: Finite, b: Finite): RawValue {
  const scaled = (a.coefficient * 10n ** 80n) / b.coefficient;
  return fromFinite(fit({ coefficient: scaled, exponent: a.exponent - b.exponent - 80 }));
}

/** Sign and infinity of a number, enough for the angle to an infinite one. */
function approximate(n: Finite | number): number {
  return typeof n === "number" ? n : n.coefficient < 0n ? -1 : n.coefficient > 0n ? 1 : 0;
}

/** π/180 and 180/π, to 34 digits. */
export function degreeFactor(toRadians: boolean): RawValue {
  const { pi } = known();
  return fromFixed(toRadians ? pi / 180n : over(180n * ONE, pi));
}
