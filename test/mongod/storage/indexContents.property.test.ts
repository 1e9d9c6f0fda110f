import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PLAIN_COLLECTION } from "../../../lib/mongod/storage/collectionOptions.js";
import { Collection } from "../../../lib/mongod/storage/collection.js";
import type { CollectionIndex } from "../../../lib/mongod/storage/collectionIndex.js";
import { parseIndexSpec } from "../../../lib/mongod/storage/parseIndexSpec.js";
import { CommandError } from "../../../lib/protocol/index.js";
import { TestEnvironment, toDocument } from "../support.js";

const SPECS = [
  { key: { a: 1 }, name: "plain" },
  { key: { a: -1, b: 1 }, name: "compound" },
  { key: { "a.b": 1, c: -1 }, name: "dotted" },
  { key: { a: 1 }, name: "sparse", sparse: true },
  { key: { b: 1, c: 1 }, name: "sparse_compound", sparse: true },
  { key: { c: 1 }, name: "unique_partial", unique: true, partialFilterExpression: { b: { $gt: 1 } } },
  { key: { b: 1 }, name: "partial", partialFilterExpression: { c: { $exists: true } } },
  { key: { c: "hashed" }, name: "hashed" },
  { key: { b: 1, c: "hashed" }, name: "compound_hashed" },
  { key: { a: 1 }, name: "collated", collation: { locale: "en", strength: 1 } },
].map((spec) => parseIndexSpec(toDocument(spec)));

const scalar = fc.constantFrom<unknown>(null, 0, 1, 2, 2.5, "x", "X", "é", true, new Date(5), { b: 1 });
const element = fc.oneof(scalar, fc.constantFrom({ b: [1, 2] }, { b: "x" }, {}));
const field = fc.oneof(
  { weight: 6, arbitrary: scalar },
  { weight: 1, arbitrary: fc.array(element, { maxLength: 3 }) },
);
const content = fc.record({ a: field, b: field, c: field }, { requiredKeys: [] });
const operation = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("insert" as const), content }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("update" as const), at: fc.nat(), content }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("delete" as const), at: fc.nat() }) },
);

function newCollection(): Collection {
  return new Collection("library.c", new Uint8Array(16), PLAIN_COLLECTION, new TestEnvironment());
}

/** Keys and record ids in order. Both indexes of a comparison share the specification, and so its collation. */
function entries({ ordered }: CollectionIndex): unknown[] {
  const list: unknown[] = [];
  for (const scan = ordered.scan("", "\u00ff"); scan.next();) list.push([scan.key, scan.id]);
  return list;
}

describe("after any writes, failed ones among them", () => {
  it("an index has the entries that building it anew gives", () => {
    let refused = 0;
    fc.assert(
      fc.property(fc.array(operation, { minLength: 5, maxLength: 60 }), (operations) => {
        const collection = newCollection();
        collection.createIndexes(SPECS);
        let made = 0;
        const records: number[] = [];
        for (const step of operations) {
          try {
            if (step.kind === "insert") {
              records.push(collection.insert(toDocument({ _id: made++, ...(step.content as object) })));
              continue;
            }
            const id = records[step.at % Math.max(1, records.length)];
            if (id === undefined) continue;
            if (step.kind === "delete") collection.delete(id);
            else collection.update(id, toDocument({ _id: id, ...(step.content as object) }));
          } catch (error) {
            if (!(error instanceof CommandError) || ![11000, 171, 16766].includes(error.code)) throw error;
            refused++;
          }
        }
        for (const index of collection.indexes) {
          const fresh = newCollection();
          // The records as they are, with gaps where some were deleted.
          for (let id = 1; id <= made + refused; id++) {
            const document = collection.records.get(id);
            fresh.records.insert(document ?? toDocument({}));
            if (!document) fresh.records.delete(id);
          }
          if (index === collection.idIndex) continue;
          fresh.createIndexes([index.spec]);
          const rebuilt = fresh.indexes[1]!;
          expect(entries(index)).toEqual(entries(rebuilt));
          expect(index.byteSize).toBe(rebuilt.byteSize);
          expect(index.size).toBe(rebuilt.size);
          // Multikey is never forgotten; what a rebuild sees, the index has seen.
          expect(index.multikey || !rebuilt.multikey).toBe(true);
          rebuilt.multikeyPaths.forEach((paths, i) =>
            expect(index.multikeyPaths[i]).toEqual(expect.arrayContaining(paths)),
          );
        }
      }),
      { numRuns: 150 },
    );
    expect(refused).toBeGreaterThan(100);
  });
});
