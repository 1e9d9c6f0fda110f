/**
 * `$group`: one document for each value of an expression.
 *
 * Groups are found by the sortable key of their `_id`, so that values equal in
 * BSON order (1 and 1.0) or by the collation share a group; a missing `_id` is
 * null. The groups come out in the order in which they were met.
 */
import {
  BsonType,
  DocumentWriter,
  NULL,
  asDocument,
  fields,
  firstField,
  getField,
  sortableValue,
  topLevelNames,
  type Collation,
  type RawValue,
} from "../../bson/index.js";
import { CommandError } from "../../protocol/index.js";
import { compileExpression } from "../expression/compile.js";
import { expressionContext, type Expression, type ExpressionOptions } from "../expression/context.js";
import { compileAccumulator, detach, type Accumulator, type CompiledAccumulator } from "./accumulators.js";
import type { Emit, Stage } from "./stage.js";
import { StageMemory } from "./stageMemory.js";

/** One output field of a `$group`. */
export interface GroupField {
  readonly name: string;
  /** `$sum`, `$avg`, … */
  readonly accumulator: string;
  /** The accumulator's argument as written. */
  readonly argument: RawValue;
  readonly compiled: CompiledAccumulator;
}

/** A parsed `$group`. */
export interface GroupSpec {
  readonly idSource: RawValue;
  readonly id: Expression;
  readonly fields: readonly GroupField[];
  /** How the strings of `_id` compare. */
  readonly collation?: Collation;
  readonly allowDiskUse?: boolean;
}

/**
 * Reads a `$group`.
 * @throws CommandError 15947 for no object, 15955 without `_id`, 40234–40238 and 15952 for fields that are no
 *   accumulators, and the accumulators' own codes
 */
export function parseGroup(spec: RawValue, options: ExpressionOptions): GroupSpec {
  if (spec.type !== BsonType.object) {
    throw new CommandError(15947, "a group's fields must be specified in an object");
  }
  const doc = asDocument(spec);
  const list: GroupField[] = [];
  for (const [name, value] of fields(doc)) if (name !== "_id") list.push(parseField(name, value, options));
  const idSource = getField(doc, "_id");
  if (idSource === undefined) throw new CommandError(15955, "a group specification must include an _id");
  const { collation, allowDiskUse = true } = options;
  return {
    idSource,
    id: compileExpression(idSource, options),
    fields: list,
    ...(collation && { collation }),
    allowDiskUse,
  };
}

function parseField(name: string, value: RawValue, options: ExpressionOptions): GroupField {
  const first = value.type === BsonType.object ? firstField(asDocument(value)) : undefined;
  if (first === undefined || !first[0].startsWith("$")) {
    throw new CommandError(40234, `The field '${name}' must be an accumulator object`);
  }
  if (name.includes(".")) throw new CommandError(40235, `The field name '${name}' cannot contain '.'`);
  if (name.startsWith("$")) {
    throw new CommandError(40236, `The field name '${name}' cannot be an operator name`);
  }
  if (topLevelNames(asDocument(value)).length > 1) {
    throw new CommandError(40238, `The field '${name}' must specify one accumulator`);
  }
  const [accumulator, argument] = first;
  if (argument.type === BsonType.array) {
    throw new CommandError(40237, `The ${accumulator} accumulator is a unary operator`);
  }
  const compiled = compileAccumulator(accumulator, argument, options);
  if (compiled === undefined) throw new CommandError(15952, `unknown group operator '${accumulator}'`);
  return { name, accumulator, argument, compiled };
}

/** What a group takes beside its `_id`, about. */
const GROUP_BYTES = 64;
/** Accumulators that keep their values. */
const COLLECTING: ReadonlySet<string> = new Set(["$push", "$addToSet", "$concatArrays", "$setUnion"]);

interface Group {
  readonly id: RawValue;
  readonly states: readonly Accumulator[];
}

export class GroupStage implements Stage {
  readonly name = "$group";
  readonly satisfied = false;
  readonly #groups = new Map<string, Group>();
  readonly #memory: StageMemory | undefined;

  constructor(readonly spec: GroupSpec) {
    this.#memory = StageMemory.of("$group", spec);
  }

  push(doc: Uint8Array): void {
    const { fields: outputs, collation } = this.spec;
    const context = expressionContext(doc);
    const id = this.spec.id(context) ?? NULL;
    const key = sortableValue(id, collation);
    let group = this.#groups.get(key);
    if (group === undefined) {
      const own = detach(id);
      group = { id: own, states: outputs.map(({ compiled }) => compiled.create(own)) };
      this.#groups.set(key, group);
      this.#memory?.hold(key.length + own.bytes.length + GROUP_BYTES);
    }
    for (let i = 0; i < outputs.length; i++) {
      const { accumulator, compiled } = outputs[i]!;
      const input = compiled.input(context);
      group.states[i]!.add(input, doc);
      if (this.#memory && input && COLLECTING.has(accumulator)) this.#memory.hold(input.end - input.start);
    }
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
