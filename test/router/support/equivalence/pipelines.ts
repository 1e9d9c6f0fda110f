/**
 * Random aggregations whose answer does not depend on the order in which
 * shards send: what is not defined by MongoDB is not generated, or not compared.
 */
import { Decimal128 } from "bson";
import fc from "fast-check";
import type { Doc } from "../cluster.js";
import { filters, simpleFilters } from "./filters.js";

/** How two answers are compared. */
export type Comparison =
  /** The same bytes in the same order. */
  | "exact"
  /** The same values in the same order; equal numbers of any type, floats nearly. */
  | "ordered"
  /** The same, in any order. */
  | "bag";

export interface Aggregation {
  readonly pipeline: Doc[];
  readonly compare: Comparison;
}

const BY_ID: Doc = { _id: 1 };
const direction = fc.constantFrom(1, -1);
/** Sorts that end with `_id`, so that the order is total. */
export const totalSorts: fc.Arbitrary<Doc> = fc
  .uniqueArray(fc.tuple(fc.constantFrom("a", "b", "c", "d", "n.x", "n.y", "q", "s"), direction), {
    maxLength: 2,
    selector: ([name]) => name,
  })
  .chain((pairs) => direction.map((last) => Object.fromEntries([...pairs, ["_id", last]]) as Doc));

/** Stages that look at one document and keep its `_id`. */
const perDocument: fc.Arbitrary<Doc> = fc.oneof(
  fc.constantFrom<Doc>(
    { $addFields: { t: { $add: [{ $ifNull: ["$n.y", 0] }, "$q"] } } },
    { $set: { a: "$b" } },
    { $set: { "n.x": "$q", e: { $type: "$a" } } },
    { $unset: ["c", "arr"] },
    { $project: { a: 1, b: 1, c: 1, d: 1, n: 1, q: 1, s: 1 } },
    { $project: { a: "$q", b: "$a", q: 1, n: { x: "$b", y: "$n.y" } } },
    { $project: { arr: 0 } },
    { $redact: { $cond: [{ $gt: ["$q", 20] }, "$$KEEP", "$$PRUNE"] } },
    { $replaceRoot: { newRoot: { $mergeObjects: ["$$ROOT", { z: "$n" }] } } },
    { $replaceWith: { _id: "$_id", q: "$q", a: "$a", b: "$s" } },
  ),
  simpleFilters.map(($match) => ({ $match })),
);

/** Group keys: fields, expressions, none. */
const groupKeys = fc.constantFrom<unknown>(
  ...["$a", "$b", "$n.y", "$n.x", "$s", "$c", null],
  { y: "$n.y", s: "$s" },
  { $mod: ["$q", 5] },
  { $type: "$a" },
);

/** Accumulators whose result is the same whatever the order. */
const accumulators = fc.constantFrom<[string, Doc]>(
  ["n", { $sum: 1 }],
  ["total", { $sum: "$q" }],
  ["odd", { $sum: "$a" }],
  ["parts", { $sum: { $divide: ["$q", 7] } }],
  ["tenths", { $sum: { $multiply: ["$q", Decimal128.fromString("0.1")] } }],
  ["mean", { $avg: "$q" }],
  ["meanAny", { $avg: "$b" }],
  ["least", { $min: "$a" }],
  ["most", { $max: "$b" }],
  ["leastOdd", { $min: "$c" }],
  ["count", { $count: {} }],
  ["spread", { $stdDevPop: "$q" }],
  ["sample", { $stdDevSamp: "$q" }],
  ["bagOfIds", { $push: "$_id" }],
  ["bagOfPairs", { $push: { q: "$q", s: "$s" } }],
  ["setOfYs", { $addToSet: "$n.y" }],
  ["setOfAs", { $addToSet: "$a" }],
  ["low", { $minN: { input: "$q", n: 3 } }],
  ["high", { $maxN: { input: "$q", n: 2 } }],
  ["top", { $top: { sortBy: { q: 1, _id: 1 }, output: "$_id" } }],
  ["bottom", { $bottom: { sortBy: { a: 1, _id: -1 }, output: ["$q", "$_id"] } }],
  ["tops", { $topN: { sortBy: { s: -1, _id: 1 }, output: "$q", n: 3 } }],
  ["bottoms", { $bottomN: { sortBy: { _id: 1 }, output: "$s", n: 2 } }],
  ["median", { $median: { input: "$q", method: "approximate" } }],
  ["percentiles", { $percentile: { input: "$q", p: [0.25, 0.9], method: "approximate" } }],
);

