/**
 * Arrays: `$size $arrayElemAt $first $last $concatArrays $slice $map $filter
 * $reduce $range $reverseArray $isArray $indexOfArray`.
 */
import {
  BsonType,
  FALSE,
  NULL,
  TRUE,
  array,
  asDocument,
  asString,
  elements,
  int32,
  isTruthy,
  type RawValue,
} from "../../bson/index.js";
import { CommandError } from "../../protocol/index.js";
import { fitsInt32, wholeNumber } from "../values/numeric.js";
import { typeName } from "../values/types.js";
import { binary, isNullish, unary, variadic, type Argument, type OperatorCompiler } from "./arguments.js";
import { compareArguments } from "./comparison.js";
import { compile } from "./compile.js";
import { bind, type Expression, type Scope } from "./context.js";
import { checkVariableName, namedArguments } from "./fieldPath.js";

/** The elements of an array, or an error that names the type found instead. */
export function listOf(v: Argument, code: number, message: (type: string) => string): RawValue[] {
  if (v?.type !== BsonType.array) throw new CommandError(code, message(typeName(v)));
  return elements(asDocument(v));
}

function size(v: Argument): Argument {
  return int32(
    listOf(v, 17124, (type) => `The argument to $size must be an array, but was of type: ${type}`).length,
  );
}

function elementAt(v: Argument, index: Argument): Argument {
  if (isNullish(v) || isNullish(index)) return NULL;
  const values = listOf(v, 28689, (type) => `$arrayElemAt's first argument must be an array, but is ${type}`);
  const at = wholeNumber(index);
  if (at === undefined) {
    throw new CommandError(
      28690,
      `$arrayElemAt's second argument must be a numeric value, but is ${typeName(index)}`,
    );
  }
  return values.at(at);
}

function end(at: 0 | -1): OperatorCompiler {
  return unary((v, name) => {
    if (isNullish(v)) return NULL;
    return listOf(v, 28689, (type) => `${name}'s argument must be an array, but is ${type}`).at(at);
  });
}

function concatArrays(values: readonly Argument[]): Argument {
  const all: RawValue[] = [];
  for (const v of values) {
    if (isNullish(v)) return NULL;
    all.push(...listOf(v, 28664, (type) => `$concatArrays only supports arrays, not ${type}`));
  }
  return array(all);
}

function slice([v, first, second]: readonly Argument[]): Argument {
  if (isNullish(v) || isNullish(first)) return NULL;
  const values = listOf(
    v,
    28724,
    (type) => `First argument to $slice must be an array, but is of type: ${type}`,
  );
  const a = sliceNumber(first, 28725, "Second");
  if (second === undefined) return array(a >= 0 ? values.slice(0, a) : values.slice(a));
  if (isNullish(second)) return NULL;
  const count = sliceNumber(second, 28727, "Third");
  if (count <= 0) throw new CommandError(28729, `Third argument to $slice must be positive: ${count}`);
  const from = a >= 0 ? a : Math.max(0, values.length + a);
  return array(values.slice(from, from + count));
}

function sliceNumber(v: Argument, code: number, which: string): number {
  const n = wholeNumber(v);
  if (n === undefined)
    throw new CommandError(
      code,
      `${which} argument to $slice must be numeric, but is of type: ${typeName(v)}`,
    );
  return n;
}

/** Named arguments compiled, with `as` (default `this`) bound in `body`. */
function iteration(
  argument: RawValue,
  scope: Scope,
  name: string,
  body: string,
  optional: readonly string[],
  code: number,
): { input: Expression; each: Expression; slot: number; named: Map<string, RawValue> } {
  const named = namedArguments(name, argument, ["input", "as", body, ...optional], code);
  const inputArgument = named.get("input");
  const bodyArgument = named.get(body);
  if (inputArgument === undefined) throw new CommandError(code + 1, `Missing 'input' parameter to ${name}`);
  if (bodyArgument === undefined) throw new CommandError(code + 3, `Missing '${body}' parameter to ${name}`);
  const as = named.get("as");
  const variable = as === undefined ? "this" : asString(as);
  checkVariableName(variable);
  const inner = bind(scope, variable);
  return {
    input: compile(inputArgument, scope),
    each: compile(bodyArgument, inner.scope),
    slot: inner.slot,
    named,
  };
}

const map: OperatorCompiler = (argument, scope, name) => {
  const { input, each, slot } = iteration(argument, scope, name, "in", [], 16879);
  return (context) => {
    const v = input(context);
    if (isNullish(v)) return NULL;
    const values = listOf(v, 16883, (type) => `input to $map must be an array not ${type}`);
    return array(
      values.map((value) => {
        context.slots[slot] = value;
        return each(context) ?? NULL;
      }),
    );
  };
};

