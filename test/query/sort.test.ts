/** Sort specifications: keys, collation, metadata, refusals. The order across types is in projection.test.ts. */
import { describe, expect, test } from "vitest";
import { describeValue } from "../../lib/bson/index.js";
import { compileSort, parseCollation, type ExpressionOptions } from "../../lib/query/index.js";
import { bson, failure } from "./support.js";

const sorted = (spec: object, docs: object[], options: ExpressionOptions = {}): number[] => {
  const { key } = compileSort(bson(spec), options);
  return docs
    .map((doc, i) => ({ i, key: key(bson(doc)) }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ i }) => i);
};

describe("sort", () => {
  test("by a collation, in arrays and objects too", () => {
    const collation = parseCollation(bson({ locale: "en", strength: 2 }))!;
    const docs = [{ a: "b" }, { a: "A" }, { a: "C" }, { a: "a" }];
    expect(sorted({ a: 1 }, docs)).toEqual([1, 2, 3, 0]);
    expect(sorted({ a: 1 }, docs, { collation })).toEqual([1, 3, 0, 2]);
    expect(sorted({ a: -1 }, [{ a: ["b", "D"] }, { a: ["c", "a"] }], { collation })).toEqual([0, 1]);
    expect(sorted({ a: 1 }, [{ a: { x: "b" } }, { a: { x: "A" } }], { collation })).toEqual([1, 0]);
  });

  test("shows the values of its key, as $meta sortKey has them", () => {
    const values = (spec: object, doc: object): string[] =>
      compileSort(bson(spec)).values(bson(doc)).map(describeValue);
    expect(values({ a: 1, "b.c": -1, d: 1 }, { a: [3, 1], b: { c: 2 } })).toEqual(["1", "2", "null"]);
    expect(values({ a: -1 }, { a: [3, 1] })).toEqual(["3"]);
    expect(values({ a: 1 }, { a: [] })).toEqual(["undefined"]);
  });

  test("by a random number beside fields", () => {
    const draws = [0.5, 0.1, 0.9];
    const docs = [{ a: 1 }, { a: 1 }, { a: 0 }];
    expect(sorted({ a: 1, r: { $meta: "randVal" } }, docs, { random: () => draws.shift()! })).toEqual([
      2, 0, 1,
    ]);
  });

  test.each([
    [{ a: 1.9 }, undefined],
    [{ a: 0 }, 15975],
    [{ a: true }, 15974],
    [{ a: { $meta: "textScore" } }, 40218],
    [{ a: { $meta: "sortKey" } }, 31138],
    [{ a: { $meta: "randVal", b: 1 } }, 9],
    [{ a: { b: 1 } }, 17312],
    [{ $a: 1 }, 16410],
    [{ "": 1 }, 40352],
    [{ "a.": 1 }, 40353],
    [{ "a..b": 1 }, 15998],
    [{ [Array(201).fill("a").join(".")]: 1 }, 15],
    [Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`f${i}`, 1])), 2],
  ])("%j → %s", (spec, code) => {
    if (code === undefined) expect(compileSort(bson(spec)).fields).toEqual([{ path: "a", direction: 1 }]);
    else expect(failure(() => compileSort(bson(spec))).code).toBe(code);
  });

  test("refuses a field twice, and a number that is both an index and a name", () => {
    const twice = new Uint8Array([19, 0, 0, 0, 16, 97, 0, 1, 0, 0, 0, 16, 97, 0, 1, 0, 0, 0, 0]);
    expect(failure(() => compileSort(twice))).toEqual({
      code: 7472500,
      message: "$sort key must not contain duplicate keys (duplicate: 'a')",
    });
    const { key } = compileSort(bson({ "a.0.b": 1 }));
    expect(failure(() => key(bson({ a: [{ "0": { b: 1 } }] }))).code).toBe(16746);
    expect(() => key(bson({ a: [{ b: 1 }] }))).not.toThrow();
  });
});
