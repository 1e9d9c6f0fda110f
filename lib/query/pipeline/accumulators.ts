/**
 * Accumulators of `$group`: one running result per group.
 *
 * A missing value reaches an accumulator as undefined: `$push` and
 * `$addToSet` leave it out, `$first` and `$last` take it as null, `$min` and
 * `$max` pass over it and over null.
 */
import {
  BsonType,
  DocumentWriter,
  NULL,
  array,
  asDocument,
  asNumber,
  compareValues,
  document,
  double,
  fields,
  int32,
  sortableValue,
  type RawValue,
} from "../../bson/index.js";
import { CommandError } from "../../protocol/index.js";
import { divideDecimals } from "../values/decimal.js";
import { NumberTotal } from "../values/sum.js";
import { typeName } from "../values/types.js";

export interface Accumulator {
  add(v: RawValue | undefined): void;
  result(): RawValue;
}

/** A value in bytes of its own, so that keeping it doesn't keep the document it came from. */
export function detach(v: RawValue): RawValue {
  if (v.start === 0 && v.end === v.bytes.length) return v;
  return { type: v.type, bytes: v.bytes.slice(v.start, v.end), start: 0, end: v.end - v.start };
}

class Sum implements Accumulator {
  readonly #total = new NumberTotal();

  add(v: RawValue | undefined): void {
    this.#total.add(v);
  }

  result(): RawValue {
    return this.#total.total();
  }
}

/** The mean of the numbers as double (decimal where one is); null without any. */
export function mean(total: RawValue, count: RawValue): RawValue {
  if (asNumber(count) === 0) return NULL;
  if (total.type === BsonType.decimal128) return divideDecimals(total, count);
  return double(asNumber(total) / asNumber(count));
}

class Average implements Accumulator {
  readonly #total = new NumberTotal();

  add(v: RawValue | undefined): void {
    this.#total.add(v);
  }

  result(): RawValue {
    return mean(this.#total.total(), int32(this.#total.count));
  }
}

class Extreme implements Accumulator {
  #best: RawValue | undefined;

  /** @param wanted -1 for the least, 1 for the greatest */
  constructor(readonly wanted: -1 | 1) {}

  add(v: RawValue | undefined): void {
    if (v === undefined || v.type === BsonType.null || v.type === BsonType.undefined) return;
    if (this.#best === undefined || compareValues(v, this.#best) === this.wanted) this.#best = detach(v);
  }

  result(): RawValue {
    return this.#best ?? NULL;
  }
}

class First implements Accumulator {
  #value: RawValue | undefined;

  add(v: RawValue | undefined): void {
    this.#value ??= detach(v ?? NULL);
  }

  result(): RawValue {
    return this.#value ?? NULL;
  }
}

class Last implements Accumulator {
  #value: RawValue = NULL;

  add(v: RawValue | undefined): void {
    this.#value = v ?? NULL;
  }

  result(): RawValue {
    return this.#value;
  }
}

class Push implements Accumulator {
  readonly #values: RawValue[] = [];

  add(v: RawValue | undefined): void {
    if (v !== undefined) this.#values.push(detach(v));
  }

  result(): RawValue {
    return array(this.#values);
  }
}

class AddToSet implements Accumulator {
  readonly #values = new Map<string, RawValue>();

  add(v: RawValue | undefined): void {
    if (v === undefined) return;
    const key = sortableValue(v);
    if (!this.#values.has(key)) this.#values.set(key, detach(v));
  }

  result(): RawValue {
    return array([...this.#values.values()]);
  }
}

class MergeObjects implements Accumulator {
  readonly #members = new Map<string, RawValue>();

  add(v: RawValue | undefined): void {
    if (v === undefined || v.type === BsonType.null || v.type === BsonType.undefined) return;
    if (v.type !== BsonType.object) {
      throw new CommandError(
        40400,
        `$mergeObjects requires object inputs, but input is of type ${typeName(v)}`,
      );
    }
    for (const [name, value] of fields(asDocument(v))) this.#members.set(name, detach(value));
  }

  result(): RawValue {
    const writer = new DocumentWriter();
    for (const [name, value] of this.#members) writer.field(name, value);
    return document(writer.finish());
  }
}

/** Makes the accumulator of a name; undefined for one that isn't built. */
export const ACCUMULATORS: ReadonlyMap<string, () => Accumulator> = new Map<string, () => Accumulator>([
  ["$sum", () => new Sum()],
  ["$avg", () => new Average()],
  ["$min", () => new Extreme(-1)],
  ["$max", () => new Extreme(1)],
  ["$first", () => new First()],
  ["$last", () => new Last()],
  ["$push", () => new Push()],
  ["$addToSet", () => new AddToSet()],
  ["$mergeObjects", () => new MergeObjects()],
]);

/** MongoDB's accumulators that this engine does not have. */
export const ACCUMULATORS_NOT_BUILT: ReadonlySet<string> = new Set([
  "$accumulator",
  "$bottom",
  "$bottomN",
  "$concatArrays",
  "$firstN",
  "$lastN",
  "$maxN",
  "$median",
  "$minN",
  "$percentile",
  "$setUnion",
  "$stdDevPop",
  "$stdDevSamp",
  "$top",
  "$topN",
]);
