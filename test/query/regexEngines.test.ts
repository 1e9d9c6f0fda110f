import fc from "fast-check";
import { RE2JS } from "re2js";
import { describe, expect, test } from "vitest";
import { CommandError } from "../../lib/protocol/index.js";
import { compilePattern } from "../../lib/query/filter/regex.js";
import { harmlessLength, traitsOf } from "../../lib/query/filter/regexCost.js";
import { javascriptSource, re2Source } from "../../lib/query/filter/regexEmit.js";
import { RegexMatcher } from "../../lib/query/filter/regexMatcher.js";
import { parseRegex } from "../../lib/query/filter/regexParse.js";
import { compileProgram } from "../../lib/query/filter/regexProgram.js";

/**
 * Three engines run one tree. Whatever runs a pattern must not change the
 * answer, so the same random patterns go through all of them.
 */

const fail = (why: string) => new Error(why);
const parse = (source: string, flags = "") => parseRegex(source, flags, fail);

const leaf = fc.constantFrom(
  "a",
  "b",
  "ab",
  ".",
  "[ab]",
  "[^a]",
  "\\w",
  "\\d",
  "\\n",
  "\\b",
  "^",
  "$",
  "é",
  "\u{1f600}",
);
const pattern = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    leaf,
    fc.tuple(tie("node"), tie("node")).map(([x, y]) => x + y),
    fc.tuple(tie("node"), tie("node")).map(([x, y]) => `(?:${x}|${y})`),
    tie("node").map((x) => `(${x})`),
    fc
      .tuple(tie("node"), fc.constantFrom("*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,2}?", "{2,}"))
      .map(([x, q]) => `(?:${x})${q}`),
  ),
})).node;
const text = fc
  .array(fc.constantFrom("a", "b", "1", "\n", "é", "\u{1f600}"), { maxLength: 8 })
  .map((list) => list.join(""));
const flags = fc.constantFrom("", "i", "s", "m", "is");

const ends = (slots: Int32Array | undefined) => (slots === undefined ? undefined : [slots[0], slots[1]]);

describe("the engines agree", () => {
  test("on whether a text matches", () => {
    fc.assert(
      fc.property(pattern, flags, text, (source, options, subject) => {
        const { root, captures } = parse(source, options);
        const own = new RegexMatcher(compileProgram(root, captures)).search(subject, 0) !== undefined;
        expect(new RegExp(javascriptSource(root), "u").test(subject)).toBe(own);
        if (!(traitsOf(root).finalNewline && subject.endsWith("\n"))) {
          expect(RE2JS.compile(re2Source(root)).test(subject)).toBe(own);
        }
      }),
      { numRuns: 3000 },
    );
  });

  test("on where, and on what the groups captured", () => {
    fc.assert(
      fc.property(pattern, flags, text, fc.nat({ max: 3 }), (source, options, subject, at) => {
        const { root, captures } = parse(source, options);
        const traits = traitsOf(root);
        if (traits.subtleRepeats) return;
        const misled = traits.betweenCharacters && /[\ud800-\udfff]/.test(subject);
        const from = Math.min(at, subject.length);
        if (/[\udc00-\udfff]/.test(subject[from] ?? "")) return;
        const slots = new RegexMatcher(compileProgram(root, captures)).search(subject, from);
        const expression = new RegExp(javascriptSource(root), "gu");
        expression.lastIndex = from;
        const match = expression.exec(subject);
        if (!misled) {
          const found = match === null ? undefined : [match.index, match.index + match[0].length];
          expect(found).toEqual(ends(slots));
        }
        const own = (i: number) =>
          slots === undefined || slots[2 * i]! < 0
            ? undefined
            : subject.slice(slots[2 * i], slots[2 * i + 1]);
        if (!misled) match?.slice(1).forEach((group, i) => expect(group).toBe(own(i + 1)));
        if (traits.finalNewline && subject.endsWith("\n")) return;
        const matcher = RE2JS.compile(re2Source(root)).matcher(subject);
        expect(matcher.find(from) ? [matcher.start(), matcher.end()] : undefined).toEqual(ends(slots));
        if (slots) for (let i = 1; i <= captures; i++) expect(matcher.group(i) ?? undefined).toBe(own(i));
      }),
      { numRuns: 3000 },
    );
  });

  test("a compiled pattern picks one by the text's length and answers as JavaScript does", () => {
    fc.assert(
      fc.property(pattern, text, fc.integer({ min: 0, max: 400 }), (source, subject, times) => {
        const long = subject.repeat(times);
        const compiled = compilePattern(source, "");
        const expected = new RegExp(javascriptSource(parse(source).root), "u");
        if (harmlessLength(parse(source).root) < 50) return; // JavaScript could take forever
        expect(compiled.test(long)).toBe(expected.test(long));
      }),
      { numRuns: 300 },
    );
  });
});

test("whatever is sent as a pattern gives an answer or a coded error", () => {
  const pieces = [
    ..."ab().*+?|[]{}^$\\-,:=!<>#_1209 \n\t'Pp&é",
    ..."(?: (?i) (?= (?! (?<= (?<! (?> (?<n> (?P=n) (?# (*UCP) \\b \\w \\D \\1 \\g{-1} \\k<n>".split(" "),
    ..."\\Q \\E \\x{ \\p{L} \\P{ [: :] [[:alpha:]] [^ ]- {2,3} {0,} {300} \\R \\c".split(" "),
  ];
  const source = fc.array(fc.constantFrom(...pieces), { maxLength: 14 }).map((list) => list.join(""));
  const anyFlags = fc.subarray(["i", "m", "s", "x", "u"]).map((list) => list.join(""));
  /** The result, or undefined for a refusal. */
  function answer<T>(run: () => T): T | undefined {
    try {
      return run();
    } catch (error) {
      expect(error).toBeInstanceOf(CommandError);
      return undefined;
    }
  }
  fc.assert(
    fc.property(source, anyFlags, text, (pattern, options, subject) => {
      const compiled = answer(() => compilePattern(pattern, options));
      if (compiled === undefined) return;
      for (const t of [subject, `${subject}\n`, "ab1é".repeat(300)]) {
        const found = answer(() => compiled.test(t));
        const match = answer(() => ({ is: compiled.findMatch(t) !== undefined }));
        if (found !== undefined && match !== undefined) expect(match.is).toBe(found);
      }
    }),
    { numRuns: 3000 },
  );
});
