/**
 * The table of window functions, and how each reads its specification.
 *
 *     { $sum: "$qty", window: { documents: [-1, 1] } }
 *
 * Accumulators take a window (the whole partition, if none is given); what
 * goes by the order alone — ranks, `$shift`, `$locf` — takes none.
 */
import {
  BsonType,
  NULL,
  asDocument,
  describeValue,
  fields,
  int32,
  isEmptyDocument,
  type RawValue,
} from "../../../bson/index.js";
import { CommandError } from "../../../protocol/index.js";
import { compileExpression, constant } from "../../expression/compile.js";
import type { Expression } from "../../expression/context.js";
import { int32Of } from "../../values/numeric.js";
import {
  constantValue,
  countForGroup,
  percentileArguments,
  rankedArguments,
  severalArguments,
} from "../accumulate/arguments.js";
import { MergeObjects } from "../accumulate/basic.js";
import { StandardDeviation } from "../accumulate/statistics.js";
import { WHOLE_PARTITION, type Window } from "./bounds.js";
import { Covariance } from "./covariance.js";
import type { WindowFunction, WindowSetup } from "./partition.js";
import { endOfWindow, endsOfWindow, lastObservation, rank, shift, type RankKind } from "./positional.js";
import {
  Growing,
  SlidingDeviation,
  SlidingExtreme,
  SlidingList,
  SlidingPercentiles,
  SlidingRanking,
  SlidingSet,
  SlidingTotal,
  type Sliding,
} from "./sliding.js";
import { parseDerivative, parseExpMovingAvg, parseIntegral, parseLinearFill } from "./curveFunctions.js";
import { parseMinMaxScaler } from "./minMaxScaler.js";
import {
  argumentAndWindow,
  argumentOnly,
  failed,
  singleSort,
  unexpectedArgument,
  unknownArgument,
  type WindowFunctionParser,
} from "./spec.js";

/** Values of `input` going in and out of a state as the window moves. */
function slide(input: Expression, window: Window, create: () => Sliding): WindowFunction {
  return {
    start(partition) {
      const frameAt = window.frames(partition);
      const state = create();
      const values: Array<RawValue | undefined> = [];
      let first = 0;
      let last = -1;
      let result: RawValue | undefined;
      return (index) => {
        const frame = frameAt(index);
        while (last < frame.last) {
          last++;
          values[last] = partition.value(input, last);
          state.add(values[last], partition.docs[last]!);
          result = undefined;
        }
        while (first < frame.first && first <= last) {
          state.remove(values[first]);
          values[first++] = undefined;
          result = undefined;
        }
        return (result ??= state.result());
      };
    },
  };
}

/** An accumulator of one expression. `growing`: the window begins at the first document. */
function accumulator(create: (growing: boolean, setup: WindowSetup) => Sliding): WindowFunctionParser {
  return (spec, setup, name) => {
    const { argument, window = WHOLE_PARTITION } = argumentAndWindow(
      spec,
      setup,
      name,
      unknownArgument(setup),
    );
    const growing = window.lower === "unbounded";
    return slide(compileExpression(argument, setup.options), window, () => create(growing, setup));
  };
}

const count: WindowFunctionParser = (spec, setup, name) => {
  const { argument, window = WHOLE_PARTITION } = argumentAndWindow(
    spec,
    setup,
    name,
    unknownArgument(setup, "multiple"),
  );
  if (argument.type !== BsonType.object || !isEmptyDocument(asDocument(argument))) {
    throw failed("$count only accepts an empty object as input");
  }
  return slide(constant(int32(1)), window, () => new SlidingTotal(false, window.lower === "unbounded"));
};

const mergeObjects: WindowFunctionParser = (spec, setup, name) => {
  const { argument, window = WHOLE_PARTITION } = argumentAndWindow(spec, setup, name, unknownArgument(setup));
  if (window.lower !== "unbounded") {
    throw new CommandError(5461500, `Window function ${name} is not supported with a removable window`);
  }
  return slide(compileExpression(argument, setup.options), window, () => new Growing(new MergeObjects()));
};

const firstOrLast: WindowFunctionParser = (spec, setup, name) => {
  const parsed = argumentAndWindow(spec, setup, name, unexpectedArgument(name));
  const input = compileExpression(parsed.argument, setup.options);
  return endOfWindow(input, parsed.window ?? WHOLE_PARTITION, name === "$first" ? "first" : "last");
};

/** `{ n, input }`: `n` cannot depend on documents. */
const several: WindowFunctionParser = (spec, setup, name) => {
  const parsed = argumentAndWindow(spec, setup, name, unexpectedArgument(name));
  const { options } = setup;
  const { n, input } = severalArguments(parsed.argument, name);
  const counted = compileExpression(n, options);
  const values = compileExpression(input, options);
  const window = parsed.window ?? WHOLE_PARTITION;
  const count = (): number => countForGroup(counted, NULL);
  if (name === "$firstN" || name === "$lastN") {
    return endsOfWindow(values, window, name === "$firstN" ? "first" : "last", count);
  }
  const end = name === "$minN" ? "first" : "last";
  return slide(values, window, () => new SlidingRanking(count(), end, undefined, false, options.collation));
};

const ranked: WindowFunctionParser = (spec, setup, name) => {
  const parsed = argumentAndWindow(spec, setup, name, unexpectedArgument(name));
  const { options } = setup;
  const { n, output, sort } = rankedArguments(parsed.argument, options, name);
  const end = name.startsWith("$top") ? "first" : "last";
  const window = parsed.window ?? WHOLE_PARTITION;
  return slide(output, window, () => {
    const count = n === undefined ? 1 : countForGroup(n, NULL);
    return new SlidingRanking(count, end, sort, n === undefined, options.collation);
  });
};

