/**
 * `$covariancePop $covarianceSamp`: of pairs `[x, y]`, everything else left
 * out. Doubles, or decimals where the numbers are.
 *
 * Pairs with an infinite number or NaN don't count, but what they make of the
 * sum of products — infinite, or NaN — is what comes out.
 */
import {
  BsonType,
  NULL,
  asDocument,
  asNumber,
  double,
  elements,
  int32,
  isNumeric,
  type RawValue,
} from "../../../bson/index.js";
import { add, divide, multiply, subtract } from "../../expression/arithmetic.js";
import { toDecimal } from "../../values/decimal.js";
import { foldFor, type Sliding } from "./sliding.js";
import type { Fold } from "./fold.js";

/** Number of pairs, their means, and the sum of products of distances from them. */
interface Comoments {
  readonly count: number;
  readonly x: RawValue;
  readonly y: RawValue;
  readonly products: RawValue;
}

/** Of two sets of pairs together (Chan, Golub, LeVeque). */
function merge(a: Comoments, b: Comoments): Comoments {
  const count = a.count + b.count;
  const distanceX = subtract(b.x, a.x)!;
  const distanceY = subtract(b.y, a.y)!;
  const share = divide(int32(b.count), int32(count))!;
  const both = multiply([distanceX, distanceY, int32(a.count), share])!;
  return {
    count,
    x: add([a.x, multiply([distanceX, share])])!,
    y: add([a.y, multiply([distanceY, share])])!,
    products: add([a.products, b.products, both])!,
  };
}

function pairOf(v: RawValue | undefined): [RawValue, RawValue] | undefined {
  if (v?.type !== BsonType.array) return undefined;
  const [x, y, ...rest] = elements(asDocument(v));
  if (x === undefined || y === undefined || rest.length > 0) return undefined;
  return isNumeric(x) && isNumeric(y) ? [x, y] : undefined;
}

/** What numbers that aren't finite make of a sum: NaN, or infinite. */
function unusable(pair: [RawValue, RawValue]): "nan" | "positive" | "negative" | undefined {
  const [x, y] = [asNumber(pair[0]), asNumber(pair[1])];
  if (Number.isNaN(x) || Number.isNaN(y)) return "nan";
  const positive = x === Infinity || y === Infinity;
  const negative = x === -Infinity || y === -Infinity;
  if (positive && negative) return "nan";
  return positive ? "positive" : negative ? "negative" : undefined;
}

export class Covariance implements Sliding {
  readonly #fold: Fold<Comoments>;
  readonly #unusable = { nan: 0, positive: 0, negative: 0 };
  #decimals = 0;

  constructor(
    readonly sample: boolean,
    growing: boolean,
  ) {
    this.#fold = foldFor(growing, merge);
  }

  #count(pair: [RawValue, RawValue], by: 1 | -1): "nan" | "positive" | "negative" | undefined {
    if (pair.some(({ type }) => type === BsonType.decimal128)) this.#decimals += by;
    const kind = unusable(pair);
    if (kind !== undefined) this.#unusable[kind] += by;
    return kind;
  }

  add(v: RawValue | undefined): void {
    const pair = pairOf(v);
    if (pair === undefined || this.#count(pair, 1) !== undefined) return;
    const [x, y] = pair.map((n) => (n.type === BsonType.decimal128 ? n : double(asNumber(n))));
    this.#fold.push({ count: 1, x: x!, y: y!, products: double(0) });
  }

  remove(v: RawValue | undefined): void {
    const pair = pairOf(v);
    if (pair !== undefined && this.#count(pair, -1) === undefined) this.#fold.shift();
  }

  result(): RawValue {
    const all = this.#fold.total();
    const count = all?.count ?? 0;
    if (count === 1 && !this.sample) return double(0);
    const divisor = this.sample ? count - 1 : count;
    if (all === undefined || divisor <= 0) return NULL;
    const { nan, positive, negative } = this.#unusable;
    if (nan + positive + negative > 0) {
      const sum = double(
        nan > 0 || (positive > 0 && negative > 0) ? NaN : positive > 0 ? Infinity : -Infinity,
      );
      return this.#decimals > 0 ? toDecimal(sum) : sum;
    }
    return divide(all.products, double(divisor))!;
  }
}
