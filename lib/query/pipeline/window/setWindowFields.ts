/**
 * `$setWindowFields`: fields worked out over a document's neighbours.
 *
 *     { partitionBy: "$state", sortBy: { date: 1 },
 *       output: { total: { $sum: "$qty", window: { documents: ["unbounded", "current"] } } } }
 *
 * The documents are taken in, sorted by partition and `sortBy`, and handed on
 * in that order; each function walks along with its partition (functions.ts).
 */
import {
  BsonType,
  NULL,
  asDocument,
  fields,
  sortableValue,
  type Collation,
  type RawValue,
} from "../../../bson/index.js";
import { CommandError, ErrorCode } from "../../../protocol/index.js";
import { compileExpression } from "../../expression/compile.js";
import { expressionContext, type Expression, type ExpressionOptions } from "../../expression/context.js";
import { pathParts } from "../../expression/fieldPath.js";
import { carryMeta } from "../../meta.js";
import { ProjectionTree } from "../../projection/tree.js";
import { compileSort, type Sort } from "../../sort/index.js";
import { typeName } from "../../values/types.js";
import type { Emit, Stage, StageParser } from "../stage.js";
import { StageMemory } from "../stageMemory.js";
import { WINDOW_FUNCTIONS, compileWindowFunction } from "./functions.js";
import { Partition, windowSetup, type WindowFunction } from "./partition.js";

/** A field of `output`. */
interface Output {
  readonly path: readonly string[];
  readonly compute: WindowFunction;
}

interface WindowSpec {
  readonly partitionBy: Expression | undefined;
  readonly sort: Sort | undefined;
  readonly outputs: readonly Output[];
  readonly collation: Collation | undefined;
  readonly allowDiskUse: boolean;
}

/** Checks the fields of a stage's object the way MongoDB's generated parsers do. */
export function checkStageFields(
  doc: Uint8Array,
  stage: string,
  allowed: readonly string[],
  required: readonly string[],
): ReadonlyMap<string, RawValue> {
  const named = new Map(fields(doc));
  for (const name of named.keys()) {
    if (allowed.includes(name)) continue;
    throw new CommandError(ErrorCode.IDLUnknownField, `BSON field '${stage}.${name}' is an unknown field.`);
  }
  for (const name of required) {
    if (named.has(name)) continue;
    throw new CommandError(
      ErrorCode.IDLFailedToParse,
      `BSON field '${stage}.${name}' is missing but a required field`,
    );
  }
  return named;
}

/** Throws 14 for a member of the wrong type. */
export function wrongType(path: string, v: RawValue, expected: string): CommandError {
  return new CommandError(
    ErrorCode.TypeMismatch,
    `BSON field '${path}' is the wrong type '${typeName(v)}', expected type '${expected}'`,
  );
}

function objectMember(
  named: ReadonlyMap<string, RawValue>,
  stage: string,
  name: string,
): Uint8Array | undefined {
  const v = named.get(name);
  if (v === undefined) return undefined;
  if (v.type !== BsonType.object) throw wrongType(`${stage}.${name}`, v, "object");
  return asDocument(v);
}

/** Parses the value of `$setWindowFields`. */
function parseWindowSpec(spec: RawValue, options: ExpressionOptions): WindowSpec {
  const stage = "$setWindowFields";
  if (spec.type !== BsonType.object) {
    throw new CommandError(
      ErrorCode.FailedToParse,
      `the ${stage} stage specification must be an object, found ${typeName(spec)}`,
    );
  }
  const named = checkStageFields(asDocument(spec), stage, ["partitionBy", "sortBy", "output"], ["output"]);
  const sortBy = objectMember(named, stage, "sortBy");
  const output = objectMember(named, stage, "output")!;
  const partitionBy = named.get("partitionBy");
  const partition = partitionBy === undefined ? undefined : compileExpression(partitionBy, options);
  const sort = sortBy === undefined ? undefined : compileSort(sortBy, options);
  const setup = windowSetup(sort, options, (name) => WINDOW_FUNCTIONS.has(name));
  const outputs: Output[] = [];
  const taken = new Set<string>();
  for (const [path, value] of fields(output)) {
    const parts = pathParts(path);
    checkConflict(parts, taken);
    outputs.push({ path: parts, compute: compileWindowFunction(value, path, setup) });
  }
  return {
    partitionBy: partition,
    sort,
    outputs,
    collation: options.collation,
    allowDiskUse: options.allowDiskUse ?? true,
  };
}

