/**
 * `$cmp $eq $ne $gt $gte $lt $lte`: BSON order across all types, unlike the
 * filter operators of the same names. A missing value is less than null.
 * Strings compare by the collation.
 */
import { FALSE, TRUE, UNDEFINED, compareValues, int32, type Collation } from "../../bson/index.js";
import { compileArguments, type Argument, type OperatorCompiler } from "./arguments.js";
import type { Expression } from "./context.js";

/** BSON order with missing taken as the deprecated undefined, which lies between MinKey and null. */
export function compareArguments(a: Argument, b: Argument, collation: Collation | undefined): number {
  return compareValues(a ?? UNDEFINED, b ?? UNDEFINED, collation);
}

function comparison(answer: (order: number) => ReturnType<Expression>): OperatorCompiler {
  return (argument, scope, name) => {
    const [left, right] = compileArguments(argument, scope, name, 2) as [Expression, Expression];
    const { collation } = scope.options;
    return (context) => answer(compareArguments(left(context), right(context), collation));
  };
}

export const COMPARISON: Readonly<Record<string, OperatorCompiler>> = {
  $cmp: comparison((order) => int32(order)),
  $eq: comparison((order) => (order === 0 ? TRUE : FALSE)),
  $ne: comparison((order) => (order !== 0 ? TRUE : FALSE)),
  $gt: comparison((order) => (order > 0 ? TRUE : FALSE)),
  $gte: comparison((order) => (order >= 0 ? TRUE : FALSE)),
  $lt: comparison((order) => (order < 0 ? TRUE : FALSE)),
  $lte: comparison((order) => (order <= 0 ? TRUE : FALSE)),
};
