import fc from "fast-check";
import {
  LabelledCollation,
  compareValues,
  encodeValue,
  sortableKey,
  sortableValue,
  type Collation,
} from "shardlab/bson";
import { describe, expect, test } from "vitest";
import { labelBetween } from "../../lib/bson/collation.js";
import { parseCollation } from "../../lib/query/collation.js";
import { bson, failure, value } from "../query/support.js";

const en = (strength: number): Collation => parseCollation(bson({ locale: "en", strength }))!;

describe("comparing by a collation", () => {
  test("strength 1 sees base letters, 2 accents too, 3 case too", () => {
    const pairs = [
      ["a", "b"],
      ["a", "á"],
      ["a", "A"],
    ] as const;
    const equal = (strength: number) => pairs.map(([a, b]) => en(strength).compare(a, b) === 0);
    expect(equal(1)).toEqual([false, true, true]);
    expect(equal(2)).toEqual([false, false, true]);
    expect(equal(3)).toEqual([false, false, false]);
  });

  test("strings inside objects and arrays compare by it, field names and other types do not", () => {
    const collation = en(2);
    const compare = (a: unknown, b: unknown) => compareValues(value(a), value(b), collation);
    expect(compare({ a: ["X"] }, { a: ["x"] })).toBe(0);
    expect(compare({ A: "x" }, { a: "x" })).toBe(-1);
    expect(compare(5, "5")).toBe(-1);
    expect(compareValues(value("X"), value("x"))).toBe(-1);
  });

  test("numericOrdering counts digits as numbers", () => {
    const collation = parseCollation(bson({ locale: "en_US", numericOrdering: true }))!;
    expect(collation.compare("item-9", "item-10")).toBeLessThan(0);
    expect(en(3).compare("item-9", "item-10")).toBeGreaterThan(0);
  });
});

describe("keys of a collation", () => {
  const word = fc.oneof(
    fc.string({ maxLength: 4 }),
    fc.constantFrom("a", "A", "á", "b", "B", "ab", "Äb", "", "ß", "ss"),
  );

  test.each([1, 2, 3])("compare as the strings do, whatever came first (strength %i)", (strength) => {
    fc.assert(
      fc.property(fc.array(word, { maxLength: 40 }), (words) => {
        const collation = en(strength);
        const keys = words.map((w) => sortableValue(encodeValue(w), collation));
        for (let i = 0; i < words.length; i++) {
          for (let j = 0; j < i; j++) {
            const order = compareValues(encodeValue(words[i]), encodeValue(words[j]), collation);
            expect(Math.sign(Number(keys[i]! > keys[j]!) - Number(keys[i]! < keys[j]!))).toBe(order);
          }
        }
      }),
      { numRuns: 150 },
    );
  });

  test("keep their order in compound and descending keys", () => {
    const collation = en(2);
    const key = (a: string, n: number) => sortableKey([value(a), value(n)], [true, false], collation);
    expect(key("B", 9) < key("a", 1)).toBe(true);
    expect(key("A", 1)).toBe(key("a", 1));
    expect(key("A", 1) < key("a", 2)).toBe(true);
  });

  const byCode = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
  const longest = (words: string[]): number => {
    const collation = new LabelledCollation(bson({}), byCode);
    const keys = words.map((w) => collation.key(w));
    const sorted = [...words].sort(byCode).map((w) => collation.key(w));
    expect(sorted.every((k, i) => i === 0 || sorted[i - 1]! < k)).toBe(true);
    return keys.reduce((most, k) => Math.max(most, k.length), 0);
  };
  const padded = (n: number) => String(n).padStart(6, "0");

  test("stay short when 20,000 strings come in order, backwards, into the middle, or in any order", () => {
    const up = Array.from({ length: 20_000 }, (_, i) => padded(i));
    const shuffled = up.map((_, i) => padded((i * 7919) % 20_000));
    expect(longest(up)).toBeLessThanOrEqual(8);
    expect(longest([...up].reverse())).toBeLessThanOrEqual(8);
    expect(longest(["000000", "999999", ...up.slice(1)])).toBeLessThanOrEqual(8);
    expect(longest(["000000", "999999", ...up.slice(1).reverse()])).toBeLessThanOrEqual(8);
    expect(longest(shuffled)).toBeLessThanOrEqual(12);
  });

  test("there is always room between two labels", () => {
    let low = labelBetween("", undefined);
    let high = labelBetween(low, undefined);
    for (let i = 0; i < 2_000; i++) {
      const between = labelBetween(low, high, i % 3 === 0 ? low : i % 3 === 1 ? high : undefined);
      expect(low < between && between < high).toBe(true);
      if ((i * 31) % 7 < 3) low = between;
      else high = between;
    }
  });
});

describe("collation documents", () => {
  const refused = (spec: object) => {
    const { code, message } = failure(() => parseCollation(bson(spec)));
    return `${code} ${message}`;
  };

  test("the simple collation is none", () => {
    expect(parseCollation(bson({ locale: "simple" }))).toBeUndefined();
    expect(parseCollation(undefined)).toBeUndefined();
  });

  test("are completed with the locale's defaults", () => {
    const spec = (s: object) => parseCollation(bson(s))!.spec;
    expect(spec({ locale: "en", strength: 2 })).toEqual(
      bson({
        locale: "en",
        caseLevel: false,
        caseFirst: "off",
        strength: 2,
        numericOrdering: false,
        alternate: "non-ignorable",
        maxVariable: "punct",
        normalization: false,
        backwards: false,
        version: "57.1",
      }),
    );
    expect(spec({ locale: "da" })).toEqual(spec({ locale: "da", caseFirst: "upper" }));
    expect(spec({ locale: "fr_CA" })).toEqual(spec({ locale: "fr_CA", backwards: true }));
  });

  test("are refused where MongoDB refuses them", () => {
    expect(refused({ locale: "xx" })).toBe("2 Field 'locale' is invalid in: { locale: \"xx\" }");
    expect(refused({ locale: "en-US" })).toMatch(/^2 Field 'locale' is invalid/);
    expect(refused({ locale: "de@collation=nonsense" })).toMatch(/^2 Field 'locale' is invalid/);
    expect(refused({ strength: 2 })).toMatch(/^40414 /);
    expect(refused({ locale: 1 })).toMatch(/^14 .*wrong type 'int', expected type 'string'/);
    expect(refused({ locale: "en", strength: 6 })).toMatch(/^2 /);
    expect(refused({ locale: "en", shape: 1 })).toMatch(/^40415 /);
    expect(refused({ locale: "simple", strength: 1 })).toMatch(/^2 /);
    expect(refused({ locale: "en", version: "50" })).toMatch(/^161 Requested collation version 50 /);
    expect(parseCollation(bson({ locale: "en", version: "57.1" }))).toBeDefined();
  });

  test("are refused where Intl cannot follow", () => {
    for (const spec of [{ strength: 4 }, { backwards: true }, { caseLevel: true, strength: 2 }])
      expect(refused({ locale: "en", ...spec })).toMatch(/^238 not simulated/);
  });
});