/** Throws 6307900 where a path is equal to, above or below one before it. Notes it with all that are above. */
function checkConflict(parts: readonly string[], taken: Set<string>): void {
  const path = parts.join(".");
  const above = parts.map((_, i) => parts.slice(0, i + 1).join("."));
  // A path is noted plainly, those above it with a dot behind.
  if (taken.has(`${path}.`) || above.some((each) => taken.has(each))) {
    throw new CommandError(6307900, "$setWindowFields 'output' specification contains two conflicting paths");
  }
  taken.add(path);
  for (const each of above.slice(0, -1)) taken.add(`${each}.`);
}

interface Entry {
  readonly partition: string;
  readonly key: string;
  readonly order: number;
  readonly doc: Uint8Array;
}

function compareEntries(a: Entry, b: Entry): number {
  if (a.partition !== b.partition) return a.partition < b.partition ? -1 : 1;
  return a.key < b.key ? -1 : a.key > b.key ? 1 : a.order - b.order;
}

class SetWindowFieldsStage implements Stage {
  readonly name = "$setWindowFields";
  readonly satisfied = false;
  #entries: Entry[] = [];
  /** MongoDB sorts with a `$sort`, whose limit it is. */
  readonly #memory: StageMemory | undefined;

  constructor(readonly spec: WindowSpec) {
    this.#memory = StageMemory.of("$sort", spec);
  }

  push(doc: Uint8Array): void {
    const { sort } = this.spec;
    this.#entries.push({
      partition: this.#partitionOf(doc),
      key: sort === undefined ? "" : sort.key(doc),
      order: this.#entries.length,
      doc,
    });
    this.#memory?.hold(doc.length);
  }

  #partitionOf(doc: Uint8Array): string {
    const { partitionBy, collation } = this.spec;
    if (partitionBy === undefined) return "";
    const v = partitionBy(expressionContext(doc));
    if (v?.type === BsonType.array) {
      throw new CommandError(
        ErrorCode.TypeMismatch,
        "An expression used to partition cannot evaluate to value of type array",
      );
    }
    return sortableValue(v ?? NULL, collation);
  }

  finish(emit: Emit): void {
    const entries = this.#entries.sort(compareEntries);
    this.#entries = [];
    for (let from = 0; from < entries.length;) {
      let to = from + 1;
      while (to < entries.length && entries[to]!.partition === entries[from]!.partition) to++;
      const partition = new Partition(entries.slice(from, to).map(({ doc }) => doc));
      if (!this.#emitPartition(partition, emit)) return;
      from = to;
    }
  }

  /** False when no more is wanted. */
  #emitPartition(partition: Partition, emit: Emit): boolean {
    const runs = this.spec.outputs.map(({ compute }) => compute.start(partition));
    const values: Array<RawValue | undefined> = [];
    const tree = outputTree(this.spec.outputs, values);
    for (const [index, doc] of partition.docs.entries()) {
      runs.forEach((run, i) => (values[i] = run(index)));
      const result = tree.apply(doc);
      carryMeta(doc, result);
      if (emit(result) === false) return false;
    }
    return true;
  }
}

/** Sets the outputs like an `$addFields`, of what is in `values` at the time. */
function outputTree(outputs: readonly Output[], values: ReadonlyArray<RawValue | undefined>): ProjectionTree {
  const root = new ProjectionTree("keep");
  outputs.forEach(({ path }, i) => {
    let tree = root;
    for (const name of path.slice(0, -1)) {
      const known = tree.entries.get(name);
      const inner = known?.kind === "tree" ? known.tree : new ProjectionTree("keep");
      tree.entries.set(name, { kind: "tree", tree: inner });
      tree = inner;
    }
    tree.entries.set(path.at(-1)!, { kind: "compute", expression: () => values[i], place: "here" });
  });
  root.noteComputed();
  return root;
}

/**
 * `$setWindowFields`.
 * @throws CommandError 9 for a malformed specification, 40414, 40415 and 14 for its fields, 6307900 for conflicting
 *   outputs, and the window functions' codes
 * @since MongoDB 5.0
 */
export const setWindowFields: StageParser = (spec, options) => {
  const parsed = parseWindowSpec(spec, options);
  return { create: () => new SetWindowFieldsStage(parsed) };
};
