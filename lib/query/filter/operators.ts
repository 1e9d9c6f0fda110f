/** The operators at a path, `{ path: { $gt: 5, $in: […] } }`, read into nodes. */
import {
  BsonType,
  asBigInt,
  asDocument,
  asNumber,
  asString,
  compareValues,
  describeValue,
  elements,
  fields,
  firstField,
  getField,
  isNumeric,
  isTruthy,
  type Collation,
  type RawValue,
} from "../../bson/index.js";
import { CommandError, ErrorCode, notSimulated } from "../../protocol/index.js";
import { NUMBER_TYPES, typeOfAlias, typeOfNumber } from "../values/types.js";
import { bitPositions, isBitsOp } from "./bits.js";
import { readNonNegative } from "./integers.js";
import { ALWAYS_FALSE, allOf, type FilterNode } from "./node.js";
import {
  checkDepth,
  isTopLevelOperator,
  parseFilter,
  parsePath,
  stringArgument,
  type ParseContext,
} from "./parse.js";
import { compilePattern, regexParts } from "./regex.js";

/** MongoDB's operators that this engine does not have. */
const NOT_BUILT = new Set([
  "$geoWithin",
  "$geoIntersects",
  "$near",
  "$nearSphere",
  "$geoNear",
  "$within",
  "$maxDistance",
  "$minDistance",
  "$encStringStartsWith",
  "$encStringEndsWith",
  "$encStringContains",
  "$encStringNormalizedEq",
]);

/** Operators that stand at a path, `$not` aside. */
export const PATH_OPERATORS: ReadonlySet<string> = new Set([
  "$eq",
  "$ne",
  "$gt",
  "$gte",
  "$lt",
  "$lte",
  "$in",
  "$nin",
  "$exists",
  "$type",
  "$elemMatch",
  "$size",
  "$all",
  "$mod",
  "$regex",
  "$options",
  "$bitsAllSet",
  "$bitsAllClear",
  "$bitsAnySet",
  "$bitsAnyClear",
]);

function badValue(message: string): CommandError {
  return new CommandError(ErrorCode.BadValue, message);
}

/** True where an object at a path means operators: its first name starts with `$`, and it is no reference (`$ref`, `$id`). */
export function isOperatorObject(doc: Uint8Array): boolean {
  const first = firstField(doc);
  if (first === undefined || !first[0].startsWith("$")) return false;
  return getField(doc, "$ref") === undefined || getField(doc, "$id") === undefined;
}

/** Reads all operators at one path; they hold together. */
export function parseOperators(path: string, doc: Uint8Array, outer: ParseContext): FilterNode {
  const context = { ...outer, depth: (outer.depth ?? 0) + 1 };
  checkDepth(context);
  const list = fields(doc);
  const nodes: FilterNode[] = [];
  for (const [name, value] of list) {
    if (name === "$regex") {
      nodes.push(parseRegex(path, list));
    } else if (name === "$options") {
      if (!list.some(([other]) => other === "$regex")) throw badValue("$options needs a $regex");
    } else {
      nodes.push(parseOperator(path, name, value, context));
    }
  }
  return allOf(nodes);
}

function parseOperator(path: string, name: string, value: RawValue, context: ParseContext): FilterNode {
  switch (name) {
    case "$eq":
      return equality(path, value, context.collation);
    case "$ne":
      if (value.type === BsonType.regex) throw badValue("Can't have regex as arg to $ne.");
      return { op: "not", child: equality(path, value, context.collation) };
    case "$gt":
    case "$gte":
    case "$lt":
    case "$lte":
      if (value.type === BsonType.regex) {
        throw badValue(`Can't have RegEx as arg to predicate over field '${path}'.`);
      }
      checkDefined(value);
      return {
        op: name.slice(1) as "gt" | "gte" | "lt" | "lte",
        path,
        value,
        ...collated(context.collation, [value]),
      };
    case "$in":
      return membership(path, name, value, context.collation);
    case "$nin":
      return { op: "not", child: membership(path, name, value, context.collation) };
    case "$not":
      return { op: "not", child: parseNot(path, value, context) };
    case "$exists":
      return isTruthy(value) ? { op: "exists", path } : { op: "not", child: { op: "exists", path } };
    case "$type":
      return { op: "type", path, types: parseTypes(path, value) };
    case "$elemMatch":
      return parseElemMatch(path, value, context);
    case "$size":
      return parseSize(path, value);
    case "$all":
      return parseAll(path, value, context);
    case "$mod":
      return parseMod(path, value);
    case "$where":
      throw badValue("$where cannot be applied to a field");
  }
  const kind = name.slice(1);
  if (isBitsOp(kind)) return { op: "bits", path, kind, source: value, positions: bitPositions(path, value) };
  if (NOT_BUILT.has(name)) throw notSimulated(name);
  throw badValue(`unknown operator: ${name}`);
}

