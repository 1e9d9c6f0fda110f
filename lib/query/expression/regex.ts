/**
 * Regular expressions in expressions: `$regexMatch`, `$regexFind`, `$regexFindAll`.
 *
 *     { $regexFind: { input: "a1b22", regex: /([a-z])(\d+)/ } }
 *       → { match: "a1", idx: 0, captures: ["a", "1"] }
 *
 * Matches don't overlap; behind an empty match the search goes on one
 * character further. `idx` counts code points. A capture group that took no
 * part is null.
 */
import {
  BsonType,
  DocumentWriter,
  FALSE,
  NULL,
  TRUE,
  array,
  asString,
  document,
  string,
  type RawValue,
} from "../../bson/index.js";
import { CommandError } from "../../protocol/index.js";
import { compilePattern, regexParts, type Pattern, type RegexMatch } from "../filter/regex.js";
import {
  compileOptional,
  isNullish,
  namedArguments,
  type Argument,
  type OperatorCompiler,
} from "./arguments.js";
import { compile, constantOf } from "./compile.js";
import { MAX_VALUE_BYTES } from "./limits.js";
import { codePoints } from "./strings.js";
import { isString } from "./text.js";

/** The pattern of a `regex` and an `options` argument; undefined where the regex is null. */
function buildPattern(regex: Argument, options: Argument, name: string): Pattern | undefined {
  if (!isNullish(regex) && !isString(regex) && regex.type !== BsonType.regex) {
    throw new CommandError(51105, `${name} needs 'regex' to be of type string or regex`);
  }
  if (!isNullish(options) && !isString(options)) {
    throw new CommandError(51106, `${name} needs 'options' to be of type string`);
  }
  let source: string | undefined;
  let flags = "";
  if (regex?.type === BsonType.regex) {
    const parts = regexParts(regex);
    if (!isNullish(options) && parts.flags !== "") {
      throw new CommandError(
        51107,
        `${name}: found regex option(s) specified in both 'regex' and 'option' fields`,
      );
    }
    ({ source, flags } = parts);
  } else if (!isNullish(regex)) source = asString(regex);
  if (!isNullish(options)) flags = asString(options);
  if (source?.includes("\0")) {
    throw new CommandError(51109, `${name}: regular expression cannot contain an embedded null byte`);
  }
  if (flags.includes("\0")) {
    throw new CommandError(51110, `${name}: regular expression options cannot contain an embedded null byte`);
  }
  return source === undefined ? undefined : compilePattern(source, flags, name);
}

/** An operator that asks a pattern about a text; `nothing` is its answer where one of them is null. */
function searching(nothing: RawValue, ask: (pattern: Pattern, text: string) => RawValue): OperatorCompiler {
  return (argument, scope, name) => {
    const named = namedArguments(argument, ["input", "regex", "options"], {
      object: [51103, `${name} expects an object of named arguments but found: {type}`],
      unknown: [31024, `${name} found an unknown argument: `],
      required: {
        input: [31022, `${name} requires 'input' parameter`],
        regex: [31023, `${name} requires 'regex' parameter`],
      },
    });
    const input = compile(named.get("input")!, scope);
    const regex = compile(named.get("regex")!, scope);
    const options = compileOptional(named, "options", scope);
    const fixedRegex = constantOf(regex);
    const fixedOptions = options === undefined ? NULL : constantOf(options);
    const isFixed = fixedRegex !== undefined && fixedOptions !== undefined;
    const fixed = isFixed ? buildPattern(fixedRegex, fixedOptions, name) : undefined;
    let last: { source: Argument; options: Argument; pattern: Pattern | undefined } | undefined;
    return (context) => {
      const v = input(context);
      let pattern = fixed;
      if (!isFixed) {
        const source = regex(context);
        const flags = options?.(context);
        if (last === undefined || last.source !== source || last.options !== flags) {
          last = { source, options: flags, pattern: buildPattern(source, flags, name) };
        }
        pattern = last.pattern;
      }
      if (!isNullish(v) && !isString(v)) {
        throw new CommandError(51104, `${name} needs 'input' to be of type string`);
      }
      return isNullish(v) || pattern === undefined ? nothing : ask(pattern, asString(v));
    };
  };
}

function matchDocument(text: string, match: RegexMatch, index: number): RawValue {
  const captures = match.captures.map((capture) => (capture === undefined ? NULL : string(capture)));
  return document(
    new DocumentWriter()
      .string("match", text.slice(match.start, match.end))
      .int32("idx", index)
      .values("captures", captures)
      .finish(),
  );
}

function find(pattern: Pattern, text: string): RawValue {
  const match = pattern.findMatch(text);
  return match === undefined ? NULL : matchDocument(text, match, codePoints(text.slice(0, match.start)));
}

function findAll(pattern: Pattern, text: string): RawValue {
  const found: RawValue[] = [];
  let bytes = 0;
  let counted = 0; // code points in front of `at`
  let at = 0;
  for (let from = 0; ;) {
    const match = pattern.findMatch(text, from);
    if (match === undefined) break;
    counted += codePoints(text.slice(at, match.start));
    at = match.start;
    const doc = matchDocument(text, match, counted);
    bytes += doc.end - doc.start;
    if (bytes > MAX_VALUE_BYTES) {
      throw new CommandError(
        51151,
        "$regexFindAll: the size of buffer to store output exceeded the 64MB limit",
      );
    }
    found.push(doc);
    from = match.end > match.start ? match.end : at + (isWide(text, at) ? 2 : 1);
    if (from >= text.length) break;
  }
  return array(found);
}

function isWide(text: string, at: number): boolean {
  const point = text.codePointAt(at);
  return point !== undefined && point > 0xffff;
}

export const REGEX: Readonly<Record<string, OperatorCompiler>> = {
  $regexMatch: searching(FALSE, (pattern, text) => (pattern.test(text) ? TRUE : FALSE)),
  $regexFind: searching(NULL, find),
  $regexFindAll: searching(array([]), findAll),
};
