/**
 * Reads a filter document into a {@link FilterNode}.
 *
 * On the top level a name is a path or one of the logical operators. What
 * stands at a path is a value to be equal to, a regular expression, or an
 * object of operators (operators.ts):
 *
 *     { state: "NY", n: { $gt: 5 }, name: /^A/, $or: [ … ] }
 */
import { BsonType, asDocument, asString, elements, fields, type RawValue } from "../../bson/index.js";
import { CommandError, ErrorCode, notSimulated } from "../../protocol/index.js";
import type { ExpressionOptions } from "../expression/context.js";
import { compileExpression } from "../expression/compile.js";
import { ALWAYS_FALSE, ALWAYS_TRUE, allOf, anyOf, type FilterNode } from "./node.js";
import { isOperatorObject, parseOperators } from "./operators.js";
import { compilePattern, regexParts } from "./regex.js";

const MAX_DEPTH = 100;

/** MongoDB's top-level operators that this engine does not have. */
const NOT_BUILT = new Set([
  "$where",
  "$text",
  "$jsonSchema",
  "$sampleRate",
  "$near",
  "$nearSphere",
  "$geoNear",
  "$atomic",
  "$isolated",
]);

/** What parsing needs to know beside the filter itself. */
export interface ParseContext extends ExpressionOptions {
  readonly depth: number;
}

/** Reads a filter. Throws {@link CommandError}: 2 for a malformed one, 238 for operators that aren't simulated. */
export function parseFilter(filter: Uint8Array, context: ParseContext): FilterNode {
  if (context.depth > MAX_DEPTH) {
    throw new CommandError(ErrorCode.BadValue, `exceeded maximum query tree depth of ${MAX_DEPTH}`);
  }
  const nodes: FilterNode[] = [];
  for (const [name, value] of fields(filter)) {
    nodes.push(name.startsWith("$") ? parseTopLevel(name, value, context) : parsePath(name, value, context));
  }
  return allOf(nodes);
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
      return { op: "expr", source: value, expression: compileExpression(value, context) };
    case "$comment":
      return ALWAYS_TRUE;
    case "$alwaysTrue":
      return ALWAYS_TRUE;
    case "$alwaysFalse":
      return ALWAYS_FALSE;
  }
  if (NOT_BUILT.has(name)) throw notSimulated(name);
  throw new CommandError(
    ErrorCode.BadValue,
    `unknown top level operator: ${name}. If you have a field name that starts with a '$' symbol, ` +
      "consider using $getField or $setField.",
  );
}

function parseBranches(name: string, value: RawValue, context: ParseContext): FilterNode[] {
  if (value.type !== BsonType.array) throw new CommandError(ErrorCode.BadValue, `${name} must be an array`);
  const branches = elements(asDocument(value));
  if (branches.length === 0) throw new CommandError(ErrorCode.BadValue, `${name} must be a nonempty array`);
  return branches.map((branch) => {
    if (branch.type !== BsonType.object) {
      throw new CommandError(ErrorCode.BadValue, `${name} entries must be objects`);
    }
    return parseFilter(asDocument(branch), { ...context, depth: context.depth + 1 });
  });
}

/** The condition `path: value`. */
export function parsePath(path: string, value: RawValue, context: ParseContext): FilterNode {
  if (value.type === BsonType.regex) {
    const { source, flags } = regexParts(value);
    return { op: "regex", path, pattern: compilePattern(source, flags) };
  }
  if (value.type === BsonType.object && isOperatorObject(asDocument(value))) {
    return parseOperators(path, asDocument(value), context);
  }
  if (value.type === BsonType.undefined) {
    throw new CommandError(ErrorCode.BadValue, "cannot compare to undefined");
  }
  return { op: "eq", path, value };
}

/** Text of a `$regex` or `$options` argument. */
export function stringArgument(name: string, value: RawValue): string {
  if (value.type !== BsonType.string)
    throw new CommandError(ErrorCode.BadValue, `${name} has to be a string`);
  return asString(value);
}
