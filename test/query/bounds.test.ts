import { Double, MaxKey, MinKey } from "bson";
import { describeValue, encodeValue, hash64, hashedValue } from "shardlab/bson";
import { describe, expect, test } from "vitest";
import {
  compileFilter,
  describeInterval,
  equalityValues,
  keyBounds,
  keyBoundsBranches,
  pinnedValue,
  type KeyBounds,
  type KeyField,
} from "../../lib/query/index.js";
import { bson, value } from "./support.js";

const A: KeyField[] = [{ path: "a", kind: 1 }];
const AB: KeyField[] = [
  { path: "a", kind: 1 },
  { path: "b", kind: 1 },
];
const HASHED: KeyField[] = [{ path: "a", kind: "hashed" }];
const FULL = "[MinKey, MaxKey]";

const shown = ({ fields }: KeyBounds) =>
  fields.map((intervals) => intervals.map(describeInterval).join(", "));
const bounds = (filter: object, key = A, multikey = false) =>
  keyBounds(compileFilter(bson(filter)).node, key, { multikey });
const node = (filter: object) => compileFilter(bson(filter)).node;

describe("bounds on one ascending field, as explain's indexBounds", () => {
  test.each([
    [{}, FULL, true],
    [{ c: 1 }, FULL, false],
    [{ a: 5 }, "[5, 5]", true],
    [{ a: 5, c: 1 }, "[5, 5]", false],
    [{ a: { $in: [9, 5, 5] } }, "[5, 5], [9, 9]", true],
    [{ a: { $in: [] } }, "", true],
    [{ a: { $gt: 5 } }, "(5, inf.0]", true],
    [{ a: { $lte: 5 } }, "[-inf.0, 5]", true],
    [{ a: { $gt: 1, $lt: 5 } }, "(1, 5)", true],
    [{ a: { $gt: 5, $lt: 1 } }, "", true],
    [{ a: { $gte: "x" } }, '["x", {})', true],
    [{ a: { $lt: "x" } }, '["", "x")', true],
    [{ a: { $gt: { x: 1 } } }, "({ x: 1 }, [])", true],
    [{ a: { $gte: false } }, "[false, true]", true],
    [{ a: { $lt: new Date(5) } }, "[new Date(-9223372036854775808), new Date(5))", true],
    [{ a: null }, "[null, null]", true],
    [{ a: { $gt: null } }, "", true],
    [{ a: { $exists: false } }, "[null, null]", false],
    [{ a: { $exists: true } }, FULL, false],
    [{ a: NaN }, "[nan.0, nan.0]", true],
    [{ a: { $lt: NaN } }, "", true],
    [{ a: { $gt: new MinKey() } }, "(MinKey, MaxKey]", true],
    [{ a: { $lt: new MaxKey() } }, "[MinKey, MaxKey)", true],
    [{ a: { $gte: new MinKey() } }, FULL, true],
    [{ a: { $lt: new MinKey() } }, "", true],
    [{ a: { $ne: 5 } }, "[MinKey, 5), (5, MaxKey]", true],
    [{ a: { $nin: [5, 7] } }, "[MinKey, 5), (5, 7), (7, MaxKey]", true],
    [{ a: { $not: { $gt: 5 } } }, "[MinKey, 5], (inf.0, MaxKey]", true],
    [{ a: { $not: { $mod: [2, 0] } } }, FULL, false],
    [{ a: /^abc/ }, '["abc", "abd"), [/^abc/, /^abc/]', true],
    [{ a: /^abc$/ }, '["abc", "abd"), [/^abc$/, /^abc$/]', false],
    [{ a: /^abc*/ }, '["ab", "ac"), [/^abc*/, /^abc*/]', false],
    [{ a: /^ab|c/ }, '["", {}), [/^ab|c/, /^ab|c/]', false],
    [{ a: /abc/ }, '["", {}), [/abc/, /abc/]', false],
    [{ a: /^abc/i }, '["", {}), [/^abc/i, /^abc/i]', false],
    [{ a: { $type: "number" } }, "[nan.0, inf.0]", false],
    [{ a: { $type: "string" } }, '["", {})', false],
    [{ a: { $type: "array" } }, FULL, false],
    [{ a: { $mod: [2, 0] } }, "[nan.0, inf.0]", false],
    [{ $or: [{ a: 1 }, { a: { $gt: 5 } }] }, "[1, 1], (5, inf.0]", true],
    [{ $or: [{ a: 1 }, { c: 1 }] }, FULL, false],
    [{ $or: [{ a: { $lte: 3 } }, { a: { $gte: 2 } }] }, "[-inf.0, inf.0]", true],
    [{ $and: [{ a: { $gte: 1 } }, { $or: [{ a: 0 }, { a: 4 }] }] }, "[4, 4]", true],
    [{ $nor: [{ a: 5 }, { a: { $lt: 5 } }] }, "[MinKey, -inf.0), (5, MaxKey]", true],
    [{ $expr: { $eq: ["$a", 5] } }, "[5, 5]", false],
    [{ $expr: { $gt: [5, "$a"] } }, "[MinKey, 5]", false],
    // What needs no document is a constant.
    [{ $expr: { $gt: ["$a", { $add: [1, 2] }] } }, "[3, MaxKey]", false],
    [{ $expr: { $gt: ["$a", "$b"] } }, FULL, false],
    [{ $expr: { $in: ["$a", [1, 5]] } }, "[1, 1], [5, 5]", false],
    // $in of a filter takes null for missing and runs regular expressions, $in of an expression does not.
    [{ $expr: { $in: ["$a", [1, null]] } }, FULL, false],
    [{ $expr: { $in: ["$a", [1, /x/]] } }, FULL, false],
    [{ $expr: { $or: [{ $eq: ["$a", 1] }, { $gte: ["$a", 5] }] } }, "[1, 1], [5, MaxKey]", false],
    [{ $expr: { $or: [{ $eq: ["$a", 1] }, { $eq: ["$b", 1] }] } }, FULL, false],
    [{ $expr: { $and: [{ $eq: ["$a", 1] }, { $eq: ["$b", 1] }] } }, "[1, 1]", false],
    [{ $expr: { $and: [{ $gte: ["$a", 1] }, { $lt: ["$a", 3] }] } }, "[1, 3]", false],
    // A missing field is less than null, and its key is null.
    [{ $expr: { $lt: ["$a", null] } }, "[MinKey, null]", false],
    [{ a: [1, 2] }, "[1, 1], [[ 1, 2 ], [ 1, 2 ]]", false],
    [{ a: { $gt: [1] } }, FULL, false],
    [{ a: { $size: 1 } }, FULL, false],
    [{ a: { $elemMatch: { $gt: 1, $lt: 5 } } }, "(1, 5)", false],
    [{ a: { $all: [1, 1] } }, "[1, 1]", true],
  ])("%j", (filter, expected, exact) => {
    const result = bounds(filter);
    expect([shown(result)[0], result.exact]).toEqual([expected, exact]);
  });
});

