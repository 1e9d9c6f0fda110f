import { Double } from "bson";
import fc from "fast-check";
import { compareValues, document, fields, getField, int32, valuesIdentical } from "shardlab/bson";
import { describe, expect, test } from "vitest";
import {
  compileFilter,
  compileProjection,
  compileSort,
  compileUpdate,
  createStages,
  parsePipeline,
  PipelineRunner,
  runStages,
  splitGroup,
} from "../../lib/query/index.js";
import { anything, bson, plain, scalar, text, value } from "./support.js";

const documents = fc.record(
  { _id: fc.nat(), a: anything, b: anything, c: scalar },
  { requiredKeys: ["_id"] },
);
const notRegex = plain.filter((v) => !(v instanceof RegExp));

describe("update, then find", () => {
  test("what $set wrote is found by equality, and everything else keeps its bytes", () => {
    fc.assert(
      fc.property(documents, fc.constantFrom("a", "b", "n", "n.m"), notRegex, (doc, path, v) => {
        const before = bson(doc);
        const after = compileUpdate(value({ $set: { [path]: v } })).apply(before, { now: 0 });
        expect(compileFilter(bson({ [path]: { $eq: v } })).matches(after)).toBe(true);
        const top = path.split(".")[0]!;
        const kept = fields(before).filter(([name]) => name !== top);
        expect(
          fields(after)
            .filter(([name]) => name !== top)
            .map(([name]) => name),
        ).toEqual(kept.map(([name]) => name));
        for (const [name, old] of kept) expect(valuesIdentical(getField(after, name)!, old)).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  test("$unset makes the field missing, $push adds one element, $pull takes all equal ones out", () => {
    fc.assert(
      fc.property(documents, fc.array(notRegex, { maxLength: 4 }), notRegex, (doc, list, v) => {
        const start = bson({ ...doc, list });
        const unset = compileUpdate(value({ $unset: { list: 1 } })).apply(start, { now: 0 });
        expect(getField(unset, "list")).toBeUndefined();
        const pushed = compileUpdate(value({ $push: { list: { $each: [v] } } })).apply(start, { now: 0 });
        expect(compileFilter(bson({ list: { $size: list.length + 1 } })).matches(pushed)).toBe(true);
        const pulled = compileUpdate(value({ $pullAll: { list: [v] } })).apply(pushed, { now: 0 });
        expect(compileFilter(bson({ list: { $elemMatch: { $eq: v } } })).matches(pulled)).toBe(false);
      }),
      { numRuns: 500 },
    );
  });
});

describe("sorting", () => {
  test("keys order documents as BSON order orders their values", () => {
    fc.assert(
      fc.property(plain, plain, fc.constantFrom(1, -1), (x, y, direction) => {
        const { key } = compileSort(bson({ v: direction }));
        const [left, right] = [bson({ v: x }), bson({ v: y })];
        const [a, b] = [key(left), key(right)];
        const wanted = direction * compareValues(getField(left, "v")!, getField(right, "v")!);
        expect(a < b ? -1 : a > b ? 1 : 0).toBe(wanted === 0 ? 0 : wanted);
      }),
      { numRuns: 2000 },
    );
  });
});

test("including and excluding the same fields part a document in two", () => {
  fc.assert(
    fc.property(documents, fc.subarray(["a", "b", "c"], { minLength: 1 }), (doc, names) => {
      const raw = bson(doc);
      const spec = (n: number) =>
        bson({ ...(n ? { _id: 0 } : {}), ...Object.fromEntries(names.map((name) => [name, n])) });
      const kept = fields(compileProjection(spec(1))(raw)).map(([name]) => name);
      const rest = fields(compileProjection(spec(0))(raw)).map(([name]) => name);
      expect([...kept, ...rest].sort()).toEqual(
        fields(raw)
          .map(([name]) => name)
          .sort(),
      );
    }),
    { numRuns: 300 },
  );
});

describe("a split $group (partial on the shards, merged by the router) equals the whole one", () => {
  /** Numbers whose sums are exact in any order. */
  const number = fc.oneof(
    fc.integer({ min: -1000, max: 1000 }),
    fc.integer({ min: -1000, max: 1000 }).map((n) => new Double(n / 8)),
  );
  const rows = fc.array(
    fc.record(
      {
        k: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom("x", null)),
        v: fc.oneof(number, scalar),
        o: fc.dictionary(fc.constantFrom("p", "q"), number),
      },
      { requiredKeys: ["o"] },
    ),
    { maxLength: 25 },
  );
  const SPEC = {
    _id: "$k",
    n: { $sum: 1 },
    c: { $count: {} },
    total: { $sum: "$o.p" },
    mean: { $avg: "$o.q" },
    none: { $avg: "$nosuch" },
    low: { $min: "$v" },
    high: { $max: "$v" },
    list: { $push: "$v" },
    set: { $addToSet: "$v" },
    first: { $first: "$v" },
    last: { $last: "$v" },
  };

  /** Groups in the order of their keys, `$addToSet` results in BSON order. */
  function normal(docs: Uint8Array[]): string[] {
    const sorted = compileSort(bson({ _id: 1 }));
    return docs
      .map((doc) => ({ key: sorted.key(doc), doc }))
      .sort((a, b) => (a.key < b.key ? -1 : 1))
      .map(({ doc }) => text(doc));
  }

  test("for any documents on any number of shards", () => {
    fc.assert(
      fc.property(rows, fc.integer({ min: 1, max: 4 }), (docs, shards) => {
        const raw = docs.map(bson);
        const whole = runStages(createStages(parsePipeline([bson({ $group: SPEC })])), raw);
        const split = splitGroup(document(bson(SPEC)))!;
        const merger = new PipelineRunner([split.merge()]);
        // Shards answer one after the other, so the order of documents is that of the whole.
        const size = Math.ceil(raw.length / shards) || 1;
        for (let i = 0; i < shards; i++) {
          const part = raw.slice(i * size, (i + 1) * size);
          for (const row of runStages(createStages(parsePipeline([split.partial])), part)) merger.push(row);
        }
        merger.finish();
        expect(normal(merger.take())).toEqual(normal(whole));
      }),
      { numRuns: 400 },
    );
  });

  test("the partial stage is ordinary syntax", () => {
    const split = splitGroup(document(bson({ _id: "$city", n: { $sum: 1 }, mean: { $avg: "$qty" } })))!;
    expect(text(split.partial)).toBe(
      '{ $group: { _id: "$city", p0: { $sum: 1 }, p1: { $sum: "$qty" }, ' +
        'p1n: { $sum: { $cond: [ { $isNumber: "$qty" }, 1, 0 ] } } } }',
    );
  });

  test("no rows, no groups; a count of none stays an int32", () => {
    const split = splitGroup(document(bson({ _id: null, n: { $sum: 1 } })))!;
    expect(runStages([split.merge()], [])).toEqual([]);
    expect(runStages([split.merge()], [bson({ _id: null, p0: 0 })]).map(text)).toEqual([
      "{ _id: null, n: 0 }",
    ]);
    expect(int32(0).type).toBe(getField(bson({ p0: 0 }), "p0")!.type);
  });
});
