/**
 * Going through an array with a variable: `$map`, `$filter`, `$reduce`.
 *
 *     { $map: { input: "$prices", as: "p", in: { $multiply: ["$$p", 2] } } }
 *
 * The element's variable is `$$this` unless `as` names another one. Since
 * MongoDB 8.3 `arrayIndexAs` names a variable for the element's index, which
 * is `$$IDX` otherwise.
 */
import {
  BsonType,
  NULL,
  array,
  asString,
  describeValue,
  int32,
  isTruthy,
  type RawValue,
} from "../../bson/index.js";
import { CommandError, wrongFieldType } from "../../protocol/index.js";
import { int32Of } from "../values/numeric.js";
import {
  isNullish,
  namedArguments,
  compileOptional,
  type Argument,
  type OperatorCompiler,
} from "./arguments.js";
import { listOf } from "./arrays.js";
import { compile } from "./compile.js";
import { bind, type Scope } from "./context.js";
import { checkNesting, checkSize, stepper } from "./limits.js";
import { checkVariableName } from "./variables.js";

/** The name that `as` or its like gives a variable. */
function variableName(named: ReadonlyMap<string, RawValue>, argument: string, otherwise: string): string {
  const given = named.get(argument);
  if (given === undefined) return otherwise;
  if (given.type !== BsonType.string) throw wrongFieldType(argument, "string", given);
  const name = asString(given);
  checkVariableName(name);
  return name;
}

/** The scope of one element: its variable, and its index. */
function elementScope(
  named: ReadonlyMap<string, RawValue>,
  scope: Scope,
  as: string,
): { scope: Scope; slot: number; indexSlot: number } {
  const indexed = bind(scope, variableName(named, "arrayIndexAs", "IDX"));
  const inner = bind(indexed.scope, as);
  return { scope: inner.scope, slot: inner.slot, indexSlot: indexed.slot };
}

const map: OperatorCompiler = (argument, scope) => {
  const named = namedArguments(argument, ["input", "as", "in", "arrayIndexAs"], {
    object: [16878, "$map only supports an object as its argument"],
    unknown: [16879, "Unrecognized parameter to $map: "],
    required: {
      input: [16880, "Missing 'input' parameter to $map"],
      in: [16882, "Missing 'in' parameter to $map"],
    },
  });
  const input = compile(named.get("input")!, scope);
  const inner = elementScope(named, scope, variableName(named, "as", "this"));
  const each = compile(named.get("in")!, inner.scope);
  const step = stepper(scope, "$map");
  return (context) => {
    const v = input(context);
    if (isNullish(v)) return NULL;
    const values = listOf(v, 16883, (type) => `input to $map must be an array not ${type}`);
    const results: RawValue[] = [];
    let bytes = 0;
    for (let i = 0; i < values.length; i++) {
      step(context);
      context.slots[inner.slot] = values[i];
      context.slots[inner.indexSlot] = int32(i);
      const result = each(context) ?? NULL;
      bytes += result.end - result.start;
      checkSize(bytes, "$map");
      results.push(result);
    }
    return array(results);
  };
};

/** `limit` of `$filter`: Infinity where it is null or absent. */
function filterLimit(v: Argument): number {
  if (isNullish(v)) return Infinity;
  const n = int32Of(v);
  if (n === undefined) {
    throw new CommandError(
      327391,
      `$filter: limit must be represented as a 32-bit integral value: ${describeValue(v)}`,
    );
  }
  if (n < 1) throw new CommandError(327392, `$filter: limit must be greater than 0: ${n}`);
  return n;
}

const filter: OperatorCompiler = (argument, scope) => {
  const named = namedArguments(argument, ["input", "as", "cond", "limit", "arrayIndexAs"], {
    object: [28646, "$filter only supports an object as its argument"],
    unknown: [28647, "Unrecognized parameter to $filter: "],
    required: {
      input: [28648, "Missing 'input' parameter to $filter"],
      cond: [28650, "Missing 'cond' parameter to $filter"],
    },
  });
  const input = compile(named.get("input")!, scope);
  const inner = elementScope(named, scope, variableName(named, "as", "this"));
  const condition = compile(named.get("cond")!, inner.scope);
  const limit = compileOptional(named, "limit", scope);
  const step = stepper(scope, "$filter");
  return (context) => {
    const v = input(context);
    if (isNullish(v)) return NULL;
    const values = listOf(v, 28651, (type) => `input to $filter must be an array not ${type}`);
    const most = filterLimit(limit?.(context));
    const kept: RawValue[] = [];
    for (let i = 0; i < values.length && kept.length < most; i++) {
      step(context);
      context.slots[inner.slot] = values[i];
      context.slots[inner.indexSlot] = int32(i);
      if (isTruthy(condition(context))) kept.push(values[i]!);
    }
    return array(kept);
  };
};

const reduce: OperatorCompiler = (argument, scope) => {
  const named = namedArguments(argument, ["input", "initialValue", "in", "as", "valueAs", "arrayIndexAs"], {
    object: [40075, "$reduce requires an object as an argument, found: {type}"],
    unknown: [40076, "$reduce found an unknown argument: "],
    required: {
      input: [40077, "$reduce requires 'input' to be specified"],
      initialValue: [40078, "$reduce requires 'initialValue' to be specified"],
      in: [40079, "$reduce requires 'in' to be specified"],
    },
  });
  const input = compile(named.get("input")!, scope);
  const initial = compile(named.get("initialValue")!, scope);
  const inner = elementScope(named, scope, variableName(named, "as", "this"));
  const result = bind(inner.scope, variableName(named, "valueAs", "value"));
  const each = compile(named.get("in")!, result.scope);
  const step = stepper(scope, "$reduce");
  return (context) => {
    const v = input(context);
    if (isNullish(v)) return NULL;
    let value = initial(context);
    const list = listOf(
      v,
      40080,
      () => `$reduce requires that 'input' be an array, found: ${describeValue(v)}`,
    );
    for (let i = 0; i < list.length; i++) {
      step(context);
      context.slots[inner.slot] = list[i];
      context.slots[inner.indexSlot] = int32(i);
      context.slots[result.slot] = value;
      value = each(context);
      // Each step may wrap the value once more; a document never nests that deep.
      if (i % 50 === 49) checkNesting(value, "$reduce");
    }
    checkNesting(value, "$reduce");
    return value;
  };
};

export const ITERATION: Readonly<Record<string, OperatorCompiler>> = {
  $map: map,
  $filter: filter,
  $reduce: reduce,
};
