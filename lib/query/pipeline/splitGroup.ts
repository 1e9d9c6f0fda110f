/**
 * `$group` in two halves: partial groups on the shards, merged by the router.
 *
 *     { _id: "$city", n: { $sum: 1 }, mean: { $avg: "$qty" } }
 *
 *       on each shard   { $group: { _id: "$city",
 *                                   p0: { $sum: 1 },
 *                                   p1: { $sum: "$qty" },
 *                                   p1n: { $sum: { $cond: [{ $isNumber: "$qty" }, 1, 0] } } } }
 *       on the router   n = sum of p0,  mean = sum of p1 / sum of p1n
 *
 * The partial half is ordinary user-level syntax, so that a real mongod can be
 * the shard (a real mongos uses internal forms instead). What follows from it:
 *
 * - `$push` and `$addToSet` are concatenated in the order in which shards
 *   answer; without a `$sort` MongoDB promises no order either.
 * - `$first` and `$last` take the first and the last shard's. That is an
 *   answer only where the input has no order: a `$group` behind a `$sort` must
 *   not be split at all, and the router doesn't — it splits at the `$sort`.
 * - `$top` and its like need the fields of their sort again: each partial
 *   output is `{ o: output, d: { those fields } }`.
 * - A standard deviation is put together of those of the parts, their means and
 *   their numbers of values. A median cannot be: such a `$group` is not split.
 * - A sum of doubles may differ in the last digit from that of one server,
 *   which carries the rounding errors along. A sum of int32 that leaves 32 bits
 *   on one shard and returns into them on another comes out as int64.
 */
import {
  BsonType,
  DocumentWriter,
  EMPTY_DOCUMENT,
  NULL,
  array,
  asDocument,
  asNumber,
  document,
  elements,
  getField,
  int32,
  sortableValue,
  string,
  type Collation,
  type RawValue,
} from "../../bson/index.js";
import type { ExpressionOptions } from "../expression/context.js";
import { rankedArguments } from "./accumulate/arguments.js";
import { Sum } from "./accumulate/basic.js";
import { Moments } from "./accumulate/statistics.js";
import { detach, mean } from "./accumulators.js";
import { parseGroup, type GroupField } from "./group.js";
import type { Emit, Stage } from "./stage.js";

/** The halves of a `$group`. */
export interface SplitGroup {
  /** The stage for the shards: `{ $group: … }`. */
  readonly partial: Uint8Array;
  /** The stage that merges what they answer. */
  merge(): Stage;
}

/** Puts the partial results of one field together. */
interface Merger {
  add(row: Uint8Array): void;
  result(): RawValue;
}

/** How one output field is taken apart and put together. */
interface Part {
  readonly name: string;
  /** Accumulators of the partial group, by the field that gets their result. */
  readonly columns: ReadonlyArray<readonly [name: string, accumulator: RawValue]>;
  merger(group: RawValue): Merger;
}

/**
 * Splits a `$group`.
 * @param spec the value of the `$group` stage
 * @returns undefined where it cannot be split: then the whole `$group` runs on the merger
 * @throws CommandError for a malformed `$group`, as `parsePipeline` does
 */
export function splitGroup(spec: RawValue, options: ExpressionOptions = {}): SplitGroup | undefined {
  const group = parseGroup(spec, options);
  const parts: Part[] = [];
  for (const [i, field] of group.fields.entries()) {
    const part = partOf(field, `p${i}`, options);
    if (part === undefined) return undefined;
    parts.push(part);
  }
  const writer = new DocumentWriter().field("_id", group.idSource);
  for (const { columns } of parts) for (const [name, accumulator] of columns) writer.field(name, accumulator);
  const partial = new DocumentWriter().document("$group", writer.finish()).finish();
  return { partial, merge: () => new MergeGroupStage(parts, options.collation) };
}

function operator(name: string, argument: RawValue): RawValue {
  return document(new DocumentWriter().field(name, argument).finish());
}

/** `{ $sum: { $cond: [{ $isNumber: argument }, 1, 0] } }`: `$avg` counts numbers only. */
function countOfNumbers(argument: RawValue): RawValue {
  const isNumber = operator("$isNumber", argument);
  return operator("$sum", operator("$cond", array([isNumber, int32(1), int32(0)])));
}

