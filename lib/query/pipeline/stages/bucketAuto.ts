/**
 * `$bucketAuto`: so many groups of about equal size.
 *
 *     5 documents, 2 buckets, values 1 2 2 3 9
 *
 *     about 5 / 2 = 3 (rounded) documents each:   [1 2 2]  [3 9]
 *     boundaries: min ≤ v < max, the last max included   {min: 1, max: 3}  {min: 3, max: 9}
 *
 * Equal values stay together, so that a bucket may grow over its size and
 * there may be fewer buckets. With a `granularity` the boundaries are rounded
 * to preferred numbers, and a bucket takes in what lies below its new max.
 */
import {
  asNumber,
  BsonType,
  compareValues,
  describeValue,
  document,
  DocumentWriter,
  fields,
  int32,
  isNumeric,
  asDocument,
  asString,
  NULL,
  sortableValue,
  type RawValue,
} from "../../../bson/index.js";
import { CommandError } from "../../../protocol/index.js";
import { compileExpression } from "../../expression/compile.js";
import { expressionContext, type Expression, type ExpressionOptions } from "../../expression/context.js";
import { typeName } from "../../values/types.js";
import { GroupStage, parseGroup, type GroupSpec } from "../group.js";
import type { Emit, Stage, StageParser } from "../stage.js";
import { StageMemory } from "../stageMemory.js";
import { granularityOf, type Granularity } from "./granularity.js";
import { isExpression } from "./spec.js";

interface BucketAutoSpec {
  readonly groupBy: Expression;
  readonly buckets: number;
  readonly group: GroupSpec;
  readonly granularity: Granularity | undefined;
}

export const bucketAuto: StageParser = (spec, options) => {
  const parsed = parse(spec, options);
  return { create: () => new BucketAutoStage(parsed, options) };
};

function parse(spec: RawValue, options: ExpressionOptions): BucketAutoSpec {
  if (spec.type !== BsonType.object) {
    throw new CommandError(
      40240,
      `The argument to $bucketAuto must be an object, but found type: ${typeName(spec)}`,
    );
  }
  let groupBy: Expression | undefined;
  let buckets: number | undefined;
  let output: Uint8Array | undefined;
  let granularity: Granularity | undefined;
  for (const [name, value] of fields(asDocument(spec))) {
    switch (name) {
      case "groupBy":
        if (!isExpression(value)) {
          throw new CommandError(
            40239,
            `The $bucketAuto 'groupBy' field must be defined as a $-prefixed path or an expression object, but found: ${describeValue(value)}`,
          );
        }
        groupBy = compileExpression(value, options);
        break;
      case "buckets":
        buckets = parseBuckets(value);
        break;
      case "output":
        if (value.type !== BsonType.object) {
          throw new CommandError(
            40244,
            `The $bucketAuto 'output' field must be an object, but found type: ${typeName(value)}`,
          );
        }
        output = asDocument(value);
        break;
      case "granularity":
        if (value.type !== BsonType.string) {
          throw new CommandError(
            40261,
            `The $bucketAuto 'granularity' field must be a string, but found type: ${typeName(value)}`,
          );
        }
        granularity = granularityOf(asString(value));
        break;
      default:
        throw new CommandError(40245, `Unrecognized option to $bucketAuto: ${name}`);
    }
  }
  if (groupBy === undefined || buckets === undefined) {
    throw new CommandError(40246, "$bucketAuto requires 'groupBy' and 'buckets' to be specified");
  }
  const grouping = new DocumentWriter().int32("_id", 0);
  if (output && output.length > 5) grouping.fieldsOf(output);
  else grouping.document("count", new DocumentWriter().field("$sum", int32(1)).finish());
  return { groupBy, buckets, group: parseGroup(document(grouping.finish()), options), granularity };
}

