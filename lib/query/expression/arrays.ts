/**
 * Arrays by position: `$size $arrayElemAt $first $last $concatArrays $slice
 * $range $reverseArray $isArray $indexOfArray $in $zip`.
 */
import {
  BsonType,
  FALSE,
  NULL,
  TRUE,
  arrayDocument,
  asDocument,
  asNumber,
  describeValue,
  elements,
  int32,
  isNumeric,
  isTruthy,
  writeInt32,
  array,
  type RawValue,
} from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import { int32Of } from "../values/numeric.js";
import { typeName } from "../values/types.js";
import {
  binary,
  compileArguments,
  isNullish,
  namedArguments,
  unary,
  variadic,
  type Argument,
  type OperatorCompiler,
} from "./arguments.js";
import { compareArguments } from "./comparison.js";
import { compile } from "./compile.js";
import type { Expression, Scope } from "./context.js";
import { boundedArray, checkSize, stepper } from "./limits.js";
import { searchIndex } from "./substrings.js";
import { formatDouble } from "./text.js";

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

/** A 32-bit integer, or one of two errors. */
function index(v: RawValue, codes: readonly [number, number], type: string, range: string): number {
  if (!isNumeric(v)) throw new CommandError(codes[0], type + typeName(v));
  const n = int32Of(v);
  if (n === undefined) throw new CommandError(codes[1], range + formatDouble(asNumber(v)));
  return n;
}

function elementAt(v: Argument, at: Argument): Argument {
  if (isNullish(v) || isNullish(at)) return NULL;
  const values = listOf(v, 28689, (type) => `$arrayElemAt's first argument must be an array, but is ${type}`);
  return values.at(
    index(
      at,
      [28690, 28691],
      "$arrayElemAt's second argument must be a numeric value, but is ",
      "$arrayElemAt's second argument must be representable as a 32-bit integer: ",
    ),
  );
}

function end(at: 0 | -1): OperatorCompiler {
  return unary((v, name) => {
    if (isNullish(v)) return NULL;
    return listOf(v, 28689, (type) => `${name}'s argument must be an array, but is ${type}`).at(at);
  });
}

function concatArrays(values: readonly Argument[]): Argument {
  const all: RawValue[] = [];
  let bytes = 0;
  for (const v of values) {
    if (isNullish(v)) return NULL;
    bytes += v.end - v.start;
    checkSize(bytes, "$concatArrays");
    for (const element of listOf(v, 28664, (type) => `$concatArrays only supports arrays, not ${type}`)) {
      all.push(element);
    }
  }
  return boundedArray(all, "$concatArrays");
}

function slice([v, first, second]: readonly Argument[], hasThird: boolean): Argument {
  if (isNullish(v) || isNullish(first)) return NULL;
  const values = listOf(
    v,
    28724,
    (type) => `First argument to $slice must be an array, but is of type: ${type}`,
  );
  const a = index(
    first,
    [28725, 28726],
    "Second argument to $slice must be a numeric value, but is of type: ",
    "Second argument to $slice can't be represented as a 32-bit integer: ",
  );
  if (!hasThird) return array(a >= 0 ? values.slice(0, a) : values.slice(a));
  if (isNullish(second)) return NULL;
  const count = index(
    second,
    [28727, 28728],
    "Third argument to $slice must be numeric, but is of type: ",
    "Third argument to $slice can't be represented as a 32-bit integer: ",
  );
  if (count <= 0) throw new CommandError(28729, `Third argument to $slice must be positive: ${count}`);
  const from = a >= 0 ? a : Math.max(0, values.length + a);
  return array(values.slice(from, from + count));
}

/** MongoDB counts 16 bytes for each number and allows 100 MB. */
const RANGE_BYTES = 100 * 1024 * 1024;

function range(values: readonly Argument[]): Argument {
  const from = rangeNumber(values[0], "starting", "a", [34443, 34444]);
  const to = rangeNumber(values[1], "ending", "an", [34445, 34446]);
  const by = values.length > 2 ? rangeNumber(values[2], "step", "a", [34447, 34448]) : 1;
  if (by === 0) throw new CommandError(34449, "$range requires a non-zero step value");
  const steps = Math.trunc((to - from) / by);
  const needed = 24 + 16 * (steps >= 0 ? steps + 1 : 0);
  if (needed >= RANGE_BYTES) {
    throw new CommandError(
      ErrorCode.ExceededMemoryLimit,
      `$range would use too much memory (${needed} bytes) and cannot spill to disk. Memory limit: ${RANGE_BYTES} bytes`,
    );
  }
  return numbers(from, by, Math.max(0, Math.ceil((to - from) / by)));
}

function rangeNumber(v: Argument, which: string, article: string, codes: readonly [number, number]): number {
  if (v === undefined || !isNumeric(v)) {
    throw new CommandError(
      codes[0],
      `$range requires a numeric ${which} value, found value of type:${which === "step" ? "" : " "}${typeName(v)}`,
    );
  }
  const n = int32Of(v);
  if (n === undefined) {
    throw new CommandError(
      codes[1],
      `$range requires ${article} ${which} value that can be represented as a 32-bit integer, found value: ${describeValue(v)}`,
    );
  }
  return n;
}

