/** Operators on arrays: `$push $addToSet $pop $pull $pullAll`. */
import {
  BsonType,
  array,
  asDocument,
  compareValues,
  documentLength,
  elements,
  fields,
  firstField,
  isNumeric,
  sortableValue,
  type RawValue,
} from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import { documentTest, singleValueTest } from "../filter/match.js";
import { isOperatorObject } from "../filter/operators.js";
import { parseFilter, parsePath } from "../filter/parse.js";
import { compileSort } from "../sort/index.js";
import { wholeNumber } from "../values/numeric.js";
import { typeName } from "../values/types.js";
import { identify, type OperatorParser, type Site } from "./context.js";

function badValue(message: string): CommandError {
  return new CommandError(ErrorCode.BadValue, message);
}

/** The operator's argument with modifiers, `{ $each: […], … }`; undefined for a plain value. */
function modifiers(argument: RawValue): Map<string, RawValue> | undefined {
  if (argument.type !== BsonType.object) return undefined;
  const map = new Map(fields(asDocument(argument)));
  return map.has("$each") ? map : undefined;
}

function eachValues(operator: string, each: RawValue): RawValue[] {
  if (each.type !== BsonType.array) {
    throw badValue(
      `The argument to $each in ${operator} must be an array but it was of type: ${typeName(each)}`,
    );
  }
  return elements(asDocument(each));
}

/** Orders `$push`'s array: by the elements themselves, or by fields of object elements. */
function sorter(v: RawValue): (values: RawValue[]) => RawValue[] {
  if (isNumeric(v)) {
    const direction = wholeNumber(v);
    if (direction !== 1 && direction !== -1) throw badValue("The $sort element value must be either 1 or -1");
    return (values) => values.sort((a, b) => direction * compareValues(a, b));
  }
  if (v.type !== BsonType.object || documentLength(asDocument(v)) === 5) {
    throw badValue(
      "The $sort is invalid: use 1/-1 to sort the whole element, or {field:1/-1} to sort embedded fields",
    );
  }
  const sort = compileSort(asDocument(v));
  // An element that is no object has none of the fields.
  const key = (value: RawValue) =>
    sort.key(value.type === BsonType.object ? asDocument(value) : Uint8Array.of(5, 0, 0, 0, 0));
  return (values) =>
    values
      .map((value) => ({ value, at: key(value) }))
      .sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
      .map(({ value }) => value);
}

function clauseNumber(clause: string, v: RawValue | undefined): number | undefined {
  if (v === undefined) return undefined;
  const n = wholeNumber(v);
  if (n === undefined) {
    throw badValue(`The value for ${clause} must be an integer value but was given type: ${typeName(v)}`);
  }
  return n;
}

const push: OperatorParser = (argument) => {
  const clauses = modifiers(argument);
  const added = clauses === undefined ? [argument] : eachValues("$push", clauses.get("$each")!);
  for (const name of clauses?.keys() ?? []) {
    if (!["$each", "$slice", "$sort", "$position"].includes(name)) {
      throw badValue(`Unrecognized clause in $push: ${name}`);
    }
  }
  const slice = clauseNumber("$slice", clauses?.get("$slice"));
  const position = clauseNumber("$position", clauses?.get("$position"));
  const sortClause = clauses?.get("$sort");
  const sort = sortClause === undefined ? undefined : sorter(sortClause);
  return {
    creates: true,
    update(existing, { path, doc }) {
      if (existing !== undefined && existing.type !== BsonType.array) {
        throw badValue(
          `The field '${path}' must be an array but is of type ${typeName(existing)} in document ${identify(doc)}`,
        );
      }
      let values = existing === undefined ? [] : elements(asDocument(existing));
      if (existing !== undefined && added.length === 0 && slice === undefined && sort === undefined)
        return undefined;
      const at = position === undefined || position > values.length ? values.length : position;
      values.splice(at < 0 ? Math.max(0, values.length + at) : at, 0, ...added);
      if (sort !== undefined) values = sort(values);
      if (slice !== undefined) values = slice >= 0 ? values.slice(0, slice) : values.slice(slice);
      return array(values);
    },
  };
};

