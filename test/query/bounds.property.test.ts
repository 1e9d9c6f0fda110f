import fc from "fast-check";
import { FieldPath, hashedValue, type RawValue } from "shardlab/bson";
import { describe, expect, test } from "vitest";
import {
  boundsContain,
  compileFilter,
  filterDocument,
  keyBounds,
  keyBoundsBranches,
  type KeyField,
} from "../../lib/query/index.js";
import { anything, bson, plain, scalar } from "./support.js";

/**
 * The promise of key bounds: a document that matches has its key within them.
 * Losing it loses documents silently, on a shard's index scan as on the router.
 */

const paths = ["a", "b", "a.b", "a.c", "a.0"];

const small = fc.integer({ min: -1, max: 4 });

const predicate = (operand: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> => {
  const noRegex = operand.filter((v) => !(v instanceof RegExp));
  return fc.oneof(
    { weight: 3, arbitrary: operand },
    noRegex.map((v) => ({ $eq: v })),
    noRegex.map((v) => ({ $ne: v })),
    noRegex.map((v) => ({ $gt: v })),
    noRegex.map((v) => ({ $gte: v })),
    noRegex.map((v) => ({ $lt: v })),
    noRegex.map((v) => ({ $lte: v })),
    fc.tuple(noRegex, noRegex).map(([low, high]) => ({ $gt: low, $lt: high })),
    { weight: 2, arbitrary: fc.tuple(small, small).map(([low, high]) => ({ $gt: low, $lt: high })) },
    fc.tuple(small, small).map(([low, high]) => ({ $elemMatch: { b: { $gt: low, $lt: high } } })),
    fc.array(operand, { maxLength: 3 }).map((v) => ({ $in: v })),
    fc.array(operand, { maxLength: 3 }).map((v) => ({ $nin: v })),
    fc.boolean().map((v) => ({ $exists: v })),
    fc
      .constantFrom("number", "string", "null", "object", "array", "bool", "binData", "date", 1, 16)
      .map((v) => ({ $type: v })),
    fc.constantFrom("^ab", "^a.*", "^ab*", "b$", "^").map((v) => ({ $regex: v })),
    fc.constantFrom("^ab", "^AB").map((v) => ({ $regex: v, $options: "i" })),
    noRegex.map((v) => ({ $not: { $gte: v } })),
    noRegex.map((v) => ({ $not: { $eq: v } })),
    noRegex.map((v) => ({ $not: { $elemMatch: { $gt: v } } })),
    fc.array(operand, { maxLength: 2 }).map((v) => ({ $all: v })),
    fc.tuple(noRegex, noRegex).map(([low, high]) => ({ $elemMatch: { $gte: low, $lte: high } })),
    noRegex.map((v) => ({ $elemMatch: { b: v } })),
    noRegex.map((v) => ({ $elemMatch: { b: { $gt: v, $lt: 5 } } })),
    noRegex.map((v) => ({ $elemMatch: { 0: v } })),
    fc.integer({ min: 0, max: 2 }).map((v) => ({ $size: v })),
    fc.constant({ $mod: [2, 1] }),
  );
};

const filters = (operand: fc.Arbitrary<unknown>): fc.Arbitrary<object> => {
  const one = fc
    .tuple(fc.constantFrom(...paths), predicate(operand))
    .map(([path, condition]) => ({ [path]: condition }) as object);
  const compare = fc
    .tuple(
      fc.constantFrom("$eq", "$gt", "$gte", "$lt", "$lte"),
      fc.constantFrom("a", "a.b"),
      scalar,
      fc.boolean(),
    )
    .filter(([, , v]) => !(typeof v === "string"))
    .map(([op, path, v, swap]) => ({ $expr: { [op]: swap ? [v, `$${path}`] : [`$${path}`, v] } }) as object);
  const leaf = fc.oneof({ weight: 8, arbitrary: one }, { weight: 1, arbitrary: compare });
  return fc.oneof(
    { weight: 4, arbitrary: leaf },
    fc.array(leaf, { minLength: 1, maxLength: 3 }).map((list) => ({ $and: list })),
    fc.array(leaf, { minLength: 1, maxLength: 3 }).map((list) => ({ $or: list })),
    fc.array(leaf, { minLength: 1, maxLength: 2 }).map((list) => ({ $nor: list })),
    fc.tuple(leaf, leaf, leaf).map(([x, y, z]) => ({ $or: [{ $and: [x, y] }, z] })),
  );
};

const documents = fc.record({ a: anything, b: anything, c: scalar }, { requiredKeys: [] });
const plainDocuments = fc.record({ a: plain, b: plain, c: scalar }, { requiredKeys: [] });

const keys: KeyField[][] = [
  [{ path: "a", kind: 1 }],
  [{ path: "a.b", kind: -1 }],
  [{ path: "a.0", kind: 1 }],
  [{ path: "a", kind: "hashed" }],
  [{ path: "a.b", kind: "hashed" }],
  [
    { path: "a", kind: 1 },
    { path: "b", kind: 1 },
  ],
  [
    { path: "b", kind: "hashed" },
    { path: "a.b", kind: 1 },
  ],
];

function keyValues(doc: Uint8Array, field: KeyField): RawValue[] {
  const { values } = new FieldPath(field.path).valuesOf(doc);
  return field.kind === "hashed" ? values.map((v) => hashedValue(v)) : values;
}

const meetsArray = (doc: Uint8Array, key: KeyField[]) =>
  key.some(({ path }) => new FieldPath(path).valuesOf(doc).multikey || new FieldPath(path).meetsArray(doc));

describe("every document that matches has its key within the bounds", () => {
  test.each(
    keys.map((key) => [JSON.stringify(key.map(({ path, kind }) => `${path}:${kind}`)), key] as const),
  )("%s, no arrays on the key's paths (a shard key, an ordinary index)", (_, key) => {
    fc.assert(
      fc.property(
        fc.array(plainDocuments, { minLength: 1, maxLength: 6 }),
        filters(plain),
        (docs, filter) => {
          const compiled = compileFilter(bson(filter));
          const { fields, exact } = keyBounds(compiled.node, key);
          const branches = keyBoundsBranches(compiled.node, key);
          for (const doc of docs.map(bson)) {
            if (meetsArray(doc, key)) continue;
            const within = (bounds: typeof fields) =>
              key.every((field, i) => boundsContain(bounds[i]!, keyValues(doc, field)[0]!));
            if (compiled.matches(doc)) {
              expect(within(fields)).toBe(true);
              expect(branches.some((branch) => within(branch.fields))).toBe(true);
            } else if (exact) {
              expect(within(fields)).toBe(false);
            }
          }
        },
      ),
      { numRuns: 1500 },
    );
  });

  test.each(
    keys
      .filter((key) => key.every(({ kind }) => kind !== "hashed"))
      .map((key) => [JSON.stringify(key.map(({ path }) => path)), key] as const),
  )("%s as a multikey index", (_, key) => {
    fc.assert(
      fc.property(fc.array(documents, { minLength: 1, maxLength: 6 }), filters(anything), (docs, filter) => {
        const compiled = compileFilter(bson(filter));
        const { fields, exact } = keyBounds(compiled.node, key, { multikey: true });
        for (const doc of docs.map(bson)) {
          // Some key of each field lies within: values of different fields combine freely, or in one element.
          const within = key.every((field, i) =>
            keyValues(doc, field).some((v) => boundsContain(fields[i]!, v)),
          );
          if (compiled.matches(doc)) expect(within).toBe(true);
          else if (exact) expect(within).toBe(false);
        }
      }),
      { numRuns: 3000 },
    );
  });
});

test("a filter written out again (explain's parsedQuery) matches the same documents", () => {
  fc.assert(
    fc.property(documents, filters(anything), (doc, filter) => {
      const compiled = compileFilter(bson(filter));
      const again = compileFilter(filterDocument(compiled.node));
      expect(again.matches(bson(doc))).toBe(compiled.matches(bson(doc)));
    }),
    { numRuns: 2000 },
  );
});
