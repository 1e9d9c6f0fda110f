/**
 * The table of accumulators: what `$group` and its like gather of each group.
 *
 * Most take an expression, `{ $sum: "$qty" }`; some take several by name,
 * `{ $topN: { n: 3, sortBy: { qty: -1 }, output: "$item" } }`. Compiling one
 * gives the expression for each document and a maker of running results.
 */
import { BsonType, asDocument, int32, isEmptyDocument, type RawValue } from "../../bson/index.js";
import { CommandError, ErrorCode, notSimulated } from "../../protocol/index.js";
import { compileExpression, constant } from "../expression/compile.js";
import type { ExpressionOptions } from "../expression/context.js";
import type { Accumulator, AccumulatorCompiler, CompiledAccumulator } from "./accumulate/accumulator.js";
import {
  countForGroup,
  percentileArguments,
  rankedArguments,
  severalArguments,
} from "./accumulate/arguments.js";
import {
  AddToSet,
  ArrayBuilder,
  Average,
  Extreme,
  First,
  Last,
  Members,
  MergeObjects,
  Push,
  Sum,
} from "./accumulate/basic.js";
import { ExtremeN, FirstN, LastN, Ranked } from "./accumulate/several.js";
import { Percentiles, StandardDeviation } from "./accumulate/statistics.js";

export { detach, type Accumulator, type CompiledAccumulator } from "./accumulate/accumulator.js";
export { mean } from "./accumulate/basic.js";

/** An accumulator of one expression. */
function single(create: (options: ExpressionOptions) => Accumulator): AccumulatorCompiler {
  return (argument, options) => ({
    input: compileExpression(argument, options),
    create: () => create(options),
  });
}

/** `{ n, input }`. */
function several(create: (n: number, options: ExpressionOptions) => Accumulator): AccumulatorCompiler {
  return (argument, options, name) => {
    const { n, input } = severalArguments(argument, name);
    const count = compileExpression(n, options);
    return {
      input: compileExpression(input, options),
      create: (group) => create(countForGroup(count, group), options),
    };
  };
}

/** `{ n, sortBy, output }`, and the same without `n`. */
function ranked(end: "least" | "greatest"): AccumulatorCompiler {
  return (argument, options, name) => {
    const { n, output, sort } = rankedArguments(argument, options, name);
    return {
      input: output,
      create: (group) =>
        new Ranked(sort, n === undefined ? 1 : countForGroup(n, group), end, n === undefined, name),
    };
  };
}

const percentile: AccumulatorCompiler = (argument, options, name) => {
  const { input, p } = percentileArguments(argument, options, name, name === "$median" ? 7436100 : 7429703);
  return {
    input: compileExpression(input, options),
    create: () => new Percentiles(p, name === "$median"),
  };
};

/** `$count: {}`, which is `$sum: 1`. */
const count: AccumulatorCompiler = (argument) => {
  if (argument.type !== BsonType.object || !isEmptyDocument(asDocument(argument))) {
    throw new CommandError(ErrorCode.TypeMismatch, "$count takes no arguments, i.e. $count:{}");
  }
  return { input: constant(int32(1)), create: () => new Sum() };
};

/** Compilers by accumulator. */
export const ACCUMULATORS: ReadonlyMap<string, AccumulatorCompiler> = new Map<string, AccumulatorCompiler>([
  ["$sum", single(() => new Sum())],
  ["$avg", single(() => new Average())],
  ["$count", count],
  ["$min", single(({ collation }) => new Extreme(-1, collation))],
  ["$max", single(({ collation }) => new Extreme(1, collation))],
  ["$first", single(() => new First())],
  ["$last", single(() => new Last())],
  ["$push", single(() => new Push())],
  ["$addToSet", single(({ collation }) => new AddToSet(collation))],
  ["$setUnion", single(({ collation }) => new Members("$setUnion", new AddToSet(collation, "$setUnion")))],
  ["$concatArrays", single(() => new Members("$concatArrays", new ArrayBuilder()))],
  ["$mergeObjects", single(() => new MergeObjects())],
  ["$stdDevPop", single(() => new StandardDeviation(false))],
  ["$stdDevSamp", single(() => new StandardDeviation(true))],
  ["$firstN", several((n) => new FirstN(n))],
  ["$lastN", several((n) => new LastN(n))],
  ["$minN", several((n, { collation }) => new ExtremeN(n, -1, collation))],
  ["$maxN", several((n, { collation }) => new ExtremeN(n, 1, collation))],
  ["$top", ranked("least")],
  ["$topN", ranked("least")],
  ["$bottom", ranked("greatest")],
  ["$bottomN", ranked("greatest")],
  ["$median", percentile],
  ["$percentile", percentile],
]);

/** MongoDB's accumulators that this engine does not have: those in JavaScript, and internal ones. */
const NOT_BUILT: ReadonlySet<string> = new Set(["$accumulator"]);

/**
 * Compiles `{ name: argument }`.
 * @returns undefined for an unknown name
 * @throws CommandError 238 for one that isn't simulated, and MongoDB's codes for wrong arguments
 */
export function compileAccumulator(
  name: string,
  argument: RawValue,
  options: ExpressionOptions,
): CompiledAccumulator | undefined {
  const compiler = ACCUMULATORS.get(name);
  if (compiler !== undefined) return compiler(argument, options, name);
  if (NOT_BUILT.has(name)) throw notSimulated(`accumulator ${name}`);
  return undefined;
}
