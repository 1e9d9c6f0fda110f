/**
 * Translates a PCRE pattern into JavaScript's dialect (flag `u`), one
 * construct after the other:
 *
 *     PCRE            means                                JavaScript
 *     .               anything but \n                      [^\n]
 *     $               the end, or before a final \n        (?=\n?$)
 *     ^ $ with m      only \n ends a line                  (?<![^\n]) (?![^\n])
 *     \s              six ASCII blanks                     [\t-\r ]
 *     \Z \z \A        the end (as $), the very end, start  (?=\n?$) $ ^
 *     ] { } alone     themselves                           \] \{ \}
 *     [[:digit:]]     POSIX class, ASCII                   [0-9]
 *     \Qa.b\E         literally                            a\.b
 *
 * Refused, because JavaScript has no equal: back references (an unset group
 * fails in PCRE and matches in JavaScript), possessive and atomic groups,
 * recursion, conditionals, verbs, flags inside the pattern but at its start.
 */
import { notSimulated } from "../../protocol/index.js";
import { invalidRegex } from "./regex.js";

export interface Translation {
  readonly source: string;
  readonly ignoreCase: boolean;
}

const POSIX: Readonly<Record<string, string>> = {
  alnum: "a-zA-Z0-9",
  alpha: "a-zA-Z",
  ascii: "\\x00-\\x7f",
  blank: " \\t",
  cntrl: "\\x00-\\x1f\\x7f",
  digit: "0-9",
  graph: "\\x21-\\x7e",
  lower: "a-z",
  print: "\\x20-\\x7e",
  punct: "!-\\/:-@\\[-`\\{-~",
  space: "\\t-\\r ",
  upper: "A-Z",
  word: "a-zA-Z0-9_",
  xdigit: "0-9a-fA-F",
};

/** Members of the escapes that stand for several characters, for use inside brackets. */
const CLASS_ESCAPES: Readonly<Record<string, string>> = {
  d: "0-9",
  w: "a-zA-Z0-9_",
  s: "\\t-\\r ",
  h: "\\t \\u00a0\\u1680\\u180e\\u2000-\\u200a\\u202f\\u205f\\u3000",
  v: "\\n-\\r\\u0085\\u2028\\u2029",
};

const CHARACTER_ESCAPES: Readonly<Record<string, string>> = {
  t: "\\t",
  n: "\\n",
  r: "\\r",
  f: "\\f",
  a: "\\x07",
  e: "\\x1b",
};

const MAX_GROUP_DEPTH = 100;

/** Translates `source` under PCRE's options `flags` (any of `imsux`). */
export function translatePattern(source: string, flags: string): Translation {
  return new Translator(source, flags).run();
}

interface Group {
  /** Where the group's translation starts in the output. */
  readonly lookaround: boolean;
  /** Something inside repeats without limit. */
  repeats: boolean;
}

class Translator {
  #at = 0;
  #out = "";
  readonly #source: string;
  #ignoreCase: boolean;
  #multiline: boolean;
  #dotAll: boolean;
  #extended: boolean;
  readonly #groups: Group[] = [];
  #top: Group = { lookaround: false, repeats: false };
  /** The last atom can take a quantifier; and it contains an unlimited repetition. */
  #atom: "none" | "plain" | "repeating" = "none";

  constructor(source: string, flags: string) {
    this.#source = source;
    this.#ignoreCase = flags.includes("i");
    this.#multiline = flags.includes("m");
    this.#dotAll = flags.includes("s");
    this.#extended = flags.includes("x");
  }