function checkDefined(value: RawValue): void {
  if (value.type === BsonType.undefined) throw badValue("cannot compare to undefined");
}

/** `path: value`, and a value that may hold strings compares them by the query's collation. */
export function equality(path: string, value: RawValue, collation: Collation | undefined): FilterNode {
  checkDefined(value);
  return { op: "eq", path, value, ...collated(collation, [value]) };
}

/** The collation, where one of the values is or may hold a string. */
function collated(
  collation: Collation | undefined,
  values: readonly RawValue[],
): { collation: Collation } | undefined {
  return collation !== undefined && values.some(mayHoldString) ? { collation } : undefined;
}

/** True for values whose order and equality a collation can change. */
export function mayHoldString({ type }: RawValue): boolean {
  return (
    type === BsonType.string ||
    type === BsonType.symbol ||
    type === BsonType.object ||
    type === BsonType.array
  );
}

/** `$regex` and `$options`, in any order; the options stand in one of them. */
function parseRegex(path: string, list: ReadonlyArray<[string, RawValue]>): FilterNode {
  let source = "";
  let flags = "";
  for (const [name, value] of list) {
    if (name === "$regex") {
      if (value.type !== BsonType.regex) {
        source = stringArgument(name, value);
        continue;
      }
      const parts = regexParts(value);
      source = parts.source;
      if (parts.flags === "") continue;
      if (flags !== "") throw new CommandError(51074, "options set in both $regex and $options");
      flags = parts.flags;
    } else if (name === "$options") {
      const given = stringArgument(name, value);
      if (flags !== "") throw new CommandError(51075, "options set in both $regex and $options");
      flags = given;
    }
  }
  return { op: "regex", path, pattern: compilePattern(source, flags) };
}

function membership(
  path: string,
  name: string,
  value: RawValue,
  collation: Collation | undefined,
): FilterNode {
  if (value.type !== BsonType.array) throw badValue(`${name} needs an array`);
  const values: RawValue[] = [];
  const regexes = [];
  for (const element of elements(asDocument(value))) {
    if (element.type === BsonType.object && isOperatorObject(asDocument(element))) {
      throw badValue("cannot nest $ under $in");
    }
    if (element.type === BsonType.undefined) {
      throw badValue("InMatchExpression equality cannot be undefined");
    }
    if (element.type === BsonType.regex) {
      const { source, flags } = regexParts(element);
      regexes.push(compilePattern(source, flags));
    } else {
      values.push(element);
    }
  }
  const compare = (a: RawValue, b: RawValue) => compareValues(a, b, collation);
  values.sort(compare);
  const distinct = values.filter((v, i) => i === 0 || compare(values[i - 1]!, v) !== 0);
  if (regexes.length === 0) {
    if (distinct.length === 0) return ALWAYS_FALSE;
    if (distinct.length === 1) return equality(path, distinct[0]!, collation);
  }
  return { op: "in", path, values: distinct, regexes, ...collated(collation, distinct) };
}

function parseNot(path: string, value: RawValue, context: ParseContext): FilterNode {
  if (value.type === BsonType.regex) return parsePath(path, value, context);
  if (value.type !== BsonType.object) throw badValue("$not needs a regex or a document");
  const doc = asDocument(value);
  const first = firstField(doc);
  if (first === undefined) throw badValue("$not cannot be empty");
  if (!first[0].startsWith("$")) throw badValue(`unknown operator: ${first[0]}`);
  return parseOperators(path, doc, context);
}

