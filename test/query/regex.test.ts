import { BSONRegExp } from "bson";
import { describe, expect, test } from "vitest";
import type { CommandError } from "../../lib/protocol/index.js";
import { compileFilter, compilePattern } from "../../lib/query/index.js";
import { bson, failure } from "./support.js";

const compiled = (pattern: string, options = "") =>
  compileFilter(bson({ a: { $regex: pattern, $options: options } }));
const matches = (pattern: string, text: unknown, options = "") =>
  compiled(pattern, options).matches(bson({ a: text }));

describe("patterns mean what they mean in PCRE", () => {
  test.each([
    ["abc", "xabcx", "", true],
    ["^abc$", "abc", "", true],
    // $ also matches before a final newline, and only there
    ["abc$", "abc\n", "", true],
    ["abc$", "abc\n\n", "", false],
    ["abc\\z", "abc\n", "", false],
    ["abc\\Z", "abc\n", "", true],
    ["^b", "a\nb", "", false],
    ["^b", "a\nb", "m", true],
    ["^", "a\n", "m", true],
    ["a$", "a\nb", "m", true],
    // a carriage return ends no line, and the dot matches it
    ["a$", "a\rb", "m", false],
    ["a.b", "a\rb", "", true],
    ["a.b", "a\u2028b", "", true],
    ["a.b", "a\nb", "", false],
    ["a.b", "a\nb", "s", true],
    // ASCII classes
    ["^\\s$", "\u00a0", "", false],
    ["^\\S$", "\u00a0", "", true],
    ["^\\d$", "\u0663", "", false],
    ["^\\w$", "é", "", false],
    ["^[[:alpha:]]+$", "abC", "", true],
    ["^[[:digit:][:space:]]+$", "1 2", "", true],
    ["^[\\w-]+$", "a-b", "", true],
    ["^[\\w.-]+$", "a-b.c", "", true],
    ["^[a-c-e]+$", "a-e", "", true],
    ["^[a-c-e]+$", "d", "", false],
    ["^[]a]+$", "]a", "", true],
    ["^[^]a]$", "b", "", true],
    ["^[\\b]$", "\b", "", true],
    // options
    ["^ABC", "abcd", "i", true],
    ["(?i)^ABC", "abcd", "", true],
    ["a b # comment\nc", "abc", "x", true],
    // quoting and odd literals
    ["\\Qa.b\\E", "a.b", "", true],
    ["\\Qa.b\\E", "axb", "", false],
    ["a{b", "a{b", "", true],
    ["a{2}", "aa", "", true],
    ["}]", "}]", "", true],
    ["a/b", "a/b", "", true],
    ["\\x41\\x{1F600}", "A\u{1f600}", "", true],
    ["^.$", "\u{1f600}", "", true],
    ["\\p{Lu}", "É", "", true],
    ["\\PL", "a", "", false],
    ["(?<year>\\d{4})-(?:a|b)", "2026-b", "", true],
    ["a(?=b)(?!bc)", "abd", "", true],
    ["(?<=a)b", "ab", "", true],
    ["a(?#note)b", "ab", "", true],
    ["\\h", "\t", "", true],
    ["^\\v$", "\r", "", true],
  ])("/%s/ on %j, options %j: %s", (pattern, text, options, expected) => {
    expect(matches(pattern, text, options)).toBe(expected);
  });

  test("strings and array elements are searched, the same regular expression as a value matches too", () => {
    expect(matches("^x", ["a", "xy"])).toBe(true);
    expect(matches("5", 5)).toBe(false);
    expect(matches("^x", new BSONRegExp("^x"))).toBe(true);
    expect(matches("^x", new BSONRegExp("^y"))).toBe(false);
    expect(compileFilter(bson({ a: /^X/i })).matches(bson({ a: "xy" }))).toBe(true);
    expect(compileFilter(bson({ a: { $regex: /^X/, $options: "i" } })).matches(bson({ a: "xy" }))).toBe(true);
    expect(compileFilter(bson({ a: { $eq: new BSONRegExp("^x") } })).matches(bson({ a: "xy" }))).toBe(false);
  });
});

