/**
 * Writes a tree in the notation of the two engines that read patterns:
 * JavaScript's RegExp (flag `u`) and RE2. All options are resolved already,
 * so no flags are needed, and both see the same sets of characters:
 *
 *     tree             JavaScript          RE2
 *     start            (?<![^])            \A
 *     end              (?![^])             \z
 *     endOrNewline     (?=\n?(?![^]))      \z     (never run on a text that ends in \n)
 *     lineStart        (?<![^\n])(…)       (?m:^) (same)
 *     lineEnd          (?![^\n])           (?m:$)
 */
import { UNICODE_WORD } from "./regexClass.js";
import {
  classText,
  codePointText,
  isProperty,
  singleCharacter,
  type Assertion,
  type CharacterSet,
  type RegexNode,
} from "./regexTree.js";

interface Dialect {
  readonly assertion: (what: Assertion) => string;
  readonly set: (set: CharacterSet) => string;
}

const UNICODE_WORD_CLASS = classText({ members: UNICODE_WORD, negated: false });

const JAVASCRIPT: Dialect = {
  assertion(what) {
    switch (what) {
      case "start":
        return "^";
      case "end":
        return "$";
      case "endOrNewline":
        return "(?=\\n?$)";
      case "lineStart":
        return "(?:^|(?<=\\n)(?!$))";
      case "lineEnd":
        return "(?![^\\n])";
      case "wordBoundary":
        return "\\b";
      case "notWordBoundary":
        return "\\B";
      case "unicodeWordBoundary":
        return `(?:(?<=${UNICODE_WORD_CLASS})(?!${UNICODE_WORD_CLASS})|(?<!${UNICODE_WORD_CLASS})(?=${UNICODE_WORD_CLASS}))`;
      case "notUnicodeWordBoundary":
        return `(?:(?<=${UNICODE_WORD_CLASS})(?=${UNICODE_WORD_CLASS})|(?<!${UNICODE_WORD_CLASS})(?!${UNICODE_WORD_CLASS}))`;
    }
  },
  set(set) {
    const code = singleCharacter(set);
    return code === undefined ? classText(set) : codePointText(code);
  },
};

const RE2: Dialect = {
  assertion(what) {
    switch (what) {
      case "start":
        return "\\A";
      case "end":
      case "endOrNewline":
        return "\\z";
      case "lineStart":
        return "(?m:^)";
      case "lineEnd":
        return "(?m:$)";
      case "wordBoundary":
        return "\\b";
      default:
        return "\\B";
    }
  },
  set(set) {
    const members = set.members.map((member) =>
      isProperty(member)
        ? `\\${member.negated ? "P" : "p"}{${member.name}}`
        : `${hex(member[0])}-${hex(member[1])}`,
    );
    if (members.length === 0) return set.negated ? "(?s:.)" : "[^\\x00-\\x{10FFFF}]";
    return `[${set.negated ? "^" : ""}${members.join("")}]`;
  },
};

function hex(code: number): string {
  return `\\x{${code.toString(16)}}`;
}

/** The pattern for `new RegExp(…, "u")`. The tree must not have atomic groups or back references. */
export function javascriptSource(root: RegexNode): string {
  return write(root, JAVASCRIPT);
}

/** The pattern for RE2. The tree must be regular. */
export function re2Source(root: RegexNode): string {
  return write(root, RE2);
}

function write(node: RegexNode, dialect: Dialect): string {
  switch (node.kind) {
    case "set":
      return dialect.set(node.set);
    case "assert":
      return dialect.assertion(node.what);
    case "seq":
      return node.items
        .map((item) => (item.kind === "alt" ? group(item, dialect) : write(item, dialect)))
        .join("");
    case "alt":
      return node.branches.map((branch) => write(branch, dialect)).join("|");
    case "capture":
      return `(${write(node.child, dialect)})`;
    case "repeat": {
      const { child, min, max, greedy } = node;
      const atom =
        child.kind === "set" || child.kind === "capture" ? write(child, dialect) : group(child, dialect);
      return `${atom}${quantifier(min, max)}${greedy ? "" : "?"}`;
    }
    case "look":
      return `(?${node.ahead ? "" : "<"}${node.negative ? "!" : "="}${write(node.child, dialect)})`;
    default:
      throw new Error(`${node.kind} has no equivalent`); // callers ask traitsOf first
  }
}

function group(node: RegexNode, dialect: Dialect): string {
  return `(?:${write(node, dialect)})`;
}

function quantifier(min: number, max: number): string {
  if (max === Infinity) return min === 0 ? "*" : min === 1 ? "+" : `{${min},}`;
  if (min === 0 && max === 1) return "?";
  return min === max ? `{${min}}` : `{${min},${max}}`;
}
