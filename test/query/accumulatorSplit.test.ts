/** A `$group` in two halves gives what it gives in one. */
import { Decimal128, Double, Long } from "bson";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { getField } from "shardlab/bson";
import { createStages, parseCollation, parsePipeline, runStages, splitGroup } from "../../lib/query/index.js";
import { bson, js } from "./support.js";

const values = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: -4, max: 4 }) },
  { weight: 2, arbitrary: fc.integer({ min: -8, max: 8 }).map((n) => new Double(n / 2)) },
  { weight: 1, arbitrary: fc.integer({ min: -4, max: 4 }).map((n) => Long.fromNumber(n)) },
  { weight: 1, arbitrary: fc.integer({ min: -4, max: 4 }).map((n) => Decimal128.fromString(`${n}`)) },
  { weight: 2, arbitrary: fc.constantFrom(null, "a", "B", [1, 2], { k: 1 }) },
);
const docs = fc.array(
  fc.record(
    { g: fc.constantFrom(1, 2, null, "x"), a: values, s: fc.integer({ min: 0, max: 3 }) },
    { requiredKeys: ["g", "s"] },
  ),
  { maxLength: 24 },
);

const whole = (spec: object, input: Uint8Array[]) =>
  runStages(createStages(parsePipeline([bson({ $group: spec })])), input);

function inHalves(spec: object, input: Uint8Array[], shards: number): Uint8Array[] | undefined {
  const split = splitGroup(getField(bson({ $group: spec }), "$group")!);
  if (split === undefined) return undefined;
  const size = Math.ceil(input.length / shards) || 1;
  const partial = Array.from({ length: shards }, (_, i) =>
    runStages(createStages(parsePipeline([split.partial])), input.slice(i * size, (i + 1) * size)),
  );
  return runStages([split.merge()], partial.flat());
}

/** Numbers nearly the same are the same; sets have no order. */
function near(v: unknown, op: string): unknown {
  if (Array.isArray(v)) {
    const list = v.map((each) => near(each, op));
    return op === "$addToSet" ? list.map((each) => JSON.stringify(each)).sort() : list;
  }
  if (v instanceof Decimal128) return Number(Number(v.toString()).toPrecision(10));
  if (v instanceof Long) return v.toNumber();
  return typeof v === "number" ? Number(v.toPrecision(10)) : v;
}

const FIELDS: ReadonlyArray<readonly [op: string, argument: unknown]> = [
  ["$sum", "$a"],
  ["$avg", "$a"],
  ["$count", {}],
  ["$min", "$a"],
  ["$max", "$a"],
  ["$first", "$a"],
  ["$last", "$a"],
  ["$push", "$a"],
  ["$addToSet", "$a"],
  ["$mergeObjects", { x: "$a", y: "$s" }],
  ["$stdDevPop", "$a"],
  ["$stdDevSamp", "$a"],
  ["$firstN", { n: 2, input: "$a" }],
  ["$lastN", { n: 2, input: "$a" }],
  ["$minN", { n: 3, input: "$a" }],
  ["$maxN", { n: 3, input: "$a" }],
  ["$top", { sortBy: { s: 1, a: -1 }, output: "$a" }],
  ["$topN", { n: 3, sortBy: { s: -1 }, output: ["$a", "$s"] }],
  ["$bottomN", { n: 2, sortBy: { "a.k": 1, s: 1 }, output: "$s" }],
];

describe("a $group in two halves", () => {
  test.each(FIELDS)("%s", (op, argument) => {
    fc.assert(
      fc.property(docs, fc.integer({ min: 1, max: 4 }), (list, shards) => {
        // Where equal keys leave open which document comes first, give each a place of its own.
        const input = list.map((doc, i) => bson({ ...doc, s: doc.s * 100 + i }));
        const spec = { _id: "$g", r: { [op]: argument } };
        const byId = (rows: Uint8Array[]) =>
          rows.map(js).map(({ _id, r }) => [JSON.stringify(_id), near(r, op)] as const);
        const got = new Map(byId(inHalves(spec, input, shards)!));
        expect(got).toEqual(new Map(byId(whole(spec, input))));
      }),
      { numRuns: 60 },
    );
  });

  test("what cannot be taken apart is not split", () => {
    const input = [bson({ a: 1 })];
    for (const r of [
      { $median: { input: "$a", method: "approximate" } },
      { $percentile: { input: "$a", p: [0.5], method: "approximate" } },
    ]) {
      expect(inHalves({ _id: null, r }, input, 2)).toBeUndefined();
    }
  });

  test("the halves are joined by the collation", () => {
    const collation = parseCollation(bson({ locale: "en", strength: 2 }));
    const spec = getField(bson({ $group: { _id: "$g", n: { $sum: 1 } } }), "$group")!;
    const split = splitGroup(spec, { ...(collation && { collation }) })!;
    const rows = [
      { _id: "a", p0: 1 },
      { _id: "A", p0: 2 },
      { _id: "b", p0: 4 },
    ].map(bson);
    expect(runStages([split.merge()], rows).map(js)).toEqual([
      { _id: "a", n: 3 },
      { _id: "b", n: 4 },
    ]);
  });
});
