import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkExpressionJoin, checkGroups, checkPipelines, scalar } from "./aggregateProperties.js";
import { fromDocument, TestMongod, toDocument } from "./support.js";

describe("an index never changes what a pipeline gives", () => {
  it("nor does the moving of $match, nor a hash table in the place of an index", () => checkPipelines(50));
  it("nor do covered plans and those that count keys", () => checkGroups(80));
  it("nor does the joining of a pipeline by the field it compares", () => checkExpressionJoin(20));
});

const shown = (docs: object[]): string[] => docs.map((doc) => JSON.stringify(doc));

describe("$sample", () => {
  it("draws without replacement, every document with the same chance", async () => {
    const t = new TestMongod();
    await t.insert("c", ...Array.from({ length: 10 }, (_, i) => ({ _id: i })));
    const drawn = new Map<number, number>();
    for (let round = 0; round < 300; round++) {
      const rows = await t.aggregate("c", [{ $sample: { size: 3 } }]);
      expect(new Set(rows.map(({ _id }) => _id)).size).toBe(3);
      for (const { _id } of rows) drawn.set(_id, (drawn.get(_id) ?? 0) + 1);
    }
    // 900 draws over 10 documents: 90 each, within five standard deviations.
    for (let i = 0; i < 10; i++) expect(Math.abs((drawn.get(i) ?? 0) - 90)).toBeLessThan(45);
  });
});

describe("$merge", () => {
  it("then find gives each document as the last one that was merged under its key", async () => {
    const row = fc.record({ k: fc.integer({ min: 0, max: 4 }), v: scalar });
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { maxLength: 8 }),
        fc.array(row, { maxLength: 8 }),
        async (before, merged) => {
          const t = new TestMongod();
          const target = new Map<number, unknown>();
          for (const { k, v } of before) if (!target.has(k)) target.set(k, v);
          if (target.size > 0) await t.insert("t", ...[...target].map(([_id, v]) => ({ _id, v })));
          if (merged.length > 0) await t.insert("c", ...merged.map((each, i) => ({ _id: i, ...each })));
          for (const { k, v } of merged) target.set(k, v);
          await t.run({
            aggregate: "c",
            pipeline: [{ $project: { _id: "$k", v: 1 } }, { $merge: "t" }],
            cursor: {},
          });
          const expected = [...target]
            .sort(([a], [b]) => a - b)
            .map(([_id, v]) => fromDocument(toDocument({ _id, v })));
          expect(shown(await t.find("t", {}, { sort: { _id: 1 } }))).toEqual(shown(expected));
        },
      ),
      { numRuns: 60 },
    );
  });
});
