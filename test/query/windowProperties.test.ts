/** A sliding window gives what working out each window from nothing gives. */
import { Decimal128, Double } from "bson";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createStages, parsePipeline, runStages } from "../../lib/query/index.js";
import { OrderedBag } from "../../lib/query/pipeline/window/orderedBag.js";
import { bson, js } from "./support.js";

const run = (pipeline: object[], docs: object[]) =>
  runStages(createStages(parsePipeline(pipeline.map(bson))), docs.map(bson)).map(js);

const element = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: -5, max: 5 }) },
  { weight: 2, arbitrary: fc.integer({ min: -50, max: 50 }).map((n) => new Double(n / 4)) },
  { weight: 1, arbitrary: fc.integer({ min: -5, max: 5 }).map((n) => Decimal128.fromString(`${n}.5`)) },
  { weight: 1, arbitrary: fc.constantFrom(null, undefined, "a", "b") },
);

/** What `$group` makes of the documents of each window. */
function recompute(op: string, argument: unknown, docs: object[], lower: number | undefined, upper: number) {
  return docs.map((_, i) => {
    const window = docs.slice(Math.max(0, lower === undefined ? 0 : i + lower), Math.max(0, i + upper + 1));
    const [group] = run([{ $group: { _id: null, r: { [op]: argument } } }], window);
    const [none] = run([{ $group: { _id: null, r: { [op]: argument } } }], [{ a: null, nothing: true }]);
    return group === undefined ? none!["r"] : group["r"];
  });
}

/** Numbers nearly the same are the same: roundings may differ in the last digit. */
function near(v: unknown): unknown {
  if (Array.isArray(v)) return v.map(near);
  const n = v instanceof Decimal128 ? Number(v.toString()) : v;
  return typeof n === "number" ? Number(n.toPrecision(10)) : n;
}

const FUNCTIONS: ReadonlyArray<readonly [op: string, argument: unknown]> = [
  ["$sum", "$a"],
  ["$avg", "$a"],
  ["$min", "$a"],
  ["$max", "$a"],
  ["$stdDevPop", "$a"],
  ["$stdDevSamp", "$a"],
  ["$minN", { n: 2, input: "$a" }],
  ["$maxN", { n: 3, input: "$a" }],
  ["$topN", { n: 2, sortBy: { a: 1, x: -1 }, output: "$a" }],
  ["$bottom", { sortBy: { a: 1, x: 1 }, output: "$x" }],
  ["$median", { input: "$a", method: "approximate" }],
  ["$percentile", { input: "$a", p: [0.1, 0.9], method: "approximate" }],
];
/** What `$group` would make of one document with a null instead of none at all. */
const EMPTY: Readonly<Record<string, unknown>> = { $topN: [], $bottom: null };

test.each(FUNCTIONS)("%s over any window", (op, argument) => {
  const bounds = fc.tuple(fc.option(fc.integer({ min: -4, max: 3 })), fc.integer({ min: 0, max: 5 }));
  fc.assert(
    fc.property(fc.array(element, { maxLength: 14 }), bounds, (values, [lower, width]) => {
      const docs = values.map((a, x) => (a === undefined ? { x } : { x, a }));
      const upper = lower === null ? width - 2 : lower + width;
      const window = { documents: [lower ?? "unbounded", upper] };
      const got = run(
        [{ $setWindowFields: { sortBy: { x: 1 }, output: { r: { [op]: argument, window } } } }],
        docs,
      );
      const wanted = recompute(op, argument, docs, lower ?? undefined, upper).map((r, i) => {
        const first = Math.max(0, lower === null ? 0 : i + lower);
        const isEmpty = first > Math.min(docs.length - 1, i + upper);
        return isEmpty && op in EMPTY ? EMPTY[op] : r;
      });
      expect(got.map(({ r }) => near(r))).toEqual(wanted.map(near));
    }),
    { numRuns: 60 },
  );
});

test("a range is the documents whose values lie in it", () => {
  const xs = fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 20 });
  const bounds = fc.tuple(fc.integer({ min: -10, max: 5 }), fc.integer({ min: 0, max: 12 }));
  fc.assert(
    fc.property(xs, bounds, (values, [lower, width]) => {
      const sorted = [...values].sort((a, b) => a - b);
      const window = { range: [lower, lower + width] };
      const got = run(
        [{ $setWindowFields: { sortBy: { x: 1 }, output: { r: { $push: "$x", window } } } }],
        values.map((x) => ({ x })),
      );
      expect(got.map(({ r }) => r)).toEqual(
        sorted.map((x) => sorted.filter((y) => y >= x + lower && y <= x + lower + width)),
      );
    }),
    { numRuns: 100 },
  );
});

test("the bag keeps its order through adding and removing", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 1, maxLength: 3000 }), (keys) => {
      const bag = new OrderedBag<number, number>();
      keys.forEach((key, order) => bag.add(key, order, key));
      const gone = Math.floor(keys.length / 2);
      for (let order = 0; order < gone; order++) bag.remove(keys[order]!, order);
      const left = keys.slice(gone).sort((a, b) => a - b);
      expect(bag.size).toBe(left.length);
      expect(bag.first(left.length)).toEqual(left);
      expect(bag.last(3)).toEqual(left.slice(-3));
      expect(bag.at(Math.floor(left.length / 2))).toBe(left[Math.floor(left.length / 2)]);
    }),
    { numRuns: 30 },
  );
});

test("wide windows don't cost their width for every document", () => {
  const docs = Array.from({ length: 20_000 }, (_, x) => ({ x, a: (x * 7919) % 1000 }));
  const window = { documents: [-5000, 5000] };
  const output = {
    sum: { $sum: "$a", window },
    max: { $max: "$a", window },
    median: { $median: { input: "$a", method: "approximate" }, window },
    deviation: { $stdDevPop: "$a", window },
  };
  const start = performance.now();
  const got = run([{ $setWindowFields: { sortBy: { x: 1 }, output } }, { $skip: 19_999 }], docs);
  // Each window anew would be 200 million documents.
  expect(performance.now() - start).toBeLessThan(10_000);
  const tail = docs.slice(-5001).map(({ a }) => a);
  expect(got[0]!["sum"]).toBe(tail.reduce((sum, a) => sum + a));
  expect(got[0]!["max"]).toBe(Math.max(...tail));
});
