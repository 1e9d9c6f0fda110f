/**
 * Regular expressions: MongoDB's PCRE patterns, and none that can hang the server.
 *
 * A pattern is parsed into a tree (regexParse.ts) that three engines can run,
 * all with the same answers:
 *
 *     JavaScript's RegExp   fastest; backtracks, so only for texts so short that even the
 *                           worst case is harmless (regexCost.ts)
 *     RE2 (re2js)           linear time, for everything regular
 *     our own matcher       the rest: look-around, back references, `$` before a final
 *                           newline; bounded by a count of steps (regexMatcher.ts)
 *
 * Engines are made when a text first needs them.
 */
import { RE2JS } from "re2js";
import { BsonType, asString, type RawValue } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import { harmlessLength, traitsOf, type Traits } from "./regexCost.js";
import { javascriptSource, re2Source } from "./regexEmit.js";
import { MatchLimitError, RegexMatcher } from "./regexMatcher.js";
import { parseRegex } from "./regexParse.js";
import { compileProgram } from "./regexProgram.js";
import { singleCharacter, type RegexNode } from "./regexTree.js";

/** One match within a text; positions in UTF-16 units. */
export interface RegexMatch {
  readonly start: number;
  readonly end: number;
  /** Text of each capture group, undefined for one that took no part. */
  readonly captures: ReadonlyArray<string | undefined>;
}

/** One regular expression. */
export interface Pattern {
  readonly source: string;
  /** The options in alphabetical order, as MongoDB stores them. */
  readonly flags: string;
  /** Text every match must begin with, where the pattern says so: `^abc` → "abc". */
  readonly prefix: string | undefined;
  /** The pattern asks for nothing but the prefix. */
  readonly prefixOnly: boolean;
  /** Number of capture groups. */
  readonly captureCount: number;
  /** True where a string matches. Throws {@link CommandError} 51156 where that takes too many steps. */
  test(text: string): boolean;
  /**
   * The first match that begins at or behind `from`; what stands before counts
   * for `^`, `\b` and looking behind.
   * @throws CommandError 51156 where that takes too many steps
   */
  findMatch(text: string, from?: number): RegexMatch | undefined;
}

/** PCRE2 as MongoDB sets it up. */
const MAX_PATTERN_BYTES = 16_384;
/** Instructions, counted repeats written out: what PCRE2 calls too large is of this order. */
const MAX_SIZE = 50_000;
/** Beyond this size JavaScript takes too long to compile a pattern. */
const MAX_JAVASCRIPT_SIZE = 2000;

/**
 * Text × pattern that RE2 gets: a few seconds' work where its automaton grows
 * too large and it has to simulate all states at once. Beyond, our own matcher
 * and its count of steps decide.
 */
const MAX_TEST_WORK = 2 ** 30;
const MAX_FIND_WORK = 2 ** 26;
const SURROGATE = /[\ud800-\udfff]/;
const encoder = new TextEncoder();

/**
 * Compiles a pattern.
 * @param source PCRE pattern
 * @param flags any of `imsxu`
 * @param operator the expression it stands in, e.g. `"$regexMatch"`; none for filters. Messages name it.
 * @throws CommandError 51091 (51111 in expressions) for a malformed pattern, 51108 for an unknown flag, 238 for
 *   what is not simulated (recursion, conditions, verbs)
 * @example compilePattern("^a.c$", "i").test("ABC") // true
 */
export function compilePattern(source: string, flags: string, operator?: string): Pattern {
  const bad = /[^imsux]/.exec(flags);
  if (bad) throw new CommandError(51108, `${operator ?? ""} invalid flag in regex options: ${bad[0]}`);
  const sorted = [...new Set(flags)].sort().join("");
  const invalid = (why: string): CommandError =>
    operator === undefined
      ? new CommandError(51091, `Regular expression is invalid: ${why}`)
      : new CommandError(51111, `Invalid Regex in ${operator}: ${why}`);
  if (source.includes("\0")) {
    throw new CommandError(ErrorCode.BadValue, "Regular expression cannot contain an embedded null byte");
  }
  if (source.length > MAX_PATTERN_BYTES || encoder.encode(source).length > MAX_PATTERN_BYTES) {
    throw invalid("pattern string is longer than the limit set by the application");
  }
  const { root, captures } = parseRegex(source, sorted, invalid);
  const traits = traitsOf(root);
  if (traits.size > MAX_SIZE) throw invalid("regular expression is too large");
  return new CompiledPattern(source, sorted, root, captures, traits, operator ?? "$regex");
}

class CompiledPattern implements Pattern {
  readonly source: string;
  readonly flags: string;
  readonly prefix: string | undefined;
  readonly prefixOnly: boolean;
  readonly captureCount: number;
  readonly #root: RegexNode;
  readonly #traits: Traits;
  readonly #operator: string;
  /** Longest texts for JavaScript: to test, and to find with positions and captures. */
  #testLength: number;
  #findLength: number;
  #javascript: RegExp | undefined;
  #re2: RE2JS | null | undefined;
  #matcher: RegexMatcher | undefined;

