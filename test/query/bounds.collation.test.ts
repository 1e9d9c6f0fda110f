import { Double } from "bson";
import fc from "fast-check";
import { FieldPath, type Collation } from "shardlab/bson";
import { describe, expect, test } from "vitest";
import {
  boundsContain,
  compileFilter,
  describeInterval,
  keyBounds,
  parseCollation,
  type KeyField,
} from "../../lib/query/index.js";
import { bson } from "./support.js";

/** Fresh objects each time: an index and a query never share one. */
const ignoringCase = () => parseCollation(bson({ locale: "en", strength: 2 }));
const ignoringMarks = () => parseCollation(bson({ locale: "en", strength: 1 }));
const KEY: KeyField[] = [{ path: "a", kind: 1 }];

function bounds(filter: object, query: Collation | undefined, index: Collation | undefined) {
  const { node } = compileFilter(bson(filter), query && { collation: query });
  return keyBounds(node, KEY, { collation: index });
}

describe("bounds where query and index may order strings in two ways", () => {
  const shown = (filter: object, query: Collation | undefined, index: Collation | undefined) => {
    const { fields, exact } = bounds(filter, query, index);
    return `${fields[0]!.map(describeInterval).join(", ")}${exact ? "" : " ~"}`;
  };

  test("the same collation: points and ranges as ever", () => {
    expect(shown({ a: "x" }, ignoringCase(), ignoringCase())).toBe('["x", "x"]');
    expect(shown({ a: { $gt: "b", $lte: "D" } }, ignoringCase(), ignoringCase())).toBe('("b", "D"]');
    expect(shown({ a: { $in: ["b", "A"] } }, ignoringCase(), ignoringCase())).toBe('["A", "A"], ["b", "b"]');
  });

  test("another one: nothing is known, and the documents decide (facts §4.1)", () => {
    for (const [query, index] of [
      [ignoringCase(), undefined],
      [undefined, ignoringCase()],
      [ignoringMarks(), ignoringCase()],
    ] as const) {
      for (const filter of [
        { a: "x" },
        { a: { $gt: "x" } },
        { a: { $in: [5, "x"] } },
        { a: { b: "x" } },
        { a: ["x"] },
        { a: { $ne: "x" } },
        { $expr: { $eq: ["$a", "x"] } },
        { $expr: { $in: ["$a", [5, "x"]] } },
      ])
        expect(shown(filter, query, index)).toBe("[MinKey, MaxKey] ~");
    }
  });

  test("values without strings are alike in all collations", () => {
    expect(shown({ a: 5 }, ignoringCase(), undefined)).toBe("[5, 5]");
    expect(shown({ a: { $gte: new Date(0) } }, undefined, ignoringCase())).toMatch(/^\[new Date\(0\), .*\]$/);
    expect(shown({ a: null }, ignoringCase(), ignoringMarks())).toBe("[null, null]");
  });

  test("a collation's order knows no prefixes", () => {
    expect(shown({ a: /^ab/ }, ignoringCase(), ignoringCase())).toBe('["", {}), [/^ab/, /^ab/] ~');
    expect(shown({ a: /^ab/ }, ignoringCase(), undefined)).toBe('["ab", "ac"), [/^ab/, /^ab/]');
  });

  test("a hash knows no collation", () => {
    const hashed: KeyField[] = [{ path: "a", kind: "hashed" }];
    const { node } = compileFilter(bson({ a: "x" }), { collation: ignoringCase()! });
    expect(keyBounds(node, hashed).fields[0]!.map(describeInterval)).toEqual(["[MinKey, MaxKey]"]);
  });
});

test("every document that matches has its key within the bounds, in all pairs of collations", () => {
  const text = fc.constantFrom("", "a", "A", "á", "ab", "AB", "b", "B", "e\u0301");
  const value = fc.oneof(
    { weight: 4, arbitrary: text },
    fc.integer({ min: 0, max: 2 }).map((n) => new Double(n)),
    fc.constantFrom(null, { b: "a" }, { b: "A" }),
  );
  const condition = fc.oneof(
    fc
      .tuple(fc.constantFrom("$eq", "$ne", "$gt", "$gte", "$lt", "$lte"), value)
      .map(([op, v]) => ({ [op]: v })),
    fc.array(value, { maxLength: 3 }).map((list) => ({ $in: list })),
    fc.array(value, { maxLength: 3 }).map((list) => ({ $nin: list })),
    fc.tuple(text, text).map(([low, high]) => ({ $gte: low, $lt: high })),
    fc.constantFrom({ $regex: "^a" }, { $not: { $gt: "a" } }),
  );
  const leaf = condition.map((a) => ({ a }) as object);
  const filter = fc.oneof(
    leaf,
    fc.tuple(leaf, leaf).map((list) => ({ $and: list }) as object),
    fc.tuple(leaf, leaf).map((list) => ({ $or: list }) as object),
  );
  const collation = fc.constantFrom(() => undefined, ignoringCase, ignoringMarks);
  const path = new FieldPath("a");
  fc.assert(
    fc.property(
      filter,
      collation,
      collation,
      fc.array(value, { minLength: 1, maxLength: 6 }),
      (f, q, i, list) => {
        const [query, index] = [q(), i()];
        const compiled = compileFilter(bson(f), query && { collation: query });
        const { fields, exact } = keyBounds(compiled.node, KEY, { collation: index });
        for (const doc of list.map((a) => bson({ a }))) {
          const within = boundsContain(fields[0]!, path.valuesOf(doc).values[0]!, index);
          if (compiled.matches(doc)) expect(within).toBe(true);
          else if (exact) expect(within).toBe(false);
        }
      },
    ),
    { numRuns: 2000 },
  );
});
