/**
 * Updates: what `update`, `findAndModify` and `bulkWrite` do to a document.
 *
 * An update has one of three forms:
 *
 *     { $set: { a: 1 }, $inc: { n: 1 } }    operators: change single fields
 *     { a: 1, n: 2 }                        replacement: everything but _id
 *     [ { $set: { b: "$a" } } ]             pipeline: stages that compute the new document
 */
import {
  BsonType,
  DocumentWriter,
  asDocument,
  asString,
  compareValues,
  describeValue,
  elements,
  fields,
  firstField,
  getField,
  type RawValue,
} from "../../bson/index.js";
import { CommandError, ErrorCode, notSimulated } from "../../protocol/index.js";
import { parsePipeline } from "../pipeline/parse.js";
import { runStages } from "../pipeline/runner.js";
import { typeName } from "../values/types.js";
import { ARRAY_OPERATORS } from "./arrayOperators.js";
import { ArrayFilters } from "./arrayFilters.js";
import { milliseconds, type OperatorParser, type UpdateContext } from "./context.js";
import { FIELD_OPERATORS } from "./fieldOperators.js";
import { checkIdKept, modify, type Step } from "./modify.js";
import { compareUpdatePaths, isArrayPlaceholder, PathConflicts, updatePathParts } from "./paths.js";

/** A compiled update. */
export interface Update {
  readonly kind: "operators" | "replacement" | "pipeline";
  /** Paths that operators may modify; empty for the other kinds, which may change anything. */
  readonly paths: readonly string[];
  /** True where the update may change the value at `path`, at a path above or below it. */
  touches(path: string): boolean;
  /**
   * The changed document; the very same array where nothing changes.
   * @throws CommandError 66 for a changed `_id`, 14 and 2 for values that an operator cannot work on, 28 for a path
   *   through a scalar
   */
  apply(doc: Uint8Array, context: UpdateContext): Uint8Array;
}

export interface UpdateOptions {
  readonly arrayFilters?: readonly Uint8Array[];
  /** The command's `let`, for pipelines. */
  readonly let?: Uint8Array;
}

const OPERATORS: ReadonlyMap<string, OperatorParser> = new Map([
  ...Object.entries(FIELD_OPERATORS),
  ...Object.entries(ARRAY_OPERATORS),
]);
const OLD_OPERATORS = new Set(["$pushAll", "$isolated", "$atomic"]);

/**
 * Compiles an update.
 * @param update an object (operators or replacement) or an array (pipeline)
 * @throws CommandError 9 for an unknown operator or form, 40 for paths that conflict, 238 for the positional `$`
 */
export function compileUpdate(update: RawValue, options: UpdateOptions = {}): Update {
  if (update.type === BsonType.array) return compilePipeline(update, options);
  if (update.type !== BsonType.object) {
    throw new CommandError(ErrorCode.FailedToParse, "Update argument must be either an object or an array");
  }
  const doc = asDocument(update);
  if (firstField(doc)?.[0].startsWith("$")) return compileOperators(doc, options);
  if (options.arrayFilters !== undefined && options.arrayFilters.length > 0) {
    throw new CommandError(
      ErrorCode.FailedToParse,
      "Cannot specify arrayFilters with a replacement-style update",
    );
  }
  return compileReplacement(doc);
}

function compileOperators(doc: Uint8Array, options: UpdateOptions): Update {
  const steps: Step[] = [];
  const paths: string[] = [];
  const conflicts = new PathConflicts();
  const register = (path: string): string[] => {
    const parts = updatePathParts(path);
    conflicts.add(path);
    paths.push(path);
    return parts;
  };
  for (const [name, argument] of fields(doc)) {
    const parser = OPERATORS.get(name);
    if (parser === undefined && name !== "$rename") throw unknownModifier(name);
    if (argument.type !== BsonType.object) {
      throw new CommandError(
        ErrorCode.FailedToParse,
        `Modifiers operate on fields but we found type ${typeName(argument)} instead. For example: ` +
          `{$mod: {<field>: ...}} not {${name}: ${describeValue(argument)}}`,
      );
    }
    for (const [path, value] of fields(asDocument(argument))) {
      if (parser !== undefined) steps.push({ parts: register(path), operator: parser(value, path) });
      else steps.push(renameStep(path, value, register));
    }
  }
  const filters = new ArrayFilters(options.arrayFilters ?? []);
  filters.check(paths);
  steps.sort((a, b) => compareUpdatePaths(a.parts, b.parts));
  return {
    kind: "operators",
    paths,
    touches: (path) => paths.some((own) => overlaps(own, path)),
    apply(before, context) {
      const after = modify(before, steps, filters, context);
      if (after !== before) checkIdKept(before, after);
      return after;
    },
  };
}