/** Those that need an order. */
const orderedAccumulators = fc.constantFrom<[string, Doc]>(
  ["first", { $first: "$a" }],
  ["last", { $last: "$_id" }],
  ["list", { $push: "$_id" }],
  ["firsts", { $firstN: { input: "$s", n: 2 } }],
  ["lasts", { $lastN: { input: "$q", n: 3 } }],
  ["merged", { $mergeObjects: { $cond: [{ $eq: [{ $type: "$n" }, "object"] }, "$n", null] } }],
);

const group = (from: fc.Arbitrary<[string, Doc]>): fc.Arbitrary<Doc> =>
  fc
    .tuple(groupKeys, fc.uniqueArray(from, { minLength: 1, maxLength: 4, selector: ([name]) => name }))
    .map(([_id, pairs]) => ({ $group: { _id, ...Object.fromEntries(pairs) } }));

/** Skips and limits behind a total order. */
const windows: fc.Arbitrary<Doc[]> = fc.array(
  fc.oneof(
    fc.nat(6).map(($skip) => ({ $skip })),
    fc.integer({ min: 1, max: 15 }).map(($limit) => ({ $limit })),
  ),
  { maxLength: 3 },
);

const afterGroup: fc.Arbitrary<Doc[]> = fc.constantFrom<Doc[]>(
  [],
  [],
  [{ $match: { n: { $gt: 1 } } }],
  [{ $sort: BY_ID }],
  [{ $sort: BY_ID }, { $skip: 1 }, { $limit: 3 }],
  [{ $group: { _id: null, groups: { $sum: 1 }, all: { $sum: "$n" } } }],
  [{ $project: { _id: 0, key: "$_id", double: { $multiply: [{ $ifNull: ["$n", 1] }, 2] } } }],
  [{ $count: "groups" }],
);

const facets: Doc = {
  $facet: {
    first: [{ $sort: { q: 1, _id: 1 } }, { $limit: 4 }, { $project: { q: 1 } }],
    bagOfGroups: [{ $group: { _id: "$n.y", n: { $sum: 1 } } }],
    number: [{ $match: { q: { $gte: 20 } } }, { $count: "n" }],
  },
};

const windowFields = fc.constantFrom<Doc>(
  {
    partitionBy: "$n.y",
    sortBy: { q: 1, _id: 1 },
    output: { w: { $sum: "$q", window: { documents: ["unbounded", "current"] } } },
  },
  { partitionBy: "$s", sortBy: { _id: 1 }, output: { w: { $rank: {} }, v: { $documentNumber: {} } } },
  { sortBy: { q: -1, _id: 1 }, output: { w: { $shift: { output: "$_id", by: 1, default: "none" } } } },
  { sortBy: { q: 1 }, output: { w: { $avg: "$q", window: { range: [-5, 5] } }, r: { $denseRank: {} } } },
  { partitionBy: "$a", output: { w: { $max: "$q" }, v: { $count: {} } } },
  { sortBy: { _id: 1 }, output: { w: { $expMovingAvg: { input: "$q", N: 3 } } } },
);

const buckets: fc.Arbitrary<Doc> = fc.oneof(
  fc.constant({
    $bucket: {
      groupBy: "$q",
      boundaries: [0, 20, 50, 90],
      default: "rest",
      output: { n: { $sum: 1 }, mean: { $avg: "$q" } },
    },
  }),
  fc.constant({ $bucket: { groupBy: "$a", boundaries: [0, 3, 8], default: "rest" } }),
  fc.integer({ min: 1, max: 6 }).map((n) => ({
    $bucketAuto: { groupBy: "$q", buckets: n, output: { n: { $sum: 1 }, total: { $sum: "$q" } } },
  })),
);

interface Middle {
  readonly stages: Doc[];
  readonly compare: Comparison;
}

/** Other collections: `near` is not sharded, `far` is, by the hash of `k`. */
const foreign = fc.constantFrom("near", "far", "c");
const references: fc.Arbitrary<Middle> = fc.oneof(
  fc.tuple(foreign, fc.constantFrom("a", "b", "n.y", "s", "arr")).map(([from, localField]) => ({
    stages: [
      { $lookup: { from, localField, foreignField: from === "c" ? "n.y" : "k", as: "bagOfOthers" } },
      { $project: { "bagOfOthers.c": 0, "bagOfOthers.arr": 0 } },
    ],
    compare: "bag" as const,
  })),
  foreign.map((from) => ({
    stages: [
      {
        $lookup: {
          from,
          let: { y: "$n.y" },
          pipeline: [{ $match: { $expr: { $lt: ["$q", "$$y"] } } }, { $count: "n" }],
          as: "less",
        },
      },
      { $group: { _id: "$less.n", n: { $sum: 1 } } },
    ],
    compare: "bag" as const,
  })),
  foreign.map((coll) => ({
    stages: [
      { $unionWith: { coll, pipeline: [{ $match: { q: { $lt: 30 } } }, { $project: { q: 1, k: 1 } }] } },
      { $group: { _id: { $mod: ["$q", 7] }, n: { $sum: 1 }, total: { $sum: "$q" } } },
    ],
    compare: "bag" as const,
  })),
  fc.constantFrom("near", "far").map((from) => ({
    stages: [
      {
        $graphLookup: {
          from,
          startWith: "$n.y",
          connectFromField: "next",
          connectToField: "k",
          maxDepth: 3,
          depthField: "depth",
          as: "bagOfSteps",
        },
      },
      { $project: { bagOfSteps: 1 } },
    ],
    compare: "bag" as const,
  })),
);

