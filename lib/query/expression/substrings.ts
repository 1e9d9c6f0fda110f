/** Positions in strings, by UTF-8 byte and by code point: `$substrBytes $substrCP $indexOfBytes $indexOfCP`. */
import { NULL, asBigInt, describeValue, int32, isNumeric, string } from "../../bson/index.js";
import { CommandError } from "../../protocol/index.js";
import { int32Of } from "../values/numeric.js";
import { typeName } from "../values/types.js";
import { isNullish, variadic, type Argument, type OperatorCompiler } from "./arguments.js";
import { searchFor } from "./search.js";
import { codePoints } from "./strings.js";
import { coerceToString, textOf } from "./text.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** A cut within a character is refused. A negative length means the rest. */
function substringBytes([v, start, count]: readonly Argument[]): Argument {
  const name = "$substrBytes"; // also where it was called $substr
  const text = encoder.encode(coerceToString(v));
  const from = boundary(start, name, "starting index", 16034);
  const size = boundary(count, name, "length", 16035);
  if (from < 0) {
    throw new CommandError(50752, `${name}:  starting index must be non-negative (got: ${from})`);
  }
  if (from >= text.length) return string("");
  if (isContinuation(text[from])) {
    throw new CommandError(28656, `${name}:  Invalid range, starting index is a UTF-8 continuation byte.`);
  }
  const to = size < 0 ? text.length : Math.min(text.length, from + size);
  if (isContinuation(text[to])) {
    throw new CommandError(
      28657,
      `${name}:  Invalid range, ending index is in the middle of a UTF-8 character.`,
    );
  }
  return string(decoder.decode(text.subarray(from, to)));
}

function boundary(v: Argument, name: string, what: string, code: number): number {
  if (v === undefined || !isNumeric(v)) {
    throw new CommandError(code, `${name}:  ${what} must be a numeric type (is BSON type ${typeName(v)})`);
  }
  return Number(asBigInt(v));
}

function substringCodePoints([v, start, count]: readonly Argument[], name: string): Argument {
  const text = coerceToString(v);
  const from = codePointArgument(start, name, "starting index", 34450, 34451);
  const size = codePointArgument(count, name, "length", 34452, 34453);
  if (size < 0) throw new CommandError(34454, `${name}: length must be a nonnegative integer.`);
  if (from < 0) throw new CommandError(34455, `${name}: the starting index must be nonnegative integer.`);
  return string([...text].slice(from, from + size).join(""));
}

function codePointArgument(
  v: Argument,
  name: string,
  what: string,
  typeCode: number,
  rangeCode: number,
): number {
  if (v === undefined || !isNumeric(v)) {
    throw new CommandError(typeCode, `${name}: ${what} must be a numeric type (is BSON type ${typeName(v)})`);
  }
  const n = int32Of(v);
  if (n === undefined) {
    throw new CommandError(
      rangeCode,
      `${name}: ${what} cannot be represented as a 32-bit integral value: ${describeValue(v)}`,
    );
  }
  return n;
}

/** An index argument. Throws `codes[0]` where it is no 32-bit integer, `codes[1]` where it is negative. */
export function searchIndex(
  v: Argument,
  name: string,
  what: string,
  codes: readonly [number, number],
): number {
  const n = int32Of(v);
  if (n === undefined) {
    throw new CommandError(
      codes[0],
      `${name}requires an integral ${what}, found a value of type: ${typeName(v)}, with value: "${describeValue(v)}"`,
    );
  }
  if (n < 0) throw new CommandError(codes[1], `${name} requires a nonnegative ${what}, found: ${n}`);
  return n;
}

const INDEX_CODES = [40096, 40097] as const;

function indexOf(codes: readonly [number, number], positionOf: PositionOf): OperatorCompiler {
  return variadic(
    (values, name) => {
      const [v, searched] = values;
      if (isNullish(v)) return NULL;
      const text = textOf(
        v,
        codes[0],
        (type) => `${name} requires a string as the first argument, found: ${type}`,
      );
      const token = textOf(
        searched,
        codes[1],
        (type) => `${name} requires a string as the second argument, found: ${type}`,
      );
      const from = values.length > 2 ? searchIndex(values[2], name, "starting index", INDEX_CODES) : 0;
      const to = values.length > 3 ? searchIndex(values[3], name, "ending index", INDEX_CODES) : Infinity;
      return int32(positionOf(text, token, from, to));
    },
    2,
    4,
  );
}

type PositionOf = (text: string, token: string, from: number, to: number) => number;

/** The token must lie within [from, to), both in bytes. */
const inBytes: PositionOf = (text, token, from, to) => {
  const total = lengthInBytes(text);
  const end = Math.min(total, to);
  if (from > total || end < from) return -1;
  if (token === "") return from;
  let at = 0;
  let bytes = 0;
  while (bytes < from) {
    const point = text.codePointAt(at)!;
    bytes += point > 0xffff ? 4 : point > 0x7ff ? 3 : point > 0x7f ? 2 : 1;
    at += point > 0xffff ? 2 : 1;
  }
  const found = searchFor(token)(text, at);
  if (found < 0) return -1;
  bytes += lengthInBytes(text.slice(at, found));
  return bytes + lengthInBytes(token) <= end ? bytes : -1;
};

function lengthInBytes(text: string): number {
  return encoder.encode(text).length;
}

/** The token must begin within [from, to), both in code points; it may end behind. */
const inCodePoints: PositionOf = (text, token, from, to) => {
  if (text === "" && token === "" && from === 0) return 0;
  let at = 0;
  for (let point = 0; point < from && at < text.length; point++) at += text.codePointAt(at)! > 0xffff ? 2 : 1;
  if (at >= text.length) return -1;
  const found = searchFor(token)(text, at);
  if (found < 0) return -1;
  const point = from + codePoints(text.slice(at, found));
  return point < to ? point : -1;
};

export const SUBSTRINGS: Readonly<Record<string, OperatorCompiler>> = {
  $substr: variadic(substringBytes, 3, 3),
  $substrBytes: variadic(substringBytes, 3, 3),
  $substrCP: variadic(substringCodePoints, 3, 3),
  $indexOfBytes: indexOf([40091, 40092], inBytes),
  $indexOfCP: indexOf([40093, 40094], inCodePoints),
};
