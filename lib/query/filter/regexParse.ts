/**
 * Reads PCRE's notation (PCRE2, as MongoDB has it since 6.1) into a tree.
 *
 * A recursive descent over alternatives, sequences and atoms. Characters are
 * UTF, `\d \w \s \b` mean ASCII unless the pattern starts with `(*UCP)`.
 * What is malformed gets PCRE2's message; what this engine does not have —
 * recursion, conditions, verbs, `\K \X \C \G` — is refused.
 */
import { notSimulated } from "../../protocol/index.js";
import { ignoringCase } from "./regexCase.js";
import {
  BLANK_CHARACTERS,
  Cursor,
  characterEscape,
  classEscape,
  dot,
  notNewline,
  parseBracket,
  unicodeProperty,
  type Invalid,
} from "./regexClass.js";
import { charactersOf, EMPTY, type Member, type RegexNode } from "./regexTree.js";

/** A parsed pattern. */
export interface ParsedRegex {
  readonly root: RegexNode;
  readonly captures: number;
}

interface Options {
  readonly ignoreCase: boolean;
  readonly multiline: boolean;
  readonly dotAll: boolean;
  readonly extended: boolean;
}

const MAX_GROUP_DEPTH = 250;
const MAX_REPEAT = 65535;

/**
 * Parses a pattern.
 * @param flags any of `imsux`
 * @param invalid makes the error of a malformed pattern from PCRE2's words
 */
export function parseRegex(source: string, flags: string, invalid: Invalid): ParsedRegex {
  return new Parser(source, flags, invalid).run();
}

class Parser {
  readonly #cursor: Cursor;
  readonly #source: string;
  readonly #invalid: Invalid;
  #options: Options;
  #unicode = false;
  #captures = 0;
  #depth = 0;
  readonly #names = new Map<string, number>();
  /** Numbers and names that back references point to: checked when all groups are known. */
  readonly #references: Array<{ readonly to: number | string; readonly node: { index: number } }> = [];

