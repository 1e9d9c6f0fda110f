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
  isNumeric,
  isTruthy,
  type RawValue,
} from "../../bson/index.js";
import { CommandError, ErrorCode, notSimulated } from "../../protocol/index.js";
import { NUMBER_TYPES, typeOfAlias, typeOfNumber } from "../values/types.js";
import { wholeNumber } from "../values/numeric.js";
import { ALWAYS_FALSE, ALWAYS_TRUE, allOf, type FilterNode } from "./node.js";
import { parseFilter, parsePath, stringArgument, type ParseContext } from "./parse.js";
import { compilePattern, regexParts } from "./regex.js";

/** MongoDB's operators that this engine does not have. */
const NOT_BUILT = new Set([
  "$bitsAllSet",
  "$bitsAllClear",
  "$bitsAnySet",
  "$bitsAnyClear",
  "$geoWithin",
  "$geoIntersects",
  "$near",
  "$nearSphere",
  "$within",
  "$maxDistance",
  "$minDistance",
  "$encStringStartsWith",
]);

const DBREF_FIELDS = new Set(["$ref", "$id", "$db"]);

function badValue(message: string): CommandError {
  return new CommandError(ErrorCode.BadValue, message);
}

/** True where an object at a path means operators: its first name starts with `$` (and it isn't a DBRef). */
export function isOperatorObject(doc: Uint8Array): boolean {
  const first = firstField(doc);
  return first !== undefined && first[0].startsWith("$") && !DBREF_FIELDS.has(first[0]);
}

/** Reads all operators at one path; they hold together. */
export function parseOperators(path: string, doc: Uint8Array, context: ParseContext): FilterNode {
  const list = fields(doc);
  const nodes: FilterNode[] = [];
  for (const [name, value] of list) {
    if (name === "$regex" || name === "$options") {
      if (name === "$options" && list.some(([other]) => other === "$regex")) continue;
      nodes.push(parseRegex(path, list));
    } else {
      nodes.push(parseOperator(path, name, value, context));
    }
  }
  return allOf(nodes);
}

function parseOperator(path: string, name: string, value: RawValue, context: ParseContext): FilterNode {
  switch (name) {
    case "$eq":
      return equality(path, value);
    case "$ne":
      if (value.type === BsonType.regex) throw badValue("Can't have regex as arg to $ne.");
      return { op: "not", child: equality(path, value) };
    case "$gt":
    case "$gte":
    case "$lt":
    case "$lte":
      if (value.type === BsonType.regex) {
        throw badValue(`Can't have RegEx as arg to predicate over field '${path}'.`);
      }
      checkDefined(value);
      return { op: name.slice(1) as "gt" | "gte" | "lt" | "lte", path, value };
    case "$in":
      return membership(path, name, value);
    case "$nin":
      return { op: "not", child: membership(path, name, value) };
    case "$not":
      return { op: "not", child: parseNot(path, value, context) };
    case "$exists":
      return isTruthy(value) ? { op: "exists", path } : { op: "not", child: { op: "exists", path } };
    case "$type":
      return { op: "type", path, types: parseTypes(value) };
    case "$elemMatch":
      return parseElemMatch(path, value, context);
    case "$size":
      return parseSize(path, value);
    case "$all":
      return parseAll(path, value, context);
    case "$mod":
      return parseMod(path, value);
    case "$comment":
      return ALWAYS_TRUE;
  }
  if (NOT_BUILT.has(name)) throw notSimulated(name);
  throw badValue(`unknown operator: ${name}`);
}

function checkDefined(value: RawValue): void {
  if (value.type === BsonType.undefined) throw badValue("cannot compare to undefined");
}

function equality(path: string, value: RawValue): FilterNode {
  checkDefined(value);
  return { op: "eq", path, value };
}

