/** Properties of pipelines, checked on random documents and stages. */
import type { Document } from "bson";
import { Decimal128, deserialize, EJSON, Long } from "bson";
import fc from "fast-check";
import { expect } from "vitest";
import { parsePipeline, createStages, runStages } from "../../lib/query/index.js";
import { TestMongod, fromDocument, toDocument } from "./support.js";

// Few and colliding values, of types that compare with each other and types that don't.
export const scalar = fc.constantFrom<unknown>(
  null,
  0,
  1,
  2,
  1.5,
  NaN,
  Long.fromNumber(2),
  Decimal128.fromString("1"),
  "",
  "a",
  "A",
  "b",
  true,
);
const value: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: scalar },
  { weight: 1, arbitrary: fc.record({ b: scalar }, { requiredKeys: [] }) },
  {
    weight: 2,
    arbitrary: fc.array(fc.oneof(scalar, fc.record({ b: scalar }), fc.array(scalar, { maxLength: 2 })), {
      maxLength: 3,
    }),
  },
);
const documents = fc.array(fc.record({ a: value, b: value, c: scalar }, { requiredKeys: [] }), {
  maxLength: 14,
});
const withIds = (docs: Document[]): Document[] => docs.map((doc, i) => ({ _id: i, ...doc }));

const path = fc.constantFrom("a", "b", "c", "a.b", "_id");
const predicate = fc.oneof(
  scalar.map((v) => ({ $eq: v })),
  fc.tuple(fc.constantFrom("$gt", "$gte", "$lt", "$lte", "$ne"), scalar).map(([op, v]) => ({ [op]: v })),
  fc.array(scalar, { maxLength: 3 }).map((v) => ({ $in: v })),
  fc.boolean().map((v) => ({ $exists: v })),
);
const match = fc.tuple(path, predicate).map(([at, test]) => ({ $match: { [at]: test } }));
const direction = fc.constantFrom(1, -1);

/** Stages that give the same for the same input in the same order; arrays make no parallel sorts. */
const stage: fc.Arbitrary<Document> = fc.oneof(
  { weight: 4, arbitrary: match },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom("a", "c"), direction)
      .map(([at, d]) => ({ $sort: { [at]: d, _id: 1 } })),
  },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 6 }).map((n) => ({ $limit: n })) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 3 }).map((n) => ({ $skip: n })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      { $project: { a: 1, c: 1 } },
      { $project: { "a.b": 1 } },
      { $project: { b: 0 } },
      { $project: { _id: 1, c: 1 } },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      { $set: { c: "$a" } },
      { $set: { "a.b": 1 } },
      { $set: { d: { $type: "$b" } } },
      { $unset: "b" },
      { $unset: ["a.b"] },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      { $unwind: "$a" },
      { $unwind: { path: "$b", preserveNullAndEmptyArrays: true } },
      { $unwind: { path: "$a", includeArrayIndex: "i" } },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      { $lookup: { from: "o", localField: "a", foreignField: "b", as: "d" } },
      { $lookup: { from: "o", localField: "c", foreignField: "a.b", as: "d" } },
    ),
  },
);
const INDEXES: Record<string, unknown>[] = [{ a: 1 }, { c: -1, a: 1 }, { "a.b": 1 }, { b: 1 }];

/** An index, the moving of $match, and a hash table in the place of an index never change what a pipeline gives. */
export async function checkPipelines(numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(
      documents,
      documents,
      fc.array(fc.array(stage, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 4 }),
      async (docs, others, pipelines) => {
        const plain = new TestMongod();
        const indexed = new TestMongod();
        for (const t of [plain, indexed]) {
          if (docs.length > 0) await t.insert("c", ...withIds(docs));
          if (others.length > 0) await t.insert("o", ...withIds(others));
        }
        for (const key of INDEXES) {
          await indexed.createIndex("c", key);
          await indexed.createIndex("o", key);
        }
        for (const stages of pipelines) {
          // A defined order in front, so that $limit and $skip mean the same documents everywhere.
          const pipeline = [{ $sort: { _id: 1 } }, ...stages];
          const expected = nested(withIds(docs), withIds(others), pipeline);
          for (const t of [plain, indexed]) {
            const reply = await t.reply({ aggregate: "c", pipeline, cursor: {} });
            expect(reply["ok"] === 1 ? shown(reply["cursor"].firstBatch) : reply["code"]).toEqual(expected);
          }
        }
      },
    ),
    { numRuns },
  );
}

/** Each stage run on all that the one before it gave, in the order of the pipeline; $lookup as a nested loop. */
function nested(docs: Document[], others: Document[], pipeline: Document[]): unknown {
  let current = docs.map((doc) => toDocument(doc));
  try {
    for (const stage of pipeline) {
      const lookup = stage["$lookup"];
      current = lookup
        ? current.map((doc) => joined(doc, others, lookup))
        : runStages(createStages(parsePipeline([toDocument(stage)])), current);
    }
  } catch (error) {
    return (error as { code: number }).code;
  }
  return shown(current.map((doc) => fromDocument(doc)));
}

