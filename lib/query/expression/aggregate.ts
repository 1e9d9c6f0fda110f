/**
 * Accumulators as expressions: `$sum $avg $min $max $stdDevPop $stdDevSamp
 * $mergeObjects` over their arguments — or over the elements of a single array
 * — and `$firstN $lastN $minN $maxN $median $percentile` over an array.
 */
import {
  BsonType,
  EMPTY_DOCUMENT,
  asDocument,
  elements,
  isNumeric,
  type RawValue,
} from "../../bson/index.js";
import { CommandError } from "../../protocol/index.js";
import type { Accumulator } from "../pipeline/accumulate/accumulator.js";
import { countOf, percentileArguments, severalArguments } from "../pipeline/accumulate/arguments.js";
import { Average, Extreme, MergeObjects, Sum } from "../pipeline/accumulate/basic.js";
import { ExtremeN, FirstN, LastN } from "../pipeline/accumulate/several.js";
import { Percentiles, StandardDeviation } from "../pipeline/accumulate/statistics.js";
import { compileArguments, type Argument, type OperatorCompiler } from "./arguments.js";
import { compile } from "./compile.js";
import type { ExpressionOptions } from "./context.js";

function accumulate(state: Accumulator, values: readonly Argument[]): RawValue {
  for (const v of values) state.add(v, EMPTY_DOCUMENT);
  return state.result();
}

/** Over the arguments, or over the elements of a single array. */
function overArguments(create: (options: ExpressionOptions) => Accumulator): OperatorCompiler {
  return (argument, scope, name) => {
    const operands = compileArguments(argument, scope, name, 0, Infinity);
    return (context) => {
      const values = operands.map((operand) => operand(context));
      const only = values.length === 1 ? values[0] : undefined;
      const list = only?.type === BsonType.array ? elements(asDocument(only)) : values;
      return accumulate(create(scope.options), list);
    };
  };
}

/** `{ n, input }` over the elements of `input`. */
function overElements(create: (n: number, options: ExpressionOptions) => Accumulator): OperatorCompiler {
  return (argument, scope, name) => {
    const named = severalArguments(argument, name);
    const n = compile(named.n, scope);
    const input = compile(named.input, scope);
    return (context) => {
      const count = countOf(n(context));
      const v = input(context);
      if (v?.type !== BsonType.array) throw new CommandError(5788200, "Input must be an array");
      return accumulate(create(count, scope.options), elements(asDocument(v)));
    };
  };
}

/** Percentiles of an array's numbers, or of a single number. */
const percentile: OperatorCompiler = (argument, scope, name) => {
  const { input, p } = percentileArguments(argument, scope.options, name, 7436200);
  const operand = compile(input, scope);
  return (context) => {
    const v = operand(context);
    const values = v?.type === BsonType.array ? elements(asDocument(v)) : v && isNumeric(v) ? [v] : [];
    return accumulate(new Percentiles(p, name === "$median"), values);
  };
};

export const AGGREGATES: Readonly<Record<string, OperatorCompiler>> = {
  $sum: overArguments(() => new Sum()),
  $avg: overArguments(() => new Average()),
  $min: overArguments(({ collation }) => new Extreme(-1, collation)),
  $max: overArguments(({ collation }) => new Extreme(1, collation)),
  $stdDevPop: overArguments(() => new StandardDeviation(false)),
  $stdDevSamp: overArguments(() => new StandardDeviation(true)),
  $mergeObjects: overArguments(() => new MergeObjects()),
  $firstN: overElements((n) => new FirstN(n)),
  $lastN: overElements((n) => new LastN(n)),
  $minN: overElements((n, { collation }) => new ExtremeN(n, -1, collation)),
  $maxN: overElements((n, { collation }) => new ExtremeN(n, 1, collation)),
  $median: percentile,
  $percentile: percentile,
};
