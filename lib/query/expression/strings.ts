/** Strings: `$concat $toLower $toUpper $substr* $strLen* $split $trim $indexOf* $replace* $strcasecmp $regexMatch`. */
import {
  BsonType,
  FALSE,
  NULL,
  TRUE,
  array,
  asString,
  int32,
  isNumeric,
  string,
  type RawValue,
} from "../../bson/index.js";
import { CommandError } from "../../protocol/index.js";
import { compilePattern, regexParts, type Pattern } from "../filter/regex.js";
import { wholeNumber } from "../values/numeric.js";
import { typeName } from "../values/types.js";
import { binary, isNullish, unary, variadic, type Argument, type OperatorCompiler } from "./arguments.js";
import { compile, constantOf } from "./compile.js";
import { coerceToString } from "./convert.js";
import { namedArguments } from "./fieldPath.js";

function isString(v: Argument): v is RawValue {
  return v !== undefined && (v.type === BsonType.string || v.type === BsonType.symbol);
}

function need(v: Argument, code: number, message: (type: string) => string): string {
  if (!isString(v)) throw new CommandError(code, message(typeName(v)));
  return asString(v);
}

function concat(values: readonly Argument[]): Argument {
  let text = "";
  for (const v of values) {
    if (isNullish(v)) return NULL;
    text += need(v, 16702, (type) => `$concat only supports strings, not ${type}`);
  }
  return string(text);
}

/** ASCII only, as MongoDB does it. */
function mapLetters(
  pattern: RegExp,
  map: (letters: string) => string,
): (v: Argument, name: string) => Argument {
  return (v, name) => string(coerceToString(v, name).replace(pattern, map));
}