/** `count` int32 from `first` on as an array, its bytes written straight away: a long range makes no objects. */
function numbers(first: number, step: number, count: number): RawValue {
  let bytes = 5 + 6 * count;
  for (let digits = 1, from = 0, to = 10; from < count; digits++, from = to, to *= 10) {
    bytes += digits * (Math.min(to, count) - from);
  }
  const doc = new Uint8Array(bytes);
  writeInt32(doc, 0, bytes);
  let at = 4;
  for (let i = 0, n = first; i < count; i++, n += step) {
    doc[at++] = BsonType.int32;
    const name = String(i);
    for (let j = 0; j < name.length; j++) doc[at++] = name.charCodeAt(j);
    at++;
    writeInt32(doc, at, n);
    at += 4;
  }
  return arrayDocument(doc);
}

function reverse(v: Argument, name: string): Argument {
  if (isNullish(v)) return NULL;
  return array(
    listOf(
      v,
      34435,
      (type) => `The argument to ${name} must be an array, but was of type: ${type}`,
    ).reverse(),
  );
}

const INDEX_CODES = [9711600, 9711601] as const;

const indexOfArray: OperatorCompiler = (argument, scope, name) => {
  const operands = compileArguments(argument, scope, name, 2, 4);
  const { collation } = scope.options;
  return (context) => {
    const [v, searched, start, stop] = operands.map((operand) => operand(context));
    if (isNullish(v)) return NULL;
    const values = listOf(
      v,
      40090,
      (type) => `$indexOfArray requires an array as a first argument, found: ${type}`,
    );
    const from = operands.length > 2 ? searchIndex(start, name, "starting index", INDEX_CODES) : 0;
    const to = operands.length > 3 ? searchIndex(stop, name, "ending index", INDEX_CODES) : Infinity;
    for (let i = from; i < Math.min(values.length, to); i++) {
      if (compareArguments(values[i], searched, collation) === 0) return int32(i);
    }
    return int32(-1);
  };
};

const membership: OperatorCompiler = (argument, scope, name) => {
  const [sought, list] = compileArguments(argument, scope, name, 2) as [Expression, Expression];
  const { collation } = scope.options;
  return (context) => {
    const v = sought(context);
    const values = listOf(
      list(context),
      40081,
      (type) => `$in requires an array as a second argument, found: ${type}`,
    );
    return values.some((element) => compareArguments(v, element, collation) === 0) ? TRUE : FALSE;
  };
};

function expressionList(v: RawValue | undefined, scope: Scope, code: number, name: string): Expression[] {
  if (v === undefined) return [];
  return listOf(v, code, (type) => `${name} must be an array of expressions, found ${type}`).map((item) =>
    compile(item, scope),
  );
}

/** `{ $zip: { inputs: [[1, 2], ["a", "b"]] } }` → `[[1, "a"], [2, "b"]]` */
const zip: OperatorCompiler = (argument, scope, name) => {
  const named = namedArguments(argument, ["inputs", "defaults", "useLongestLength"], {
    object: [34460, "$zip only supports an object as an argument, found {type}"],
    unknown: [34464, "$zip found an unknown argument: "],
  });
  const inputs = expressionList(named.get("inputs"), scope, 34461, "inputs");
  const defaults = expressionList(named.get("defaults"), scope, 34462, "defaults");
  const flag = named.get("useLongestLength");
  if (flag !== undefined && flag.type !== BsonType.bool) {
    throw new CommandError(34463, `useLongestLength must be a bool, found ${typeName(argument)}`);
  }
  const longest = isTruthy(flag);
  if (inputs.length === 0) throw new CommandError(34465, "$zip requires at least one input array");
  if (!longest && defaults.length > 0) {
    throw new CommandError(34466, "cannot specify defaults unless useLongestLength is true");
  }
  if (defaults.length > 0 && defaults.length !== inputs.length) {
    throw new CommandError(34467, "defaults and inputs must have the same length");
  }
  return (context) => {
    const columns: RawValue[][] = [];
    for (const input of inputs) {
      const v = input(context);
      if (isNullish(v)) return NULL;
      columns.push(
        listOf(v, 34468, () => `${name} found a non-array expression in input: ${describeValue(v)}`),
      );
    }
    const lengths = columns.map((column) => column.length);
    const rows = longest ? Math.max(...lengths) : Math.min(...lengths);
    checkSize(rows * columns.length * 16, name);
    const fill = columns.map((_, i) => defaults[i]?.(context) ?? NULL);
    const result: RawValue[] = [];
    for (let row = 0; row < rows; row++)
      result.push(array(columns.map((column, i) => column[row] ?? fill[i]!)));
    return boundedArray(result, name);
  };
};

const sliceOperator: OperatorCompiler = (argument, scope, name) => {
  const operands = compileArguments(argument, scope, name, 2, 3);
  return (context) =>
    slice(
      operands.map((operand) => operand(context)),
      operands.length > 2,
    );
};

export const ARRAYS: Readonly<Record<string, OperatorCompiler>> = {
  $size: unary(size),
  $arrayElemAt: binary(elementAt),
  $first: end(0),
  $last: end(-1),
  $concatArrays: variadic(concatArrays),
  $slice: sliceOperator,
  $range: (argument, scope, name) => {
    const numbers = variadic(range, 2, 3)(argument, scope, name);
    const step = stepper(scope, name);
    return (context) => {
      const list = numbers(context);
      if (list?.type === BsonType.array) step(context, (list.end - list.start) >> 8);
      return list;
    };
  },
  $reverseArray: unary(reverse),
  $isArray: unary((v) => (v?.type === BsonType.array ? TRUE : FALSE)),
  $indexOfArray: indexOfArray,
  $in: membership,
  $zip: zip,
};
