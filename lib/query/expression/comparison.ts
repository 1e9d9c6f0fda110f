/**
 * `$cmp $eq $ne $gt $gte $lt $lte`: BSON order across all types, unlike the
 * filter operators of the same names. A missing value is less than null.
 */
import { FALSE, TRUE, UNDEFINED, compareValues, int32 } from "../../bson/index.js";
import { binary, type Argument, type OperatorCompiler } from "./arguments.js";

/** BSON order with missing taken as the deprecated undefined, which lies between MinKey and null. */
export function compareArguments(a: Argument, b: Argument): number {
  return compareValues(a ?? UNDEFINED, b ?? UNDEFINED);
}

function comparison(holds: (order: number) => boolean): OperatorCompiler {
  return binary((a, b) => (holds(compareArguments(a, b)) ? TRUE : FALSE));
}

export const COMPARISON: Readonly<Record<string, OperatorCompiler>> = {
  $cmp: binary((a, b) => int32(compareArguments(a, b))),
  $eq: comparison((order) => order === 0),
  $ne: comparison((order) => order !== 0),
  $gt: comparison((order) => order > 0),
  $gte: comparison((order) => order >= 0),
  $lt: comparison((order) => order < 0),
  $lte: comparison((order) => order <= 0),
};
