import { BSONRegExp } from "bson";
import { describe, expect, test } from "vitest";
import { compileFilter } from "../../lib/query/index.js";
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
    ["^[\\w-.]+$", "a-b.c", "", true],
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

describe("what JavaScript would understand differently is refused", () => {
  test.each([
    ["(a)\\1", 238],
    ["a++", 238],
    ["(?>a)", 238],
    ["(?R)", 238],
    ["(*UTF8)a", 238],
    ["a(?i)b", 238],
    ["(a+)+$", 238],
    ["((ab*)c)*", 238],
    ["\\Ka", 238],
    ["[", 51091],
    ["(a", 51091],
    ["a)", 51091],
    ["*a", 51091],
    ["a\\", 51091],
    ["[[:nosuch:]]", 51091],
    ["a{2,1}", 51091],
  ])("/%s/ → %d", (pattern, code) => expect(failure(() => compiled(pattern)).code).toBe(code));

  test("unknown options, embedded NUL, oversized patterns", () => {
    expect(failure(() => compiled("a", "g"))).toEqual({
      code: 51108,
      message: "invalid flag in regex options: g",
    });
    expect(failure(() => compiled("a\0")).code).toBe(2);
    expect(failure(() => compiled("a".repeat(40_000))).code).toBe(51091);
    expect(failure(() => compiled("(".repeat(200) + ")".repeat(200))).code).toBe(51091);
  });
});
