/** What clients may do, and what may happen to the chunks meanwhile. */
import fc from "fast-check";
import type { Doc } from "../cluster.js";
import { filters, paths, simpleFilters } from "./filters.js";
import type { FieldChoice } from "./keyBounds.js";
import { keyChoices } from "./keyBounds.js";
import type { Aggregation } from "./pipelines.js";
import { aggregations, projections, totalSorts } from "./pipelines.js";
import { bodies, keyValues, shardKeys, smallInts } from "./values.js";

/** A change of one document that says with `mark` which one it was. */
export type Change =
  | { form: "operators"; update: Doc }
  | { form: "pipeline"; update: Doc[] }
  | { form: "replacement"; body: Doc };

export type Operation =
  | { op: "find"; filter: Doc; projection: Doc | undefined; batchSize: number; collation: Doc | undefined }
  | {
      op: "sorted";
      collation: Doc | undefined;
      filter: Doc;
      sort: Doc;
      skip: number;
      limit: number;
      projection: Doc | undefined;
      batchSize: number;
    }
  | { op: "window"; filter: Doc; skip: number; limit: number; batchSize: number }
  | { op: "count"; filter: Doc; skip: number; limit: number; collation: Doc | undefined }
  | { op: "distinct"; filter: Doc; key: string }
  | { op: "aggregate"; aggregation: Aggregation; batchSize: number }
  | { op: "sample"; filter: Doc; size: number }
  | { op: "targeted"; by: TargetedBy; branches: FieldChoice[][] }
  | { op: "updateMany"; filter: Doc; update: Doc | Doc[] }
  | { op: "updateOne"; filter: Doc; change: Change; ofId: number | undefined }
  | { op: "deleteOne"; filter: Doc; ofId: number | undefined }
  | { op: "findAndModify"; filter: Doc; sort: Doc; change: Change | "remove"; new: boolean }
  | { op: "upsert"; key: unknown[]; body: Doc; exists: boolean }
  | {
      op: "changeKey";
      of: number;
      field: number;
      value: unknown;
      form: "$set" | "$unset" | "replacement" | "pipeline";
    }
  | { op: "deleteMany"; filter: Doc }
  | { op: "bulk"; statements: { id: number; by: number; many: boolean }[]; ordered: boolean }
  | { op: "bulkWrite"; writes: BulkWrite[]; ordered: boolean }
  | { op: "insert"; bodies: Doc[]; ordered: boolean }
  | { op: "split"; at: SplitAt }
  | { op: "move"; chunk: number; to: number };

/** One write of the command `bulkWrite`. */
export type BulkWrite =
  | { write: "insert"; body: Doc }
  | { write: "update"; of: number; by: number; many: boolean }
  | { write: "delete"; of: number };

/** Commands whose routing is compared with the bounds known beforehand. */
export type TargetedBy = "find" | "count" | "distinct" | "aggregate" | "updateMany" | "deleteMany";

/** Where a chunk is cut: at a document's key, or at values from nowhere. */
export type SplitAt = { of: number } | { values: unknown[]; hash: bigint };

export const splitPoints: fc.Arbitrary<SplitAt> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ of: fc.nat(60) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      values: fc.array(keyValues, { minLength: 3, maxLength: 3 }),
      hash: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    }),
  },
);

const window = { skip: fc.nat(8), limit: fc.nat(12) };
const batchSize = fc.integer({ min: 2, max: 9 });

const manyUpdates = fc.constantFrom<Doc | Doc[]>(
  { $inc: { q: 3 } },
  { $set: { s: "ab", "m.y": 2 } },
  { $unset: { c: 1 } },
  { $push: { list: 1 } },
  { $rename: { d: "e" } },
  { $mul: { q: 2 } },
  { $min: { q: 40 }, $currentDate: {} },
  [{ $set: { q: { $add: ["$q", 1] }, copy: "$a" } }],
  [{ $unset: "copy" }],
);

const oneUpdates: fc.Arbitrary<Change> = fc.oneof(
  fc
    .constantFrom<Doc>(
      { $inc: { q: 1 } },
      { $set: { s: "zz" } },
      { $unset: { d: 1 } },
      { $addToSet: { list: 2 } },
    )
    .map((update) => ({ form: "operators" as const, update })),
  fc.constant<Change>({ form: "pipeline", update: [{ $set: { q: { $add: ["$q", 1] } } }] }),
  bodies.map((body) => ({ form: "replacement" as const, body })),
);

/** Most reads go without one. */
const collations = fc.oneof(
  { weight: 6, arbitrary: fc.constant(undefined) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Doc>(
      { locale: "en", strength: 2 },
      { locale: "simple" },
      { locale: "fr", strength: 1 },
    ),
  },
);

