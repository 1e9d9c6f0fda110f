/** What the parsers of window functions have in common: `{ $name: argument, window: … }`. */
import { fields, type RawValue } from "../../../bson/index.js";
import { CommandError, ErrorCode } from "../../../protocol/index.js";
import type { Sort } from "../../sort/index.js";
import { parseWindow, type Window } from "./bounds.js";
import type { WindowFunction, WindowSetup } from "./partition.js";

/** Reads a function's specification, e.g. `{ $sum: "$x", window: … }`. */
export type WindowFunctionParser = (spec: Uint8Array, setup: WindowSetup, name: string) => WindowFunction;

/** FailedToParse (9): what a malformed window or function ends in. */
export function failed(message: string): CommandError {
  return new CommandError(ErrorCode.FailedToParse, message);
}

/** The argument and the window of a function that may have one; `unexpected` says what else is wrong. */
export function argumentAndWindow(
  spec: Uint8Array,
  setup: WindowSetup,
  name: string,
  unexpected: (field: string) => string,
): { argument: RawValue; window: Window | undefined } {
  let argument: RawValue | undefined;
  let window: Window | undefined;
  for (const [field, value] of fields(spec)) {
    if (field === "window") {
      if (window !== undefined) throw failed(`saw multiple 'window' fields in '${name}' expression`);
      window = parseWindow(value, setup);
    } else if (field === name) {
      if (argument !== undefined) throw failed(`saw multiple specifications for '${name}' expression`);
      argument = value;
    } else throw failed(unexpected(field));
  }
  return { argument: argument!, window };
}

/** What plain accumulators say to another field. */
export function unknownArgument({ isFunction }: WindowSetup, number = "two"): (field: string) => string {
  return (field) =>
    isFunction(field)
      ? `Cannot specify ${number} functions in window function spec`
      : `Window function found an unknown argument: ${field}`;
}

/** What `$firstN` and its like say. */
export function unexpectedArgument(name: string): (field: string) => string {
  return (field) => `${name} got unexpected argument: ${field}`;
}

/** The argument of a function that has no window. */
export function argumentOnly(spec: Uint8Array, setup: WindowSetup, name: string): RawValue {
  let hasWindow = false;
  let argument: RawValue | undefined;
  for (const [field, value] of fields(spec)) {
    if (field === "window") hasWindow = true;
    else if (field !== name || argument !== undefined) throw failed(unknownArgument(setup)(field));
    else argument = value;
  }
  if (hasWindow) throw failed(`'window' field is not allowed in ${name}`);
  return argument!;
}

/** The sort of a function that needs one with a single component. */
export function singleSort({ sort }: WindowSetup, name: string, code: number): Sort {
  if (sort?.fields.length === 1) return sort;
  throw new CommandError(
    code,
    `${name} must be specified with a top level sortBy expression with exactly one element`,
  );
}