const filter: OperatorCompiler = (argument, scope, name) => {
  const { input, each, slot, named } = iteration(argument, scope, name, "cond", ["limit"], 28646);
  const limitArgument = named.get("limit");
  const limit = limitArgument === undefined ? undefined : compile(limitArgument, scope);
  return (context) => {
    const v = input(context);
    if (isNullish(v)) return NULL;
    const values = listOf(v, 28651, (type) => `input to $filter must be an array not ${type}`);
    const limitValue = limit?.(context);
    const most = isNullish(limitValue) ? Infinity : wholeNumber(limitValue);
    if (most === undefined || most < 1)
      throw new CommandError(327392, "$filter: limit must be greater than 0");
    const kept: RawValue[] = [];
    for (const value of values) {
      if (kept.length >= most) break;
      context.slots[slot] = value;
      if (isTruthy(each(context))) kept.push(value);
    }
    return array(kept);
  };
};

const reduce: OperatorCompiler = (argument, scope, name) => {
  const named = namedArguments(name, argument, ["input", "initialValue", "in"], 40076);
  const [input, initial, body] = ["input", "initialValue", "in"].map((part, i) => {
    const value = named.get(part);
    if (value === undefined) throw new CommandError(40077 + i, `${name} requires '${part}' to be specified`);
    return value;
  });
  const inputExpression = compile(input!, scope);
  const initialExpression = compile(initial!, scope);
  const withThis = bind(scope, "this");
  const withValue = bind(withThis.scope, "value");
  const each = compile(body!, withValue.scope);
  return (context) => {
    const v = inputExpression(context);
    if (isNullish(v)) return NULL;
    let value = initialExpression(context);
    for (const element of listOf(
      v,
      40080,
      (type) => `$reduce requires that 'input' be an array, found: ${type}`,
    )) {
      context.slots[withThis.slot] = element;
      context.slots[withValue.slot] = value;
      value = each(context);
    }
    return value;
  };
};

const RANGE_LIMIT = 5_000_000;

function range([start, stop, step]: readonly Argument[]): Argument {
  const from = rangeNumber(start, "starting", 34443);
  const to = rangeNumber(stop, "ending", 34445);
  const by = step === undefined ? 1 : rangeNumber(step, "step", 34447);
  if (by === 0) throw new CommandError(34449, "$range requires a non-zero step value");
  if ((to - from) / by > RANGE_LIMIT) throw new CommandError(146, "$range would use too much memory");
  const values: RawValue[] = [];
  for (let n = from; by > 0 ? n < to : n > to; n += by) values.push(int32(n));
  return array(values);
}

function rangeNumber(v: Argument, which: string, code: number): number {
  const n = wholeNumber(v);
  if (n === undefined || !fitsInt32(n)) {
    throw new CommandError(
      code,
      `$range requires a numeric ${which} value that can be represented as a 32-bit integer, found value of type: ${typeName(v)}`,
    );
  }
  return n;
}

function indexOfArray([v, searched, start, stop]: readonly Argument[]): Argument {
  if (isNullish(v)) return NULL;
  const values = listOf(
    v,
    40090,
    (type) => `$indexOfArray requires an array as a first argument, found: ${type}`,
  );
  const from = indexBound(start, 0);
  const to = Math.min(values.length, indexBound(stop, Infinity));
  for (let i = from; i < to; i++) if (compareArguments(values[i], searched) === 0) return int32(i);
  return int32(-1);
}

function indexBound(v: Argument, otherwise: number): number {
  if (v === undefined) return otherwise;
  const n = wholeNumber(v);
  if (n === undefined || n < 0)
    throw new CommandError(40096, "$indexOfArray requires nonnegative integral indexes");
  return n;
}

export const ARRAYS: Readonly<Record<string, OperatorCompiler>> = {
  $size: unary(size),
  $arrayElemAt: binary(elementAt),
  $first: end(0),
  $last: end(-1),
  $concatArrays: variadic(concatArrays),
  $slice: variadic(slice, 2, 3),
  $map: map,
  $filter: filter,
  $reduce: reduce,
  $range: variadic(range, 2, 3),
  $reverseArray: unary((v, name) =>
    isNullish(v)
      ? NULL
      : array(
          listOf(
            v,
            34435,
            (type) => `The argument to ${name} must be an array, but was of type: ${type}`,
          ).reverse(),
        ),
  ),
  $isArray: unary((v) => (v?.type === BsonType.array ? TRUE : FALSE)),
  $indexOfArray: variadic(indexOfArray, 2, 4),
};
