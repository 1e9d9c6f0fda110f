/**
 * `$group`: one document for each value of an expression.
 *
 * Groups are found by the sortable key of their `_id`, so that values equal in
 * BSON order (1 and 1.0) share a group; a missing `_id` is null. The groups
 * come out in the order in which they were met.
 */
import {
  BsonType,
  DocumentWriter,
  NULL,
  asDocument,
  fields,
  isEmptyDocument,
  firstField,
  getField,
  int32,
  sortableValue,
  type RawValue,
} from "../../bson/index.js";
import { CommandError, notSimulated } from "../../protocol/index.js";
import { compileExpression, constant } from "../expression/compile.js";
import { expressionContext, type Expression, type ExpressionOptions } from "../expression/context.js";
import { ACCUMULATORS, ACCUMULATORS_NOT_BUILT, detach, type Accumulator } from "./accumulators.js";
import type { Emit, Stage } from "./stage.js";

/** One output field of a `$group`. */
export interface GroupField {
  readonly name: string;
  /** `$sum`, `$avg`, …; `$count` has become `$sum` of 1. */
  readonly accumulator: string;
  /** The accumulator's argument as written. */
  readonly argument: RawValue;
  readonly expression: Expression;
}

/** A parsed `$group`. */
export interface GroupSpec {
  readonly idSource: RawValue;
  readonly id: Expression;
  readonly fields: readonly GroupField[];
}

/** Reads a `$group`. Throws 15955 without `_id`, 40234 and 15952 for fields that are no accumulators. */
export function parseGroup(spec: RawValue, options: ExpressionOptions): GroupSpec {
  if (spec.type !== BsonType.object) {
    throw new CommandError(15947, "a group's fields must be specified in an object");
  }
  const doc = asDocument(spec);
  const idSource = getField(doc, "_id");
  if (idSource === undefined) throw new CommandError(15955, "a group specification must include an _id");
  const list: GroupField[] = [];
  for (const [name, value] of fields(doc)) if (name !== "_id") list.push(parseField(name, value, options));
  // An object as _id may be a constant like {}, which compiles as itself.
  return { idSource, id: compileExpression(idSource, options), fields: list };
}

function parseField(name: string, value: RawValue, options: ExpressionOptions): GroupField {
  if (name.includes(".")) throw new CommandError(40235, `The field name '${name}' cannot contain '.'`);
  if (name.startsWith("$"))
    throw new CommandError(40236, `The field name '${name}' cannot be an operator name`);
  const single = value.type === BsonType.object ? fields(asDocument(value)) : [];
  if (value.type !== BsonType.object || single.length === 0) {
    throw new CommandError(40234, `The field '${name}' must be an accumulator object`);
  }
  if (single.length > 1) throw new CommandError(40238, `The field '${name}' must specify one accumulator`);
  const [accumulator, argument] = firstField(asDocument(value))!;
  if (accumulator === "$count") {
    if (argument.type !== BsonType.object || !isEmptyDocument(asDocument(argument))) {
      throw new CommandError(1, "$count takes no arguments, i.e. $count:{}");
    }
    const one = int32(1);
    return { name, accumulator: "$sum", argument: one, expression: constant(one) };
  }
  if (!ACCUMULATORS.has(accumulator)) {
    if (ACCUMULATORS_NOT_BUILT.has(accumulator)) throw notSimulated(`accumulator ${accumulator}`);
    throw new CommandError(15952, `unknown group operator '${accumulator}'`);
  }
  if (argument.type === BsonType.array) {
    throw new CommandError(40237, `The ${accumulator} accumulator is a unary operator`);
  }
  return { name, accumulator, argument, expression: compileExpression(argument, options) };
}

interface Group {
  readonly id: RawValue;
  readonly states: readonly Accumulator[];
}

export class GroupStage implements Stage {
  readonly name = "$group";
  readonly satisfied = false;
  readonly #groups = new Map<string, Group>();
  readonly #makers: ReadonlyArray<() => Accumulator>;

  constructor(readonly spec: GroupSpec) {
    this.#makers = spec.fields.map(({ accumulator }) => ACCUMULATORS.get(accumulator)!);
  }

  push(doc: Uint8Array): void {
    const context = expressionContext(doc);
    const id = this.spec.id(context) ?? NULL;
    const key = sortableValue(id);
    let group = this.#groups.get(key);
    if (group === undefined) {
      group = { id: detach(id), states: this.#makers.map((make) => make()) };
      this.#groups.set(key, group);
    }
    const { fields: outputs } = this.spec;
    for (let i = 0; i < outputs.length; i++) group.states[i]!.add(outputs[i]!.expression(context));
  }

  finish(emit: Emit): void {
    for (const { id, states } of this.#groups.values()) {
      const writer = new DocumentWriter().field("_id", id);
      this.spec.fields.forEach(({ name }, i) => writer.field(name, states[i]!.result()));
      emit(writer.finish());
    }
    this.#groups.clear();
  }
}