  constructor(
    source: string,
    flags: string,
    root: RegexNode,
    captures: number,
    traits: Traits,
    operator: string,
  ) {
    this.source = source;
    this.flags = flags;
    this.captureCount = captures;
    ({ prefix: this.prefix, prefixOnly: this.prefixOnly } = literalPrefix(root));
    this.#root = root;
    this.#traits = traits;
    this.#operator = operator;
    this.#testLength = traits.size > MAX_JAVASCRIPT_SIZE ? -1 : harmlessLength(root);
    // JavaScript forgets captures on each time round and numbers those of a look behind from the right.
    const differs = traits.subtleRepeats || (traits.lookaround && captures > 0);
    this.#findLength = differs ? -1 : this.#testLength;
  }

  test(text: string): boolean {
    if (text.length <= this.#testLength && !this.#misleads(text)) {
      const expression = this.#asJavaScript();
      expression.lastIndex = 0;
      return expression.test(text);
    }
    const re2 = this.#isRegularOn(text, MAX_TEST_WORK) ? this.#asRe2() : null;
    return re2 === null ? this.#search(text, 0) !== undefined : re2.test(text);
  }

  findMatch(text: string, from = 0): RegexMatch | undefined {
    if (text.length <= this.#findLength && !this.#misleads(text)) {
      const expression = this.#asJavaScript();
      expression.lastIndex = from;
      const match = expression.exec(text);
      if (match === null) return undefined;
      return { start: match.index, end: match.index + match[0].length, captures: match.slice(1) };
    }
    const re2 = this.#isRegularOn(text, MAX_FIND_WORK) && !this.#traits.subtleRepeats ? this.#asRe2() : null;
    if (re2 !== null) {
      const matcher = re2.matcher(text);
      if (!matcher.find(from)) return undefined;
      const captures = this.#groups((i) => matcher.group(i) ?? undefined);
      return { start: matcher.start(), end: matcher.end(), captures };
    }
    // Whether there is a match at all costs little to know, and much to find out by backtracking.
    const asksFirst = from === 0 && this.#isRegularOn(text, MAX_TEST_WORK);
    if (asksFirst && this.#asRe2()?.test(text) === false) return undefined;
    const slots = this.#search(text, from);
    if (slots === undefined) return undefined;
    const captures = this.#groups((i) => {
      const start = slots[2 * i]!;
      const end = slots[2 * i + 1]!;
      return start < 0 || end < 0 ? undefined : text.slice(start, end);
    });
    return { start: slots[0]!, end: slots[1]!, captures };
  }

  #groups(group: (index: number) => string | undefined): Array<string | undefined> {
    return Array.from({ length: this.captureCount }, (_, i) => group(i + 1));
  }

  #asJavaScript(): RegExp {
    return (this.#javascript ??= new RegExp(javascriptSource(this.#root), "gu"));
  }

  /** JavaScript may stop between the halves of a character beyond U+FFFF. */
  #misleads(text: string): boolean {
    return this.#traits.betweenCharacters && SURROGATE.test(text);
  }

  /** RE2 has no way to look at what follows: `$` before a final newline is not for it. */
  #isRegularOn(text: string, work: number): boolean {
    const { irregular, unicodeNames, finalNewline, size } = this.#traits;
    if (irregular || unicodeNames || (finalNewline && text.endsWith("\n"))) return false;
    return text.length * size <= work;
  }

  /** Null where RE2 refuses the pattern: it repeats 1000 times at most. */
  #asRe2(): RE2JS | null {
    if (this.#re2 === undefined) {
      try {
        this.#re2 = RE2JS.compile(re2Source(this.#root));
      } catch {
        this.#re2 = null;
      }
    }
    return this.#re2;
  }

  #search(text: string, from: number): Int32Array | undefined {
    this.#matcher ??= new RegexMatcher(compileProgram(this.#root, this.captureCount));
    try {
      return this.#matcher.search(text, from);
    } catch (error) {
      if (!(error instanceof MatchLimitError)) throw error;
      throw new CommandError(
        51156,
        `Error occurred while executing the regular expression in ${this.#operator}. Result code: match limit exceeded`,
      );
    }
  }
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

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
 * The literal that a pattern starts with, for index bounds: characters right
 * behind `^` or `\A`, none of them with a second case or a choice.
 */
function literalPrefix(root: RegexNode): { prefix: string | undefined; prefixOnly: boolean } {
  const [first, ...rest] = root.kind === "seq" ? root.items : [root];
  if (first?.kind !== "assert" || first.what !== "start") return { prefix: undefined, prefixOnly: false };
  let prefix = "";
  let at = 0;
  for (; at < rest.length; at++) {
    const item = rest[at]!;
    const repeated = item.kind === "repeat" && item.min > 0;
    const character = repeated ? item.child : item;
    const code = character.kind === "set" ? singleCharacter(character.set) : undefined;
    if (code === undefined) break;
    prefix += String.fromCodePoint(code);
    if (repeated) break; // once for certain, and then an end that is not known
  }
  if (prefix === "") return { prefix: undefined, prefixOnly: false };
  const tail = rest.slice(at);
  return { prefix, prefixOnly: tail.length === 0 || (tail.length === 1 && isAnything(tail[0]!)) };
}

/** `.*` where the dot matches newlines too. */
function isAnything(node: RegexNode): boolean {
  if (node.kind !== "repeat" || node.min > 0 || node.max !== Infinity || node.child.kind !== "set")
    return false;
  const { members, negated } = node.child.set;
  const [only] = members;
  return !negated && members.length === 1 && Array.isArray(only) && only[0] === 0 && only[1] === 0x10ffff;
}
