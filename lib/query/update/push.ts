/**
 * `$push`: adds to an array; `$each`, `$position`, `$sort` and `$slice` say what, where, and what is kept.
 *
 *     { $push: { scores: { $each: [7, 9], $sort: -1, $slice: 3 } } } on { scores: [8, 5] }  →  { scores: [9, 8, 7] }
 */
import {
  BsonType,
  FieldPath,
  NULL,
  array,
  asDocument,
  asNumber,
  compareValues,
  elements,
  fields,
  isEmptyDocument,
  isNumeric,
  type Collation,
  type RawValue,
} from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import { typeName } from "../values/types.js";
import { identify, type OperatorParser } from "./context.js";
import { integerOrNone } from "./numbers.js";

const CLAUSES = ["$each", "$slice", "$sort", "$position"];

function badValue(message: string): CommandError {
  return new CommandError(ErrorCode.BadValue, message);
}

/** The argument's clauses; undefined for a plain value, which has no `$each`. */
function clausesOf(argument: RawValue): Map<string, RawValue> | undefined {
  if (argument.type !== BsonType.object) return undefined;
  const list = fields(asDocument(argument));
  if (!list.some(([name]) => name === "$each")) return undefined;
  const clauses = new Map<string, RawValue>();
  for (const [name, value] of list) {
    if (!CLAUSES.includes(name)) throw badValue(`Unrecognized clause in $push: ${name}`);
    if (clauses.has(name)) throw badValue(`Only one ${name} is supported.`);
    clauses.set(name, value);
  }
  return clauses;
}

function eachOf(clauses: Map<string, RawValue>): RawValue[] {
  const each = clauses.get("$each")!;
  if (each.type === BsonType.array) return elements(asDocument(each));
  throw badValue(`The argument to $each in $push must be an array but it was of type: ${typeName(each)}`);
}

function clauseNumber(
  clauses: Map<string, RawValue> | undefined,
  clause: "$slice" | "$position",
): number | undefined {
  const v = clauses?.get(clause);
  if (v === undefined) return undefined;
  const n = integerOrNone(v);
  if (n !== undefined) return n;
  const but = clause === "$slice" ? " but was given type: " : ", not of type: ";
  throw badValue(`The value for ${clause} must be an integer value${but}${typeName(v)}`);
}

const DIRECTION = "The $sort element value must be either 1 or -1";

function direction(v: RawValue): 1 | -1 {
  const n = isNumeric(v) ? asNumber(v) : 0;
  if (n !== 1 && n !== -1) throw badValue(DIRECTION);
  return n;
}

/** Orders the array: by the elements themselves, or by fields of those that are objects. */
function comparison(v: RawValue, collation: Collation | undefined): (a: RawValue, b: RawValue) => number {
  if (isNumeric(v)) {
    const sign = direction(v);
    return (a, b) => sign * compareValues(a, b, collation);
  }
  if (v.type !== BsonType.object) {
    throw badValue(
      "The $sort is invalid: use 1/-1 to sort the whole element, or {field:1/-1} to sort embedded fields",
    );
  }
  const pattern = asDocument(v);
  if (isEmptyDocument(pattern))
    throw badValue("The $sort pattern is empty when it should be a set of fields.");
  const keys = fields(pattern).map(([name, value]) => {
    const sign = direction(value);
    if (name === "") throw badValue("The $sort field cannot be empty");
    if (name.split(".").includes(""))
      throw badValue(`The $sort field is a dotted field but has an empty part: ${name}`);
    return { path: new FieldPath(name), sign };
  });
  return (a, b) => {
    for (const { path, sign } of keys) {
      const order = sign * compareValues(keyOf(a, path), keyOf(b, path), collation);
      if (order !== 0) return order;
    }
    return 0;
  };
}

/** A missing field, and any field of an element that is no object, sorts as null. */
function keyOf(element: RawValue, path: FieldPath): RawValue {
  return (element.type === BsonType.object ? path.get(asDocument(element)) : undefined) ?? NULL;
}

/** `added` put into `values` at a position; a negative one counts from the end. */
function insertAt(values: RawValue[], added: readonly RawValue[], position: number | undefined): RawValue[] {
  if (added.length === 0) return values;
  let at = values.length;
  if (position !== undefined && position < values.length)
    at = position >= 0 ? position : Math.max(0, values.length + position);
  return [...values.slice(0, at), ...added, ...values.slice(at)];
}

export const push: OperatorParser = (argument, _, { collation }) => {
  const clauses = clausesOf(argument);
  const added = clauses === undefined ? [argument] : eachOf(clauses);
  const slice = clauseNumber(clauses, "$slice");
  const sortClause = clauses?.get("$sort");
  const compare = sortClause && comparison(sortClause, collation);
  const position = clauseNumber(clauses, "$position");
  return {
    missing: "create",
    update(existing, { path, doc }) {
      if (existing !== undefined && existing.type !== BsonType.array) {
        throw badValue(
          `The field '${path}' must be an array but is of type ${typeName(existing)} in document ${identify(doc)}`,
        );
      }
      const before = existing === undefined ? [] : elements(asDocument(existing));
      let values = insertAt(before, added, position);
      if (compare !== undefined) values.sort(compare);
      if (slice !== undefined && values.length > Math.abs(slice))
        values = slice >= 0 ? values.slice(0, slice) : values.slice(slice);
      const untouched = values === before && compare === undefined;
      return existing !== undefined && untouched ? undefined : array(values);
    },
  };
};
