import type { Document } from "bson";
import { Decimal128, Long } from "bson";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeValue, sortableKey } from "../../lib/bson/index.js";
import { TestMongod } from "./support.js";

// Few and colliding values, of types that compare with each other and types that don't.
const scalar = fc.constantFrom<unknown>(
  null,
  0,
  1,
  2,
  1.5,
  -1,
  NaN,
  Long.fromNumber(2),
  Decimal128.fromString("1"),
  "",
  "a",
  "b",
  true,
  false,
  new Date(1),
);
const value: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: scalar },
  { weight: 1, arbitrary: fc.record({ b: scalar }) },
  { weight: 2, arbitrary: fc.array(fc.oneof(scalar, fc.record({ b: scalar })), { maxLength: 3 }) },
);
const plain: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: scalar },
  { weight: 1, arbitrary: fc.record({ b: scalar }) },
);

const documents = (of: fc.Arbitrary<unknown>): fc.Arbitrary<Document[]> =>
  fc.array(fc.record({ a: of, b: plain, c: plain }, { requiredKeys: [] }), { minLength: 1, maxLength: 25 });

const path = fc.constantFrom("a", "b", "c", "a.b");
const predicate = fc.oneof(
  scalar.map((v) => ({ $eq: v })),
  fc.tuple(fc.constantFrom("$gt", "$gte", "$lt", "$lte", "$ne"), scalar).map(([op, v]) => ({ [op]: v })),
  fc
    .tuple(fc.constantFrom("$in", "$nin"), fc.array(scalar, { maxLength: 3 }))
    .map(([op, v]) => ({ [op]: v })),
  fc.tuple(scalar, scalar).map(([low, high]) => ({ $gte: low, $lte: high })),
  fc.boolean().map((v) => ({ $exists: v })),
);
const condition = fc.tuple(path, predicate).map(([at, test]): Document => ({ [at]: test }));
const filter: fc.Arbitrary<Document> = fc.oneof(
  condition,
  fc.array(condition, { minLength: 1, maxLength: 3 }).map((all): Document => ({ $and: all })),
  fc.array(condition, { minLength: 1, maxLength: 3 }).map((any): Document => ({ $or: any })),
  fc
    .tuple(condition, fc.array(condition, { minLength: 1, maxLength: 2 }))
    .map(([one, any]): Document => ({ $and: [one, { $or: any }] })),
);
const sort = fc.constantFrom<Document | undefined>(
  undefined,
  { a: 1 },
  { a: -1 },
  { a: 1, b: -1 },
  { b: 1, c: 1 },
  { c: -1, a: -1 },
);
const indexSets: Document[][] = [
  [{ a: 1 }],
  [{ a: -1, b: 1 }],
  [{ "a.b": 1 }, { c: 1 }],
  [{ b: 1, c: -1, a: 1 }],
  [{ a: 1 }, { b: 1 }, { c: "hashed" }],
  [{ b: "hashed", c: 1 }],
];

const idOf = (document: Document): number => document["_id"];

/** The sort values as far as they are visible, so that equal ones may come in any order. */
const sortValues = (found: Document[], by: Document): unknown[] =>
  found.map((document) => sortableKey(Object.keys(by).map((name) => encodeValue(document[name] ?? null))));

describe("an index never changes an answer", () => {
  for (const [kind, of] of [
    ["values without arrays", plain],
    ["values and arrays", value],
  ] as const) {
    it(`over ${kind}: the planner's choice and every hint give what a collection scan gives`, async () => {
      await fc.assert(
        fc.asyncProperty(
          documents(of),
          fc.constantFrom(...indexSets),
          fc.array(filter, { minLength: 1, maxLength: 4 }),
          sort,
          async (stored, indexes, filters, order) => {
            const t = new TestMongod();
            await t.insert("c", ...stored.map((document, i) => ({ _id: i, ...document })));
            for (const key of indexes) await t.createIndex("c", key);
            for (const one of filters) {
              const options = order ? { sort: order } : {};
              const scanned = await t.find("c", one, { ...options, hint: { $natural: 1 } });
              const ids = scanned.map(idOf).sort((x, y) => x - y);
              for (const hint of [undefined, ...indexes]) {
                const found = await t.find("c", one, { ...options, ...(hint && { hint }) });
                expect(found.map(idOf).sort((x, y) => x - y)).toEqual(ids);
                if (order && of === plain)
                  expect(sortValues(found, order)).toEqual(sortValues(scanned, order));
              }
              expect(await t.run({ count: "c", query: one })).toMatchObject({ n: ids.length });
            }
          },
        ),
        { numRuns: 120 },
      );
    });
  }

  it("and stays true through updates and deletes; the indexes agree with the records", async () => {
    const change = fc.oneof(
      fc
        .tuple(
          condition,
          path.filter((p) => p !== "a.b"),
          value,
        )
        .map(([q, at, v]) => ({
          update: "c",
          updates: [{ q, u: { $set: { [at]: v } }, multi: true }],
          ordered: false,
        })),
      fc
        .tuple(condition, path)
        .map(([q, at]) => ({ update: "c", updates: [{ q, u: { $unset: { [at]: 1 } }, multi: true }] })),
      fc
        .tuple(condition, fc.record({ a: value, c: plain }, { requiredKeys: [] }))
        .map(([q, u]) => ({ update: "c", updates: [{ q, u, upsert: true }] })),
      condition.map((q) => ({ delete: "c", deletes: [{ q, limit: 1 }] })),
    );
    await fc.assert(
      fc.asyncProperty(
        documents(plain),
        fc.array(change, { maxLength: 8 }),
        condition,
        async (stored, changes, one) => {
          const t = new TestMongod();
          await t.insert("c", ...stored.map((document, i) => ({ _id: i, ...document })));
          for (const key of [{ a: 1 }, { b: 1, c: -1 }, { "a.b": 1 }]) await t.createIndex("c", key);
          // A change may be refused (parallel arrays, an immutable _id); it then leaves nothing behind.
          for (const command of changes) await t.reply(command);
          expect(await t.run({ validate: "c" })).toMatchObject({ valid: true, errors: [] });
          const ids = async (options: object): Promise<string[]> =>
            (await t.find("c", one, options)).map(({ _id }) => String(_id)).sort();
          expect(await ids({})).toEqual(await ids({ hint: { $natural: 1 } }));
        },
      ),
      { numRuns: 120 },
    );
  });
});