describe("a multikey index", () => {
  test.each([
    [{ a: { $gt: 5, $lt: 3 } }, "(5, inf.0]", false],
    [{ a: { $gt: 5, $in: [1, 2] } }, "[1, 1], [2, 2]", false],
    [{ a: { $elemMatch: { $gt: 1, $lt: 3 } } }, "(1, 3)", false],
    [{ a: { $ne: 5 } }, "[MinKey, 5), (5, MaxKey]", false],
    [{ a: null }, "[null, null]", false],
    [{ a: { $ne: null } }, FULL, false],
    [{ a: [] }, "[undefined, undefined], [[], []]", false],
    [{ a: { $lt: new MaxKey() } }, FULL, false],
    [{ $expr: { $eq: ["$a", 5] } }, FULL, false],
  ])("%j", (filter, expected, exact) => {
    const result = bounds(filter, A, true);
    expect([shown(result)[0], result.exact]).toEqual([expected, exact]);
  });

  test("a whole array is less than MaxKey even where its only element is MaxKey", () => {
    expect(compileFilter(bson({ a: { $lt: new MaxKey() } })).matches(bson({ a: [new MaxKey()] }))).toBe(true);
  });

  test("a number in the path leaves everything open", () => {
    expect(shown(bounds({ "a.0": 5 }, [{ path: "a.0", kind: 1 }], true))).toEqual([FULL]);
    expect(shown(bounds({ "a.0": 5 }, [{ path: "a.0", kind: 1 }], false))).toEqual(["[5, 5]"]);
  });

  test("$elemMatch on objects gives bounds on their fields", () => {
    const key: KeyField[] = [{ path: "a.b", kind: 1 }];
    expect(shown(bounds({ a: { $elemMatch: { b: 5, c: 1 } } }, key, true))).toEqual(["[5, 5]"]);
  });
});

