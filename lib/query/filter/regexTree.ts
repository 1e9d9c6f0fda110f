/**
 * A regular expression taken apart.
 *
 * The parser (regexParse.ts) reads PCRE's notation into this tree. Options are
 * resolved on the way — `i` into the characters themselves, `s` and `m` into
 * what `.`, `^` and `$` mean — so that every engine that runs the tree reads
 * the same thing and none needs a mode:
 *
 *     (?i)ab$   →   seq( set[Aa], set[Bb], assert endOrNewline )
 */
export type RegexNode =
  /** One character (code point) of a set. */
  | { readonly kind: "set"; readonly set: CharacterSet }
  | { readonly kind: "seq"; readonly items: readonly RegexNode[] }
  | { readonly kind: "alt"; readonly branches: readonly RegexNode[] }
  | { readonly kind: "capture"; readonly index: number; readonly child: RegexNode }
  | {
      readonly kind: "repeat";
      readonly child: RegexNode;
      readonly min: number;
      /** Infinity where there is no upper limit. */
      readonly max: number;
      readonly greedy: boolean;
    }
  | { readonly kind: "assert"; readonly what: Assertion }
  | {
      readonly kind: "look";
      readonly ahead: boolean;
      readonly negative: boolean;
      readonly child: RegexNode;
    }
  /** Once matched, never given back: `(?>…)`, `a++`. */
  | { readonly kind: "atomic"; readonly child: RegexNode }
  | { readonly kind: "backreference"; readonly index: number; readonly ignoreCase: boolean };

export type Assertion =
  /** `^`, `\A` */
  | "start"
  /** `\z` */
  | "end"
  /** `$`, `\Z`: the end, or before a newline that is the last character */
  | "endOrNewline"
  /** `^` with `m`: the start, or behind a newline that is not the last character */
  | "lineStart"
  /** `$` with `m` */
  | "lineEnd"
  | "wordBoundary"
  | "notWordBoundary"
  | "unicodeWordBoundary"
  | "notUnicodeWordBoundary";

/** A member of a set: a range of code points, both ends included, or a Unicode property by name. */
export type Member = readonly [from: number, to: number] | Property;

export interface Property {
  /** As JavaScript writes it within `\p{…}`: `Lu`, `Script_Extensions=Greek`. */
  readonly name: string;
  readonly negated: boolean;
}

/** A set of characters, the union of its members, or everything else. */
export interface CharacterSet {
  readonly members: readonly Member[];
  readonly negated: boolean;
}

export const EMPTY: RegexNode = { kind: "seq", items: [] };
export const LAST_CODE_POINT = 0x10ffff;

/** True for a Unicode property, as against a range of code points. */
export function isProperty(member: Member): member is Property {
  return !Array.isArray(member);
}

/** A set of characters. */
export function charactersOf(members: readonly Member[], negated = false): RegexNode {
  return { kind: "set", set: { members, negated } };
}

/** The code point of a set of exactly one; undefined for all others. */
export function singleCharacter(set: CharacterSet): number | undefined {
  const [only] = set.members;
  if (set.negated || set.members.length !== 1 || isProperty(only!)) return undefined;
  return only![0] === only![1] ? only![0] : undefined;
}

/** The ranges between the given ones. */
export function complementOf(ranges: readonly (readonly [number, number])[]): Array<[number, number]> {
  const sorted = [...ranges].sort((a, b) => a[0] - b[0]);
  const result: Array<[number, number]> = [];
  let next = 0;
  for (const [from, to] of sorted) {
    if (from > next) result.push([next, from - 1]);
    next = Math.max(next, to + 1);
  }
  if (next <= LAST_CODE_POINT) result.push([next, LAST_CODE_POINT]);
  return result;
}

/** A set as a class in JavaScript's notation with flag `u`: `[a-z\p{Lu}]`. */
export function classText(set: CharacterSet): string {
  const members = set.members.map((member) =>
    isProperty(member)
      ? `\\${member.negated ? "P" : "p"}{${member.name}}`
      : member[0] === member[1]
        ? codePointText(member[0])
        : `${codePointText(member[0])}-${codePointText(member[1])}`,
  );
  return `[${set.negated ? "^" : ""}${members.join("")}]`;
}

/** A code point as itself where that is safe in and out of brackets, escaped elsewhere. */
export function codePointText(code: number): string {
  if ((code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122)) {
    return String.fromCharCode(code);
  }
  return `\\u{${code.toString(16)}}`;
}