function partOf(field: GroupField, column: string, options: ExpressionOptions): Part | undefined {
  const { name, accumulator, argument, compiled } = field;
  const same: Part["columns"] = [[column, operator(accumulator, argument)]];
  switch (accumulator) {
    case "$median":
    case "$percentile":
      return undefined;
    case "$avg":
      return {
        name,
        columns: [
          [column, operator("$sum", argument)],
          [`${column}n`, countOfNumbers(argument)],
        ],
        merger: () => averageMerger(column),
      };
    case "$stdDevPop":
    case "$stdDevSamp":
      return {
        name,
        columns: [
          [column, operator("$stdDevPop", argument)],
          [`${column}m`, operator("$avg", argument)],
          [`${column}n`, countOfNumbers(argument)],
        ],
        merger: () => deviationMerger(column, accumulator === "$stdDevSamp"),
      };
    case "$top":
    case "$topN":
    case "$bottom":
    case "$bottomN":
      return rankedPart(field, column, options);
    case "$push":
    case "$addToSet":
    case "$firstN":
    case "$lastN":
    case "$minN":
    case "$maxN":
      return {
        name,
        columns: same,
        merger: (group) => {
          const state = compiled.create(group);
          return {
            add: (row) => arrayOf(row, column).forEach((v) => state.add(v, EMPTY_DOCUMENT)),
            result: () => state.result(),
          };
        },
      };
    default:
      // The sum of sums, the least of the least, the first of the first.
      return {
        name,
        columns: same,
        merger: (group) => {
          const state = compiled.create(group);
          return {
            add: (row) => state.add(getField(row, column), EMPTY_DOCUMENT),
            result: () => state.result(),
          };
        },
      };
  }
}

function arrayOf(row: Uint8Array, column: string): RawValue[] {
  const list = getField(row, column);
  return list?.type === BsonType.array ? elements(asDocument(list)) : [];
}

function averageMerger(column: string): Merger {
  const sum = new Sum();
  const count = new Sum();
  return {
    add(row) {
      sum.add(getField(row, column));
      count.add(getField(row, `${column}n`));
    },
    result: () => mean(sum.result(), count.result()),
  };
}

function deviationMerger(column: string, sample: boolean): Merger {
  const all = new Moments();
  return {
    add(row) {
      const part = new Moments();
      part.count = asNumber(getField(row, `${column}n`) ?? int32(0));
      if (part.count === 0) return;
      part.mean = asNumber(getField(row, `${column}m`) ?? int32(0));
      part.squares = asNumber(getField(row, column) ?? int32(0)) ** 2 * part.count;
      all.merge(part);
    },
    result: () => all.deviation(sample),
  };
}

function rankedPart(field: GroupField, column: string, options: ExpressionOptions): Part | undefined {
  const { name, accumulator, argument, compiled } = field;
  const { sort, sortBy, outputSource } = rankedArguments(argument, options, accumulator);
  if (sort.natural !== undefined || sort.fields.some(({ path }) => path === "$meta")) return undefined;
  // Whole top-level fields: parts of arrays would not sort like the arrays.
  const sorted = new DocumentWriter();
  for (const field of new Set(sort.fields.map(({ path }) => path.split(".")[0]!))) {
    sorted.field(field, string(`$${field}`));
  }
  const output = new DocumentWriter().field("o", outputSource).document("d", sorted.finish()).finish();
  const n = getField(asDocument(argument), "n");
  const partial = new DocumentWriter();
  if (n !== undefined) partial.field("n", n);
  partial.field("sortBy", sortBy).document("output", output);
  return {
    name,
    columns: [[column, operator(accumulator, document(partial.finish()))]],
    merger: (group) => {
      const state = compiled.create(group);
      const add = (ranked: RawValue): void => {
        const doc = asDocument(ranked);
        const sortedBy = getField(doc, "d");
        state.add(getField(doc, "o"), sortedBy === undefined ? EMPTY_DOCUMENT : asDocument(sortedBy));
      };
      return {
        add(row) {
          if (n !== undefined) arrayOf(row, column).forEach(add);
          else add(getField(row, column)!);
        },
        result: () => state.result(),
      };
    },
  };
}

class MergeGroupStage implements Stage {
  readonly name = "$group";
  readonly satisfied = false;
  readonly #groups = new Map<string, { id: RawValue; mergers: Merger[] }>();

  constructor(
    readonly parts: readonly Part[],
    readonly collation: Collation | undefined,
  ) {}

  push(row: Uint8Array): void {
    const id = getField(row, "_id") ?? NULL;
    const key = sortableValue(id, this.collation);
    let group = this.#groups.get(key);
    if (group === undefined) {
      const own = detach(id);
      group = { id: own, mergers: this.parts.map((part) => part.merger(own)) };
      this.#groups.set(key, group);
    }
    for (const merger of group.mergers) merger.add(row);
  }

  finish(emit: Emit): void {
    for (const { id, mergers } of this.#groups.values()) {
      const writer = new DocumentWriter().field("_id", id);
      this.parts.forEach(({ name }, i) => writer.field(name, mergers[i]!.result()));
      emit(writer.finish());
    }
    this.#groups.clear();
  }
}
