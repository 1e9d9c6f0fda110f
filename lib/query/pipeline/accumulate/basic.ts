/**
 * Accumulators over single values: `$sum $avg $min $max $first $last $push
 * $addToSet $mergeObjects $setUnion $concatArrays`.
 *
 * A missing value reaches an accumulator as undefined: `$push` and `$addToSet`
 * leave it out, `$first` and `$last` take it as null, `$min` and `$max` pass
 * over it and over null.
 */
import {
  BsonType,
  DocumentWriter,
  NULL,
  array,
  asDocument,
  asNumber,
  compareValues,
  describeValue,
  document,
  double,
  elements,
  fields,
  int32,
  sortableValue,
  type Collation,
  type RawValue,
} from "../../../bson/index.js";
import { CommandError, ErrorCode } from "../../../protocol/index.js";
import { divideDecimals } from "../../values/decimal.js";
import { NumberTotal } from "../../values/sum.js";
import { isNullish, typeName } from "../../values/types.js";
import { Memory, detach, type Accumulator } from "./accumulator.js";

export class Sum implements Accumulator {
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

export class Average implements Accumulator {
  readonly #total = new NumberTotal();

  add(v: RawValue | undefined): void {
    this.#total.add(v);
  }

  result(): RawValue {
    return mean(this.#total.total(), int32(this.#total.count));
  }
}

export class Extreme implements Accumulator {
  #best: RawValue | undefined;

  /** @param wanted -1 for the least, 1 for the greatest */
  constructor(
    readonly wanted: -1 | 1,
    readonly collation: Collation | undefined,
  ) {}

  add(v: RawValue | undefined): void {
    if (isNullish(v)) return;
    if (this.#best === undefined || compareValues(v, this.#best, this.collation) * this.wanted > 0)
      this.#best = detach(v);
  }

  result(): RawValue {
    return this.#best ?? NULL;
  }
}

export class First implements Accumulator {
  #value: RawValue | undefined;

  add(v: RawValue | undefined): void {
    this.#value ??= detach(v ?? NULL);
  }

  result(): RawValue {
    return this.#value ?? NULL;
  }
}

export class Last implements Accumulator {
  #value: RawValue = NULL;

  add(v: RawValue | undefined): void {
    this.#value = v ?? NULL;
  }

  result(): RawValue {
    return this.#value;
  }
}

export class Push implements Accumulator {
  readonly #values: RawValue[] = [];
  readonly #memory = new Memory("$push");

  add(v: RawValue | undefined): void {
    if (v === undefined) return;
    this.#memory.take(v);
    this.#values.push(detach(v));
  }

  result(): RawValue {
    return array(this.#values);
  }
}

export class AddToSet implements Accumulator {
  readonly #values = new Map<string, RawValue>();
  readonly #memory: Memory;

  constructor(
    readonly collation: Collation | undefined,
    name = "$addToSet",
  ) {
    this.#memory = new Memory(name);
  }

  add(v: RawValue | undefined): void {
    if (v === undefined) return;
    const key = sortableValue(v, this.collation);
    if (this.#values.has(key)) return;
    this.#memory.take(v);
    this.#values.set(key, detach(v));
  }

  result(): RawValue {
    return array([...this.#values.values()]);
  }
}

/** Elements of the array that `$setUnion` and `$concatArrays` take; none for a missing value. */
export function members(v: RawValue | undefined, name: string): RawValue[] {
  if (v === undefined) return [];
  if (v.type !== BsonType.array) {
    throw new CommandError(
      ErrorCode.TypeMismatch,
      `${name} requires array inputs, but input ${describeValue(v)} is of type ${typeName(v)}`,
    );
  }
  return elements(asDocument(v));
}

/** `$setUnion` and `$concatArrays`: the elements of arrays, gathered by the accumulator of single values. */
export class Members implements Accumulator {
  constructor(
    readonly name: string,
    readonly gathered: AddToSet | ArrayBuilder,
  ) {}

  add(v: RawValue | undefined): void {
    for (const member of members(v, this.name)) this.gathered.add(member);
  }

  result(): RawValue {
    return this.gathered.result();
  }
}

/** The elements of `$concatArrays`. */
export class ArrayBuilder {
  readonly #values: RawValue[] = [];
  readonly #memory = new Memory("$concatArrays");

  add(v: RawValue): void {
    this.#memory.take(v);
    this.#values.push(detach(v));
  }

  result(): RawValue {
    return array(this.#values);
  }
}

/** Fields of objects in one; a field that comes again keeps its place and gets the later value. */
export class MergeObjects implements Accumulator {
  readonly #members = new Map<string, RawValue>();

  add(v: RawValue | undefined): void {
    if (isNullish(v)) return;
    if (v.type !== BsonType.object) {
      throw new CommandError(
        40400,
        `$mergeObjects requires object inputs, but input ${describeValue(v)} is of type ${typeName(v)}`,
      );
    }
    for (const [name, member] of fields(asDocument(v))) this.#members.set(name, detach(member));
  }

  result(): RawValue {
    const writer = new DocumentWriter();
    for (const [name, value] of this.#members) writer.field(name, value);
    return document(writer.finish());
  }
}