const bulkWrites: fc.Arbitrary<BulkWrite[]> = fc.array(
  fc.oneof<fc.Arbitrary<BulkWrite>[]>(
    fc.record({ write: fc.constant("insert" as const), body: bodies }),
    fc.record({ write: fc.constant("update" as const), of: fc.nat(60), by: smallInts, many: fc.boolean() }),
    fc.record({ write: fc.constant("delete" as const), of: fc.nat(60) }),
  ),
  { minLength: 1, maxLength: 8 },
);

const maybeId = fc.oneof(fc.constant(undefined), fc.nat(60));
const op = <T extends string>(name: T): fc.Arbitrary<T> => fc.constant(name);

export const operations: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      op: op("find"),
      filter: filters,
      projection: projections,
      batchSize,
      collation: collations,
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      op: op("sorted"),
      collation: collations,
      filter: filters,
      sort: totalSorts,
      ...window,
      projection: projections,
      batchSize,
    }),
  },
  { weight: 2, arbitrary: fc.record({ op: op("window"), filter: filters, ...window, batchSize }) },
  { weight: 3, arbitrary: fc.record({ op: op("count"), filter: filters, ...window, collation: collations }) },
  { weight: 3, arbitrary: fc.record({ op: op("distinct"), filter: filters, key: paths }) },
  { weight: 10, arbitrary: fc.record({ op: op("aggregate"), aggregation: aggregations, batchSize }) },
  {
    weight: 1,
    arbitrary: fc.record({ op: op("sample"), filter: simpleFilters, size: fc.integer({ min: 1, max: 12 }) }),
  },
  {
    weight: 10,
    arbitrary: fc.record({
      op: op("targeted"),
      by: fc.constantFrom<TargetedBy>(
        "find",
        "find",
        "count",
        "distinct",
        "aggregate",
        "updateMany",
        "deleteMany",
      ),
      branches: keyChoices,
    }),
  },
  { weight: 2, arbitrary: fc.record({ op: op("updateMany"), filter: filters, update: manyUpdates }) },
  {
    weight: 3,
    arbitrary: fc.record({ op: op("updateOne"), filter: simpleFilters, change: oneUpdates, ofId: maybeId }),
  },
  { weight: 1, arbitrary: fc.record({ op: op("deleteOne"), filter: simpleFilters, ofId: maybeId }) },
  {
    weight: 2,
    arbitrary: fc.record({
      op: op("findAndModify"),
      filter: simpleFilters,
      sort: totalSorts,
      change: fc.oneof({ weight: 4, arbitrary: oneUpdates }, { weight: 1, arbitrary: op("remove") }),
      new: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      op: op("upsert"),
      key: fc.array(keyValues, { minLength: 3, maxLength: 3 }),
      body: bodies,
      exists: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      op: op("changeKey"),
      of: fc.nat(60),
      field: fc.nat(2),
      value: keyValues,
      form: fc.constantFrom("$set", "$unset", "replacement", "pipeline"),
    }),
  },
  { weight: 1, arbitrary: fc.record({ op: op("deleteMany"), filter: simpleFilters }) },
  {
    weight: 1,
    arbitrary: fc.record({
      op: op("bulk"),
      statements: fc.array(fc.record({ id: fc.nat(60), by: smallInts, many: fc.boolean() }), {
        minLength: 1,
        maxLength: 8,
      }),
      ordered: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ op: op("bulkWrite"), writes: bulkWrites, ordered: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      op: op("insert"),
      bodies: fc.array(bodies, { minLength: 1, maxLength: 8 }),
      ordered: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ op: op("split"), at: splitPoints }) },
  { weight: 3, arbitrary: fc.record({ op: op("move"), chunk: fc.nat(60), to: fc.nat(4) }) },
);

/** One random session: a collection, its chunks, and what is done to it. */
export const sessions = fc.record({
  key: shardKeys,
  shards: fc.integer({ min: 2, max: 5 }),
  seed: fc.nat(),
  /** Sharded with its documents in it, or before. */
  filledFirst: fc.boolean(),
  bodies: fc.array(bodies, { minLength: 8, maxLength: 60, size: "max" }),
  /** Splits and moves before the first operation, so that there is something to merge. */
  layout: fc.array(fc.record({ at: splitPoints, chunk: fc.nat(60), to: fc.nat(4) }), {
    minLength: 4,
    maxLength: 9,
  }),
  operations: fc.array(operations, { minLength: 20, maxLength: 40, size: "max" }),
});

export type Session = typeof sessions extends fc.Arbitrary<infer T> ? T : never;