function unknownModifier(name: string): CommandError {
  if (OLD_OPERATORS.has(name)) return notSimulated(name);
  return new CommandError(
    ErrorCode.FailedToParse,
    `Unknown modifier: ${name}. Expected a valid update modifier or pipeline-style update specified as an array`,
  );
}

function renameStep(path: string, value: RawValue, register: (path: string) => string[]): Step {
  if (value.type !== BsonType.string) {
    throw new CommandError(
      ErrorCode.BadValue,
      `The 'to' field for $rename must be a string: ${path}: ${describeValue(value)}`,
    );
  }
  const to = asString(value);
  if (to === path) {
    throw new CommandError(
      ErrorCode.BadValue,
      `The source and target field for $rename must differ: ${path}: ${describeValue(value)}`,
    );
  }
  const from = register(path);
  const parts = register(to);
  if (from.some(isArrayPlaceholder) || parts.some(isArrayPlaceholder)) {
    throw new CommandError(
      ErrorCode.BadValue,
      `The source and destination field for $rename may not be dynamic: ${path}`,
    );
  }
  return { parts, from, operator: { creates: true, update: () => undefined } };
}

/** One path is the other, or lies in it; array placeholders stand for any component. */
function overlaps(a: string, b: string): boolean {
  const left = a.split(".");
  const right = b.split(".");
  const length = Math.min(left.length, right.length);
  for (let i = 0; i < length; i++) {
    if (left[i] !== right[i] && !isArrayPlaceholder(left[i]!) && !isArrayPlaceholder(right[i]!)) return false;
  }
  return true;
}

const anything = { paths: [], touches: () => true } as const;

function compileReplacement(replacement: Uint8Array): Update {
  for (const [name] of fields(replacement)) {
    if (!name.startsWith("$")) continue;
    throw new CommandError(
      ErrorCode.DollarPrefixedFieldName,
      `The dollar ($) prefixed field '${name}' in '${name}' is not allowed in the context of an update's replacement ` +
        "document. Consider using an aggregation pipeline with $replaceWith.",
    );
  }
  return { kind: "replacement", ...anything, apply: (doc) => replace(doc, replacement) };
}

/** The new document under the old `_id`, which stays in front. */
function replace(doc: Uint8Array, replacement: Uint8Array): Uint8Array {
  const id = getField(doc, "_id");
  const newId = getField(replacement, "_id");
  if (id !== undefined && newId !== undefined && compareValues(id, newId) !== 0) {
    throw new CommandError(
      ErrorCode.ImmutableField,
      `After applying the update, the (immutable) field '_id' was found to have been altered to _id: ${describeValue(newId)}`,
    );
  }
  const writer = new DocumentWriter();
  const kept = id ?? newId;
  if (kept !== undefined) writer.field("_id", kept);
  for (const [name, value] of fields(replacement)) if (name !== "_id") writer.field(name, value);
  const result = writer.finish();
  return sameBytes(result, doc) ? doc : result;
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

const UPDATE_STAGES = new Set(["$set", "$addFields", "$unset", "$project", "$replaceRoot", "$replaceWith"]);

function compilePipeline(update: RawValue, options: UpdateOptions): Update {
  if (options.arrayFilters !== undefined && options.arrayFilters.length > 0) {
    throw new CommandError(ErrorCode.FailedToParse, "Cannot specify arrayFilters and a pipeline update");
  }
  const specs = elements(asDocument(update)).map((stage) => {
    if (stage.type !== BsonType.object) {
      throw new CommandError(
        ErrorCode.TypeMismatch,
        "Each element of the 'pipeline' array must be an object",
      );
    }
    const doc = asDocument(stage);
    const name = firstField(doc)?.[0];
    if (name !== undefined && !UPDATE_STAGES.has(name) && name.startsWith("$")) checkStage(name, doc);
    return doc;
  });
  const clock = { now: 0 };
  const stages = parsePipeline(specs, { now: () => clock.now, let: options.let });
  return {
    kind: "pipeline",
    ...anything,
    apply(doc, context) {
      clock.now = milliseconds(context.now);
      const [result] = runStages(
        stages.map((stage) => stage.create()),
        [doc],
      );
      return replace(doc, result!);
    },
  };
}

/** A stage that exists but has no place in an update is 72, an unknown one 40324. */
function checkStage(name: string, doc: Uint8Array): void {
  parsePipeline([doc]);
  throw new CommandError(ErrorCode.InvalidOptions, `${name} is not allowed to be used within an update`);
}