const percentile: WindowFunctionParser = (spec, setup, name) => {
  const parsed = argumentAndWindow(spec, setup, name, unexpectedArgument(name));
  const isMedian = name === "$median";
  const { input, p } = percentileArguments(
    parsed.argument,
    setup.options,
    name,
    isMedian ? 7436100 : 7429703,
  );
  const values = compileExpression(input, setup.options);
  return slide(values, parsed.window ?? WHOLE_PARTITION, () => new SlidingPercentiles(p, isMedian));
};

const ranking: WindowFunctionParser = (spec, setup, name) => {
  const list = fields(spec);
  if (list.length > 1) {
    throw new CommandError(5371601, "Rank style window functions take no other arguments");
  }
  const argument = list[0]![1];
  if (argument.type !== BsonType.object || !isEmptyDocument(asDocument(argument))) {
    throw new CommandError(5371603, `${name} must be specified with '{}' as the value`);
  }
  return rank(name as RankKind, singleSort(setup, name, 5371602));
};

const shifted: WindowFunctionParser = (spec, setup, name) => {
  let argument: RawValue | undefined;
  for (const [field, value] of fields(spec)) {
    if (field === "window") throw failed("$shift does not accept a 'window' field");
    if (field !== name) throw failed(unknownArgument(setup, "multiple")(field));
    argument = value;
  }
  if (argument?.type !== BsonType.object) throw failed("Argument to $shift must be an object");
  const named = new Map(fields(asDocument(argument)));
  for (const field of named.keys()) {
    if (!["output", "by", "default"].includes(field)) throw failed(`Unknown argument in ${name}`);
  }
  const fallback = named.get("default");
  const otherwise = fallback === undefined ? NULL : constantValue(fallback, setup.options);
  if (otherwise === undefined) throw failed("'$shift:default' expression must yield a constant value.");
  const by = named.get("by");
  const places = by && int32Of(by);
  if (by && places === undefined) {
    throw failed(`'$shift:by' field must be an integer, but found  by: ${describeValue(by)}`);
  }
  const output = named.get("output");
  if (output === undefined) throw failed(`${name} requires an 'output' expression.`);
  if (places === undefined) throw failed(`${name} requires 'by' as an integer value.`);
  if (setup.sort === undefined) throw failed(`'${name}' requires a sortBy`);
  return shift(compileExpression(output, setup.options), places, otherwise);
};

const locf: WindowFunctionParser = (spec, setup, name) =>
  lastObservation(compileExpression(argumentOnly(spec, setup, name), setup.options));

export const WINDOW_FUNCTIONS: ReadonlyMap<string, WindowFunctionParser> = new Map<
  string,
  WindowFunctionParser
>([
  ["$sum", accumulator((growing) => new SlidingTotal(false, growing))],
  ["$avg", accumulator((growing) => new SlidingTotal(true, growing))],
  ["$count", count],
  ["$min", accumulator((growing, { options }) => new SlidingExtreme(-1, growing, options.collation))],
  ["$max", accumulator((growing, { options }) => new SlidingExtreme(1, growing, options.collation))],
  ["$push", accumulator(() => new SlidingList("$push"))],
  ["$concatArrays", accumulator(() => new SlidingList("$concatArrays"))],
  ["$addToSet", accumulator((_, { options }) => new SlidingSet("$addToSet", options.collation))],
  ["$setUnion", accumulator((_, { options }) => new SlidingSet("$setUnion", options.collation))],
  ["$mergeObjects", mergeObjects],
  ["$stdDevPop", accumulator((growing) => deviation(false, growing))],
  ["$stdDevSamp", accumulator((growing) => deviation(true, growing))],
  ["$covariancePop", accumulator((growing) => new Covariance(false, growing))],
  ["$covarianceSamp", accumulator((growing) => new Covariance(true, growing))],
  ["$first", firstOrLast],
  ["$last", firstOrLast],
  ["$firstN", several],
  ["$lastN", several],
  ["$minN", several],
  ["$maxN", several],
  ["$top", ranked],
  ["$topN", ranked],
  ["$bottom", ranked],
  ["$bottomN", ranked],
  ["$median", percentile],
  ["$percentile", percentile],
  ["$rank", ranking],
  ["$denseRank", ranking],
  ["$documentNumber", ranking],
  ["$shift", shifted],
  ["$locf", locf],
  ["$derivative", parseDerivative],
  ["$integral", parseIntegral],
  ["$linearFill", parseLinearFill],
  ["$expMovingAvg", parseExpMovingAvg],
  ["$minMaxScaler", parseMinMaxScaler],
]);

/** Where no value is ever lost, one that isn't finite makes NaN of the result, as in a `$group`. */
function deviation(sample: boolean, growing: boolean): Sliding {
  return growing ? new Growing(new StandardDeviation(sample)) : new SlidingDeviation(sample);
}

/**
 * Compiles a field of `output`.
 * @throws CommandError 9 for what is no window function, and the functions' own codes
 */
export function compileWindowFunction(spec: RawValue, field: string, setup: WindowSetup): WindowFunction {
  if (spec.type !== BsonType.object) {
    throw failed(`The field '${field}' must be an object: ${field}: ${describeValue(spec)}`);
  }
  const doc = asDocument(spec);
  const list = fields(doc);
  for (const [name] of list) {
    if (!name.startsWith("$")) continue;
    const parser = WINDOW_FUNCTIONS.get(name);
    if (parser === undefined) throw failed(`Unrecognized window function, ${name}`);
    return parser(doc, setup, name);
  }
  const first = list[0]?.[0] ?? "";
  throw failed(`Expected a $-prefixed window function${first === "" ? "" : `, ${first}`}`);
}
