import { Double } from "bson";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileFilter, implies, impliesExistence, parseCollation } from "../../lib/query/index.js";
import { anything, bson, scalar } from "./support.js";

const node = (filter: object, options = {}) => compileFilter(bson(filter), options).node;

describe("a query that implies the filter of a partial index", () => {
  // The cases of MongoDB's expression_algo tests.
  test.each<[object, object, boolean]>([
    [{ a: 5 }, { a: 5 }, true],
    [{ a: 5, b: 6 }, { a: 5 }, true],
    [{ a: 5 }, { a: 5, b: 6 }, false],
    [{ a: 5 }, { a: { $gt: 3 } }, true],
    [{ a: 3 }, { a: { $gt: 3 } }, false],
    [{ a: { $gt: 3 } }, { a: { $gte: 3 } }, true],
    [{ a: { $gte: 3 } }, { a: { $gt: 3 } }, false],
    [{ a: { $lt: 3 } }, { a: { $lte: 5 } }, true],
    [{ a: { $lte: 5 } }, { a: { $lt: 5 } }, false],
    [{ a: { $gt: 3 } }, { a: { $lt: 9 } }, false],
    [{ a: "5" }, { a: { $gt: 3 } }, false],
    [{ b: 5 }, { a: 5 }, false],
    [{ a: new Double(5) }, { a: { $lte: 5 } }, true],
    [{ a: { $in: [5, 7] } }, { a: { $gte: 5 } }, true],
    [{ a: { $in: [2, 7] } }, { a: { $gte: 5 } }, false],
    [{ a: { $in: [5, /x/] } }, { a: { $gte: 5 } }, false],
    [{ a: 5 }, { a: { $in: [1, 5] } }, true],
    [{ a: { $in: [1, 5] } }, { a: { $in: [1, 5, 9] } }, true],
    [{ a: { $in: [1, 6] } }, { a: { $in: [1, 5, 9] } }, false],
    [{ $or: [{ a: 5 }, { a: 6 }] }, { a: { $gt: 4 } }, true],
    [{ $or: [{ a: 5 }, { b: 6 }] }, { a: { $gt: 4 } }, false],
    [{ a: 5 }, { $or: [{ a: { $gt: 4 } }, { b: 1 }] }, true],
    [{ a: 5, b: 5 }, { $and: [{ a: { $gt: 1 } }, { b: { $gt: 1 } }] }, true],
    [{ a: NaN }, { a: { $lte: NaN } }, true],
    [{ a: NaN }, { a: { $lte: 5 } }, false],
    [{ a: 5 }, { a: { $exists: true } }, true],
    [{ a: null }, { a: { $exists: true } }, false],
    [{ a: { $in: [1, null] } }, { a: { $exists: true } }, false],
    [{ a: { $ne: null } }, { a: { $exists: true } }, true],
    [{ a: { $nin: [1, null] } }, { a: { $exists: true } }, true],
    [{ a: { $ne: 5 } }, { a: { $exists: true } }, false],
    [{ a: /x/ }, { a: { $exists: true } }, true],
    [{ a: { $type: "string" } }, { a: { $type: ["string", "int"] } }, true],
    [{ a: { $type: ["string", "int"] } }, { a: { $type: "string" } }, false],
    [{ a: { $type: 2 } }, { a: { $exists: true } }, true],
    [{}, { a: 5 }, false],
    [{ a: 5 }, {}, true],
    [{ a: { $in: [] } }, { b: 1 }, true],
  ])("%j → %j: %s", (query, partial, expected) => expect(implies(node(query), node(partial))).toBe(expected));

  test("strings must be compared alike", () => {
    const collation = parseCollation(bson({ locale: "en", strength: 2 }));
    expect(implies(node({ a: "x" }, { collation }), node({ a: "x" }))).toBe(false);
    expect(implies(node({ a: "X" }, { collation }), node({ a: "x" }, { collation }))).toBe(true);
    expect(implies(node({ a: 5 }, { collation }), node({ a: { $gt: 3 } }))).toBe(true);
  });

  test("for random filters and documents, yes is never wrong", () => {
    const predicate = fc.oneof(
      scalar.map((v) => ({ $in: [v] })),
      fc.tuple(scalar, scalar).map(([x, y]) => ({ $in: [x, y] })),
      fc
        .tuple(fc.constantFrom("$eq", "$gt", "$gte", "$lt", "$lte", "$ne"), scalar)
        .filter(([, v]) => !(v instanceof RegExp))
        .map(([op, v]) => ({ [op]: v })),
      fc.constantFrom({ $exists: true }, { $type: "number" }, { $type: ["number", "string"] }),
    );
    const leaf = fc
      .tuple(fc.constantFrom("a", "b"), predicate)
      .map(([path, condition]) => ({ [path]: condition }) as object);
    const filter = fc.oneof(
      leaf,
      fc.tuple(leaf, leaf).map((list) => ({ $and: list }) as object),
      fc.tuple(leaf, leaf).map((list) => ({ $or: list }) as object),
    );
    const documents = fc.record({ a: anything, b: anything }, { requiredKeys: [] });
    fc.assert(
      fc.property(
        filter,
        filter,
        fc.array(documents, { minLength: 1, maxLength: 8 }),
        (query, partial, docs) => {
          const [x, y] = [compileFilter(bson(query)), compileFilter(bson(partial))];
          const yes = implies(x.node, y.node);
          const exists = impliesExistence(x.node, "a");
          for (const doc of docs.map(bson)) {
            if (!x.matches(doc)) continue;
            if (yes) expect(y.matches(doc)).toBe(true);
            if (exists) expect(compileFilter(bson({ a: { $exists: true } })).matches(doc)).toBe(true);
          }
        },
      ),
      { numRuns: 1500 },
    );
  });
});

test("a sparse index needs the field to exist in every match", () => {
  const exists = (filter: object, path: string) => impliesExistence(node(filter), path);
  expect(exists({ a: 5 }, "a")).toBe(true);
  expect(exists({ a: null }, "a")).toBe(false);
  expect(exists({ a: { $exists: false } }, "a")).toBe(false);
  expect(exists({ a: { $not: { $gt: 5 } } }, "a")).toBe(false);
  expect(exists({ a: { $elemMatch: { b: 5 } } }, "a.b")).toBe(true);
  expect(exists({ $or: [{ a: 1 }, { a: { $gt: 5 } }] }, "a")).toBe(true);
  expect(exists({ $or: [{ a: 1 }, { b: 1 }] }, "a")).toBe(false);
});