  constructor(source: string, flags: string, invalid: Invalid) {
    this.#source = source;
    this.#cursor = new Cursor(source, invalid);
    this.#invalid = invalid;
    this.#options = {
      ignoreCase: flags.includes("i"),
      multiline: flags.includes("m"),
      dotAll: flags.includes("s"),
      extended: flags.includes("x"),
    };
  }

  run(): ParsedRegex {
    for (let verb; (verb = this.#cursor.take(/\(\*(UTF|UCP)\)/y)) !== undefined;) {
      if (verb[1] === "UCP") this.#unicode = true;
    }
    const root = this.#alternatives();
    if (!this.#cursor.done) throw this.#invalid("unmatched closing parenthesis");
    for (const { to, node } of this.#references) {
      const index = typeof to === "string" ? this.#names.get(to) : to;
      if (index === undefined || index > this.#captures || index < 1) {
        throw this.#invalid("reference to non-existent subpattern");
      }
      node.index = index;
    }
    return { root, captures: this.#captures };
  }

  /** Up to the closing parenthesis or the end. Options set inside end here. */
  #alternatives(): RegexNode {
    const outer = this.#options;
    const branches = [this.#sequence()];
    while (this.#cursor.take(/\|/y)) branches.push(this.#sequence());
    this.#options = outer;
    return branches.length === 1 ? branches[0]! : { kind: "alt", branches };
  }

  #sequence(): RegexNode {
    const items: RegexNode[] = [];
    for (;;) {
      this.#skipIgnored();
      if (this.#cursor.done || this.#cursor.peek(/[|)]/y)) break;
      const atom = this.#atom();
      if (atom === undefined) continue; // a comment, an option setting, an empty \Q\E
      const item = this.#quantified(atom);
      if (item.kind === "seq") items.push(...item.items);
      else items.push(item);
    }
    return items.length === 1 ? items[0]! : items.length === 0 ? EMPTY : { kind: "seq", items };
  }

  /** Comments `(?#…)`, and with `x` blanks and `#…` to the line's end. */
  #skipIgnored(): void {
    for (;;) {
      if (this.#options.extended && this.#cursor.take(/[\t-\r \u0085\u200e\u200f\u2028\u2029]+|#[^\n]*\n?/y))
        continue;
      if (!this.#cursor.take(/\(\?#/y)) return;
      if (!this.#cursor.take(/[^)]*\)/y)) throw this.#invalid("missing ) after (?# comment");
    }
  }

  /** One quantifier or several: `a{2}{3}` is `(?:a{2}){3}`. */
  #quantified(atom: RegexNode): RegexNode {
    let result = atom;
    for (let count = 0; ; count++) {
      this.#skipIgnored();
      const match = this.#cursor.take(/([*+?])|\{(\d+)(,(\d*))?\}/y);
      if (match === undefined) return result;
      if (count === MAX_GROUP_DEPTH) throw this.#invalid("regular expression is too complicated");
      const { min, max } = this.#limits(match);
      const mode = this.#cursor.take(/[?+]/y)?.[0];
      result = { kind: "repeat", child: result, min, max, greedy: mode !== "?" };
      if (mode === "+") result = { kind: "atomic", child: result };
    }
  }

  #limits(match: RegExpExecArray): { min: number; max: number } {
    if (match[1] !== undefined)
      return { min: match[1] === "+" ? 1 : 0, max: match[1] === "?" ? 1 : Infinity };
    const min = Number(match[2]);
    const max = match[3] === undefined ? min : match[4] === "" ? Infinity : Number(match[4]);
    if (min > MAX_REPEAT || (max !== Infinity && max > MAX_REPEAT)) {
      throw this.#invalid("number too big in {} quantifier");
    }
    if (max < min) throw this.#invalid("numbers out of order in {} quantifier");
    return { min, max };
  }

  #characters(members: readonly Member[], negated = false): RegexNode {
    return charactersOf(this.#options.ignoreCase ? ignoringCase(members) : members, negated);
  }

  #atom(): RegexNode | undefined {
    const char = this.#cursor.character();
    switch (char) {
      case ".":
        return this.#options.dotAll ? dot : notNewline;
      case "^":
        return { kind: "assert", what: this.#options.multiline ? "lineStart" : "start" };
      case "$":
        return { kind: "assert", what: this.#options.multiline ? "lineEnd" : "endOrNewline" };
      case "*":
      case "+":
      case "?":
        throw this.#invalid("quantifier does not follow a repeatable item");
      case "(":
        return this.#group();
      case "[":
        return this.#bracket();
      case "\\":
        return this.#escape();
      default: {
        const code = char.codePointAt(0)!;
        return this.#characters([[code, code]]);
      }
    }
  }

  #bracket(): RegexNode {
    const { members, negated, cased } = parseBracket(this.#cursor, this.#invalid, this.#unicode);
    // \w and its like keep to their characters under `i`; what is spelt out gets both cases.
    const folded = this.#options.ignoreCase ? ignoringCase(cased) : cased;
    return charactersOf([...folded, ...members], negated);
  }

  #group(): RegexNode | undefined {
    if (++this.#depth > MAX_GROUP_DEPTH) throw this.#invalid("parentheses are too deeply nested");
    const node = this.#groupContent();
    this.#depth--;
    return node;
  }

  #groupContent(): RegexNode | undefined {
    const cursor = this.#cursor;
    if (cursor.peek(/\*/y)) throw this.#verb();
    if (!cursor.take(/\?/y)) return this.#capture();
    const name = cursor.take(/P?<([A-Za-z_]\w*)>|'([A-Za-z_]\w*)'/y);
    if (name) return this.#capture(name[1] ?? name[2]);
    const reference = cursor.take(/P=(\w+)\)/y);
    if (reference) return this.#reference(reference[1]!);
    const kind = cursor.take(/:|=|!|<=|<!|>/y)?.[0];
    if (kind === undefined) return this.#optionGroup();
    const child = this.#body();
    if (kind === ":") return child;
    if (kind === ">") return { kind: "atomic", child };
    const ahead = !kind.startsWith("<");
    if (!ahead) this.#checkFixedLength(child);
    return { kind: "look", ahead, negative: kind.endsWith("!"), child };
  }

  #body(): RegexNode {
    const child = this.#alternatives();
    if (!this.#cursor.take(/\)/y)) throw this.#invalid("missing closing parenthesis");
    return child;
  }

  #capture(name?: string): RegexNode {
    const index = ++this.#captures;
    if (name !== undefined) {
      if (this.#names.has(name)) {
        throw this.#invalid("two named subpatterns have the same name (PCRE2_DUPNAMES not set)");
      }
      this.#names.set(name, index);
    }
    return { kind: "capture", index, child: this.#body() };
  }

  /** `(?i)`, `(?-s)`, `(?i:…)`, `(?^)`. */
  #optionGroup(): RegexNode | undefined {
    const match = this.#cursor.take(/(\^?)([imsx]*)(?:-([imsx]*))?([:)])/y);
    if (!match) {
      const rest = this.#source.slice(this.#cursor.at, this.#cursor.at + 2);
      if (/^(?:[R0-9&(|PC+JUn]|-\d|[imsx]*[JUnx])/.test(rest)) throw this.#refused(`group "(?${rest}"`);
      throw this.#invalid("unrecognized character after (? or (?-");
    }
    const [, reset, on = "", off = "", end] = match;
    const outer = this.#options;
    const value = (letter: string, now: boolean) =>
      on.includes(letter) || (!off.includes(letter) && !reset && now);
    this.#options = {
      ignoreCase: value("i", outer.ignoreCase),
      multiline: value("m", outer.multiline),
      dotAll: value("s", outer.dotAll),
      extended: value("x", outer.extended),
    };
    if (end === ")") return undefined; // for the rest of the group around it
    const child = this.#body();
    this.#options = outer;
    return child;
  }

  #verb(): Error {
    const known =
      /^\*(?:ACCEPT|FAIL|F|COMMIT|PRUNE|SKIP|THEN|MARK|:|LIMIT_|NOTEMPTY|NO_|CRLF|CR|LF|ANY|NUL|BSR_|[a-z]+:)/;
    return known.test(this.#source.slice(this.#cursor.at))
      ? this.#refused(`verb "(${this.#source.slice(this.#cursor.at, this.#cursor.at + 8)}"`)
      : this.#invalid("(*VERB) not recognized or malformed");
  }

  #refused(what: string): Error {
    return notSimulated(`the regular expression /${this.#source.slice(0, 200)}/ (${what})`);
  }

  #reference(to: number | string): RegexNode {
    const node = { kind: "backreference" as const, index: 0, ignoreCase: this.#options.ignoreCase };
    this.#references.push({ to, node });
    return node;
  }

  #escape(): RegexNode | undefined {
    const cursor = this.#cursor;
    if (cursor.done) throw this.#invalid("\\ at end of pattern");
    if (cursor.take(/E/y)) return undefined;
    if (cursor.take(/Q/y)) return this.#quoted();
    const assertion = this.#assertion(cursor.take(/[AzZbB]/y)?.[0]);
    if (assertion) return assertion;
    if (cursor.take(/N(?!\{)/y)) return notNewline;
    if (cursor.take(/R/y)) return LINE_BREAK;
    if (cursor.peek(/[KXCG]/y)) throw this.#refused(`escape "\\${this.#source[cursor.at]}"`);
    const numbered = cursor.take(
      /g(?:(-?\d+)|\{([+-]?\d+)\}|\{([A-Za-z_]\w*)\})|k(?:\{(\w+)\}|<(\w+)>|'(\w+)')/y,
    );
    if (numbered) {
      const name = numbered[3] ?? numbered[4] ?? numbered[5] ?? numbered[6];
      if (name !== undefined) return this.#reference(name);
      const digits = numbered[1] ?? numbered[2]!;
      const n = Number(digits);
      return this.#reference(
        n < 0 ? this.#captures + 1 + n : digits.startsWith("+") ? this.#captures + n : n,
      );
    }
    if (cursor.peek(/g[<']/y)) throw this.#refused('escape "\\g<"');
    const digits = cursor.peek(/[1-9]\d*/y)?.[0];
    if (digits !== undefined) {
      const n = Number(digits);
      if (n < 10 || /^[89]/.test(digits) || n <= this.#captures) {
        cursor.at += digits.length;
        return this.#reference(n);
      }
    }
    const several = classEscape(cursor, this.#unicode) ?? unicodeProperty(cursor, this.#invalid);
    if (several) return charactersOf(several.members, several.negated);
    const code = characterEscape(cursor, this.#invalid);
    return this.#characters([[code, code]]);
  }

  #assertion(letter: string | undefined): RegexNode | undefined {
    switch (letter) {
      case "A":
        return { kind: "assert", what: "start" };
      case "z":
        return { kind: "assert", what: "end" };
      case "Z":
        return { kind: "assert", what: "endOrNewline" };
      case "b":
        return { kind: "assert", what: this.#unicode ? "unicodeWordBoundary" : "wordBoundary" };
      case "B":
        return { kind: "assert", what: this.#unicode ? "notUnicodeWordBoundary" : "notWordBoundary" };
      default:
        return undefined;
    }
  }

  /** `\Q…\E`: a quantifier behind it repeats the last character only. */
  #quoted(): RegexNode | undefined {
    const text = this.#cursor.upTo("\\E");
    const characters = [...text].map((char) => {
      const code = char.codePointAt(0)!;
      return this.#characters([[code, code]]);
    });
    const last = characters.pop();
    if (last === undefined) return undefined;
    if (characters.length === 0) return last;
    return { kind: "seq", items: [...characters, this.#quantified(last)] };
  }

  #checkFixedLength(child: RegexNode): void {
    const branches = child.kind === "alt" ? child.branches : [child];
    if (branches.some((branch) => fixedLength(branch) === undefined)) {
      throw this.#invalid("lookbehind assertion is not fixed length");
    }
  }
}

/** `\R`: any line break, `\r\n` as one. */
const LINE_BREAK: RegexNode = {
  kind: "atomic",
  child: {
    kind: "alt",
    branches: [
      { kind: "seq", items: [charactersOf([[13, 13]]), charactersOf([[10, 10]])] },
      charactersOf(BLANK_CHARACTERS.v!),
    ],
  },
};

/** Characters that every match of a node has; undefined where they differ. */
export function fixedLength(node: RegexNode): number | undefined {
  switch (node.kind) {
    case "set":
      return 1;
    case "seq": {
      let sum = 0;
      for (const item of node.items) {
        const length = fixedLength(item);
        if (length === undefined) return undefined;
        sum += length;
      }
      return sum;
    }
    case "alt": {
      const lengths = new Set(node.branches.map(fixedLength));
      return lengths.size === 1 ? [...lengths][0] : undefined;
    }
    case "capture":
    case "atomic":
      return fixedLength(node.child);
    case "repeat": {
      const length = node.min === node.max ? fixedLength(node.child) : undefined;
      return length === undefined ? undefined : length * node.min;
    }
    case "assert":
    case "look":
      return 0;
    case "backreference":
      return undefined;
  }
}
