/**
 * Characters and classes of characters in PCRE's notation: escapes, `[…]`,
 * POSIX names, Unicode properties.
 */
import { notSimulated } from "../../protocol/index.js";
import {
  charactersOf,
  complementOf,
  isProperty,
  LAST_CODE_POINT,
  type CharacterSet,
  type Member,
  type RegexNode,
} from "./regexTree.js";

/** Makes the error of a malformed pattern from PCRE2's words. */
export type Invalid = (why: string) => Error;

/** A place in the pattern, moved by sticky expressions. */
export class Cursor {
  at = 0;
  readonly #source: string;
  readonly #invalid: Invalid;

  constructor(source: string, invalid: Invalid) {
    this.#source = source;
    this.#invalid = invalid;
  }

  get done(): boolean {
    return this.at >= this.#source.length;
  }

  peek(what: RegExp): RegExpExecArray | undefined {
    what.lastIndex = this.at;
    return what.exec(this.#source) ?? undefined;
  }

  take(what: RegExp): RegExpExecArray | undefined {
    const match = this.peek(what);
    if (match) this.at += match[0].length;
    return match;
  }

  /** The next character, one code point. */
  character(): string {
    const code = this.#source.codePointAt(this.at);
    if (code === undefined) throw this.#invalid("\\ at end of pattern");
    const char = String.fromCodePoint(code);
    this.at += char.length;
    return char;
  }

  /** The text before `end`, which is passed over; all that is left where it doesn't come. */
  upTo(end: string): string {
    const found = this.#source.indexOf(end, this.at);
    const text = this.#source.slice(this.at, found === -1 ? undefined : found);
    this.at = found === -1 ? this.#source.length : found + end.length;
    return text;
  }
}

type Range = readonly [number, number];

const DIGIT: readonly Range[] = [[48, 57]];
const UPPER: readonly Range[] = [[65, 90]];
const LOWER: readonly Range[] = [[97, 122]];
const SPACE: readonly Range[] = [[9, 13], [32, 32]]; // prettier-ignore
const ALPHA = [...UPPER, ...LOWER];
const WORD = [...ALPHA, ...DIGIT, [95, 95] as const];

/** `\d \w \s`, ASCII, and `\h \v`, which are Unicode's in any case. */
export const BLANK_CHARACTERS: Readonly<Record<string, readonly Range[]>> = {
  d: DIGIT,
  w: WORD,
  s: SPACE,
  h: [[9, 9], [32, 32], [160, 160], [0x1680, 0x1680], [0x180e, 0x180e], [0x2000, 0x200a], [0x202f, 0x202f], [0x205f, 0x205f], [0x3000, 0x3000]], // prettier-ignore
  v: [[10, 13], [0x85, 0x85], [0x2028, 0x2029]], // prettier-ignore
};

const POSIX: Readonly<Record<string, readonly Range[]>> = {
  alnum: [...ALPHA, ...DIGIT],
  alpha: ALPHA,
  ascii: [[0, 127]],
  blank: [[9, 9], [32, 32]], // prettier-ignore
  cntrl: [[0, 31], [127, 127]], // prettier-ignore
  digit: DIGIT,
  graph: [[33, 126]],
  lower: LOWER,
  print: [[32, 126]],
  punct: [[33, 47], [58, 64], [91, 96], [123, 126]], // prettier-ignore
  space: SPACE,
  upper: UPPER,
  word: WORD,
  xdigit: [...DIGIT, [65, 70], [97, 102]],
};

const property = (name: string): Member => ({ name, negated: false });

/** The same with `(*UCP)`: by Unicode's categories. */
const UNICODE: Readonly<Record<string, readonly Member[]>> = {
  d: [property("Nd")],
  w: [property("L"), property("N"), property("Mn"), property("Pc")],
  s: [property("Z"), [9, 13], [0x85, 0x85]],
  alnum: [property("L"), property("N")],
  alpha: [property("L")],
  digit: [property("Nd")],
  lower: [property("Ll")],
  space: [property("Z"), [9, 13], [0x85, 0x85]],
  upper: [property("Lu")],
  word: [property("L"), property("N"), property("Mn"), property("Pc")],
};

/** What `\b` takes for a word with `(*UCP)`. */
export const UNICODE_WORD = UNICODE.w!;

export const dot: RegexNode = charactersOf([[0, LAST_CODE_POINT]]);
export const notNewline: RegexNode = charactersOf([[10, 10]], true);

/** The members of a set as they can stand among others, between brackets. */
function spelledOut({ members, negated }: CharacterSet): readonly Member[] {
  if (!negated) return members;
  const ranges = members.filter((member): member is Range => !isProperty(member));
  if (ranges.length === members.length) return complementOf(ranges);
  const [only] = members;
  if (members.length > 1 || !isProperty(only!)) {
    throw notSimulated("a regular expression with a negated Unicode class within brackets");
  }
  return [{ name: only.name, negated: !only.negated }];
}

/** `\d \D \w \W \s \S \h \H \v \V`. */
export function classEscape(cursor: Cursor, unicode: boolean): CharacterSet | undefined {
  const letter = cursor.take(/[dwshvDWSHV]/y)?.[0];
  if (letter === undefined) return undefined;
  const name = letter.toLowerCase();
  const members = (unicode ? UNICODE[name] : undefined) ?? BLANK_CHARACTERS[name]!;
  return { members, negated: letter !== name };
}

/** `\p{Lu} \P{L} \pN \p{^Lu} \p{Greek}`. */
export function unicodeProperty(cursor: Cursor, invalid: Invalid): CharacterSet | undefined {
  const match = cursor.take(/([pP])(?:([A-Z])|\{\s*(\^?)\s*([\w &-]+)\s*\})/y);
  if (match === undefined) {
    if (cursor.peek(/[pP]/y)) throw invalid("malformed \\P or \\p sequence");
    return undefined;
  }
  const negated = (match[1] === "P") !== (match[3] === "^");
  const given = match[2] ?? match[4]!;
  if (given === "Any") return { members: [[0, LAST_CODE_POINT]], negated };
  const special = { "L&": ["Lu", "Ll", "Lt"], Xan: ["L", "N"], Xwd: ["L", "N", "Mn", "Pc"] }[given];
  if (special) return { members: special.map(property), negated };
  for (const name of [given, `Script_Extensions=${given}`]) {
    if (isKnownProperty(name)) return { members: [property(name)], negated };
  }
  throw invalid("unknown property after \\P or \\p");
}

function isKnownProperty(name: string): boolean {
  // PCRE has the short names of general categories only: "Lu", not "Uppercase_Letter".
  if (!name.includes("=") && !/^[A-Z][a-z]?$/.test(name)) return false;
  try {
    return new RegExp(`\\p{${name}}`, "u").source !== "";
  } catch {
    return false;
  }
}

const CONTROL: Readonly<Record<string, number>> = { t: 9, n: 10, r: 13, f: 12, a: 7, e: 27 };

/** One character behind a backslash (already read). */
export function characterEscape(cursor: Cursor, invalid: Invalid): number {
  const match = cursor.take(
    /x\{\s*([0-9a-fA-F]+)\s*\}|x([0-9a-fA-F]{0,2})|o\{\s*([0-7]+)\s*\}|(0[0-7]{0,2}|[1-7][0-7]{0,2})|c([\x20-\x7e])|([tnrfae])|([^A-Za-z0-9])/uy,
  );
  if (match === undefined) {
    if (cursor.peek(/[FLlUuN]/y)) {
      throw invalid("PCRE2 does not support \\F, \\L, \\l, \\N{name}, \\U, or \\u");
    }
    if (cursor.peek(/k/y)) {
      throw invalid("\\k is not followed by a braced, angle-bracketed, or quoted name");
    }
    throw invalid("unrecognized character follows \\");
  }
  const [, braced, hex, octal, digits, control, letter, literal] = match;
  if (letter !== undefined) return CONTROL[letter]!;
  if (literal !== undefined) return literal.codePointAt(0)!;
  if (control !== undefined) return control.toUpperCase().charCodeAt(0) ^ 64;
  const code =
    braced !== undefined
      ? parseInt(braced, 16)
      : hex !== undefined
        ? parseInt(hex || "0", 16)
        : parseInt(octal ?? digits!, 8);
  if (code > LAST_CODE_POINT) throw invalid("character code point value in \\x{} or \\o{} is too large");
  if (code >= 0xd800 && code <= 0xdfff)
    throw invalid("disallowed Unicode code point (>= 0xd800 && <= 0xdfff)");
  return code;
}

/** What stands in brackets: members whose case may be ignored, and members that are as they are. */
export interface Bracket {
  readonly cased: Member[];
  readonly members: Member[];
  readonly negated: boolean;
}

/**
 * A class from behind its `[` to its `]`. A hyphen is a range between two
 * characters and itself first, last and after a range; next to `\d` and its
 * like it is an error, as since PCRE2.
 */
export function parseBracket(cursor: Cursor, invalid: Invalid, unicode: boolean): Bracket {
  if (cursor.peek(/([:.=])[^\]\\]*\1\]/y)) {
    throw invalid("POSIX named classes are supported only within a class");
  }
  const negated = cursor.take(/\^/y) !== undefined;
  const result: Bracket = { cased: [], members: [], negated };
  /** The character that a hyphen would make the lower end of a range; "class" behind one; nothing after a range. */
  let before: number | "class" | undefined;
  let quoted = false;
  for (let first = true; ; first = false) {
    if (cursor.done) throw invalid("missing terminating ] for character class");
    const quote = cursor.take(/\\[QE]/y)?.[0];
    if (quote !== undefined) {
      quoted = quote === "\\Q";
      continue;
    }
    if (!quoted && !first && cursor.take(/\]/y)) return result;
    if (!quoted && before !== undefined && cursor.take(/-(?!\])/y)) {
      if (before === "class") throw invalid("invalid range in character class");
      const high = bracketItem(cursor, invalid, unicode, false);
      if (typeof high !== "number") throw invalid("invalid range in character class");
      if (high < before) throw invalid("range out of order in character class");
      result.cased[result.cased.length - 1] = [before, high];
      before = undefined;
      continue;
    }
    const item = bracketItem(cursor, invalid, unicode, quoted);
    if (typeof item === "number") {
      result.cased.push([item, item]);
      before = item;
    } else {
      result.members.push(...spelledOut(item));
      before = "class";
    }
  }
}