function joined(doc: Uint8Array, others: Document[], { localField, foreignField, as }: Document): Uint8Array {
  const typed = deserialize(doc, { promoteValues: false });
  const local = valuesAt(typed, localField.split("."));
  const wanted = local.length === 0 ? [null] : local;
  const filter = toDocument({ $match: { $or: wanted.map((v) => ({ [foreignField]: { $eq: v } })) } });
  const found = runStages(
    createStages(parsePipeline([filter])),
    others.map((other) => toDocument(other)),
  );
  return toDocument({ ...typed, [as]: found.map((each) => deserialize(each, { promoteValues: false })) });
}

/** The values at a path of plain names, arrays on the way and at the end gone through. */
function valuesAt(value: unknown, [name, ...rest]: string[]): unknown[] {
  if (name === undefined) return Array.isArray(value) ? value : value === undefined ? [] : [value];
  if (Array.isArray(value)) return value.filter(isObject).flatMap((each) => valuesAt(each, [name, ...rest]));
  return isObject(value) ? valuesAt(value[name], rest) : [];
}

function isObject(value: unknown): value is Document {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** Documents as text; what $lookup found in the order of _id, for an index has an order of its own. */
const shown = (docs: Document[]): string[] =>
  docs.map((doc) => {
    const { d } = doc;
    const found = Array.isArray(d) && d.every((each) => isObject(each) && "_id" in each);
    return EJSON.stringify(found ? { ...doc, d: [...d].sort((a, b) => a._id - b._id) } : doc);
  });

/** $lookup by $expr, joined by its field, gives what the pipeline gives for every document alone. */
export async function checkExpressionJoin(numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(documents, documents, fc.boolean(), async (docs, others, index) => {
      const t = new TestMongod();
      await t.insert("c", { _id: -1 }, ...withIds(docs));
      await t.insert("o", { _id: -1 }, ...withIds(others));
      if (index) await t.createIndex("o", { "a.b": 1 });
      for (const field of ["a", "a.b", "c"]) {
        const form = (test: object) => [
          {
            $lookup: {
              from: "o",
              let: { v: `$${field}` },
              pipeline: [{ $match: { $expr: test } }, { $sort: { _id: 1 } }],
              as: "r",
            },
          },
          { $project: { ids: { $map: { input: "$r", in: "$$this._id" } } } },
        ];
        const byField = await t.aggregate("c", form({ $eq: [`$${field}`, "$$v"] }));
        // Nothing here tells the stage that it could be joined.
        const one = await t.aggregate("c", form({ $not: [{ $ne: [`$${field}`, "$$v"] }] }));
        expect(byField).toEqual(one);
      }
    }),
    { numRuns },
  );
}

const grouping: fc.Arbitrary<Document[]> = fc.constantFrom<Document[]>(
  [{ $count: "n" }],
  [{ $group: { _id: null, n: { $sum: 1 } } }],
  [{ $group: { _id: "$a", n: { $sum: 1 } } }],
  [{ $group: { _id: "$c", most: { $max: "$a" }, least: { $min: "$a" } } }],
  [{ $group: { _id: "$a.b", n: { $sum: { $cond: [{ $eq: ["$c", null] }, 1, 0] } } } }],
  [{ $sortByCount: "$c" }, { $project: { count: 1 } }],
  [{ $bucket: { groupBy: "$c", boundaries: [0, 1, 2], default: "z" } }],
  [{ $project: { _id: 0, c: 1, a: 1 } }, { $group: { _id: { c: "$c", a: "$a" }, n: { $sum: 1 } } }],
  [{ $project: { x: ["$c", "$a"] } }, { $group: { _id: "$x", ids: { $sum: "$_id" } } }],
);

/** Nor do plans that leave out what nobody looks at: covered ones, and those that count index keys. */
export async function checkGroups(numRuns: number): Promise<void> {
  const between = fc.constantFrom<Document[]>(
    [],
    [{ $unwind: "$a" }],
    [{ $set: { c: "$a" } }],
    [{ $unset: "b" }],
  );
  await fc.assert(
    fc.asyncProperty(
      documents,
      fc.array(match, { maxLength: 2 }),
      between,
      grouping,
      async (docs, first, then, last) => {
        const pipeline = [...first, ...then, ...last];
        const expected = nested(withIds(docs), [], pipeline);
        for (const indexes of [[], INDEXES, [{ c: 1, a: 1 }], [{ c: "hashed" }]]) {
          const t = new TestMongod();
          if (docs.length > 0) await t.insert("c", ...withIds(docs));
          for (const key of indexes) await t.createIndex("c", key as Record<string, unknown>);
          const reply = await t.reply({ aggregate: "c", pipeline, cursor: {} });
          const given = reply["ok"] === 1 ? shown(reply["cursor"].firstBatch) : reply["code"];
          expect(asSet(given)).toEqual(asSet(expected));
        }
      },
    ),
    { numRuns },
  );
}

/** Groups come in any order, and which of two equal numbers is their key depends on it. */
function asSet(result: unknown): unknown {
  if (!Array.isArray(result)) return result;
  return result.map((text: string) => text.replaceAll('{"$numberDecimal":"1"}', "1")).sort();
}
