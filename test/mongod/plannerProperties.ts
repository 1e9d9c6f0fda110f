/**
 * Whatever indexes there are and whatever a query asks for, its plan gives what
 * reading the collection and sorting in memory would give; and what explain
 * counts is what was done.
 */
import type { Document } from "bson";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { componentEnd } from "../../lib/bson/index.js";
import { planQuery } from "../../lib/mongod/planner/plan.js";
import type { PlanStage } from "../../lib/mongod/planner/planStage.js";
import { compileQuery } from "../../lib/mongod/planner/query.js";
import { Interrupt } from "../../lib/mongod/planner/interrupt.js";
import { IndexScan } from "../../lib/mongod/planner/stages/indexScan.js";
import { Collection } from "../../lib/mongod/storage/collection.js";
import { PLAIN_COLLECTION } from "../../lib/mongod/storage/collectionOptions.js";
import { parseIndexSpec } from "../../lib/mongod/storage/parseIndexSpec.js";
import { compileSort, parseCollation } from "../../lib/query/index.js";
import { TestEnvironment, TestMongod, toDocument } from "./support.js";

const few = fc.constantFrom<unknown>(0, 1, 2, 3);
const scalar = fc.oneof(
  { weight: 3, arbitrary: few },
  {
    weight: 2,
    arbitrary: fc.constantFrom<unknown>(null, 1.5, NaN, "", "a", "A", "b", "ab", true, new Date(1)),
  },
);
const inner = fc.record({ x: few, y: few }, { requiredKeys: [] });
/** Where several elements together look like a match that none of them is. */
const elements = fc.oneof(
  fc.array(inner, { minLength: 1, maxLength: 3 }),
  fc.array(fc.oneof(scalar, inner), { maxLength: 3 }),
);
const any: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: scalar },
  { weight: 1, arbitrary: inner },
  { weight: 3, arbitrary: elements },
);
const documents = fc.array(
  fc.record(
    { a: any, b: scalar, c: fc.oneof({ weight: 4, arbitrary: scalar }, { weight: 1, arbitrary: any }) },
    { requiredKeys: [] },
  ),
  { minLength: 12, maxLength: 30 },
);

const path = fc.constantFrom("a", "b", "c", "a.x", "a.y", "a.x", "a.y");
const direction = fc.constantFrom<unknown>(1, -1);
const key = fc
  .uniqueArray(fc.tuple(path, direction), { minLength: 1, maxLength: 3, selector: ([name]) => name })
  .map((fields): Record<string, unknown> => Object.fromEntries(fields));
const options = fc.oneof(
  { weight: 5, arbitrary: fc.constant({}) },
  fc.constantFrom<Document>(
    { sparse: true },
    { unique: true },
    { hidden: true },
    { collation: { locale: "en", strength: 2 } },
    { partialFilterExpression: { b: { $gt: 0 } } },
    { partialFilterExpression: { c: { $exists: true } } },
  ),
);
const index = fc.oneof(
  { weight: 4, arbitrary: fc.record({ key, options }) },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom<Record<string, unknown>>({ "a.x": 1, "a.y": -1 }, { b: 1, "a.x": 1 }, { a: 1 })
      .map((nested) => ({ key: nested, options: {} })),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom({ b: "hashed" }, { b: "hashed", c: 1 }, { c: 1, b: "hashed" })
      .map((hashed) => ({ key: hashed as Record<string, unknown>, options: {} })),
  },
);
const indexes = fc.array(index, { minLength: 1, maxLength: 4 });

