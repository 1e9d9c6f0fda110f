/**
 * Strings: `$concat $toLower $toUpper $strLen* $split $trim $replace* $strcasecmp`.
 *
 * Letters are mapped in ASCII only, and nothing here looks at the collation:
 * so it is in MongoDB.
 */
import { BsonType, NULL, array, asString, describeValue, int32, string } from "../../bson/index.js";
import { CommandError } from "../../protocol/index.js";
import { typeName } from "../values/types.js";
import {
  binary,
  compileOptional,
  isNullish,
  namedArguments,
  unary,
  variadic,
  type Argument,
  type OperatorCompiler,
} from "./arguments.js";
import { compile } from "./compile.js";
import { checkSize } from "./limits.js";
import { piecesOf, searchFor } from "./search.js";
import { coerceToString, isString, textOf } from "./text.js";

const encoder = new TextEncoder();

function concat(values: readonly Argument[]): Argument {
  let text = "";
  for (const v of values) {
    if (isNullish(v)) return NULL;
    text += textOf(v, 16702, (type) => `$concat only supports strings, not ${type}`);
    checkSize(text.length, "$concat");
  }
  return string(text);
}

function mapLetters(pattern: RegExp, map: (letters: string) => string): (v: Argument) => Argument {
  return (v) => string(coerceToString(v).replace(pattern, map));
}

function split(v: Argument, separator: Argument): Argument {
  if (isNullish(v) || isNullish(separator)) return NULL;
  const text = textOf(
    v,
    40085,
    (type) => `$split requires an expression that evaluates to a string as a first argument, found: ${type}`,
  );
  const by = textOf(
    separator,
    10503900,
    (type) => `$split requires an expression that evaluates to a string as a second argument, found: ${type}`,
  );
  if (by === "") throw new CommandError(40087, "$split requires a non-empty separator");
  const pieces = piecesOf(text, by, (count) => checkSize(text.length + 16 * count, "$split"));
  return array(pieces.map(string));
}

/** Blanks that `$trim` removes when no characters are given. */
const BLANKS = "\0 \t\n\v\f\r\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a";

function trim(left: boolean, right: boolean): OperatorCompiler {
  return (argument, scope, name) => {
    const named = namedArguments(argument, ["input", "chars"], {
      object: [50696, `${name} only supports an object as an argument, found {type}`],
      unknown: [50694, `${name} found an unknown argument: `],
      required: { input: [50695, `${name} requires an 'input' field`] },
    });
    const input = compile(named.get("input")!, scope);
    const chars = compileOptional(named, "chars", scope);
    return (context) => {
      const v = input(context);
      if (isNullish(v)) return NULL;
      const text = textOf(
        v,
        50699,
        (type) =>
          `${name} requires its input to be a string, got ${describeValue(v)} (of type ${type}) instead.`,
      );
      let set = BLANKS;
      if (chars !== undefined) {
        const given = chars(context);
        if (isNullish(given)) return NULL;
        set = textOf(
          given,
          50700,
          (type) =>
            `${name} requires 'chars' to be a string, got ${describeValue(given)} (of type ${type}) instead.`,
        );
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

const REPLACE_PARTS = ["input", "find", "replacement"] as const;
const REPLACE_CODES = { input: 10503904, find: 10503901, replacement: 10503902 };

function replace(all: boolean): OperatorCompiler {
  return (argument, scope, name) => {
    const named = namedArguments(argument, REPLACE_PARTS, {
      object: [51751, `${name} requires an object as an argument, found: {type}`],
      unknown: [51750, `${name} found an unknown argument: `],
      required: {
        input: [51749, `${name} requires 'input' to be specified`],
        find: [51748, `${name} requires 'find' to be specified`],
        replacement: [51747, `${name} requires 'replacement' to be specified`],
      },
    });
    const parts = REPLACE_PARTS.map((part) => compile(named.get(part)!, scope));
    return (context) => {
      const texts = parts.map((part, i) => {
        const v = part(context);
        if (isNullish(v)) return undefined;
        if (!isString(v)) {
          const which = REPLACE_PARTS[i]!;
          throw new CommandError(
            REPLACE_CODES[which],
            `${name} requires that '${which}' be a string, found: ${describeValue(v)}`,
          );
        }
        return asString(v);
      });
      const [text, token, by] = texts;
      if (text === undefined || token === undefined || by === undefined) return NULL;
      return string(all ? replacedAll(text, token, by, name) : replacedOnce(text, token, by));
    };
  };
}

function replacedOnce(text: string, token: string, by: string): string {
  const at = searchFor(token)(text, 0);
  return at < 0 ? text : text.slice(0, at) + by + text.slice(at + token.length);
}

/** An empty token is found in front of every character and at the end. */
function replacedAll(text: string, token: string, by: string, name: string): string {
  if (token === "") {
    checkSize(text.length + (text.length + 1) * by.length, name);
    return by + [...text].map((character) => character + by).join("");
  }
  const pieces = piecesOf(text, token, (count) =>
    checkSize(text.length + (count - 1) * (by.length - token.length), name),
  );
  return pieces.join(by);
}

function compareIgnoringCase(a: Argument, b: Argument): Argument {
  const upper = (v: Argument) =>
    encoder.encode(coerceToString(v).replace(/[a-z]+/g, (letters) => letters.toUpperCase()));
  const x = upper(a);
  const y = upper(b);
  for (let i = 0; i < x.length && i < y.length; i++) if (x[i] !== y[i]) return int32(x[i]! < y[i]! ? -1 : 1);
  return int32(Math.sign(x.length - y.length));
}

function lengthInBytes(v: Argument, name: string): Argument {
  if (!isString(v)) {
    throw new CommandError(34473, `${name} requires a string argument, found: ${typeName(v)}`);
  }
  return int32(v.end - v.start - 5);
}

/** Bytes of a string or of binary data. */
function binarySize(v: Argument): Argument {
  if (isNullish(v)) return NULL;
  if (v.type === BsonType.string || v.type === BsonType.binary) return int32(v.end - v.start - 5);
  throw new CommandError(51276, `$binarySize requires a string or BinData argument, found: ${typeName(v)}`);
}

export const STRINGS: Readonly<Record<string, OperatorCompiler>> = {
  $concat: variadic(concat),
  $toLower: unary(mapLetters(/[A-Z]+/g, (s) => s.toLowerCase())),
  $toUpper: unary(mapLetters(/[a-z]+/g, (s) => s.toUpperCase())),
  $strLenBytes: unary(lengthInBytes),
  $strLenCP: unary((v, name) =>
    int32(codePoints(textOf(v, 34471, (type) => `${name} requires a string argument, found: ${type}`))),
  ),
  $binarySize: unary(binarySize),
  $split: binary(split),
  $trim: trim(true, true),
  $ltrim: trim(true, false),
  $rtrim: trim(false, true),
  $replaceOne: replace(false),
  $replaceAll: replace(true),
  $strcasecmp: binary(compareIgnoringCase),
};

/** How many characters a text has, those beyond the Basic Multilingual Plane counted once. */
export function codePoints(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length - 1; i++) {
    if ((text.charCodeAt(i) & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) {
      count--;
      i++;
    }
  }
  return count;
}
