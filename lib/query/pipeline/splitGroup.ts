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
 * - A sum of doubles may differ in the last digit from that of one server,
 *   which carries the rounding errors along. A sum of int32 that leaves 32 bits
 *   on one shard and returns into them on another comes out as int64.
 */
import {
  BsonType,
  DocumentWriter,
  NULL,
  array,
  asDocument,
  document,
  elements,
  getField,
  int32,
  sortableValue,
  type RawValue,
} from "../../bson/index.js";
import type { ExpressionOptions } from "../expression/context.js";
import { ACCUMULATORS, detach, mean, type Accumulator } from "./accumulators.js";
import { parseGroup, type GroupField } from "./group.js";
import type { Emit, Stage } from "./stage.js";

/** The halves of a `$group`. */
export interface SplitGroup {
  /** The stage for the shards: `{ $group: … }`. */
  readonly partial: Uint8Array;
  /** The stage that merges what they answer. */
  merge(): Stage;
}

/** How one output field is taken apart and put together. */
interface Part {
  readonly field: GroupField;
  readonly column: string;
}

/**
 * Splits a `$group`.
 * @param spec the value of the `$group` stage
 * @returns undefined where it cannot be split: then the whole `$group` runs on the merger
 * @throws CommandError for a malformed `$group`, as `parsePipeline` does
 */
export function splitGroup(spec: RawValue, options: ExpressionOptions = {}): SplitGroup | undefined {
  const group = parseGroup(spec, options);
  const parts = group.fields.map((field, i) => ({ field, column: `p${i}` }));
  const writer = new DocumentWriter().field("_id", group.idSource);
  for (const { field, column } of parts) {
    const { accumulator, argument } = field;
    if (accumulator === "$avg") {
      writer.field(column, operator("$sum", argument));
      writer.field(`${column}n`, operator("$sum", countIfNumber(argument)));
    } else {
      writer.field(column, operator(accumulator, argument));
    }
  }
  const partial = new DocumentWriter().document("$group", writer.finish()).finish();
  return { partial, merge: () => new MergeGroupStage(parts) };
}

function operator(name: string, argument: RawValue): RawValue {
  return document(new DocumentWriter().field(name, argument).finish());
}

/** `{ $cond: [{ $isNumber: argument }, 1, 0] }`: `$avg` counts numbers only. */
function countIfNumber(argument: RawValue): RawValue {
  return operator("$cond", array([operator("$isNumber", argument), int32(1), int32(0)]));
}

/** Puts the partial results of one field together. */
interface Merger {
  add(row: Uint8Array): void;
  result(): RawValue;
}

function mergerOf({ field, column }: Part): Merger {
  const { accumulator } = field;
  const create = ACCUMULATORS.get(accumulator)!;
  switch (accumulator) {
    case "$avg": {
      const sum = ACCUMULATORS.get("$sum")!();
      const count = ACCUMULATORS.get("$sum")!();
      return {
        add(row) {
          sum.add(getField(row, column));
          count.add(getField(row, `${column}n`));
        },
        result: () => mean(sum.result(), count.result()),
      };
    }
    case "$push":
    case "$addToSet": {
      const state = create();
      return {
        add(row) {
          const list = getField(row, column);
          if (list?.type === BsonType.array) for (const v of elements(asDocument(list))) state.add(v);
        },
        result: () => state.result(),
      };
    }
    default: {
      // The sum of sums, the least of the least, the first of the first.
      const state: Accumulator = create();
      return { add: (row) => state.add(getField(row, column)), result: () => state.result() };
    }
  }
}

class MergeGroupStage implements Stage {
  readonly name = "$group";
  readonly satisfied = false;
  readonly #groups = new Map<string, { id: RawValue; mergers: Merger[] }>();

  constructor(readonly parts: readonly Part[]) {}

  push(row: Uint8Array): void {
    const id = getField(row, "_id") ?? NULL;
    const key = sortableValue(id);
    let group = this.#groups.get(key);
    if (group === undefined) {
      group = { id: detach(id), mergers: this.parts.map(mergerOf) };
      this.#groups.set(key, group);
    }
    for (const merger of group.mergers) merger.add(row);
  }

  finish(emit: Emit): void {
    for (const { id, mergers } of this.#groups.values()) {
      const writer = new DocumentWriter().field("_id", id);
      this.parts.forEach(({ field }, i) => writer.field(field.name, mergers[i]!.result()));
      emit(writer.finish());
    }
    this.#groups.clear();
  }
}
