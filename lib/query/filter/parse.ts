/**
 * Reads a filter document into a {@link FilterNode}.
 *
 * On the top level a name is a path or one of the logical operators. What
 * stands at a path is a value to be equal to, a regular expression, or an
 * object of operators (operators.ts):
 *
 *     { state: "NY", n: { $gt: 5 }, name: /^A/, $or: [ … ] }
 */
import {
  BsonType,
  asDocument,
  asNumber,
  asString,
  elements,
  fields,
  isNumeric,
  type RawValue,
} from "../../bson/index.js";
import { CommandError, ErrorCode, notSimulated } from "../../protocol/index.js";
import type { ExpressionOptions } from "../expression/context.js";
import { compileExpression } from "../expression/compile.js";
import { exactInt64 } from "./integers.js";
import { parseSchema } from "./jsonSchema.js";
import { ALWAYS_FALSE, ALWAYS_TRUE, allOf, anyOf, type FilterNode } from "./node.js";
import { equality, isOperatorObject, parseOperators } from "./operators.js";
import { compilePattern, regexParts } from "./regex.js";

const MAX_DEPTH = 100;

/** Components that a path may have. */
const MAX_PATH_LENGTH = 200;

/** Operators that stand in place of a path; the last five are refused or belong to references. */
export const TOP_LEVEL_OPERATORS: ReadonlySet<string> = new Set([
  "$and",
  "$or",
  "$nor",
  "$expr",
  "$jsonSchema",
  "$sampleRate",
  "$comment",
  "$alwaysTrue",
  "$alwaysFalse",
  "$where",
  "$text",
  "$ref",
  "$id",
  "$db",
]);

/** True for an operator that stands in place of a path, not at one. */
export function isTopLevelOperator(name: string): boolean {
  return TOP_LEVEL_OPERATORS.has(name);
}

/** What parsing needs to know beside the filter itself. */
export interface ParseContext extends ExpressionOptions {
  /** Levels around it; 0 when absent. */
  readonly depth?: number;
  /** Within `$elemMatch`: the filter is about an element, not about the document. */
  readonly inElement?: boolean;
}

/** Reads a filter. Throws {@link CommandError}: 2 for a malformed one, 238 for operators that aren't simulated. */
export function parseFilter(filter: Uint8Array, context: ParseContext): FilterNode {
  checkDepth(context);
  const nodes: FilterNode[] = [];
  for (const [name, value] of fields(filter)) {
    nodes.push(name.startsWith("$") ? parseTopLevel(name, value, context) : parsePath(name, value, context));
  }
  return allOf(nodes);
}

/** Every filter and every object of operators is a level: `{a: {$not: {$gt: 1}}}` has three. */
export function checkDepth({ depth = 0 }: ParseContext): void {
  if (depth > MAX_DEPTH) {
    throw new CommandError(ErrorCode.BadValue, `exceeded maximum query tree depth of ${MAX_DEPTH}`);
  }
}

function parseTopLevel(name: string, value: RawValue, context: ParseContext): FilterNode {
  switch (name) {
    case "$and":
      return allOf(parseBranches(name, value, context));
    case "$or":
      return anyOf(parseBranches(name, value, context));
    case "$nor":
      return { op: "nor", children: parseBranches(name, value, context) };
    case "$expr":
      checkTopLevel(name, context);
      return {
        op: "expr",
        source: value,
        expression: compileExpression(value, context),
        options: context,
        ...(context.collation && { collation: context.collation }),
      };
    case "$jsonSchema":
      if (value.type !== BsonType.object) {
        throw new CommandError(ErrorCode.TypeMismatch, "$jsonSchema must be an object");
      }
      return { op: "jsonSchema", source: value, schema: parseSchema(asDocument(value), true) };
    case "$sampleRate":
      checkTopLevel(name, context);
      return parseSampleRate(value, context);
    case "$comment":
      return ALWAYS_TRUE;
    case "$alwaysTrue":
    case "$alwaysFalse":
      if (exactInt64(value) !== 1n) {
        throw new CommandError(ErrorCode.FailedToParse, `${name} must be an integer value of 1`);
      }
      return name === "$alwaysTrue" ? ALWAYS_TRUE : ALWAYS_FALSE;
    case "$where":
    case "$text":
      checkTopLevel(name, context);
      throw notSimulated(name);
    case "$ref":
    case "$id":
    case "$db": // a reference to a document, within $elemMatch
      return equality(name, value, name === "$id" ? context.collation : undefined);
  }
  const hint =
    name === "$not"
      ? "If you are trying to negate an entire expression, use $nor."
      : "If you have a field name that starts with a '$' symbol, consider using $getField or $setField.";
  throw new CommandError(ErrorCode.BadValue, `unknown top level operator: ${name}. ${hint}`);
}

/** Some operators are about the document as a whole. */
function checkTopLevel(name: string, context: ParseContext): void {
  if (context.inElement === true) {
    throw new CommandError(ErrorCode.BadValue, `${name} can only be applied to the top-level document`);
  }
}

/** `$sampleRate`: each document by chance. Drawn anew for every document that the filter looks at. */
function parseSampleRate(value: RawValue, { random = Math.random }: ParseContext): FilterNode {
  if (!isNumeric(value)) {
    throw new CommandError(ErrorCode.BadValue, "argument to $sampleRate must be a numeric type");
  }
  const rate = asNumber(value);
  if (!(rate >= 0 && rate <= 1)) {
    throw new CommandError(ErrorCode.BadValue, "numeric argument to $sampleRate must be in [0, 1]");
  }
  return { op: "sampleRate", rate, random };
}

function parseBranches(name: string, value: RawValue, context: ParseContext): FilterNode[] {
  if (value.type !== BsonType.array) throw new CommandError(ErrorCode.BadValue, `${name} must be an array`);
  const branches = elements(asDocument(value));
  if (branches.length === 0)
    throw new CommandError(ErrorCode.BadValue, "$and/$or/$nor must be a nonempty array");
  return branches.map((branch) => {
    if (branch.type !== BsonType.object) {
      throw new CommandError(ErrorCode.BadValue, "$or/$and/$nor entries need to be full objects");
    }
    return parseFilter(asDocument(branch), { ...context, depth: (context.depth ?? 0) + 1 });
  });
}

/** The condition `path: value`. */
export function parsePath(path: string, value: RawValue, context: ParseContext): FilterNode {
  if (path.length > MAX_PATH_LENGTH && path.split(".", MAX_PATH_LENGTH + 1).length > MAX_PATH_LENGTH) {
    throw new CommandError(5729100, "FieldPath is too long");
  }
  if (value.type === BsonType.regex) {
    const { source, flags } = regexParts(value);
    return { op: "regex", path, pattern: compilePattern(source, flags) };
  }
  if (value.type === BsonType.object && isOperatorObject(asDocument(value))) {
    return parseOperators(path, asDocument(value), context);
  }
  return equality(path, value, context.collation);
}

/** Text of a `$regex` or `$options` argument. */
export function stringArgument(name: string, value: RawValue): string {
  if (value.type !== BsonType.string)
    throw new CommandError(ErrorCode.BadValue, `${name} has to be a string`);
  return asString(value);
}
