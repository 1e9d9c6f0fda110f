/** The table of expression operators, and the names of those that MongoDB has beyond it. */
import {
  BsonType,
  NULL,
  asDocument,
  elements,
  encodeValue,
  hash64,
  int64,
  type RawValue,
} from "../../bson/index.js";
import { ACCUMULATORS } from "../pipeline/accumulators.js";
import { compileArguments, unary, type OperatorCompiler } from "./arguments.js";
import { ARITHMETIC } from "./arithmetic.js";
import { ARRAYS } from "./arrays.js";
import { COMPARISON } from "./comparison.js";
import { constant } from "./compile.js";
import { CONVERSIONS } from "./convert.js";
import { DATES } from "./dates.js";
import { LOGIC } from "./logic.js";
import { OBJECTS } from "./objects.js";
import { SETS } from "./sets.js";
import { STRINGS } from "./strings.js";

/** `$sum $avg $min $max` as expressions: over the arguments, or over the elements of a single array. */
function aggregate(accumulator: string): OperatorCompiler {
  const create = ACCUMULATORS.get(accumulator)!;
  return (argument, scope, name) => {
    const operands = compileArguments(argument, scope, name, 0, Infinity);
    return (context) => {
      const state = create();
      const values = operands.map((operand) => operand(context));
      const only = values.length === 1 ? values[0] : undefined;
      const list: readonly (RawValue | undefined)[] =
        only?.type === BsonType.array ? elements(asDocument(only)) : values;
      for (const v of list) state.add(v);
      return state.result();
    };
  };
}

const MISCELLANEOUS: Readonly<Record<string, OperatorCompiler>> = {
  $literal: (argument) => constant(argument),
  /** The number that a hashed index stores for a value: what routes a document under a hashed shard key. */
  $toHashedIndexKey: unary((v) => int64(hash64(v ?? NULL))),
  $bsonSize: unary((v) =>
    v === undefined || v.type === BsonType.null ? NULL : encodeValue(asDocument(v).length),
  ),
  $sum: aggregate("$sum"),
  $avg: aggregate("$avg"),
  $min: aggregate("$min"),
  $max: aggregate("$max"),
};

/** Compilers by operator name. */
export const OPERATORS: ReadonlyMap<string, OperatorCompiler> = new Map(
  [ARITHMETIC, COMPARISON, LOGIC, STRINGS, CONVERSIONS, DATES, ARRAYS, SETS, OBJECTS, MISCELLANEOUS].flatMap(
    (group) => Object.entries(group),
  ),
);

/** Known to MongoDB, refused here with a coded error. */
export const NOT_BUILT: ReadonlySet<string> = new Set([
  "$acos",
  "$acosh",
  "$asin",
  "$asinh",
  "$atan",
  "$atan2",
  "$atanh",
  "$binarySize",
  "$bitAnd",
  "$bitNot",
  "$bitOr",
  "$bitXor",
  "$cos",
  "$cosh",
  "$dateAdd",
  "$dateDiff",
  "$dateFromParts",
  "$dateFromString",
  "$dateSubtract",
  "$dateToParts",
  "$degreesToRadians",
  "$encStrContains",
  "$firstN",
  "$function",
  "$lastN",
  "$maxN",
  "$median",
  "$meta",
  "$minN",
  "$percentile",
  "$radiansToDegrees",
  "$rand",
  "$regexFind",
  "$regexFindAll",
  "$sampleRate",
  "$setField",
  "$sigmoid",
  "$sin",
  "$sinh",
  "$sortArray",
  "$stdDevPop",
  "$stdDevSamp",
  "$tan",
  "$tanh",
  "$toUUID",
  "$tsIncrement",
  "$tsSecond",
  "$unsetField",
  "$zip",
]);