const test = fc.oneof(
  { weight: 3, arbitrary: scalar.map((v) => ({ $eq: v })) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom("$gt", "$gte", "$lt", "$lte", "$ne"), scalar)
      .map(([op, v]) => ({ [op]: v })),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom("$in", "$nin"), fc.array(scalar, { minLength: 1, maxLength: 3 }))
      .map(([op, v]) => ({ [op]: v })),
  },
  fc.tuple(scalar, scalar).map(([low, high]) => ({ $gte: low, $lt: high })),
  fc.boolean().map((v) => ({ $exists: v })),
  fc.constantFrom<Document>(
    { $regex: "^a" },
    { $regex: "b" },
    { $type: "string" },
    { $mod: [2, 0] },
    { $not: { $gt: 1 } },
    { $elemMatch: { $gt: 0, $lt: 3 } },
    { $elemMatch: { x: 1, y: { $gt: 0 } } },
    { $size: 1 },
    { $all: [1, 2] },
  ),
);
const condition = fc.tuple(path, test).map(([at, one]): Document => ({ [at]: one }));
const conditions = fc.array(condition, { minLength: 1, maxLength: 3 });
const filter: fc.Arbitrary<Document> = fc.oneof(
  condition,
  fc.tuple(few, few).map(([x, y]): Document => ({ "a.x": x, "a.y": y })),
  few.map((low): Document => ({ a: { $gt: low } })),
  few.map((x): Document => ({ b: { $in: [0, 1, 2] }, "a.x": { $gte: x } })),
  conditions.map((all): Document => ({ $and: all })),
  conditions.map((some): Document => ({ $or: some })),
  fc.tuple(condition, conditions).map(([one, some]): Document => ({ $and: [one, { $or: some }] })),
  fc.tuple(condition, conditions).map(([one, some]): Document => ({ $or: [one, { $and: some }] })),
  conditions.map((some): Document => ({ $nor: some })),
  fc.constant({}),
);
const sort = fc.option(
  fc
    .uniqueArray(fc.tuple(fc.constantFrom("a", "a", "b", "c", "a.x"), fc.constantFrom(1, -1)), {
      minLength: 1,
      maxLength: 2,
      selector: ([name]) => name,
    })
    .map((fields): Document => Object.fromEntries(fields)),
  { nil: undefined },
);
const collation = fc.option(fc.constant({ locale: "en", strength: 2 }), { nil: undefined });

const idOf = ({ _id }: Document): number => _id as number;
const ids = (found: Document[]): number[] => found.map(idOf).sort((x, y) => x - y);

async function stored(
  docs: object[],
  made: { key: Record<string, unknown>; options: object }[],
): Promise<TestMongod> {
  const t = new TestMongod();
  await t.insert("c", ...docs.map((document, i) => ({ _id: i, ...document })));
  for (const [i, { key: keys, options: more }] of made.entries()) {
    // Parallel arrays and arrays under a hash are refused; then there is one index less.
    await t.reply({ createIndexes: "c", indexes: [{ key: keys, name: `i${i}`, ...more }] });
  }
  return t;
}

/**
 * Declares the properties.
 * @param runs random cases of each
 */
