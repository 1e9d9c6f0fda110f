/**
 * `$merge`: the documents are put into a collection one by one.
 *
 *     { into: "totals", on: "day", whenMatched: "merge", whenNotMatched: "insert" }
 *
 * Each is looked for in the target by the fields `on`, which a unique index
 * must cover, so that it has one counterpart at most. The writes begin when the
 * pipeline has ended: nothing is written for a pipeline that fails, and it
 * never reads what it has written.
 */
import {
  BsonType,
  asDocument,
  asString,
  elements,
  fields,
  string,
  type RawValue,
} from "../../../bson/index.js";
import { CommandError, ErrorCode, notSimulated } from "../../../protocol/index.js";
import { compileExpression } from "../../expression/compile.js";
import {
  expressionContext,
  type ExpressionOptions,
  type ExternalVariable,
} from "../../expression/context.js";
import { pathParts } from "../../expression/fieldPath.js";
import { checkVariableName } from "../../expression/variables.js";
import { typeName } from "../../values/types.js";
import { hostOf, sourceOf, type MergeModes, type PipelineHost, type Source } from "../host.js";
import { createStages, runStages } from "../runner.js";
import type { NamedCollection, Stage, StageParser, SubPipelineParser } from "../stage.js";
import { checkTarget } from "./out.js";
import { stageList } from "./spec.js";

const WHEN_MATCHED: ReadonlySet<string> = new Set(["replace", "keepExisting", "merge", "fail"]);
const WHEN_NOT_MATCHED: ReadonlySet<string> = new Set(["insert", "discard", "fail"]);
/** Pairs that MongoDB has no strategy for. */
const UNSUPPORTED: ReadonlySet<string> = new Set([
  "keepExisting discard",
  "keepExisting fail",
  "fail discard",
  "fail fail",
]);

interface MergeSpec {
  readonly target: NamedCollection;
  readonly modes: MergeModes;
}

export const merge: StageParser = (spec, options, _, parse) => {
  const { target, modes } = parseMerge(spec, options, parse);
  return {
    writes: target,
    needsHost: true,
    create: () => {
      const host = hostOf(options, "$merge");
      const source = sourceOf(host, target);
      checkTarget("$merge", source);
      host.checkMerge(source, modes, options);
      return new MergeStage(host, source, modes, options);
    },
  };
};

class MergeStage implements Stage {
  readonly name = "$merge";
  readonly satisfied = false;
  #documents: Uint8Array[] = [];

  constructor(
    readonly host: PipelineHost,
    readonly target: Source,
    readonly modes: MergeModes,
    readonly options: ExpressionOptions,
  ) {}

  push(doc: Uint8Array): void {
    this.#documents.push(doc);
  }

  finish(): void {
    const documents = this.#documents;
    this.#documents = [];
    this.host.merge(this.target, this.modes, documents, this.options);
  }
}

function parseMerge(spec: RawValue, options: ExpressionOptions, parse: SubPipelineParser): MergeSpec {
  if (spec.type === BsonType.string) return mergeInto(intoOf(spec));
  if (spec.type !== BsonType.object) {
    throw new CommandError(
      ErrorCode.TypeMismatch,
      `$merge requires a string or object argument, but found ${typeName(spec)}`,
    );
  }
  const doc = asDocument(spec);
  let target: NamedCollection | undefined;
  let on: string[] | undefined;
  let matched: RawValue | undefined;
  let notMatched: string | undefined;
  let variables: Uint8Array | undefined;
  for (const [name, value] of fields(doc)) {
    switch (name) {
      case "into":
        target = intoOf(value);
        break;
      case "on":
        on = parseOn(value);
        break;
      case "let":
        if (value.type !== BsonType.object) throw wrongType("let", value, "object");
        variables = asDocument(value);
        break;
      case "whenMatched":
        matched = value;
        break;
      case "whenNotMatched":
        notMatched = enumerated("whenNotMatched", value, WHEN_NOT_MATCHED);
        break;
      case "targetCollectionVersion":
        throw notSimulated("$merge.targetCollectionVersion");
      case "allowMergeOnNullishValues":
        throw notSimulated("$merge.allowMergeOnNullishValues");
      default:
        throw new CommandError(ErrorCode.IDLUnknownField, `BSON field '$merge.${name}' is an unknown field.`);
    }
  }
  if (target === undefined) {
    throw new CommandError(
      ErrorCode.IDLFailedToParse,
      "BSON field '$merge.into' is missing but a required field",
    );
  }
  const whenNotMatched = (notMatched ?? "insert") as MergeModes["whenNotMatched"];
  if (matched?.type === BsonType.array) {
    const change = changeBy(stageList(elements(asDocument(matched))), variables, options, parse);
    return mergeInto(target, { on, whenMatched: "pipeline", whenNotMatched, change });
  }
  const mode = matched === undefined ? "merge" : enumerated("whenMatched", matched, WHEN_MATCHED);
  const whenMatched = mode as MergeModes["whenMatched"];
  if (UNSUPPORTED.has(`${whenMatched} ${whenNotMatched}`)) {
    throw new CommandError(
      51181,
      `Combination of $merge modes 'whenMatched: ${whenMatched}' and 'whenNotMatched: ${whenNotMatched}' is not supported`,
    );
  }
  if (variables) {
    throw new CommandError(51199, `Cannot use 'let' variables with 'whenMatched: ${whenMatched}' mode`);
  }
  return mergeInto(target, { on, whenMatched, whenNotMatched });
}