function parseTypes(path: string, value: RawValue): BsonType[] {
  const list = value.type === BsonType.array ? elements(asDocument(value)) : [value];
  if (list.length === 0) {
    throw new CommandError(ErrorCode.FailedToParse, `${path} must match at least one type`);
  }
  return [...new Set(list.flatMap(parseType))];
}

function parseType(v: RawValue): readonly BsonType[] {
  if (v.type === BsonType.string) {
    const alias = asString(v);
    if (alias === "number") return NUMBER_TYPES;
    const type = typeOfAlias(alias);
    if (type === undefined) throw badValue(`Unknown type name alias: ${alias}`);
    return [type];
  }
  if (!isNumeric(v))
    throw new CommandError(ErrorCode.TypeMismatch, "type must be represented as a number or a string");
  const type = typeOfNumber(asNumber(v));
  if (type === undefined) throw badValue(`Invalid numerical type code: ${describeValue(v)}`);
  return [type];
}

function parseElemMatch(path: string, value: RawValue, context: ParseContext): FilterNode {
  if (value.type !== BsonType.object) throw badValue("$elemMatch needs an Object");
  const doc = asDocument(value);
  const name = firstField(doc)?.[0];
  const inside: ParseContext = { ...context, inElement: true };
  // Operators about the element itself; `$and`, `$expr` and the like are about an element's fields.
  if (name !== undefined && name.startsWith("$") && !isTopLevelOperator(name)) {
    return { op: "elemMatch", path, of: "value", child: parseOperators("", doc, inside) };
  }
  return {
    op: "elemMatch",
    path,
    of: "object",
    child: parseFilter(doc, { ...inside, depth: (inside.depth ?? 0) + 1 }),
  };
}

function parseSize(path: string, value: RawValue): FilterNode {
  const size = readNonNegative("$size", value, 32);
  if (typeof size === "string") throw badValue(`Failed to parse $size. ${size}`);
  return { op: "size", path, size };
}

/** `$all` holds where each of its members does on its own. */
function parseAll(path: string, value: RawValue, context: ParseContext): FilterNode {
  if (value.type !== BsonType.array) throw badValue("$all needs an array");
  const list = elements(asDocument(value));
  if (list.length === 0) return ALWAYS_FALSE;
  const isElemMatch = (v: RawValue) =>
    v.type === BsonType.object && firstField(asDocument(v))?.[0] === "$elemMatch";
  const elemMatches = list.filter(isElemMatch).length;
  if (elemMatches > 0 && elemMatches < list.length) throw badValue("$all/$elemMatch has to be consistent");
  return allOf(
    list.map((v) => {
      if (elemMatches > 0 || v.type === BsonType.regex) return parsePath(path, v, context);
      const name = v.type === BsonType.object ? firstField(asDocument(v))?.[0] : undefined;
      if (name !== undefined && (PATH_OPERATORS.has(name) || NOT_BUILT.has(name))) {
        throw badValue("no $ expressions in $all");
      }
      return equality(path, v, context.collation);
    }),
  );
}

function parseMod(path: string, value: RawValue): FilterNode {
  if (value.type !== BsonType.array) throw badValue("malformed mod, needs to be an array");
  const list = elements(asDocument(value));
  if (list.length < 2) throw badValue("malformed mod, not enough elements");
  if (list.length > 2) throw badValue("malformed mod, too many elements");
  const [divisor, remainder] = list.map((v, i) => {
    const which = i === 0 ? "divisor" : "remainder";
    if (!isNumeric(v)) throw badValue(`malformed mod, ${which} not a number`);
    const n = asNumber(v);
    const problem = !Number.isFinite(n)
      ? "Unable to coerce NaN/Inf to integral type"
      : n >= 2 ** 63 || n < -(2 ** 63)
        ? "Out of bounds coercing to integral value"
        : undefined;
    // An int64 near the limit is 2^63 as a double, and fits.
    if (problem !== undefined && v.type !== BsonType.int64) {
      throw badValue(`malformed mod, ${which} value is invalid :: caused by :: ${problem}`);
    }
    return asBigInt(v);
  });
  if (divisor === 0n) throw badValue("divisor cannot be 0");
  return { op: "mod", path, divisor: divisor!, remainder: remainder! };
}