/** One character, or the members of a named class or an escape. */
function bracketItem(
  cursor: Cursor,
  invalid: Invalid,
  unicode: boolean,
  quoted: boolean,
): number | CharacterSet {
  if (!quoted && cursor.peek(/\[[:.=]/y)) {
    const posix = cursor.take(/\[:(\^?)([a-z]+):\]/y);
    if (posix) {
      const name = posix[2]!;
      const members = (unicode ? UNICODE[name] : undefined) ?? POSIX[name];
      if (members === undefined) throw invalid("unknown POSIX class name");
      return { members, negated: posix[1] === "^" };
    }
    if (cursor.peek(/\[([.=])[^\]]*\1\]/y)) throw invalid("POSIX collating elements are not supported");
  }
  if (cursor.done) throw invalid("missing terminating ] for character class");
  const char = cursor.character();
  if (quoted || char !== "\\") return char.codePointAt(0)!;
  if (cursor.done) throw invalid("\\ at end of pattern");
  if (cursor.take(/b/y)) return 8;
  if (cursor.peek(/[BRX]/y)) throw invalid("escape sequence is invalid in character class");
  if (cursor.peek(/N(?!\{)/y)) throw invalid("\\N is not supported in a class");
  return classEscape(cursor, unicode) ?? unicodeProperty(cursor, invalid) ?? characterEscape(cursor, invalid);
}
