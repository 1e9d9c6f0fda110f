/**
 * Regular expressions: MongoDB's PCRE patterns on JavaScript's engine.
 *
 * The two dialects look alike and differ in corners that change answers: `$`
 * matches before a final newline in PCRE, `\s` and `.` mean other characters,
 * an inline `(?i)` doesn't exist in JavaScript. So a pattern is not handed
 * over but *translated*, construct by construct (regexSyntax.ts), and what has
 * no exact equivalent is refused. Nested repetition such as `(a+)+` is refused
 * as well: JavaScript's engine backtracks, and one such pattern could hold the
 * server for minutes.
 */
import { BsonType, asString, type RawValue } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import { translatePattern } from "./regexSyntax.js";

/** One regular expression of a filter. */
export interface Pattern {
  readonly source: string;
  /** The options in alphabetical order, as MongoDB stores them. */
  readonly flags: string;
  /** Text every match must begin with, where the pattern says so: `^abc` → "abc". */
  readonly prefix: string | undefined;
  /** The pattern asks for nothing but the prefix. */
  readonly prefixOnly: boolean;
  /** True where a string matches. */
  test(text: string): boolean;
}

const MAX_BYTES = 32_764;
const INVALID_REGEX = 51091;
const INVALID_FLAG = 51108;

/**
 * Compiles a pattern.
 * @param source PCRE pattern
 * @param flags any of `imsxu`
 * @throws {@link CommandError} 51091 for a pattern that isn't one, 51108 for an unknown flag, 238 for what
 *   this engine would interpret differently
 */
export function compilePattern(source: string, flags: string): Pattern {
  const sorted = [...new Set(flags)].sort().join("");
  const bad = /[^imsux]/.exec(sorted);
  if (bad) throw new CommandError(INVALID_FLAG, `invalid flag in regex options: ${bad[0]}`);
  if (source.includes("\0")) {
    throw new CommandError(ErrorCode.BadValue, "Regular expression cannot contain an embedded null byte");
  }
  if (source.length > MAX_BYTES) {
    throw new CommandError(
      INVALID_REGEX,
      "Regular expression is invalid: pattern string is longer than the limit",
    );
  }
  const translated = translatePattern(source, sorted);
  let expression: RegExp;
  try {
    expression = new RegExp(translated.source, translated.ignoreCase ? "iu" : "u");
  } catch (error) {
    throw invalidRegex(error instanceof Error ? error.message : String(error));
  }
  return {
    source,
    flags: sorted,
    ...literalPrefix(source, sorted),
    test: (text) => expression.test(text),
  };
}

/** The error of a malformed pattern. */
export function invalidRegex(why: string): CommandError {
  return new CommandError(INVALID_REGEX, `Regular expression is invalid: ${why}`);
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const encoder = new TextEncoder();

/** Pattern and flags of a BSON regex: two strings that end in NUL. */
export function regexParts(v: RawValue): { source: string; flags: string } {
  const split = v.bytes.indexOf(0, v.start);
  return {
    source: decoder.decode(v.bytes.subarray(v.start, split)),
    flags: decoder.decode(v.bytes.subarray(split + 1, v.end - 1)),
  };
}

/** The BSON regex of a pattern. */
export function regexValue(pattern: Pattern): RawValue {
  const bytes = encoder.encode(`${pattern.source}\0${pattern.flags}\0`);
  return { type: BsonType.regex, bytes, start: 0, end: bytes.length };
}

/** The test of a filter: a string that matches, or the very same regular expression as a stored value. */
export function patternTest(pattern: Pattern): (v: RawValue | undefined) => boolean {
  return (v) => {
    if (v === undefined) return false;
    if (v.type === BsonType.string || v.type === BsonType.symbol) return pattern.test(asString(v));
    if (v.type !== BsonType.regex) return false;
    const stored = regexParts(v);
    return stored.source === pattern.source && stored.flags === pattern.flags;
  };
}

/**
 * The literal that a pattern starts with, for index bounds: only behind `^` or
 * `\A`, only in case-sensitive single-line patterns without alternatives. A
 * literal followed by `?`, `*` or `{` may be absent and is given up.
 */
function literalPrefix(source: string, flags: string): { prefix: string | undefined; prefixOnly: boolean } {
  const none = { prefix: undefined, prefixOnly: false };
  if (/[imx]/.test(flags) || source.includes("|") || source.includes("\\Q")) return none;
  let rest = source.startsWith("^")
    ? source.slice(1)
    : source.startsWith("\\A")
      ? source.slice(2)
      : undefined;
  if (rest === undefined) return none;
  let prefix = "";
  for (;;) {
    const literal = /^(?:\\([^a-zA-Z0-9])|([^\\^$.[\]|()?*+{}]))/u.exec(rest);
    if (!literal) break;
    const after = rest.slice(literal[0].length);
    if (/^[?*{]/.test(after)) return { prefix: prefix === "" ? undefined : prefix, prefixOnly: false };
    prefix += literal[1] ?? literal[2]!;
    rest = after;
    if (rest.startsWith("+")) break;
  }
  if (prefix === "") return none;
  return { prefix, prefixOnly: rest === "" || (rest === ".*" && flags.includes("s")) };
}
