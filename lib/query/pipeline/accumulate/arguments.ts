/**
 * Arguments of accumulators that have names: `{ n, input }` of `$firstN`,
 * `{ n, sortBy, output }` of `$topN`, `{ input, p, method }` of `$percentile`.
 * The expressions and window functions of these names read them alike.
 */
import {
  BsonType,
  EMPTY_DOCUMENT,
  asDocument,
  asNumber,
  asString,
  describeValue,
  elements,
  fields,
  isNumeric,
  type RawValue,
} from "../../../bson/index.js";
import { CommandError, ErrorCode } from "../../../protocol/index.js";
import { compile, compileExpression } from "../../expression/compile.js";
import { expressionContext, type Expression, type ExpressionOptions } from "../../expression/context.js";
import { compileSort, type Sort } from "../../sort/index.js";
import { int64Of } from "../../values/numeric.js";

/** Values of an object by name, checked: each is asked for with its own code. */
function read(
  argument: RawValue,
  name: string,
  notObject: number,
  unknown: (field: string) => CommandError,
  required: Readonly<Record<string, number>>,
): ReadonlyMap<string, RawValue> {
  if (argument.type !== BsonType.object) {
    throw new CommandError(
      notObject,
      `specification must be an object; found ${name}: ${describeValue(argument)}`,
    );
  }
  const named = new Map(fields(asDocument(argument)));
  for (const field of named.keys()) if (!(field in required)) throw unknown(field);
  for (const [field, code] of Object.entries(required)) {
    if (!named.has(field)) throw new CommandError(code, `Missing value for '${field}'`);
  }
  return named;
}

/** `{ n, input }` as written. */
export function severalArguments(argument: RawValue, name: string): { n: RawValue; input: RawValue } {
  const notObject = name === "$minN" || name === "$maxN" ? 5787900 : 5787801;
  const named = read(
    argument,
    name,
    notObject,
    (field) => new CommandError(5787901, `Unknown argument for 'n' operator: ${field}`),
    { n: 5787906, input: 5787907 },
  );
  return { n: named.get("n")!, input: named.get("input")! };
}

/** The number of values that `n` asks for. Throws 5787902, 5787903 or 5787908. */
export function countOf(v: RawValue | undefined): number {
  if (v === undefined || !isNumeric(v)) {
    throw new CommandError(
      5787902,
      `Value for 'n' must be of integral type, but found ${v === undefined ? "missing" : describeValue(v)}`,
    );
  }
  const n = int64Of(v);
  if (n === undefined) {
    throw new CommandError(5787903, `Value for 'n' must be of integral type, but found ${describeValue(v)}`);
  }
  if (n <= 0n) throw new CommandError(5787908, `'n' must be greater than 0, found ${n}`);
  return Number(n);
}

/** `n` for a group: a group's `_id` that is an object is the document that it sees. */
export function countForGroup(n: Expression, group: RawValue): number {
  return countOf(n(expressionContext(group.type === BsonType.object ? asDocument(group) : EMPTY_DOCUMENT)));
}

/** The argument of `$top` and its like, compiled; `n` is undefined for `$top` and `$bottom`. */
export function rankedArguments(
  argument: RawValue,
  options: ExpressionOptions,
  name: string,
): { n: Expression | undefined; output: Expression; outputSource: RawValue; sort: Sort; sortBy: RawValue } {
  const several = name.endsWith("N");
  const named = read(
    argument,
    name,
    5788001,
    (field) => new CommandError(5788002, `Unknown argument to ${name} '${field}'`),
    { ...(several && { n: 5788003 }), output: 5788004, sortBy: 5788005 },
  );
  const sortBy = named.get("sortBy")!;
  if (sortBy.type !== BsonType.object) {
    throw new CommandError(10065, "invalid parameter: expected an object (sortBy)");
  }
  const outputSource = named.get("output")!;
  return {
    n: several ? compileExpression(named.get("n")!, options) : undefined,
    output: compileExpression(outputSource, options),
    outputSource,
    sort: compileSort(asDocument(sortBy), options),
    sortBy,
  };
}

/** The argument of `$percentile` or `$median` (which has no `p`). */
export function percentileArguments(
  argument: RawValue,
  options: ExpressionOptions,
  name: string,
  notObject: number,
): { input: RawValue; p: readonly number[] } {
  if (argument.type !== BsonType.object) {
    throw new CommandError(
      notObject,
      `specification must be an object; found ${name}: ${describeValue(argument)}`,
    );
  }
  const known = name === "$median" ? ["input", "method"] : ["input", "p", "method"];
  const named = new Map(fields(asDocument(argument)));
  for (const field of named.keys()) {
    if (known.includes(field)) continue;
    throw new CommandError(ErrorCode.IDLUnknownField, `BSON field '${name}.${field}' is an unknown field.`);
  }
  for (const field of known) {
    if (named.has(field)) continue;
    throw new CommandError(
      ErrorCode.IDLFailedToParse,
      `BSON field '${name}.${field}' is missing but a required field`,
    );
  }
  const method = named.get("method")!;
  if (method.type !== BsonType.string) {
    throw new CommandError(
      ErrorCode.TypeMismatch,
      `BSON field '${name}.method' is the wrong type, expected type 'string'`,
    );
  }
  if (asString(method) !== "approximate") {
    throw new CommandError(
      ErrorCode.BadValue,
      "Currently only 'approximate' can be used as percentile 'method'.",
    );
  }
  const p = name === "$median" ? [0.5] : percentages(named.get("p")!, options);
  return { input: named.get("input")!, p };
}

function percentages(p: RawValue, options: ExpressionOptions): number[] {
  const value = constantValue(p, options);
  const wrong = (code: number): CommandError =>
    new CommandError(
      code,
      `The $percentile 'p' field must be an array of numbers from [0.0, 1.0], but found: ${describeValue(value)}`,
    );
  if (value === undefined) {
    throw new CommandError(
      7750300,
      `The $percentile 'p' field must be an array of constant values, but found value: ${describeValue(p)}`,
    );
  }
  const list = value.type === BsonType.array ? elements(asDocument(value)) : [];
  if (list.length === 0) throw wrong(7750301);
  return list.map((each) => {
    if (!isNumeric(each)) throw wrong(7750302);
    const n = asNumber(each);
    if (!(n >= 0 && n <= 1)) throw wrong(7750303);
    return n;
  });
}

/** The value of an expression that needs no document; undefined for one that does. */
export function constantValue(v: RawValue, options: ExpressionOptions): RawValue | undefined {
  try {
    const expression = compile(v, { options, binding: undefined, depth: 0, withoutDocument: true });
    return expression(expressionContext(EMPTY_DOCUMENT));
  } catch (error) {
    // A value that refers to a document's field.
    if (error instanceof CommandError && error.code === 4890500) return undefined;
    throw error;
  }
}