export function planProperties(runs: number): void {
  describe("a plan", () => {
    it("gives what a collection scan gives, in order, for the planner's choice and for every hint", async () => {
      await fc.assert(
        fc.asyncProperty(
          documents,
          indexes,
          fc.array(filter, { minLength: 1, maxLength: 4 }),
          sort,
          collation,
          async (docs, made, filters, by, coll) => {
            const t = await stored(docs, made);
            const listed: Document[] = (await t.run({ listIndexes: "c" }))["cursor"].firstBatch;
            for (const one of filters) {
              const common = { ...(by && { sort: by }), ...(coll && { collation: coll }) };
              const scanned = await t.reply({ find: "c", filter: one, ...common, hint: { $natural: 1 } });
              if (!scanned["ok"]) continue; // parallel arrays in the sort
              const expected: Document[] = scanned["cursor"].firstBatch;
              const order = new Map(expected.map((document, i) => [idOf(document), i]));
              for (const hint of [undefined, ...listed.map(({ name }) => name as string)]) {
                const whole = listed.find(({ name }) => name === hint);
                // What a hinted sparse or partial index lacks is missing from the answer, as in MongoDB.
                const lacks = whole && ("sparse" in whole || "partialFilterExpression" in whole);
                const reply = await t.reply({ find: "c", filter: one, ...common, ...(hint && { hint }) });
                if (whole && "hidden" in whole) {
                  expect(reply).toMatchObject({ code: 2 });
                  continue;
                }
                expect(reply).toMatchObject({ ok: 1 });
                const found: Document[] = reply["cursor"].firstBatch;
                if (lacks) expect(found.every((document) => order.has(idOf(document)))).toBe(true);
                else expect(ids(found)).toEqual(ids(expected));
                expect(new Set(ids(found)).size).toBe(found.length);
                if (by) expect(ascends(found.map(sortKeyOf(by, coll)))).toBe(true);
              }
              const n = await t.run({ count: "c", query: one, ...(coll && { collation: coll }) });
              expect(n).toMatchObject({ n: expected.length });
            }
          },
        ),
        { numRuns: runs },
      );
    });

    it("pages: skip and limit cut the same sequence of sort keys", async () => {
      await fc.assert(
        fc.asyncProperty(
          documents,
          indexes,
          filter,
          sort,
          fc.nat(5),
          fc.nat(5),
          fc.nat(3),
          async (docs, made, one, by, skip, limit, batch) => {
            const t = await stored(docs, made);
            const all = await t.reply({
              find: "c",
              filter: one,
              ...(by && { sort: by }),
              hint: { $natural: 1 },
            });
            if (!all["ok"]) return;
            const expected: Document[] = all["cursor"].firstBatch;
            const page = await t.find("c", one, {
              ...(by && { sort: by }),
              ...(batch > 0 && { batchSize: batch }),
              skip,
              limit,
            });
            const cut = expected.slice(skip, limit > 0 ? skip + limit : undefined);
            expect(page).toHaveLength(cut.length);
            if (by) {
              const keyOf = sortKeyOf(by);
              expect(page.map(keyOf)).toEqual(cut.map(keyOf));
            }
          },
        ),
        { numRuns: runs },
      );
    });

    it("covered by an index shows what the documents show", async () => {
      const projection = fc
        .uniqueArray(fc.constantFrom("a", "b", "c", "a.x"), { minLength: 1, maxLength: 2 })
        .filter((names) => !(names.includes("a") && names.includes("a.x")))
        .map((names): Document => ({ _id: 0, ...Object.fromEntries(names.map((name) => [name, 1])) }));
      await fc.assert(
        fc.asyncProperty(documents, indexes, filter, projection, async (docs, made, one, shape) => {
          const t = await stored(docs, made);
          const plain = await t.find("c", one, { projection: shape, hint: { $natural: 1 } });
          const planned = await t.find("c", one, { projection: shape });
          expect(bag(planned)).toEqual(bag(plain));
        }),
        { numRuns: runs },
      );
    });
  });

  describe("explain", () => {
    it("of any query succeeds, returns as many as find, and its parts add up", async () => {
      await fc.assert(
        fc.asyncProperty(documents, indexes, filter, sort, fc.nat(3), async (docs, made, one, by, limit) => {
          const t = await stored(docs, made);
          const command = { find: "c", filter: one, ...(by && { sort: by }), limit };
          const found = await t.reply(command);
          if (!found["ok"]) return;
          const { executionStats, queryPlanner } = await t.run({ explain: command });
          expect(executionStats.nReturned).toBe(found["cursor"].firstBatch.length);
          const sums = { keys: 0, docs: 0 };
          const visit = (stage: Document): void => {
            sums.keys += stage["keysExamined"] ?? 0;
            sums.docs += stage["docsExamined"] ?? 0;
            if ("works" in stage && stage["isEOF"] === 1) {
              // Every step was a result, no result, or the end (once, or again when asked again).
              const rest = stage["works"] - stage["advanced"] - stage["needTime"];
              expect(rest).toBeGreaterThanOrEqual(stage["stage"] === "LIMIT" || rest === 0 ? 0 : 1);
            }
            for (const below of stage["inputStages"] ?? [stage["inputStage"]].filter(Boolean)) visit(below);
          };
          visit(executionStats.executionStages);
          expect([executionStats.totalKeysExamined, executionStats.totalDocsExamined]).toEqual([
            sums.keys,
            sums.docs,
          ]);
          expect(executionStats.allPlansExecution.length).toBe(
            queryPlanner.rejectedPlans.length > 0 ? queryPlanner.rejectedPlans.length + 1 : 0,
          );
        }),
        { numRuns: runs },
      );
    });

    it("counts exactly the keys within the bounds, and one for each time the scan had to look further", () => {
      fc.assert(
        fc.property(
          documents,
          fc.array(key, { minLength: 1, maxLength: 3 }),
          fc.array(filter, { maxLength: 4 }),
          sort,
          (docs, keys, filters, by) => {
            const collection = new Collection(
              "library.c",
              new Uint8Array(16),
              PLAIN_COLLECTION,
              new TestEnvironment(),
            );
            keys.forEach((one, i) => {
              try {
                collection.createIndexes([parseIndexSpec(toDocument({ key: one, name: `i${i}` }))]);
              } catch {
                // the same key again
              }
            });
            for (const [i, document] of docs.entries()) {
              try {
                collection.insert(toDocument({ _id: i, ...document }));
              } catch {
                // parallel arrays
              }
            }
            for (const one of filters) {
              const query = compileQuery({ filter: toDocument(one), ...(by && { sort: toDocument(by) }) });
              let root: PlanStage;
              try {
                root = planQuery(collection, query, new Interrupt(() => 0));
                while (root.next());
              } catch {
                continue; // parallel arrays in the sort
              }
              for (const scan of scansIn(root)) {
                const { seeks } = scan.describeWork() as { seeks: number };
                const within = keysWithin(scan);
                const extra = scan.keysExamined - within;
                // A single stretch is read from end to end; with gaps, each look-up but the first follows one key too far.
                expect(seeks === 0 ? extra === 0 : extra === seeks - 1 || extra === seeks).toBe(true);
              }
            }
          },
        ),
        { numRuns: runs },
      );
    });
  });
}