const addToSet: OperatorParser = (argument) => {
  const clauses = modifiers(argument);
  const added = clauses === undefined ? [argument] : eachValues("$addToSet", clauses.get("$each")!);
  for (const name of clauses?.keys() ?? []) {
    if (name !== "$each") throw badValue(`Found unexpected fields after $each in $addToSet: ${name}`);
  }
  return {
    creates: true,
    update(existing, { path }) {
      if (existing !== undefined && existing.type !== BsonType.array) {
        throw badValue(
          `Cannot apply $addToSet to non-array field. Field named '${path}' has non-array type ${typeName(existing)}`,
        );
      }
      const values = existing === undefined ? [] : elements(asDocument(existing));
      const present = new Set(values.map(sortableValue));
      const before = values.length;
      for (const value of added) {
        const key = sortableValue(value);
        if (present.has(key)) continue;
        present.add(key);
        values.push(value);
      }
      return existing !== undefined && values.length === before ? undefined : array(values);
    },
  };
};

const pop: OperatorParser = (argument) => {
  if (!isNumeric(argument)) {
    throw new CommandError(
      ErrorCode.FailedToParse,
      `Expected a number in: $pop, found ${typeName(argument)}`,
    );
  }
  const end = wholeNumber(argument);
  if (end !== 1 && end !== -1) {
    throw new CommandError(ErrorCode.FailedToParse, `$pop expects 1 or -1, found: ${end ?? "a fraction"}`);
  }
  return {
    creates: false,
    update(existing, { path }) {
      if (existing === undefined) return undefined;
      if (existing.type !== BsonType.array) {
        throw new CommandError(
          ErrorCode.TypeMismatch,
          `Path '${path}' contains an element of non-array type '${typeName(existing)}'`,
        );
      }
      const values = elements(asDocument(existing));
      if (values.length === 0) return undefined;
      if (end === 1) values.pop();
      else values.shift();
      return array(values);
    },
  };
};

/** Takes out the elements that pass. */
function removal(operator: string, test: (element: RawValue) => boolean) {
  return {
    creates: false,
    update(existing: RawValue | undefined, _: Site): RawValue | undefined {
      if (existing === undefined) return undefined;
      if (existing.type !== BsonType.array) throw badValue(`Cannot apply ${operator} to a non-array value`);
      const values = elements(asDocument(existing));
      const kept = values.filter((value) => !test(value));
      return kept.length === values.length ? undefined : array(kept);
    },
  };
}

/** `$pull`: a value to be equal to, operators on the element, or a filter for elements that are objects. */
const pull: OperatorParser = (argument) => {
  const context = { depth: 0 };
  if (argument.type === BsonType.regex) {
    return removal("$pull", singleValueTest(parsePath("", argument, context), true));
  }
  if (argument.type !== BsonType.object) {
    return removal("$pull", (element) => compareValues(element, argument) === 0);
  }
  const doc = asDocument(argument);
  const first = firstField(doc)?.[0];
  const logical = first === "$and" || first === "$or" || first === "$nor" || first === "$expr";
  if (isOperatorObject(doc) && !logical) {
    return removal("$pull", singleValueTest(parsePath("", argument, context), true));
  }
  const test = documentTest(parseFilter(doc, context));
  return removal("$pull", (element) => element.type === BsonType.object && test(asDocument(element)));
};

const pullAll: OperatorParser = (argument) => {
  if (argument.type !== BsonType.array) {
    throw badValue(`$pullAll requires an array argument but was given a ${typeName(argument)}`);
  }
  const removed = new Set(elements(asDocument(argument)).map(sortableValue));
  return removal("$pull", (element) => removed.has(sortableValue(element)));
};

export const ARRAY_OPERATORS: Readonly<Record<string, OperatorParser>> = {
  $push: push,
  $addToSet: addToSet,
  $pop: pop,
  $pull: pull,
  $pullAll: pullAll,
};