describe("what only a backtracking engine has", () => {
  test.each([
    ["^(a+)-\\1$", "aa-aa", true],
    ["^(a+)-\\1$", "aa-a", false],
    ["(?<q>['\"]).*?\\k<q>", "say 'yes'", true],
    ["(?P<q>.)(?P=q)", "abba", true],
    ["(.)\\g{-1}", "aab", true],
    ["(?i)(a)\\1", "aA", true],
    ["(a)|b\\1", "b", false], // a group that took no part equals nothing
    ["^a++b", "aaab", true],
    ["^a++a", "aaa", false], // possessive: nothing is given back
    ["^(?>a+)ab", "aaab", false],
    ["^(?>a|ab)c", "abc", false],
    ["a(?=b)(?!bc)", "abd", true],
    ["(?<=a|bc)d", "bcd", true],
    ["(?<!a)b", "ab", false],
    ["^\\R$", "\r\n", true],
    ["(?i:a)b", "Ab", true],
    ["(?i:a)b", "AB", false],
    ["a(?i)b|c", "C", true], // an option holds to the end of its group, later branches too
    ["(?-i)A", "a", false],
    ["(?i)[^k]", "\u212a", false], // the Kelvin sign is a k
    ["(?i)\\w", "\u212a", false], // and yet no word character
    ["(?i)é", "É", true],
    ["(?i)ß", "SS", false], // one character for one
    ["\\p{Greek}", "α", true],
    ["^\\P{Lu}$", "É", false],
    ["(*UCP)^\\w$", "é", true],
    ["(*UCP)\\bé", "é", true],
    ["^[\\Q]\\E-]$", "]", true],
    ["a{,3}", "a{,3}", true],
    ["^(?:a{2}){3}$", "aaaaaa", true],
    ["\\101\\x41\\cA", "AA\u0001", true],
  ])("/%s/ on %j: %s", (pattern, text, expected) => expect(matches(pattern, text)).toBe(expected));
});

describe("refused: malformed, or not simulated", () => {
  test.each([
    ["(?R)", 238, undefined],
    ["(?1)(a)", 238, undefined],
    ["(?(1)a|b)", 238, undefined],
    ["a(*SKIP)b", 238, undefined],
    ["\\Ka", 238, undefined],
    ["\\X", 238, undefined],
    ["(?|a|b)", 238, undefined],
    ["(*UTF8)a", 51091, "(*VERB) not recognized or malformed"],
    ["[", 51091, "missing terminating ] for character class"],
    ["[)", 51091, "missing terminating ] for character class"],
    ["(a", 51091, "missing closing parenthesis"],
    ["a)", 51091, "unmatched closing parenthesis"],
    ["*a", 51091, "quantifier does not follow a repeatable item"],
    ["a\\", 51091, "\\ at end of pattern"],
    ["[[:nosuch:]]", 51091, "unknown POSIX class name"],
    ["[:alpha:]", 51091, "POSIX named classes are supported only within a class"],
    ["[\\w-.]", 51091, "invalid range in character class"],
    ["[b-a]", 51091, "range out of order in character class"],
    ["a{2,1}", 51091, "numbers out of order in {} quantifier"],
    ["a{70000}", 51091, "number too big in {} quantifier"],
    ["\\2(a)", 51091, "reference to non-existent subpattern"],
    ["(?<=a+)b", 51091, "lookbehind assertion is not fixed length"],
    ["(?<n>a)(?<n>b)", 51091, "two named subpatterns have the same name (PCRE2_DUPNAMES not set)"],
    ["(?z)", 51091, "unrecognized character after (? or (?-"],
    ["\\y", 51091, "unrecognized character follows \\"],
    ["\\p{Nosuch}", 51091, "unknown property after \\P or \\p"],
    ["(?#", 51091, "missing ) after (?# comment"],
    ["(?:a{100}){1000}{1000}", 51091, "regular expression is too large"],
  ])("/%s/ → %d %s", (pattern, code, why) => {
    const error = failure(() => compiled(pattern));
    expect(error.code).toBe(code);
    if (why !== undefined) expect(error.message).toBe(`Regular expression is invalid: ${why}`);
  });

  test("unknown options, embedded NUL, oversized patterns, too many parentheses", () => {
    expect(failure(() => compiled("a", "g"))).toEqual({
      code: 51108,
      message: " invalid flag in regex options: g",
    });
    expect(failure(() => compiled("a\0")).code).toBe(2);
    expect(compiled("c".repeat(16_384)).matches(bson({ a: "c".repeat(20_000) }))).toBe(true);
    expect(failure(() => compiled("c".repeat(16_385))).code).toBe(51091);
    expect(failure(() => compiled("(".repeat(300) + ")".repeat(300))).code).toBe(51091);
    expect(compiled("(?i)".repeat(300) + "a").matches(bson({ a: "A" }))).toBe(true); // these open no group
  });

  test("in expressions, errors name the operator", () => {
    expect(failure(() => compilePattern("(", "", "$regexMatch"))).toEqual({
      code: 51111,
      message: "Invalid Regex in $regexMatch: missing closing parenthesis",
    });
  });
});