/** The index scans of a plan. */
function scansIn(stage: PlanStage): IndexScan[] {
  return [...(stage instanceof IndexScan ? [stage] : []), ...stage.inputs.flatMap(scansIn)];
}

/** All keys of the index that lie within the scan's bounds, found by looking at every one. */
function keysWithin({ access: { index, bounds } }: IndexScan): number {
  const all = index.ordered.scan("", "\u00ff");
  let count = 0;
  while (all.next()) {
    let at = 0;
    const within = index.spec.fields.every(({ kind }, i) => {
      const end = componentEnd(all.key, at, kind === -1);
      const part = all.key.slice(at, end);
      at = end;
      return (bounds[i] ?? []).some(
        ({ low, lowInclusive, high, highInclusive }) =>
          (part > low || (part === low && lowInclusive)) && (part < high || (part === high && highInclusive)),
      );
    });
    if (within) count++;
  }
  return count;
}

/** What each document sorts by. */
function sortKeyOf(by: Document, coll?: Document): (document: Document) => string {
  const collated = coll && parseCollation(toDocument(coll));
  const compiled = compileSort(toDocument(by), collated ? { collation: collated } : {});
  return (document) => compiled.key(toDocument(document));
}

function ascends(keys: readonly string[]): boolean {
  return keys.every((one, i) => i === 0 || (keys[i - 1] as string) <= one);
}

/** Documents as a multiset, fields in any order: a covered projection has the index's order. */
function bag(found: Document[]): string[] {
  return found.map((document) => JSON.stringify(Object.entries(flat(document)).sort())).sort();
}

function flat(document: Document, prefix = ""): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(document).flatMap(([name, value]): [string, unknown][] =>
      typeof value === "object" && value !== null && value.constructor === Object
        ? Object.entries(flat(value as Document, `${prefix}${name}.`))
        : [[prefix + name, Number.isNaN(value) ? "NaN" : value]],
    ),
  );
}