  run(): Translation {
    this.#leadingFlags();
    while (this.#at < this.#source.length) this.#construct();
    if (this.#groups.length > 0) throw invalidRegex("missing closing parenthesis");
    return { source: this.#out, ignoreCase: this.#ignoreCase };
  }

  /** `(?i)` in front sets options for the whole pattern. */
  #leadingFlags(): void {
    const match = /^\(\?([imsx]+)\)/.exec(this.#source);
    if (!match) return;
    this.#at = match[0].length;
    const set = match[1]!;
    this.#ignoreCase ||= set.includes("i");
    this.#multiline ||= set.includes("m");
    this.#dotAll ||= set.includes("s");
    this.#extended ||= set.includes("x");
  }

  #emit(text: string, atom: "none" | "plain"): void {
    this.#out += text;
    this.#atom = atom;
  }

  #construct(): void {
    const char = String.fromCodePoint(this.#source.codePointAt(this.#at)!);
    this.#at += char.length;
    switch (char) {
      case "\\":
        return this.#escape();
      case "[":
        return this.#bracket();
      case "(":
        return this.#open();
      case ")":
        return this.#close();
      case "|":
        return this.#emit("|", "none");
      case ".":
        return this.#emit(this.#dotAll ? "[^]" : "[^\\n]", "plain");
      case "^":
        return this.#emit(this.#multiline ? "(?:^|(?<=\\n)(?!$))" : "^", "none");
      case "$":
        return this.#emit(this.#multiline ? "(?![^\\n])" : "(?=\\n?$)", "none");
      case "*":
      case "+":
      case "?":
        return this.#quantifier(char, char !== "?");
      case "{": {
        const match = /^\{(\d+)(,(\d*))?\}/.exec(this.#source.slice(this.#at - 1));
        if (!match) return this.#emit("\\{", "plain");
        this.#at += match[0].length - 1;
        const high = match[2] === undefined ? match[1]! : match[3]!;
        if (Number(match[1]) > 65535 || Number(high) > 65535)
          throw invalidRegex("number too big in {} quantifier");
        return this.#quantifier(match[0], high === "" || Number(high) > 100);
      }
      case "]":
      case "}":
      case "/":
        return this.#emit(`\\${char}`, "plain");
      default:
        if (this.#extended && /\s/.test(char)) return;
        if (this.#extended && char === "#") {
          const end = this.#source.indexOf("\n", this.#at);
          this.#at = end === -1 ? this.#source.length : end + 1;
          return;
        }
        return this.#emit(char, "plain");
    }
  }

  #quantifier(text: string, unlimited: boolean): void {
    if (this.#atom === "none") throw invalidRegex("quantifier does not follow a repeatable item");
    if (unlimited) {
      if (this.#atom === "repeating")
        throw notSimulated(`the regular expression /${this.#source}/ (nested repetition)`);
      this.#current().repeats = true;
    }
    this.#out += text;
    const next = this.#source[this.#at];
    if (next === "+") throw notSimulated(`the regular expression /${this.#source}/ (possessive quantifier)`);
    if (next === "?") {
      this.#out += "?";
      this.#at++;
    }
    this.#atom = "none";
  }

  #current(): Group {
    return this.#groups.at(-1) ?? this.#top;
  }

  #open(): void {
    const rest = this.#source.slice(this.#at);
    const comment = /^\?#[^)]*\)/.exec(rest);
    if (comment) {
      this.#at += comment[0].length;
      return;
    }
    if (this.#groups.length >= MAX_GROUP_DEPTH) throw invalidRegex("parentheses are too deeply nested");
    const special = /^\?(?::|=|!|<=|<!|P?<[A-Za-z_]\w*>|'[A-Za-z_]\w*')/.exec(rest);
    if (special) {
      this.#at += special[0].length;
      const kind = special[0];
      const lookaround = /^\?(=|!|<=|<!)$/.test(kind);
      this.#out += lookaround ? `(${kind}` : "(?:"; // names serve back references only, which are refused
      this.#groups.push({ lookaround, repeats: false });
    } else if (rest.startsWith("?") || rest.startsWith("*")) {
      throw notSimulated(`the regular expression /${this.#source}/ (group "(${rest.slice(0, 3)}")`);
    } else {
      this.#out += "(?:";
      this.#groups.push({ lookaround: false, repeats: false });
    }
    this.#atom = "none";
  }

  #close(): void {
    const group = this.#groups.pop();
    if (!group) throw invalidRegex("unmatched closing parenthesis");
    this.#out += ")";
    if (group.repeats) this.#current().repeats = true;
    this.#atom = group.lookaround ? "none" : group.repeats ? "repeating" : "plain";
  }

  #escape(): void {
    const char = this.#source[this.#at];
    if (char === undefined) throw invalidRegex("\\ at end of pattern");
    if (char === "Q") {
      const end = this.#source.indexOf("\\E", this.#at);
      const literal = this.#source.slice(this.#at + 1, end === -1 ? undefined : end);
      this.#at = end === -1 ? this.#source.length : end + 2;
      for (const c of literal) this.#emit(escapeLiteral(c), "plain");
      return;
    }
    if (char === "E") {
      this.#at++;
      return;
    }
    const assertion = { A: "^", z: "$", Z: "(?=\\n?$)", b: "\\b", B: "\\B" }[char];
    if (assertion !== undefined) {
      this.#at++;
      return this.#emit(assertion, "none");
    }
    if (char === "N") {
      this.#at++;
      return this.#emit("[^\\n]", "plain");
    }
    const members = CLASS_ESCAPES[char.toLowerCase()];
    if (members !== undefined) {
      this.#at++;
      return this.#emit(char === char.toLowerCase() ? `[${members}]` : `[^${members}]`, "plain");
    }
    this.#emit(this.#character(), "plain");
  }

  /** One character written with a backslash (already read), or a Unicode category. */
  #character(): string {
    const rest = this.#source.slice(this.#at);
    const match =
      /^(?:x([0-9a-fA-F]{2})|x\{([0-9a-fA-F]{1,6})\}|(p|P)(?:([A-Z])|\{(\^?)([A-Z][a-z]?)\})|([tnrfae])|([^A-Za-z0-9]))/u.exec(
        rest,
      );
    if (!match)
      throw notSimulated(`the regular expression /${this.#source}/ (escape "\\${rest.slice(0, 1)}")`);
    this.#at += match[0].length;
    const hex = match[1] ?? match[2];
    if (hex !== undefined) return `\\u{${hex}}`;
    if (match[3] !== undefined) {
      const negated = (match[3] === "P") !== (match[5] === "^");
      return `\\${negated ? "P" : "p"}{${match[4] ?? match[6]}}`;
    }
    return match[7] !== undefined ? CHARACTER_ESCAPES[match[7]]! : escapeLiteral(match[8]!);
  }

  #bracket(): void {
    let out = "[";
    if (this.#source[this.#at] === "^") {
      out += "^";
      this.#at++;
    }
    // A hyphen is a range between two characters, and itself anywhere else.
    let before: "char" | "other" = "other";
    for (let first = true; ; first = false) {
      const code = this.#source.codePointAt(this.#at);
      if (code === undefined) throw invalidRegex("missing terminating ] for character class");
      const char = String.fromCodePoint(code);
      this.#at += char.length;
      if (char === "]" && !first) break;
      if (char === "-") {
        const range = before === "char" && !/^(?:\]|\\[dwshvDWSHV]|\[:)/.test(this.#source.slice(this.#at));
        out += range ? `-${this.#rangeEnd()}` : "\\-";
        before = "other";
        continue;
      }
      const start = this.#at;
      if (char === "[") out += this.#posixOrLiteral();
      else if (char === "\\") out += this.#bracketEscape();
      else out += escapeLiteral(char);
      const isClass =
        (char === "[" && this.#at > start) || (char === "\\" && /[dwshvDWpP]/.test(this.#source[start]!));
      before = isClass ? "other" : "char";
    }
    this.#emit(`${out}]`, "plain");
  }

  /** The character behind a range's hyphen. */
  #rangeEnd(): string {
    const code = this.#source.codePointAt(this.#at);
    if (code === undefined) throw invalidRegex("missing terminating ] for character class");
    const char = String.fromCodePoint(code);
    this.#at += char.length;
    return char === "\\" ? this.#bracketEscape() : escapeLiteral(char);
  }

  #posixOrLiteral(): string {
    const match = /^:(\^?)([a-z]+):\]/.exec(this.#source.slice(this.#at));
    if (!match) return "\\[";
    const members = POSIX[match[2]!];
    if (members === undefined) throw invalidRegex("unknown POSIX class name");
    if (match[1] === "^")
      throw notSimulated(`the regular expression /${this.#source}/ (negated POSIX class)`);
    this.#at += match[0].length;
    return members;
  }

  #bracketEscape(): string {
    const char = this.#source[this.#at];
    if (char === undefined) throw invalidRegex("\\ at end of pattern");
    if (char === "b") {
      this.#at++;
      return "\\x08";
    }
    const members = CLASS_ESCAPES[char.toLowerCase()];
    if (members !== undefined) {
      this.#at++;
      if (char === char.toLowerCase()) return members;
      if (char === "D" || char === "W") return `\\${char}`;
      throw notSimulated(`the regular expression /${this.#source}/ ("\\${char}" within brackets)`);
    }
    if (char === "-") {
      this.#at++;
      return "\\-";
    }
    return this.#character();
  }
}

/** A character as itself, in and out of brackets. */
function escapeLiteral(char: string): string {
  if (/[\^$\\.*+?()[\]{}|/]/.test(char)) return `\\${char}`;
  return char === "-" ? "\\u{2d}" : char;
}