function length(v: Argument, name: string): string {
  return need(v, 34471, (type) => `${name} requires a string argument, found: ${type}`);
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** By UTF-8 bytes; a cut within a character is refused. A negative length means the rest. */
function substringBytes([v, start, count]: readonly Argument[], name: string): Argument {
  const text = encoder.encode(coerceToString(v, name));
  const from = boundary(start, name, "starting index", 16034);
  const size = boundary(count, name, "length", 16035);
  if (from < 0) throw new CommandError(50752, `${name}: starting index must be non-negative (got: ${from})`);
  if (from >= text.length) return string("");
  if (isContinuation(text[from])) {
    throw new CommandError(28656, `${name}: Invalid range, starting index is a UTF-8 continuation byte.`);
  }
  const to = size < 0 ? text.length : Math.min(text.length, from + size);
  if (isContinuation(text[to])) {
    throw new CommandError(
      28657,
      `${name}: Invalid range, ending index is in the middle of a UTF-8 character.`,
    );
  }
  return string(decoder.decode(text.subarray(from, to)));
}

function boundary(v: Argument, name: string, what: string, code: number): number {
  if (v === undefined || !isNumeric(v)) {
    throw new CommandError(code, `${name}: ${what} must be a numeric type (is BSON type ${typeName(v)})`);
  }
  return wholeNumber(v) ?? 0;
}

/** By code points. */
function substringCodePoints([v, start, count]: readonly Argument[], name: string): Argument {
  const points = [...coerceToString(v, name)];
  const from = codePointArgument(start, name, "starting index", 34450, 34451, 34455);
  const size = codePointArgument(count, name, "length", 34452, 34453, 34454);
  return string(points.slice(from, from + size).join(""));
}

function codePointArgument(
  v: Argument,
  name: string,
  what: string,
  ...codes: readonly [number, number, number]
): number {
  if (v === undefined || !isNumeric(v)) {
    throw new CommandError(codes[0], `${name}: ${what} must be a numeric type (is BSON type ${typeName(v)})`);
  }
  const n = wholeNumber(v);
  if (n === undefined)
    throw new CommandError(codes[1], `${name}: ${what} cannot be represented as a 32-bit integral value`);
  if (n < 0) throw new CommandError(codes[2], `${name}: ${what} must be a nonnegative integer.`);
  return n;
}

function split(v: Argument, separator: Argument): Argument {
  if (isNullish(v) || isNullish(separator)) return NULL;
  const text = need(
    v,
    40085,
    (type) => `$split requires an expression that evaluates to a string as a first argument, found: ${type}`,
  );
  const by = need(
    separator,
    40086,
    (type) => `$split requires an expression that evaluates to a string as a second argument, found: ${type}`,
  );
  if (by === "") throw new CommandError(40087, "$split requires a non-empty separator");
  return array(text.split(by).map(string));
}

/** Blanks that `$trim` removes when no characters are given. */
const BLANKS = "\0 \t\n\v\f\r\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a";

function trim(left: boolean, right: boolean): OperatorCompiler {
  return (argument, scope, name) => {
    const named = namedArguments(name, argument, ["input", "chars"], 50694);
    const inputArgument = named.get("input");
    if (inputArgument === undefined) throw new CommandError(50695, `${name} requires an 'input' field`);
    const input = compile(inputArgument, scope);
    const charsArgument = named.get("chars");
    const chars = charsArgument === undefined ? undefined : compile(charsArgument, scope);
    return (context) => {
      const v = input(context);
      if (isNullish(v)) return NULL;
      const text = need(
        v,
        50699,
        (type) => `${name} requires its input to be a string, got ${type} instead.`,
      );
      let set = BLANKS;
      if (chars !== undefined) {
        const given = chars(context);
        if (isNullish(given)) return NULL;
        set = need(given, 50700, (type) => `${name} requires 'chars' to be a string, got ${type} instead.`);
      }
      const members = new Set(set);
      const points = [...text];
      let from = 0;
      let to = points.length;
      if (left) while (from < to && members.has(points[from]!)) from++;
      if (right) while (to > from && members.has(points[to - 1]!)) to--;
      return string(points.slice(from, to).join(""));
    };
  };
}

function indexOf(units: (text: string) => number): OperatorCompiler {
  return variadic(
    ([v, searched, start, end], name) => {
      if (isNullish(v)) return NULL;
      const text = need(
        v,
        40091,
        (type) => `${name} requires a string as the first argument, found: ${type}`,
      );
      const token = need(
        searched,
        40092,
        (type) => `${name} requires a string as the second argument, found: ${type}`,
      );
      const from = position(start, 0, name, "starting index");
      const to = position(end, Infinity, name, "ending index");
      for (let at = text.indexOf(token); at !== -1; at = text.indexOf(token, at + 1)) {
        const index = units(text.slice(0, at));
        if (index >= from) return int32(index + units(token) <= to ? index : -1);
        if (at >= text.length) break;
      }
      return int32(-1);
    },
    2,
    4,
  );
}

function position(v: Argument, otherwise: number, name: string, what: string): number {
  if (v === undefined) return otherwise;
  const n = wholeNumber(v);
  if (n === undefined)
    throw new CommandError(
      40096,
      `${name} requires an integral ${what}, found a value of type: ${typeName(v)}`,
    );
  if (n < 0) throw new CommandError(40097, `${name} requires a nonnegative ${what}, found: ${n}`);
  return n;
}

function replace(all: boolean): OperatorCompiler {
  return (argument, scope, name) => {
    const named = namedArguments(name, argument, ["input", "find", "replacement"], 51751);
    const [input, find, replacement] = (["input", "find", "replacement"] as const).map((part, i) => {
      const value = named.get(part);
      if (value === undefined)
        throw new CommandError(51749 - i, `${name} requires '${part}' to be specified`);
      return compile(value, scope);
    });
    return (context) => {
      const values = [input!(context), find!(context), replacement!(context)];
      const parts = ["input", "find", "replacement"];
      const texts = values.map((v, i) =>
        isNullish(v)
          ? undefined
          : need(v, 51746 - i, (type) => `${name} requires that '${parts[i]}' be a string, found: ${type}`),
      );
      const [text, token, by] = texts;
      if (text === undefined || token === undefined || by === undefined) return NULL;
      return string(all ? text.replaceAll(token, () => by) : text.replace(token, () => by));
    };
  };
}

function compareIgnoringCase(a: Argument, b: Argument, name: string): Argument {
  const lower = (v: Argument) =>
    encoder.encode(coerceToString(v, name).replace(/[A-Z]+/g, (s) => s.toLowerCase()));
  const x = lower(a);
  const y = lower(b);
  for (let i = 0; i < x.length && i < y.length; i++) if (x[i] !== y[i]) return int32(x[i]! < y[i]! ? -1 : 1);
  return int32(Math.sign(x.length - y.length));
}

const regexMatch: OperatorCompiler = (argument, scope, name) => {
  const named = namedArguments(name, argument, ["input", "regex", "options"], 31024);
  const inputArgument = named.get("input");
  const regexArgument = named.get("regex");
  if (inputArgument === undefined) throw new CommandError(31022, `${name} requires 'input' parameter`);
  if (regexArgument === undefined) throw new CommandError(31023, `${name} requires 'regex' parameter`);
  const input = compile(inputArgument, scope);
  const regex = compile(regexArgument, scope);
  const optionsArgument = named.get("options");
  const options = optionsArgument === undefined ? undefined : compile(optionsArgument, scope);
  const build = (pattern: Argument, flags: Argument): Pattern | undefined => {
    if (isNullish(pattern)) return undefined;
    const given = isNullish(flags)
      ? ""
      : need(flags, 51106, (type) => `${name} needs 'options' to be of type string, found: ${type}`);
    if (pattern.type === BsonType.regex) {
      const parts = regexParts(pattern);
      return compilePattern(parts.source, given || parts.flags);
    }
    const source = need(pattern, 51105, () => `${name} needs 'regex' to be of type string or regex`);
    return compilePattern(source, given);
  };
  const fixed = constantOf(regex);
  const compiled = fixed !== undefined && options === undefined ? build(fixed, undefined) : undefined;
  return (context) => {
    const pattern = compiled ?? build(regex(context), options?.(context));
    const v = input(context);
    if (isNullish(v) || pattern === undefined) return FALSE;
    const text = need(v, 51104, () => `${name} needs 'input' to be of type string`);
    return pattern.test(text) ? TRUE : FALSE;
  };
};

export const STRINGS: Readonly<Record<string, OperatorCompiler>> = {
  $concat: variadic(concat),
  $toLower: unary(mapLetters(/[A-Z]+/g, (s) => s.toLowerCase())),
  $toUpper: unary(mapLetters(/[a-z]+/g, (s) => s.toUpperCase())),
  $substr: variadic(substringBytes, 3, 3),
  $substrBytes: variadic(substringBytes, 3, 3),
  $substrCP: variadic(substringCodePoints, 3, 3),
  $strLenBytes: unary((v, name) => int32(encoder.encode(length(v, name)).length)),
  $strLenCP: unary((v, name) => int32([...length(v, name)].length)),
  $split: binary(split),
  $trim: trim(true, true),
  $ltrim: trim(true, false),
  $rtrim: trim(false, true),
  $indexOfCP: indexOf((text) => [...text].length),
  $indexOfBytes: indexOf((text) => encoder.encode(text).length),
  $replaceOne: replace(false),
  $replaceAll: replace(true),
  $strcasecmp: binary(compareIgnoringCase),
  $regexMatch: regexMatch,
};
