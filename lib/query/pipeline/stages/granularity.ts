/**
 * The preferred numbers of `$bucketAuto`'s `granularity`.
 *
 *     R5   … 1.0, 1.6, 2.5, 4.0, 6.3, 10, 16, 25, 40, 63, 100, …
 *     E6   … 1.0, 1.5, 2.2, 3.3, 4.7, 6.8, 10, 15, …
 *     POWERSOF2   … 1/2, 1, 2, 4, 8, …
 *
 * A series is one decade, repeated for every power of ten. Rounding goes to the
 * next number of the series strictly above or below; zero stays zero.
 */
import {
  asNumber,
  BsonType,
  compareValues,
  double,
  int32,
  int64,
  isNumeric,
  type RawValue,
} from "../../../bson/index.js";
import { CommandError } from "../../../protocol/index.js";
import { decimalFromText } from "../../values/decimal.js";
import { typeName } from "../../values/types.js";

/** Rounds to preferred numbers. */
export interface Granularity {
  /** The least number of the series above a value. */
  up(v: RawValue): RawValue;
  /** The greatest number of the series below a value. */
  down(v: RawValue): RawValue;
}

/** The Renard series are rounded values of 10^(n/5), 10^(n/10), … as ISO 3 fixes them. */
const R5 = [10, 16, 25, 40, 63];
const R10 = [100, 125, 160, 200, 250, 315, 400, 500, 630, 800];
const R20 = [
  100, 112, 125, 140, 160, 180, 200, 224, 250, 280, 315, 355, 400, 450, 500, 560, 630, 710, 800, 900,
];
const R40_BETWEEN = [
  106, 118, 132, 150, 170, 190, 212, 236, 265, 300, 335, 375, 425, 475, 530, 600, 670, 750, 850, 950,
];
const R80 = [
  103, 109, 115, 122, 128, 136, 145, 155, 165, 175, 185, 195, 206, 218, 230, 243, 258, 272, 290, 307, 325,
  345, 365, 387, 412, 437, 462, 487, 515, 545, 575, 615, 650, 690, 730, 775, 825, 875, 925, 975,
];

/** IEC 60063: E3 to E24 have two digits, and some of them are not the nearest to 10^(n/24). */
const E24 = [10, 11, 12, 13, 15, 16, 18, 20, 22, 24, 27, 30, 33, 36, 39, 43, 47, 51, 56, 62, 68, 75, 82, 91];

function everyOther(series: readonly number[]): number[] {
  return series.filter((_, i) => i % 2 === 0);
}

/** E48, E96 and E192 are 10^(n/192) in three digits, with the one exception that the standard makes. */
function e192(): number[] {
  const series = Array.from({ length: 192 }, (_, n) => Math.round(100 * 10 ** (n / 192)));
  series[185] = 920;
  return series;
}

const E192 = e192();
const E96 = everyOther(E192);

/** The preferred numbers of each series in its first decade. */
export const SERIES: ReadonlyMap<string, readonly number[]> = new Map<string, readonly number[]>([
  ["R5", R5],
  ["R10", R10],
  ["R20", R20],
  ["R40", merged(R20, R40_BETWEEN)],
  ["R80", R80],
  ["1-2-5", [10, 20, 50]],
  ["E6", everyOther(everyOther(E24))],
  ["E12", everyOther(E24)],
  ["E24", E24],
  ["E48", everyOther(E96)],
  ["E96", E96],
  ["E192", E192],
]);

function merged(a: readonly number[], b: readonly number[]): number[] {
  return [...a, ...b].sort((x, y) => x - y);
}

/**
 * The rounder of a granularity.
 * @throws CommandError 40257 for an unknown name
 */
export function granularityOf(name: string): Granularity {
  if (name === "POWERSOF2") return { up: (v) => powerOfTwo(v, 1), down: (v) => powerOfTwo(v, -1) };
  const series = SERIES.get(name);
  if (series === undefined) throw new CommandError(40257, `Unknown rounding granularity '${name}'`);
  return { up: (v) => preferred(series, v, 1), down: (v) => preferred(series, v, -1) };
}

function checkRoundable(v: RawValue, codes: readonly [type: number, nan: number, negative: number]): number {
  if (!isNumeric(v)) {
    throw new CommandError(
      codes[0],
      `A granularity rounder can only round numeric values, but found type: ${typeName(v)}`,
    );
  }
  const n = asNumber(v);
  if (Number.isNaN(n)) throw new CommandError(codes[1], "A granularity rounder cannot round NaN");
  if (n < 0) throw new CommandError(codes[2], "A granularity rounder can only round non-negative numbers");
  if (n === Infinity) throw new CommandError(11785400, "A granularity rounder can only round finite numbers");
  return n;
}

function preferred(series: readonly number[], v: RawValue, direction: 1 | -1): RawValue {
  const n = checkRoundable(v, [40262, 40263, 40268]);
  if (n === 0 && isZero(v)) return v;
  const at = v.type === BsonType.decimal128 ? decimalAt : doubleAt;
  // Start in the decade that the magnitude suggests, and look from one below it to one above.
  const magnitude = Math.floor(log10(v, n)) - (String(series[0]).length - 1);
  const candidates = [magnitude - 1, magnitude, magnitude + 1].flatMap((power) =>
    series.map((number) => at(number, power)),
  );
  const beyond = candidates.filter((candidate) => compareValues(candidate, v) === direction);
  return direction === 1 ? beyond[0]! : beyond.at(-1)!;
}

function isZero(v: RawValue): boolean {
  return v.type !== BsonType.decimal128 || compareValues(v, int32(0)) === 0;
}

/** The decimal logarithm; a decimal can be too great or too small for a double. */
function log10(v: RawValue, n: number): number {
  if (v.type !== BsonType.decimal128 || (n > 1e-300 && n < 1e300)) return Math.log10(n);
  let power = n < 1 ? -6176 : 290;
  const step = (by: number): void => {
    while (power + by <= 6144 && compareValues(decimalAt(1, power + by), v) <= 0) power += by;
  };
  step(64);
  step(1);
  return power;
}

/** Multiplied step by step, so that the last digit is MongoDB's. */
function doubleAt(number: number, power: number): RawValue {
  let factor = 1;
  for (let i = power; i > 0; i--) factor *= 10;
  for (let i = power; i < 0; i++) factor /= 10;
  return double(number * factor);
}

function decimalAt(number: number, power: number): RawValue {
  return decimalFromText(`${number}E${power}`)!;
}

function powerOfTwo(v: RawValue, direction: 1 | -1): RawValue {
  const n = checkRoundable(v, [40265, 40266, 40267]);
  if (n === 0) return v;
  let exponent = direction === 1 ? Math.floor(Math.log2(n)) + 1 : Math.ceil(Math.log2(n)) - 1;
  // The logarithm of a great number may be off by its last digit.
  if (direction === 1 && 2 ** exponent <= n) exponent++;
  if (direction === -1 && 2 ** exponent >= n) exponent--;
  if (v.type === BsonType.decimal128) return decimalFromText(String(2 ** exponent)) ?? double(2 ** exponent);
  if (exponent < 0 || exponent > 62) return double(2 ** exponent);
  return exponent < 31 ? int32(2 ** exponent) : int64(1n << BigInt(exponent));
}
