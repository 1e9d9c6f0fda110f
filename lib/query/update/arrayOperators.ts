/** Operators on arrays: `$addToSet $pop $pull $pullAll`; `$push` has a file of its own. */
import {
  BsonType,
  array,
  asDocument,
  compareValues,
  describeDocument,
  elements,
  firstField,
  sortableValue,
  topLevelNames,
  type RawValue,
} from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import { documentTest, singleValueTest } from "../filter/match.js";
import { isOperatorObject } from "../filter/operators.js";
import { parseFilter, parsePath } from "../filter/parse.js";
import { typeName } from "../values/types.js";
import { fieldName, type FieldOperator, type OperatorParser } from "./context.js";
import { integer } from "./numbers.js";

function badValue(message: string): CommandError {
  return new CommandError(ErrorCode.BadValue, message);
}

/** The values to add: those of `$each`, where it is the argument's first field, or the argument itself. */
function addedValues(argument: RawValue): RawValue[] {
  if (argument.type !== BsonType.object) return [argument];
  const doc = asDocument(argument);
  const [name, each] = firstField(doc) ?? [];
  if (name !== "$each" || each === undefined) return [argument];
  if (each.type !== BsonType.array) {
    throw new CommandError(
      ErrorCode.TypeMismatch,
      `The argument to $each in $addToSet must be an array but it was of type ${typeName(each)}`,
    );
  }
  if (topLevelNames(doc).length > 1)
    throw badValue(`Found unexpected fields after $each in $addToSet: ${describeDocument(doc)}`);
  return elements(asDocument(each));
}

const addToSet: OperatorParser = (argument, _, { collation }) => {
  const added = addedValues(argument);
  return {
    missing: "create",
    update(existing, { path }) {
      if (existing !== undefined && existing.type !== BsonType.array) {
        throw badValue(
          `Cannot apply $addToSet to non-array field. Field named '${fieldName(path)}' has non-array type ${typeName(existing)}`,
        );
      }
      const values = existing === undefined ? [] : elements(asDocument(existing));
      const present = new Set(values.map((value) => sortableValue(value, collation)));
      const before = values.length;
      for (const value of added) {
        const key = sortableValue(value, collation);
        if (present.has(key)) continue;
        present.add(key);
        values.push(value);
      }
      return existing !== undefined && values.length === before ? undefined : array(values);
    },
  };
};

const pop: OperatorParser = (argument, path) => {
  const end = integer(path, argument);
  if (end !== 1 && end !== -1) {
    throw new CommandError(ErrorCode.FailedToParse, `$pop expects 1 or -1, found: ${end}`);
  }
  return {
    missing: "refuse",
    update(existing, { path: at }) {
      if (existing!.type !== BsonType.array) {
        throw new CommandError(
          ErrorCode.TypeMismatch,
          `Path '${at}' contains an element of non-array type '${typeName(existing)}'`,
        );
      }
      const values = elements(asDocument(existing!));
      if (values.length === 0) return undefined;
      return array(end === 1 ? values.slice(0, -1) : values.slice(1));
    },
  };
};

/** Takes out the elements that pass. */
function removal(test: (element: RawValue) => boolean): FieldOperator {
  return {
    missing: "refuse",
    update(existing) {
      if (existing!.type !== BsonType.array) throw badValue("Cannot apply $pull to a non-array value");
      const values = elements(asDocument(existing!));
      const kept = values.filter((value) => !test(value));
      return kept.length === values.length ? undefined : array(kept);
    },
  };
}

/** Names that begin a filter of whole documents rather than a condition on a value. */
const TOP_LEVEL = new Set([
  "$and",
  "$or",
  "$nor",
  "$expr",
  "$where",
  "$text",
  "$comment",
  "$jsonSchema",
  "$sampleRate",
  "$alwaysTrue",
  "$alwaysFalse",
]);

/** `$pull`: a value to be equal to, operators on the element, or a filter for elements that are objects. */
const pull: OperatorParser = (argument, _, options) => {
  if (argument.type === BsonType.regex)
    return removal(singleValueTest(parsePath("", argument, options), true));
  if (argument.type !== BsonType.object)
    return removal((element) => compareValues(element, argument, options.collation) === 0);
  const doc = asDocument(argument);
  if (isOperatorObject(doc) && !TOP_LEVEL.has(firstField(doc)![0]))
    return removal(singleValueTest(parsePath("", argument, options), true));
  const test = documentTest(parseFilter(doc, options));
  return removal((element) => element.type === BsonType.object && test(asDocument(element)));
};

const pullAll: OperatorParser = (argument, _, { collation }) => {
  if (argument.type !== BsonType.array) {
    throw badValue(`$pullAll requires an array argument but was given a ${typeName(argument)}`);
  }
  const removed = new Set(elements(asDocument(argument)).map((value) => sortableValue(value, collation)));
  return removal((element) => removed.has(sortableValue(element, collation)));
};

export const ARRAY_OPERATORS: Readonly<Record<string, OperatorParser>> = {
  $addToSet: addToSet,
  $pop: pop,
  $pull: pull,
  $pullAll: pullAll,
};