function parseRegex(path: string, list: ReadonlyArray<[string, RawValue]>): FilterNode {
  const operand = list.find(([name]) => name === "$regex")?.[1];
  if (operand === undefined) throw badValue("$options needs a $regex");
  const options = list.find(([name]) => name === "$options")?.[1];
  let flags = options === undefined ? "" : stringArgument("$options", options);
  let source: string;
  if (operand.type === BsonType.regex) {
    const parts = regexParts(operand);
    if (parts.flags !== "" && options !== undefined)
      throw badValue("options set in both $regex and $options");
    source = parts.source;
    flags ||= parts.flags;
  } else {
    source = stringArgument("$regex", operand);
  }
  return { op: "regex", path, pattern: compilePattern(source, flags) };
}

function membership(path: string, name: string, value: RawValue): FilterNode {
  if (value.type !== BsonType.array) throw badValue(`${name} needs an array`);
  const values: RawValue[] = [];
  const regexes = [];
  for (const element of elements(asDocument(value))) {
    if (element.type === BsonType.object && isOperatorObject(asDocument(element))) {
      throw badValue("cannot nest $ under $in");
    }
    checkDefined(element);
    if (element.type === BsonType.regex) {
      const { source, flags } = regexParts(element);
      regexes.push(compilePattern(source, flags));
    } else {
      values.push(element);
    }
  }
  values.sort(compareValues);
  const distinct = values.filter((v, i) => i === 0 || compareValues(values[i - 1]!, v) !== 0);
  if (regexes.length === 0) {
    if (distinct.length === 0) return ALWAYS_FALSE;
    if (distinct.length === 1) return { op: "eq", path, value: distinct[0]! };
  }
  return { op: "in", path, values: distinct, regexes };
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

function parseTypes(value: RawValue): BsonType[] {
  const list = value.type === BsonType.array ? elements(asDocument(value)) : [value];
  if (list.length === 0)
    throw new CommandError(ErrorCode.FailedToParse, "$type must match at least one type");
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
  const logical =
    name === "$and" || name === "$or" || name === "$nor" || name === "$where" || name === "$expr";
  const deeper = { ...context, depth: context.depth + 1 };
  if (name !== undefined && isOperatorObject(doc) && !logical) {
    return { op: "elemMatch", path, of: "value", child: parseOperators("", doc, deeper) };
  }
  if (fields(doc).some(([field]) => field === "$expr")) {
    throw badValue("$expr can only be applied to the top-level document");
  }
  return { op: "elemMatch", path, of: "object", child: parseFilter(doc, deeper) };
}

function parseSize(path: string, value: RawValue): FilterNode {
  const size = wholeNumber(value);
  if (size === undefined) {
    throw new CommandError(
      ErrorCode.BadValue,
      `Failed to parse $size. Expected an integer: ${describeArgument("$size", value)}`,
    );
  }
  if (size < 0) {
    throw badValue(
      `Failed to parse $size. Expected a non-negative number in: ${describeArgument("$size", value)}`,
    );
  }
  return { op: "size", path, size };
}

function describeArgument(name: string, value: RawValue): string {
  return `${name}: ${describeValue(value)}`;
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
      if (elemMatches === 0 && v.type === BsonType.object && isOperatorObject(asDocument(v))) {
        throw badValue("no $ expressions in $all");
      }
      return parsePath(path, v, context);
    }),
  );
}

function parseMod(path: string, value: RawValue): FilterNode {
  if (value.type !== BsonType.array) throw badValue("malformed mod, needs to be an array");
  const list = elements(asDocument(value));
  if (list.length < 2) throw badValue("malformed mod, not enough elements");
  if (list.length > 2) throw badValue("malformed mod, too many elements");
  const [divisor, remainder] = list.map((v, i) => {
    if (!isNumeric(v)) throw badValue(`malformed mod, ${i === 0 ? "divisor" : "remainder"} not a number`);
    if (!Number.isFinite(asNumber(v))) {
      throw badValue(`malformed mod, ${i === 0 ? "divisor" : "remainder"} value is invalid`);
    }
    return asBigInt(v);
  });
  if (divisor === 0n) throw badValue("divisor cannot be 0");
  return { op: "mod", path, divisor: divisor!, remainder: remainder! };
}
