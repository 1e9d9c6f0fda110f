/** How `$derivative $integral $linearFill $expMovingAvg` read their specifications. */
import {
  BsonType,
  asDocument,
  asNumber,
  asString,
  compareValues,
  describeValue,
  double,
  fields,
  int32,
  int64,
  isNumeric,
  type RawValue,
} from "../../../bson/index.js";
import { CommandError } from "../../../protocol/index.js";
import { compileExpression } from "../../expression/compile.js";
import type { Expression } from "../../expression/context.js";
import { addDecimals, divideDecimals, subtractDecimals, toDecimal } from "../../values/decimal.js";
import { TYPICAL_MS, timeUnit } from "../../values/timeUnits.js";
import { typeName } from "../../values/types.js";
import { WHOLE_PARTITION } from "./bounds.js";
import { derivative, integral, linearFill } from "./calculus.js";
import {
  argumentAndWindow,
  argumentOnly,
  failed,
  singleSort,
  unexpectedArgument,
  type WindowFunctionParser,
} from "./spec.js";
import type { WindowSetup } from "./partition.js";
import { exponentialAverage } from "./positional.js";

/** The sort's value for a function that needs a single field. */
function sortValueOf({ sort, sortValue }: WindowSetup, name: string): Expression {
  if (sort === undefined) throw failed(`${name} requires a sortBy`);
  if (sort.fields.length !== 1) throw failed(`${name} requires a non-compound sortBy`);
  if (sortValue === undefined) throw failed(`${name} requires a non-expression sortBy`);
  return sortValue;
}

/** `unit` in milliseconds. Throws 9 for what is no unit, 5490710 for months and their multiples. */
function unitMilliseconds(value: RawValue): number {
  if (value.type !== BsonType.string) throw failed(`unit' must be a string, but got ${typeName(value)}`);
  const unit = timeUnit(asString(value));
  if (unit === "year" || unit === "quarter" || unit === "month") {
    throw new CommandError(5490710, "unit must be 'week' or smaller");
  }
  return TYPICAL_MS[unit];
}

/** `{ input, unit }`. */
function inputAndUnit(
  argument: RawValue,
  setup: WindowSetup,
  name: string,
): { input: Expression; unitMs: number | undefined } {
  if (argument.type !== BsonType.object) {
    throw failed(
      `${name} expects an object, but got a ${typeName(argument)}: ${name}: ${describeValue(argument)}`,
    );
  }
  let input: Expression | undefined;
  let unitMs: number | undefined;
  for (const [field, value] of fields(asDocument(argument))) {
    if (field === "input") input = compileExpression(value, setup.options);
    else if (field === "unit") unitMs = unitMilliseconds(value);
    else throw failed(`${name} got unexpected argument: ${field}`);
  }
  if (input === undefined) throw failed(`${name} requires an 'input' expression`);
  return { input, unitMs };
}

export const parseDerivative: WindowFunctionParser = (spec, setup, name) => {
  const sortValue = sortValueOf(setup, name);
  const { argument, window } = argumentAndWindow(spec, setup, name, unexpectedArgument(name));
  const { input, unitMs } = inputAndUnit(argument, setup, name);
  // The whole partition, the window otherwise taken, would give the same slope everywhere.
  if (window === undefined) throw failed("$derivative requires explicit window bounds");
  return derivative(input, sortValue, window, unitMs);
};

export const parseIntegral: WindowFunctionParser = (spec, setup, name) => {
  const sortValue = sortValueOf(setup, name);
  const { argument, window } = argumentAndWindow(spec, setup, name, unexpectedArgument(name));
  const { input, unitMs } = inputAndUnit(argument, setup, name);
  return integral(input, sortValue, window ?? WHOLE_PARTITION, unitMs);
};

export const parseLinearFill: WindowFunctionParser = (spec, setup, name) => {
  const input = compileExpression(argumentOnly(spec, setup, name), setup.options);
  singleSort(setup, name, 605001);
  return linearFill(input, sortValueOf(setup, name));
};

const ARGUMENTS =
  "$expMovingAvg sub object must have exactly two fields: An 'input' field, and either an 'N' field or an 'alpha' field";

export const parseExpMovingAvg: WindowFunctionParser = (spec, setup, name) => {
  const list = fields(spec);
  const argument = list[0]![1];
  if (list.length > 1 || argument.type !== BsonType.object) {
    throw failed("$expMovingAvg must have exactly one argument that is an object");
  }
  const named = new Map(fields(asDocument(argument)));
  const source = named.get("input");
  if (named.size !== 2 || source === undefined) throw failed(ARGUMENTS);
  if (setup.sort === undefined) throw failed(`${name} requires an explicit 'sortBy'`);
  const input = compileExpression(source, setup.options);
  const one = toDecimal(int32(1));
  const alpha = smoothing(named);
  return exponentialAverage(input, alpha, subtractDecimals(one, alpha));
};

/** The weight of a new value: `alpha`, or 2 / (N + 1). */
function smoothing(named: ReadonlyMap<string, RawValue>): RawValue {
  const n = named.get("N");
  const alpha = named.get("alpha");
  if (n !== undefined) {
    if (!isNumeric(n)) throw failed(`'N' field must be an integer, but found type ${typeName(n)}`);
    const count = asNumber(n);
    if (!Number.isInteger(count)) {
      throw failed(
        `'N' field must be an integer, but found  N: ${describeValue(n)}. To use a non-integer, use the 'alpha' argument instead`,
      );
    }
    if (count <= 0) throw failed(`'N' must be greater than zero. Got ${count}`);
    return divideDecimals(toDecimal(int32(2)), addDecimals(int64(BigInt(count)), int32(1)));
  }
  if (alpha === undefined) throw failed(`Got unrecognized field in $expMovingAvg${ARGUMENTS}`);
  if (!isNumeric(alpha)) throw failed("'alpha' must be a number");
  if (compareValues(alpha, int32(0)) <= 0 || compareValues(alpha, double(1)) >= 0) {
    throw failed(`'alpha' must be between 0 and 1 (exclusive), found alpha: ${describeValue(alpha)}`);
  }
  return toDecimal(alpha);
}
