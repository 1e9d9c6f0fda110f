/** The table of expression operators, and the names of those that MongoDB has beyond it. */
import { BsonType, NULL, int32, hashedValue } from "../../bson/index.js";
import { CommandError } from "../../protocol/index.js";
import { typeName } from "../values/types.js";
import { AGGREGATES } from "./aggregate.js";
import { isNullish, unary, type OperatorCompiler } from "./arguments.js";
import { ARITHMETIC } from "./arithmetic.js";
import { ARRAYS } from "./arrays.js";
import { COMPARISON } from "./comparison.js";
import { compile, constant } from "./compile.js";
import { CONVERSIONS } from "./convert.js";
import { DATE_ARITHMETIC } from "./dateArithmetic.js";
import { DATES } from "./dates.js";
import { DATE_STRINGS } from "./dateStrings.js";
import { FUNCTIONS } from "./functions.js";
import { ITERATION } from "./iterate.js";
import { LOGIC } from "./logic.js";
import { meta } from "./metadata.js";
import { OBJECTS } from "./objects.js";
import { REGEX } from "./regex.js";
import { SETS } from "./sets.js";
import { sortArray } from "./sortArray.js";
import { STRINGS } from "./strings.js";
import { SUBSTRINGS } from "./substrings.js";

const literal: OperatorCompiler = (argument) => constant(argument);

const MISCELLANEOUS: Readonly<Record<string, OperatorCompiler>> = {
  $literal: literal,
  $const: literal,
  $meta: (argument, scope, name) => meta(argument, scope, name),
  $sortArray: (argument, scope, name) => sortArray(argument, scope, name),
  /** The number that a hashed index stores for a value: what routes a document under a hashed shard key. */
  $toHashedIndexKey: (argument, scope) => {
    const operand = compile(argument, scope);
    return (context) => hashedValue(operand(context) ?? NULL);
  },
  $bsonSize: unary((v, name) => {
    if (isNullish(v)) return NULL;
    if (v.type !== BsonType.object) {
      throw new CommandError(31393, `${name} requires a document input, found: ${typeName(v)}`);
    }
    return int32(v.end - v.start);
  }),
};

let table: ReadonlyMap<string, OperatorCompiler> | undefined;

/**
 * Compilers by operator name. Put together when first asked for: the modules of operators and the compiler import each
 * other, and which of them is complete first depends on who is imported first.
 */
export function operators(): ReadonlyMap<string, OperatorCompiler> {
  return (table ??= new Map(
    [
      AGGREGATES,
      ARITHMETIC,
      ARRAYS,
      COMPARISON,
      CONVERSIONS,
      DATES,
      DATE_ARITHMETIC,
      DATE_STRINGS,
      FUNCTIONS,
      ITERATION,
      LOGIC,
      OBJECTS,
      REGEX,
      SETS,
      STRINGS,
      SUBSTRINGS,
      MISCELLANEOUS,
    ].flatMap((group) => Object.entries(group)),
  ));
}

/**
 * Known to MongoDB, refused here with a coded error: JavaScript, comparisons of encrypted strings, and what came
 * with 8.3.
 */
export const NOT_BUILT: ReadonlySet<string> = new Set([
  "$createObjectId",
  "$deserializeEJSON",
  "$encStrContains",
  "$encStrEndsWith",
  "$encStrNormalizedEq",
  "$encStrStartsWith",
  "$function",
  "$hash",
  "$hexHash",
  "$serializeEJSON",
  "$similarityCosine",
  "$similarityDotProduct",
  "$similarityEuclidean",
]);