function mergeInto(
  target: NamedCollection,
  modes: MergeModes = { on: undefined, whenMatched: "merge", whenNotMatched: "insert" },
): MergeSpec {
  return { target, modes };
}

function wrongType(name: string, value: RawValue, expected: string): CommandError {
  return new CommandError(
    ErrorCode.TypeMismatch,
    `BSON field '$merge.${name}' is the wrong type '${typeName(value)}', expected type '${expected}'`,
  );
}

function intoOf(value: RawValue): NamedCollection {
  if (value.type === BsonType.string) return { db: undefined, collection: asString(value) };
  if (value.type !== BsonType.object) {
    throw new CommandError(
      51178,
      `$merge 'into' field  must be either a string or an object, but found ${typeName(value)}`,
    );
  }
  const names = new Map<string, string>();
  for (const [name, part] of fields(asDocument(value))) {
    if (name !== "db" && name !== "coll") {
      throw new CommandError(
        ErrorCode.IDLUnknownField,
        `BSON field '$merge.into.${name}' is an unknown field.`,
      );
    }
    if (part.type !== BsonType.string) throw wrongType(`into.${name}`, part, "string");
    names.set(name, asString(part));
  }
  const collection = names.get("coll");
  if (collection === undefined) {
    throw new CommandError(
      ErrorCode.IDLFailedToParse,
      "BSON field '$merge.into.coll' is missing but a required field",
    );
  }
  return { db: names.get("db"), collection };
}

function parseOn(value: RawValue): string[] {
  if (value.type === BsonType.string) return [checkedPath(asString(value))];
  if (value.type !== BsonType.array) {
    throw new CommandError(
      51186,
      `$merge 'on' field  must be either a string or an array of strings, but found ${typeName(value)}`,
    );
  }
  const list = elements(asDocument(value));
  if (list.length === 0) {
    throw new CommandError(51187, "If explicitly specifying $merge 'on', must include at least one field");
  }
  const on: string[] = [];
  for (const item of list) {
    if (item.type !== BsonType.string) {
      throw new CommandError(
        51134,
        `$merge 'on' array elements must be strings, but found ${typeName(item)}`,
      );
    }
    const path = checkedPath(asString(item));
    if (on.includes(path)) throw new CommandError(31465, `Found a duplicate field '${path}'`);
    on.push(path);
  }
  return on;
}

function checkedPath(path: string): string {
  return pathParts(path).join(".");
}

function enumerated(name: string, value: RawValue, allowed: ReadonlySet<string>): string {
  if (value.type !== BsonType.string) {
    if (name === "whenMatched") {
      throw new CommandError(
        51191,
        `$merge 'whenMatched' field  must be either a string or an array, but found ${typeName(value)}`,
      );
    }
    throw wrongType(name, value, "string");
  }
  const text = asString(value);
  if (allowed.has(text)) return text;
  throw new CommandError(
    ErrorCode.BadValue,
    `Enumeration value '${text}' for field '$merge.${name}' is not a valid value.`,
  );
}

/** `whenMatched: [stages]`: the update pipeline with `$$new` and the variables of `let`. */
function changeBy(
  stages: readonly Uint8Array[],
  variables: Uint8Array | undefined,
  options: ExpressionOptions,
  parse: SubPipelineParser,
): (existing: Uint8Array, incoming: Uint8Array) => Uint8Array {
  const list = variables ? fields(variables) : [];
  const given = list.find(([name]) => name === "new");
  if (given && !(given[1].type === BsonType.string && asString(given[1]) === "$$ROOT")) {
    throw new CommandError(
      51273,
      "'let' may not define a value for the reserved 'new' variable other than '$$ROOT'",
    );
  }
  // Without `let` there is just $$new; with one it is added.
  const bound = list.filter(([name]) => name !== "new").concat([["new", string("$$ROOT")]]);
  const cells = new Map<string, ExternalVariable>(options.variables);
  const expressions = bound.map(([name, value]) => {
    if (name !== "new") checkVariableName(name);
    const cell: ExternalVariable = { value: undefined };
    cells.set(name, cell);
    return { cell, expression: compileExpression(value, options) };
  });
  const parsed = parse(stages, { ...options, variables: cells }, "update");
  return (existing, incoming) => {
    const context = expressionContext(incoming);
    for (const { cell, expression } of expressions) cell.value = expression(context);
    return runStages(createStages(parsed), [existing])[0]!;
  };
}