describe("no pattern holds the server", () => {
  const length = 100_000;
  const a = "a".repeat(length);

  /** The answer of a pattern on a text that is its worst case, or the code of its refusal. */
  function answer(source: string, text: string): boolean | number {
    try {
      return compilePattern(source, "").test(text);
    } catch (error) {
      return (error as CommandError).code;
    }
  }

  test.each<[string, string, boolean | number]>([
    ["(a|a)*b", a, false],
    ["(a+)+b", a, false],
    ["(a+a+)+y", a, false],
    ["(.*)*$", a, true],
    ["(.*)*x$", `${a}\n`, false],
    ["^(([a-z])+.)+[A-Z]([a-z])+$", a, false],
    ["(\\w+\\s?)+$", `${a}!`, false],
    ["a*a*a*a*a*b", a, false],
    [".*a.*a.*a.*b", a, false],
    ["((a*)*)*b", a, false],
    ["(a?){500}a{500}", a, true],
    // not regular: bounded by the count of steps, and honest about it
    ["(?=.*b)a", a, 51156],
    ["(a+)+\\1b", a, 51156],
    ["(?>a+)b", a, 51156],
    ["a{1000}{1000}", a, 51156],
    ["(?:a{0,1000}){0,50}b", a, 51156],
  ])("/%s/ on 100,000 characters: %s", (pattern, text, expected) => {
    const started = performance.now();
    expect(answer(pattern, text)).toBe(expected);
    expect(performance.now() - started).toBeLessThan(10_000); // minutes to centuries, for an engine without bounds
  });

  test("whether a match exists is asked in linear time before its groups are looked for", () => {
    const started = performance.now();
    expect(compilePattern("(a|a)*b", "").findMatch(a)).toBeUndefined();
    expect(compilePattern("(a+)+b", "").findMatch(a)).toBeUndefined();
    expect(performance.now() - started).toBeLessThan(5000);
  });
});

describe("positions and captures, for $regexFind and its like", () => {
  const found = (pattern: string, text: string, from?: number) => {
    const match = compilePattern(pattern, "").findMatch(text, from);
    return match && [match.start, match.end, ...match.captures];
  };
  test.each<[string, string, number, unknown]>([
    ["(b)(c)?", "abd", 0, [1, 2, "b", undefined]],
    ["b", "abab", 2, [3, 4]],
    ["^a", "aa", 1, undefined], // what stands before counts
    ["(?<=a)b", "ab", 1, [1, 2]],
    ["\\bb", "ab", 1, undefined],
    ["", "ab", 2, [2, 2]],
    ["(?:(a)|b)*", "ab", 0, [0, 2, "a"]], // a group keeps what it captured last
    ["(a*)*", "b", 0, [0, 0, ""]],
    ["(a*)+", "aa", 0, [0, 2, ""]], // the last time round is the empty one
    ["a$", "a\n", 0, [0, 1]],
    [".", "x\u{1f600}y", 1, [1, 3]],
    ["(?<year>\\d{4})-(\\d\\d)", "on 2026-11", 0, [3, 10, "2026", "11"]],
    ["(?i)(foo)|bar", "xBAR", 0, [1, 4, undefined]],
  ])("/%s/ in %j from %d", (pattern, text, from, expected) =>
    expect(found(pattern, text, from)).toEqual(expected),
  );

  test("the number of groups", () => {
    expect(compilePattern("((a)(?:b)(?<c>c))", "").captureCount).toBe(3);
  });
});

test("the prefix that index bounds use", () => {
  const prefix = (pattern: string, flags = "") => {
    const { prefix, prefixOnly } = compilePattern(pattern, flags);
    return prefix === undefined ? undefined : `${prefix}${prefixOnly ? "" : "…"}`;
  };
  expect(prefix("^abc")).toBe("abc");
  expect(prefix("\\Aabc.*", "s")).toBe("abc");
  expect(prefix("^abc.*")).toBe("abc…"); // the dot stops at a newline
  expect(prefix("^ab+c")).toBe("ab…");
  expect(prefix("^ab*c")).toBe("a…");
  expect(prefix("^a\\.\\Qb.\\Ec")).toBe("a.b.c");
  expect(prefix("^a|b")).toBeUndefined();
  expect(prefix("^(ab)")).toBeUndefined();
  expect(prefix("^abc", "i")).toBeUndefined();
  expect(prefix("^12a", "i")).toBe("12…");
  expect(prefix("^abc", "m")).toBeUndefined();
  expect(prefix("abc")).toBeUndefined();
});
