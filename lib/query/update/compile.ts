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
  asDocument,
  describeDocument,
  describeValue,
  fields,
  firstField,
  type RawValue,
} from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { ExpressionOptions } from "../expression/context.js";
import { matchedPosition } from "../filter/position.js";
import { typeName } from "../values/types.js";
import { ARRAY_OPERATORS } from "./arrayOperators.js";
import { ArrayFilters } from "./arrayFilters.js";
import type { OperatorParser, UpdateContext } from "./context.js";
import { FIELD_OPERATORS } from "./fieldOperators.js";
import { modify } from "./modify.js";
import { isDynamic, isPositional, PathConflicts, updatePathParts } from "./paths.js";
import { compilePipeline } from "./pipeline.js";
import { push } from "./push.js";
import { checkRename, renameTarget } from "./rename.js";
import {
  checkReplacement,
  fillTimestamps,
  hasEmptyTimestamp,
  nextTimestamp,
  replace,
} from "./replacement.js";
import { UpdateTree } from "./updateTree.js";

/** A compiled update. */
export interface Update {
  readonly kind: "operators" | "replacement" | "pipeline";
  /** Paths that operators may modify; empty for the other kinds, which may change anything. */
  readonly paths: readonly string[];
  /** True where the update may change the value at `path`, at a path above or below it. */
  touches(path: string): boolean;
  /**
   * The changed document; the very same array where nothing changes. A new array with the same bytes counts as a
   * modification all the same: MongoDB reports `nModified: 1` for some of those.
   * @throws CommandError 66 for a changed `_id`, 14 and 2 for values that an operator cannot work on, 28 for a path
   *   through a scalar, 2 for a positional `$` whose filter matched no element
   */
  apply(doc: Uint8Array, context: UpdateContext): Uint8Array;
}

export interface UpdateOptions extends ExpressionOptions {
  readonly arrayFilters?: readonly Uint8Array[] | undefined;
  /** Values that a pipeline sees as `$$name` (`c` of a statement, `constants` of bulkWrite); taken as they are. */
  readonly constants?: Uint8Array | undefined;
  /** Empty timestamps of a replacement stay as they are. */
  readonly bypassEmptyTsReplacement?: boolean;
}

/** All operators by name, but `$rename`, which has two paths. */
const OPERATORS: ReadonlyMap<string, OperatorParser> = new Map([
  ...Object.entries(FIELD_OPERATORS),
  ...Object.entries(ARRAY_OPERATORS),
  ["$push", push],
]);

/** Names of the update operators. */
export const UPDATE_OPERATORS: readonly string[] = [...OPERATORS.keys(), "$rename"];

/**
 * Compiles an update.
 * @param update an object (operators or replacement) or an array (pipeline)
 * @throws CommandError 9 for an unknown operator or form, 40 for paths that conflict, 51198 for constants without a
 *   pipeline, and MongoDB's codes for wrong arguments of operators
 */
export function compileUpdate(update: RawValue, options: UpdateOptions = {}): Update {
  if (update.type === BsonType.array) return compilePipeline(update, options);
  if (update.type !== BsonType.object) {
    throw new CommandError(ErrorCode.FailedToParse, "Update argument must be either an object or an array");
  }
  if (options.constants !== undefined)
    throw new CommandError(51198, "Constant values may only be specified for pipeline updates");
  const doc = asDocument(update);
  // MongoDB reads array filters before it looks at the update.
  const filters = new ArrayFilters(options.arrayFilters ?? [], options);
  if (firstField(doc)?.[0].startsWith("$")) return compileOperators(doc, filters, options);
  return compileReplacement(doc, options);
}

function compileOperators(doc: Uint8Array, filters: ArrayFilters, options: UpdateOptions): Update {
  const tree = new UpdateTree();
  const paths: string[] = [];
  const conflicts = new PathConflicts();
  let positional = false;
  const register = (path: string, parts: readonly string[]): void => {
    filters.use(path, parts);
    conflicts.add(path);
    paths.push(path);
    positional ||= parts.some(isPositional);
  };
  for (const [name, argument] of fields(doc)) {
    const parser = OPERATORS.get(name);
    checkModifier(name, argument, parser !== undefined || name === "$rename");
    for (const [path, value] of fields(asDocument(argument))) {
      if (parser === undefined) {
        const to = renameTarget(path, value);
        const from = updatePathParts(path);
        register(path, from);
        const parts = updatePathParts(to);
        filters.use(to, parts);
        checkRename(from, parts, `${path}: ${describeValue(value)}`);
        register(to, parts);
        tree.add(parts, { kind: "rename", from });
      } else {
        const parts = updatePathParts(path);
        const operator = parser(value, path, options);
        register(path, parts);
        tree.add(parts, { kind: "operator", operator });
      }
    }
  }
  filters.checkAllUsed(() => describeDocument(doc));
  tree.sort();
  return {
    kind: "operators",
    paths,
    touches: (path) => paths.some((own) => overlaps(own, path)),
    apply(before, context) {
      const position =
        positional && context.filter ? matchedPosition(context.filter, before, options) : undefined;
      return modify(before, tree, filters, position, context);
    },
  };
}

function checkModifier(name: string, argument: RawValue, known: boolean): void {
  if (!known) {
    throw new CommandError(
      ErrorCode.FailedToParse,
      `Unknown modifier: ${name}. Expected a valid update modifier or pipeline-style update specified as an array`,
    );
  }
  if (argument.type === BsonType.object) return;
  throw new CommandError(
    ErrorCode.FailedToParse,
    `Modifiers operate on fields but we found type ${typeName(argument)} instead. For example: ` +
      `{$mod: {<field>: ...}} not {${name}: ${describeValue(argument)}}`,
  );
}

/** One path is the other, or lies in it; placeholders stand for any component. */
function overlaps(a: string, b: string): boolean {
  const left = a.split(".");
  const right = b.split(".");
  const length = Math.min(left.length, right.length);
  for (let i = 0; i < length; i++) {
    if (left[i] !== right[i] && !isDynamic(left[i]!) && !isDynamic(right[i]!)) return false;
  }
  return true;
}

function compileReplacement(replacement: Uint8Array, options: UpdateOptions): Update {
  const fills = !options.bypassEmptyTsReplacement && hasEmptyTimestamp(replacement);
  return {
    kind: "replacement",
    paths: [],
    touches: () => true,
    apply(doc, context) {
      const filled = fills ? fillTimestamps(replacement, () => nextTimestamp(context)) : replacement;
      const after = replace(doc, filled);
      if (after !== doc && !context.isInsert) checkReplacement(filled);
      return after;
    },
  };
}