describe("compound keys (facts §4.1)", () => {
  test.each([
    [{ a: 1, b: { $gt: 3 } }, ["[1, 1]", "(3, inf.0]"], true],
    [{ b: 3 }, [FULL, "[3, 3]"], true],
    [{ a: { $gt: 1 }, b: 3, c: 1 }, ["(1, inf.0]", "[3, 3]"], false],
    [{ a: { $in: [] }, b: 3 }, ["", ""], true],
    [
      {
        $or: [
          { a: 1, b: 1 },
          { a: 5, b: 5 },
        ],
      },
      ["[1, 1], [5, 5]", "[1, 1], [5, 5]"],
      false,
    ],
  ])("%j", (filter, expected, exact) => {
    const result = bounds(filter, AB);
    expect([shown(result), result.exact]).toEqual([expected, exact]);
  });

  test("branches of $or keep their own boxes", () => {
    const branches = keyBoundsBranches(
      node({
        $or: [
          { a: 1, b: 1 },
          { a: 5, b: 5 },
        ],
      }),
      AB,
    );
    expect(branches.map(shown)).toEqual([
      ["[1, 1]", "[1, 1]"],
      ["[5, 5]", "[5, 5]"],
    ]);
  });
});

describe("a hashed field has points only", () => {
  const hash = (v: unknown) => describeValue(hashedValue(value(v)));
  test.each([
    [{ a: "dev-42" }, "[7632986869154119240, 7632986869154119240]"],
    [{ a: null }, `[${hash(null)}, ${hash(null)}]`],
    [{ a: { $exists: false } }, `[${hash(null)}, ${hash(null)}]`],
    // hash("dev-1") < hash("dev-0")
    [
      { a: { $in: ["dev-0", "dev-1"] } },
      "[-9121815034321164931, -9121815034321164931], [2254643809256703712, 2254643809256703712]",
    ],
    [{ a: { $gt: "dev-0" } }, FULL],
    [{ a: { $ne: "dev-0" } }, FULL],
    [{ a: /^dev/ }, FULL],
    [{ a: [1, 2] }, FULL],
    [{ $or: [{ a: "dev-42" }, { a: "dev-42" }] }, "[7632986869154119240, 7632986869154119240]"],
  ])("%j", (filter, expected) => {
    const result = bounds(filter, HASHED);
    expect([shown(result)[0], result.exact]).toEqual([expected, false]);
  });

  test("a fraction is looked for in both ways in which it may have been hashed", () => {
    // double 1.5 is cut to 1, decimal 1.5 rounds to 2 (facts §2.1, §2.2)
    expect(shown(bounds({ a: 1.5 }, HASHED))).toEqual([
      "[848411777775835583, 848411777775835583], [5902408780260971510, 5902408780260971510]",
    ]);
  });

  test("a whole double is looked for once, however large, as long as it is an int64", () => {
    const whole = [2 ** 53, -(2 ** 53), 2 ** 60, 1e15];
    for (const a of whole) {
      const hash = String(hash64(encodeValue(BigInt(a))));
      expect(shown(bounds({ a }, HASHED))).toEqual([`[${hash}, ${hash}]`]);
    }
    // From 2^63 on a double and a decimal hash as different ends of int64 (facts §2.1).
    expect(shown(bounds({ a: 2 ** 63 }, HASHED))[0]!.split("], [")).toHaveLength(2);
  });
});

describe("pinned values", () => {
  const pinned = (filter: object, path: string) => {
    const v = pinnedValue(node(filter), path);
    return v === undefined ? undefined : describeValue(v);
  };
  test.each([
    [{ a: 1 }, "a", "1"],
    [{ a: { $eq: 1 } }, "a", "1"],
    [{ a: { $in: [1] } }, "a", "1"],
    [{ $and: [{ b: 1 }, { $and: [{ a: "x" }] }] }, "a", '"x"'],
    [{ $or: [{ a: 1 }] }, "a", "1"],
    [{ $or: [{ a: 1 }, { a: 2 }] }, "a", undefined],
    [{ a: null }, "a", "null"],
    [{ a: { $gte: 1, $lte: 1 } }, "a", undefined],
    [{ "a.b": 1 }, "a.b", "1"],
    [{ a: { b: 1 } }, "a.b", "1"],
    // The object has no such field: a match has none either, but MongoDB takes no key from it.
    [{ a: { b: 1 } }, "a.c", undefined],
    [{ a: { b: { c: 2 } } }, "a.b.c", "2"],
    [{ a: [1, 2] }, "a", undefined],
    [{ a: { b: [1] } }, "a.b", undefined],
    [{ a: /x/ }, "a", undefined],
    [{ a: { $ne: 1 } }, "a", undefined],
    [{ b: 1 }, "a", undefined],
  ])("%j pins %s to %s", (filter, path, expected) => expect(pinned(filter, path)).toBe(expected));

  test("equalityValues keeps the filter's order and arrays", () => {
    const values = equalityValues(node({ b: 1, a: [1, 2], c: { $gt: 5 }, "d.e": new Double(2) }));
    expect([...values].map(([path, v]) => `${path}=${describeValue(v)}`)).toEqual([
      "b=1",
      "a=[ 1, 2 ]",
      "d.e=2.0",
    ]);
  });
});