function parseBuckets(value: RawValue): number {
  if (!isNumeric(value)) {
    throw new CommandError(
      40241,
      `The $bucketAuto 'buckets' field must be a numeric value, but found type: ${typeName(value)}`,
    );
  }
  const buckets = asNumber(value);
  if ((buckets | 0) !== buckets) {
    throw new CommandError(
      40242,
      `The $bucketAuto 'buckets' field must be representable as a 32-bit integer, but found ${asNumber(value)}`,
    );
  }
  if (buckets <= 0) {
    throw new CommandError(
      40243,
      `The $bucketAuto 'buckets' field must be greater than 0, but found: ${buckets}`,
    );
  }
  return buckets;
}

interface Entry {
  readonly key: string;
  readonly value: RawValue;
  /** Place in the input. */
  readonly order: number;
  readonly doc: Uint8Array;
}

class BucketAutoStage implements Stage {
  readonly name = "$bucketAuto";
  readonly satisfied = false;
  #entries: Entry[] = [];
  readonly #memory: StageMemory | undefined;

  constructor(
    readonly spec: BucketAutoSpec,
    readonly options: ExpressionOptions,
  ) {
    this.#memory = StageMemory.of(this.name, options);
  }

  push(doc: Uint8Array): void {
    const value = this.spec.groupBy(expressionContext(doc));
    if (this.spec.granularity) checkGranular(value);
    const known = value ?? NULL;
    const key = sortableValue(known, this.options.collation);
    this.#entries.push({ key, value: known, order: this.#entries.length, doc });
    this.#memory?.hold(doc.length);
  }

  finish(emit: Emit): void {
    const entries = this.#entries;
    this.#entries = [];
    entries.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.order - b.order));
    const { buckets, granularity } = this.spec;
    const size = Math.max(1, roundHalfUp(entries.length / buckets));
    let previousMax: RawValue | undefined;
    for (let at = 0, number = 1; at < entries.length; number++) {
      const first = at;
      at = number === buckets ? entries.length : Math.min(at + size, entries.length);
      let max = entries[at - 1]!.value;
      let min = entries[first]!.value;
      const boundary = granularity?.up(max);
      while (at < entries.length && this.#belongs(entries[at]!, entries[at - 1]!, boundary)) at++;
      if (granularity) {
        min = previousMax ?? granularity.down(min);
        max = boundary!;
        // Zero cannot be rounded up: such a bucket ends where the next value, rounded down, begins.
        if (asNumber(max) === 0 && at < entries.length) max = granularity.down(entries[at]!.value);
        previousMax = max;
      } else {
        max = (entries[at] ?? entries[at - 1]!).value;
      }
      if (this.#emitBucket(entries.slice(first, at), min, max, emit) === false) return;
    }
  }

  /** Whether the entry behind a bucket must go into it: it equals its last, or lies below the rounded boundary. */
  #belongs(entry: Entry, last: Entry, boundary: RawValue | undefined): boolean {
    if (entry.key === last.key) return true;
    return boundary !== undefined && compareValues(boundary, entry.value, this.options.collation) > 0;
  }

  #emitBucket(entries: Entry[], min: RawValue, max: RawValue, emit: Emit): boolean | void {
    const id = document(new DocumentWriter().field("min", min).field("max", max).finish());
    const group = new GroupStage({ ...this.spec.group, id: () => id });
    // $first, $push and the like go by the order of the input, not of the values.
    entries.sort((a, b) => a.order - b.order);
    for (const { doc } of entries) group.push(doc);
    let more: boolean | void = true;
    group.finish((doc) => (more = emit(doc)));
    return more;
  }
}

function roundHalfUp(n: number): number {
  return Math.floor(n + 0.5);
}

function checkGranular(value: RawValue | undefined): void {
  if (value === undefined || !isNumeric(value)) {
    throw new CommandError(
      40258,
      "$bucketAuto can specify a 'granularity' with numeric boundaries only, but found a value with type: " +
        typeName(value),
    );
  }
  const n = asNumber(value);
  if (Number.isNaN(n)) {
    throw new CommandError(
      40259,
      "$bucketAuto can specify a 'granularity' with numeric boundaries only, but found a NaN",
    );
  }
  if (n < 0) {
    throw new CommandError(
      40260,
      "$bucketAuto can specify a 'granularity' with non-negative numbers only, but found a negative number",
    );
  }
}
