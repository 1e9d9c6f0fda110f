/**
 * Sorting against its definition: by each field in turn, arrays by their least element ascending and their
 * greatest descending, a missing field as null; documents that are equal in all fields stay as they came.
 */
import fc from "fast-check";
import { asDocument, BsonType, compareValues, elements, getField, NULL, toDocument } from "shardlab/bson";
import type { RawValue } from "shardlab/bson";
import { it, expect } from "vitest";
import { scalar } from "../query/support.js";
import { TestMongod } from "./support.js";

type Direction = 1 | -1;

// Few values, so that many documents are equal.
const few = fc.oneof(fc.integer({ min: 0, max: 2 }), fc.constantFrom(null, "a", "b"), scalar);
const loans = fc.array(
  fc.record({ a: fc.oneof(few, fc.array(few, { maxLength: 3 })), b: few }, { requiredKeys: [] }),
  { minLength: 1, maxLength: 30 },
);
const direction = fc.constantFrom<Direction>(1, -1);

/** What an empty array is sorted as: undefined, below null. */
const UNDEFINED: RawValue = { type: BsonType.undefined, bytes: new Uint8Array(), start: 0, end: 0 };

function sortValue(doc: Uint8Array, field: string, by: Direction): RawValue {
  const value = getField(doc, field) ?? NULL;
  if (value.type !== BsonType.array) return value;
  return (
    elements(asDocument(value)).reduce<RawValue | undefined>(
      (best, v) => (best === undefined || by * compareValues(v, best) < 0 ? v : best),
      undefined,
    ) ?? UNDEFINED
  );
}

/** Array.prototype.sort is stable. */
function sorted(docs: readonly object[], sort: Record<string, Direction>): unknown[] {
  return docs
    .map((doc, _id) => ({ _id, raw: toDocument(doc) }))
    .sort((x, y) => {
      for (const [field, by] of Object.entries(sort)) {
        const order = compareValues(sortValue(x.raw, field, by), sortValue(y.raw, field, by));
        if (order !== 0) return by * order;
      }
      return 0;
    })
    .map(({ _id }) => _id);
}

it("find and $sort give the defined order, stable, whole or cut by a limit", async () => {
  await fc.assert(
    fc.asyncProperty(
      loans,
      direction,
      direction,
      fc.integer({ min: 1, max: 31 }),
      async (docs, a, b, limit) => {
        const t = new TestMongod();
        await t.insert("c", ...docs.map((doc, _id) => ({ _id, ...doc })));
        const sort = { a, b };
        const expected = sorted(docs, sort);
        const ids = (found: readonly { _id?: unknown }[]): unknown[] => found.map(({ _id }) => _id);
        expect(ids(await t.find("c", {}, { sort }))).toEqual(expected);
        expect(ids(await t.find("c", {}, { sort, limit }))).toEqual(expected.slice(0, limit));
        // Behind a $set the stage sorts, not the plan.
        const stages = [{ $set: { x: 1 } }, { $sort: sort }];
        expect(ids(await t.aggregate("c", stages))).toEqual(expected);
        expect(ids(await t.aggregate("c", [...stages, { $limit: limit }]))).toEqual(expected.slice(0, limit));
      },
    ),
    { numRuns: 150 },
  );
});
