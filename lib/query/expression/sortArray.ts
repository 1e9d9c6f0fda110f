/**
 * `$sortArray`: by the elements themselves, `sortBy: -1`, or by fields of them,
 * `sortBy: { "qty.min": 1, name: -1 }`. Elements that are no objects have no
 * fields: they sort as null. Equal elements keep their order.
 */
import {
  BsonType,
  EMPTY_DOCUMENT,
  NULL,
  array,
  asDocument,
  asNumber,
  isNumeric,
  sortableKey,
  type RawValue,
} from "../../bson/index.js";
import { CommandError } from "../../protocol/index.js";
import { compileSort } from "../sort/index.js";
import { isNullish, namedArguments, type OperatorCompiler } from "./arguments.js";
import { listOf } from "./arrays.js";
import { compile } from "./compile.js";
import type { ExpressionOptions } from "./context.js";

/** The key of an element by a `sortBy`. */
function keyFunction(sortBy: RawValue, options: ExpressionOptions): (v: RawValue) => string {
  if (sortBy.type === BsonType.object) {
    const sort = compileSort(asDocument(sortBy), options);
    return (v) => sort.key(v.type === BsonType.object ? asDocument(v) : EMPTY_DOCUMENT);
  }
  const direction = isNumeric(sortBy) ? asNumber(sortBy) : 0;
  if (direction !== 1 && direction !== -1) {
    throw new CommandError(2942506, "The $sort element value must be either 1 or -1");
  }
  const descending = [direction === -1];
  return (v) => sortableKey([v], descending, options.collation);
}

export const sortArray: OperatorCompiler = (argument, scope, name) => {
  const named = namedArguments(argument, ["input", "sortBy"], {
    object: [2942500, "$sortArray requires an object as an argument, found: {type}"],
    unknown: [2942501, "$sortArray found an unknown argument: "],
    required: {
      input: [2942502, "$sortArray requires 'input' to be specified"],
      sortBy: [2942503, "$sortArray requires 'sortBy' to be specified"],
    },
  });
  const input = compile(named.get("input")!, scope);
  const keyOf = keyFunction(named.get("sortBy")!, scope.options);
  return (context) => {
    const v = input(context);
    if (isNullish(v)) return NULL;
    const list = listOf(
      v,
      2942504,
      (type) => `The input argument to ${name} must be an array, but was of type: ${type}`,
    );
    const entries = list.map((value) => ({ key: keyOf(value), value }));
    entries.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
    return array(entries.map(({ value }) => value));
  };
};