/** Stages between the first `$match` and the end; they decide how answers are compared. */
const middles: fc.Arbitrary<Middle> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(group(accumulators), afterGroup)
      .map(([stage, after]) => ({ stages: [stage, ...after], compare: "bag" as const })),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(totalSorts, windows, fc.array(perDocument, { maxLength: 1 }))
      .map(([$sort, window, after]) => ({
        stages: [{ $sort }, ...window, ...after],
        compare: "exact" as const,
      })),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(totalSorts, windows, group(orderedAccumulators))
      .map(([$sort, window, stage]) => ({ stages: [{ $sort }, ...window, stage], compare: "bag" as const })),
  },
  { weight: 2, arbitrary: fc.constant<Middle>({ stages: [], compare: "bag" }) },
  { weight: 3, arbitrary: references },
  { weight: 1, arbitrary: fc.constant<Middle>({ stages: [{ $count: "n" }], compare: "exact" }) },
  {
    weight: 1,
    arbitrary: groupKeys
      .filter((by) => by !== null)
      .map(($sortByCount) => ({ stages: [{ $sortByCount }], compare: "bag" as const })),
  },
  { weight: 1, arbitrary: fc.constant<Middle>({ stages: [facets], compare: "ordered" }) },
  { weight: 1, arbitrary: buckets.map((stage) => ({ stages: [stage], compare: "ordered" as const })) },
  {
    weight: 2,
    arbitrary: windowFields.map(($setWindowFields) => ({
      stages: [{ $setWindowFields }],
      compare: "bag" as const,
    })),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.boolean(),
        fc.constantFrom<Doc[]>(
          [],
          [{ $group: { _id: "$arr", n: { $sum: 1 } } }],
          [{ $match: { arr: { $gt: 3 } } }],
        ),
      )
      .map(([preserveNullAndEmptyArrays, after]) => ({
        stages: [
          { $unwind: { path: "$arr", includeArrayIndex: "at", preserveNullAndEmptyArrays } },
          ...after,
        ],
        compare: "bag" as const,
      })),
  },
  {
    weight: 1,
    arbitrary: fc.constant<Middle>({
      stages: [
        { $sort: { q: 1, _id: 1 } },
        { $fill: { sortBy: { q: 1, _id: 1 }, output: { s: { method: "locf" } } } },
      ],
      compare: "bag",
    }),
  },
);

/** Any pipeline. */
export const aggregations: fc.Arbitrary<Aggregation> = fc
  .tuple(
    fc.oneof(
      { weight: 5, arbitrary: filters.map(($match) => [{ $match }]) },
      { weight: 1, arbitrary: fc.constant([]) },
    ),
    fc.array(perDocument, { maxLength: 2 }),
    middles,
  )
  .map(([match, before, { stages, compare }]) => ({ pipeline: [...match, ...before, ...stages], compare }));

/** What `find` may be told to leave of a document. */
export const projections = fc.oneof(
  { weight: 3, arbitrary: fc.constant(undefined) },
  {
    weight: 4,
    arbitrary: fc.constantFrom<Doc>(
      { q: 1 },
      { a: 1, b: 1 },
      { a: 0 },
      { _id: 0, q: 1 },
      { "n.x": 1 },
      { n: 0, _id: 0 },
      { arr: { $slice: 2 } },
      { arr: { $slice: [1, 1] }, q: 0 },
      { arr: { $elemMatch: { x: { $gte: 0 } } } },
      { a: "$q", q: { $literal: 1 } },
      { _id: { $type: "$a" }, b: 1 },
      { n: { y: 1 }, s: 1 },
      { "n.y": 0 },
      { both: ["$a", "$b"], t: { $concat: ["$s", "!"] } },
      { k: { $meta: "sortKey" }, q: 1 },
    ),
  },
);
