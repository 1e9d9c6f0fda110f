/**
 * Aggregation stages: what each does to plain values, to null and missing fields, and to arrays or nested documents.
 *
 * Sources are pages of MongoDB's manual below `reference/operator/aggregation/` unless they say otherwise.
 */
import { Binary, Decimal128, Double, Int32, Long, MaxKey, MinKey, ObjectId, Timestamp } from "bson";
import type { PipelineRow } from "./row.js";

export interface StageRow extends PipelineRow {
  /** Further collections, by name. */
  readonly others?: Readonly<Record<string, object[]>>;
  /** The pipeline runs over this database, `{aggregate: 1}`; else over collection `c` of `library`. */
  readonly database?: string;
  /** Read this collection afterwards, by `_id`: what `gives` shows of a stage that writes. */
  readonly written?: string;
}

/** Where the server's source raises the codes of malformed stages. */
const PARSER = "src/mongo/db/pipeline";
const SIMULATED = "ARCHITECTURE.md: what the shard refuses";
/** One value of each type and neighbours within a type, in BSON order. */
const TYPES = [
  new MinKey(),
  null,
  new Int32(1),
  Long.fromString("9007199254740993"),
  Decimal128.fromString("9007199254740993.5"),
  new Double(1e16),
  "1",
  {},
  [[]],
  new Binary(Uint8Array.of(1), 0),
  new Binary(Uint8Array.of(1), 5),
  new Binary(Uint8Array.of(0, 0), 0),
  new ObjectId("0".repeat(24)),
  false,
  new Date(0),
  new Timestamp({ t: 0, i: 1 }),
  /1/,
  new MaxKey(),
];
const ORDERS = [{ _id: 1, item: "almonds", qty: 2 }, { _id: 2, item: "pecans", qty: 1 }, { _id: 3 }];
const STOCK = [
  { _id: 1, sku: "almonds", n: 120 },
  { _id: 2, sku: "bread", n: 80 },
  { _id: 3, sku: "pecans", n: 70 },
  { _id: 4, sku: null, n: 0 },
  { _id: 5 },
];
const STAFF = [
  { _id: 1, name: "Dev" },
  { _id: 2, name: "Eliot", boss: "Dev" },
  { _id: 3, name: "Ron", boss: "Eliot" },
  { _id: 4, name: "Andrew", boss: "Eliot" },
  { _id: 5, name: "Asya", boss: "Ron" },
];
const LOOK = { from: "stock", localField: "item", foreignField: "sku", as: "s" };
const GRAPH = { from: "c", startWith: "$boss", connectFromField: "boss", connectToField: "name", as: "up" };
const names = { $map: { input: "$up", in: "$$this.name" } };
const prices = [0, 5, 12, 20, 20].map((price, i) => ({ _id: i, price }));

// prettier-ignore
export const rows: StageRow[] = [
  // $match
  { op: "$match", kind: "scalar", pipeline: [{ $match: { a: { $gt: 1 } } }], docs: [{ _id: 1, a: 1 }, { _id: 2, a: 2 }], gives: [{ _id: 2, a: 2 }], source: "match/" },
  { op: "$match", kind: "null", pipeline: [{ $match: { a: null } }], docs: [{ _id: 1, a: null }, { _id: 2 }, { _id: 3, a: 0 }], gives: [{ _id: 1, a: null }, { _id: 2 }], source: "tutorial/query-for-null-fields/" },
  { op: "$match", kind: "array", pipeline: [{ $match: { "a.b": 2 } }], docs: [{ _id: 1, a: [{ b: 1 }, { b: 2 }] }, { _id: 2, a: [{ b: 1 }] }], gives: [{ _id: 1, a: [{ b: 1 }, { b: 2 }] }], source: "tutorial/query-array-of-documents/" },
  { op: "$match", kind: "array", pipeline: [{ $match: { $expr: { $gt: [{ $size: "$a" }, 1] } } }], docs: [{ _id: 1, a: [1] }, { _id: 2, a: [1, 2] }], gives: [{ _id: 2, a: [1, 2] }], source: "expr/" },
  { op: "$match", kind: "scalar", pipeline: [{ $match: 5 }], docs: [], error: 15959, source: `${PARSER}/document_source_match.cpp` },
  // $project
  { op: "$project", kind: "scalar", pipeline: [{ $project: { b: 1, x: { $add: ["$a", 1] } } }], docs: [{ _id: 1, a: 1, b: 2, c: 3 }], gives: [{ _id: 1, b: 2, x: 2 }], source: "project/" },
  { op: "$project", kind: "null", pipeline: [{ $project: { a: 1, b: 1, c: "$nope" } }], docs: [{ _id: 1, a: null }], gives: [{ _id: 1, a: null }], source: "project/" },
  { op: "$project", kind: "array", pipeline: [{ $project: { _id: 0, "a.b": 1 } }], docs: [{ _id: 1, a: [{ b: 1, c: 2 }, 5, { c: 3 }] }], gives: [{ a: [{ b: 1 }, {}] }], source: "project/#include-specific-fields-from-embedded-documents" },
  { op: "$project", kind: "array", pipeline: [{ $project: { "a.c": 0 } }], docs: [{ _id: 1, a: { b: 1, c: 2 } }], gives: [{ _id: 1, a: { b: 1 } }], source: "project/#exclude-fields-from-embedded-documents" },
  { op: "$project", kind: "array", pipeline: [{ $project: { r: ["$a", "$nope"] } }], docs: [{ _id: 1, a: 1 }], gives: [{ _id: 1, r: [1, null] }], source: "project/#project-new-array-fields" },
  { op: "$project", kind: "scalar", pipeline: [{ $project: { a: 1, b: 0 } }], docs: [], error: 31254, source: `${PARSER}/document_source_project.cpp` },
  // $addFields, $set
  { op: "$addFields", kind: "scalar", pipeline: [{ $addFields: { b: { $multiply: ["$a", 2] } } }], docs: [{ _id: 1, a: 3 }], gives: [{ _id: 1, a: 3, b: 6 }], source: "addFields/" },
  { op: "$addFields", kind: "null", pipeline: [{ $addFields: { a: null, b: "$nope", c: "$$REMOVE" } }], docs: [{ _id: 1, a: 1, c: 2 }], gives: [{ _id: 1, a: null }], source: "addFields/" },
  { op: "$addFields", kind: "array", pipeline: [{ $addFields: { "a.x": 1 } }], docs: [{ _id: 1, a: [{ b: 1 }, 7] }], gives: [{ _id: 1, a: [{ b: 1, x: 1 }, { x: 1 }] }], source: "addFields/#adding-fields-to-an-embedded-document" },
  { op: "$set", kind: "scalar", pipeline: [{ $set: { a: "$b", b: "$a" } }], docs: [{ _id: 1, a: 1, b: 2 }], gives: [{ _id: 1, a: 2, b: 1 }], source: "set/" },
  { op: "$set", kind: "null", pipeline: [{ $set: { a: { $ifNull: ["$a", 0] } } }], docs: [{ _id: 1, a: null }, { _id: 2 }], gives: [{ _id: 1, a: 0 }, { _id: 2, a: 0 }], source: "set/" },
  { op: "$set", kind: "array", pipeline: [{ $set: { a: { $concatArrays: ["$a", [9]] }, "o.p.q": 1 } }], docs: [{ _id: 1, a: [1] }], gives: [{ _id: 1, a: [1, 9], o: { p: { q: 1 } } }], source: "set/#add-element-to-an-array" },
  // $unset
  { op: "$unset", kind: "scalar", pipeline: [{ $unset: "a" }], docs: [{ _id: 1, a: 1, b: 2 }], gives: [{ _id: 1, b: 2 }], source: "unset/" },
  { op: "$unset", kind: "null", pipeline: [{ $unset: ["a", "nope"] }], docs: [{ _id: 1, a: null }], gives: [{ _id: 1 }], source: "unset/" },
  { op: "$unset", kind: "array", pipeline: [{ $unset: "a.b" }], docs: [{ _id: 1, a: [{ b: 1, c: 2 }, 3] }], gives: [{ _id: 1, a: [{ c: 2 }, 3] }], source: "unset/#remove-embedded-fields" },
  { op: "$unset", kind: "scalar", pipeline: [{ $unset: 5 }], docs: [], error: 31002, source: `${PARSER}/document_source_project.cpp` },
  // $replaceRoot, $replaceWith
  { op: "$replaceRoot", kind: "scalar", pipeline: [{ $replaceRoot: { newRoot: { v: "$a" } } }], docs: [{ _id: 1, a: 5 }], gives: [{ v: 5 }], source: "replaceRoot/" },
  { op: "$replaceRoot", kind: "null", pipeline: [{ $replaceRoot: { newRoot: "$a" } }], docs: [{ _id: 1 }], error: 40228, source: "replaceRoot/#behavior" },
  { op: "$replaceRoot", kind: "array", pipeline: [{ $unwind: "$g" }, { $replaceRoot: { newRoot: "$g" } }], docs: [{ _id: 1, g: [{ t: 1 }, { t: 2 }] }], gives: [{ t: 1 }, { t: 2 }], source: "replaceRoot/#replaceroot-with-a-document-nested-in-an-array" },
  { op: "$replaceRoot", kind: "scalar", pipeline: [{ $replaceRoot: {} }], docs: [], error: 40414, source: `${PARSER}/document_source_replace_root.cpp` },
  { op: "$replaceWith", kind: "scalar", pipeline: [{ $replaceWith: { v: "$a" } }], docs: [{ _id: 1, a: 5 }], gives: [{ v: 5 }], source: "replaceWith/" },
  { op: "$replaceWith", kind: "null", pipeline: [{ $replaceWith: { $mergeObjects: [{ a: 0, b: 0 }, "$$ROOT"] } }], docs: [{ _id: 1, a: null }], gives: [{ a: null, b: 0, _id: 1 }], source: "replaceWith/#replacewith-a-new-document-created-from--root-and-a-default-document" },
  { op: "$replaceWith", kind: "array", pipeline: [{ $replaceWith: "$a" }], docs: [{ _id: 1, a: [{ b: 1 }] }], error: 40228, source: "replaceWith/#behavior" },
  // $group
  { op: "$group", kind: "scalar", pipeline: [{ $group: { _id: "$k", n: { $sum: "$v" } } }, { $sort: { _id: 1 } }], docs: [{ _id: 1, k: "a", v: 1 }, { _id: 2, k: "b", v: 2 }, { _id: 3, k: "a", v: 3 }], gives: [{ _id: "a", n: 4 }, { _id: "b", n: 2 }], source: "group/" },
  { op: "$group", kind: "null", pipeline: [{ $group: { _id: "$k", n: { $sum: 1 } } }], docs: [{ _id: 1, k: null }, { _id: 2 }], gives: [{ _id: null, n: 2 }], source: "group/" },
  { op: "$group", kind: "array", pipeline: [{ $group: { _id: { a: "$a", b: "$nope" } } }], docs: [{ _id: 1, a: [1, 2] }, { _id: 2, a: [new Double(1), 2] }], gives: [{ _id: { a: [1, 2] } }], source: "group/" },
  // $sort
  { op: "$sort", kind: "scalar", pipeline: [{ $sort: { a: -1, _id: 1 } }, { $project: { a: 1 } }], docs: [{ _id: 1, a: 1 }, { _id: 2, a: "x" }, { _id: 3, a: 2 }, { _id: 4, a: true }], gives: [{ _id: 4, a: true }, { _id: 2, a: "x" }, { _id: 3, a: 2 }, { _id: 1, a: 1 }], source: "reference/bson-type-comparison-order/", gap: true },
  { op: "$sort", kind: "null", pipeline: [{ $sort: { a: 1, _id: 1 } }], docs: [{ _id: 1, a: 0 }, { _id: 2 }, { _id: 3, a: null }], gives: [{ _id: 2 }, { _id: 3, a: null }, { _id: 1, a: 0 }], source: "sort/" },
  { op: "$sort", kind: "array", pipeline: [{ $sort: { a: -1 } }, { $project: { _id: 1 } }], docs: [{ _id: 1, a: [1, 9] }, { _id: 2, a: 5 }, { _id: 3, a: [] }], gives: [{ _id: 1 }, { _id: 2 }, { _id: 3 }], source: "reference/bson-type-comparison-order/#arrays", gap: true },
  { op: "$sort", kind: "scalar", pipeline: [{ $sort: { a: 1 } }, { $project: { a: 0 } }], docs: TYPES.map((a, i) => ({ _id: (i * 7) % TYPES.length, a })).sort((x, y) => x._id - y._id), gives: TYPES.map((_, i) => ({ _id: (i * 7) % TYPES.length })), source: "reference/bson-type-comparison-order/", gap: true },
  { op: "$sort", kind: "scalar", pipeline: [{ $sort: {} }], docs: [], error: 15976, source: `${PARSER}/document_source_sort.cpp` },
  // $limit, $skip
  { op: "$limit", kind: "scalar", pipeline: [{ $limit: 1 }], docs: [{ _id: 1 }, { _id: 2 }], gives: [{ _id: 1 }], source: "limit/" },
  { op: "$limit", kind: "null", pipeline: [{ $limit: null }], docs: [], error: 5107201, source: `${PARSER}/document_source_limit.cpp` },
  { op: "$limit", kind: "array", pipeline: [{ $limit: [1] }], docs: [], error: 5107201, source: `${PARSER}/document_source_limit.cpp` },
  { op: "$limit", kind: "scalar", pipeline: [{ $limit: Decimal128.fromString("2") }, { $count: "n" }], docs: [{ _id: 1 }, { _id: 2 }, { _id: 3 }], gives: [{ n: 2 }], source: `${PARSER}/document_source_limit.cpp` },
  { op: "$limit", kind: "scalar", pipeline: [{ $limit: 0 }], docs: [], error: 15958, source: "limit/" },
  { op: "$skip", kind: "scalar", pipeline: [{ $skip: 1 }], docs: [{ _id: 1 }, { _id: 2 }], gives: [{ _id: 2 }], source: "skip/" },
  { op: "$skip", kind: "null", pipeline: [{ $skip: null }], docs: [], error: 5107200, source: `${PARSER}/document_source_skip.cpp` },
  { op: "$skip", kind: "array", pipeline: [{ $skip: 2 ** 53 }], docs: [{ _id: [1].length }], gives: [], source: "skip/" },
  { op: "$skip", kind: "scalar", pipeline: [{ $skip: 1.5 }], docs: [], error: 5107200, source: `${PARSER}/document_source_skip.cpp` },
  // $count, $sortByCount
  { op: "$count", kind: "scalar", pipeline: [{ $count: "n" }], docs: [{ _id: 1 }, { _id: 2 }], gives: [{ n: 2 }], source: "count/" },
  { op: "$count", kind: "null", pipeline: [{ $match: { nope: 1 } }, { $count: "n" }], docs: [{ _id: 1 }], gives: [], source: "count/" },
  { op: "$count", kind: "array", pipeline: [{ $unwind: "$a" }, { $count: "n" }], docs: [{ _id: 1, a: [1, 2, 3] }], gives: [{ n: 3 }], source: "count/" },
  { op: "$count", kind: "scalar", pipeline: [{ $count: "a.b" }], docs: [], error: 40160, source: "count/" },
  { op: "$sortByCount", kind: "scalar", pipeline: [{ $sortByCount: "$a" }], docs: [{ _id: 1, a: "x" }, { _id: 2, a: "y" }, { _id: 3, a: "x" }], gives: [{ _id: "x", count: 2 }, { _id: "y", count: 1 }], source: "sortByCount/" },
  { op: "$sortByCount", kind: "null", pipeline: [{ $sortByCount: "$a" }], docs: [{ _id: 1, a: null }, { _id: 2 }, { _id: 3, a: 1 }], gives: [{ _id: null, count: 2 }, { _id: 1, count: 1 }], source: "sortByCount/" },
  { op: "$sortByCount", kind: "array", pipeline: [{ $unwind: "$tags" }, { $sortByCount: "$tags" }], docs: [{ _id: 1, tags: ["a", "b"] }, { _id: 2, tags: ["b"] }], gives: [{ _id: "b", count: 2 }, { _id: "a", count: 1 }], source: "sortByCount/#example" },
  { op: "$sortByCount", kind: "scalar", pipeline: [{ $sortByCount: "a" }], docs: [], error: 40148, source: `${PARSER}/document_source_sort_by_count.cpp` },
  // $unwind
  { op: "$unwind", kind: "scalar", pipeline: [{ $unwind: "$a" }], docs: [{ _id: 1, a: "S" }], gives: [{ _id: 1, a: "S" }], source: "unwind/#non-array-field-path" },
  { op: "$unwind", kind: "null", pipeline: [{ $unwind: { path: "$a", preserveNullAndEmptyArrays: true } }], docs: [{ _id: 1, a: [] }, { _id: 2, a: null }, { _id: 3 }], gives: [{ _id: 1 }, { _id: 2, a: null }, { _id: 3 }], source: "unwind/#preservenullandemptyarrays" },
  { op: "$unwind", kind: "null", pipeline: [{ $unwind: "$a" }], docs: [{ _id: 1, a: [] }, { _id: 2, a: null }, { _id: 3 }], gives: [], source: "unwind/#missing-values" },
  { op: "$unwind", kind: "array", pipeline: [{ $unwind: { path: "$a", includeArrayIndex: "i" } }], docs: [{ _id: 1, a: ["x", [1]] }], gives: [{ _id: 1, a: "x", i: 0 }, { _id: 1, a: [1], i: 1 }], source: "unwind/#includearrayindex" },
  { op: "$unwind", kind: "array", pipeline: [{ $unwind: "$a.b" }], docs: [{ _id: 1, a: { b: [1, 2], c: 3 } }], gives: [{ _id: 1, a: { b: 1, c: 3 } }, { _id: 1, a: { b: 2, c: 3 } }], source: "unwind/#unwind-embedded-arrays" },
  { op: "$unwind", kind: "scalar", pipeline: [{ $unwind: "" }], docs: [], error: 28812, source: `${PARSER}/document_source_unwind.cpp` },
  // $bucket
  { op: "$bucket", kind: "scalar", pipeline: [{ $bucket: { groupBy: "$price", boundaries: [0, 10, 20], default: "other" } }], docs: prices, gives: [{ _id: 0, count: 2 }, { _id: 10, count: 1 }, { _id: "other", count: 2 }], source: "bucket/" },
  { op: "$bucket", kind: "null", pipeline: [{ $bucket: { groupBy: "$a", boundaries: [0, 5], default: "none", output: { ids: { $push: "$_id" } } } }], docs: [{ _id: 1, a: null }, { _id: 2 }, { _id: 3, a: 0 }], gives: [{ _id: 0, ids: [3] }, { _id: "none", ids: [1, 2] }], source: "bucket/" },
  { op: "$bucket", kind: "array", pipeline: [{ $bucket: { groupBy: "$a", boundaries: [0, 5] } }], docs: [{ _id: 1, a: [1] }], error: 40066, source: "bucket/#behavior" },
  { op: "$bucket", kind: "scalar", pipeline: [{ $bucket: { groupBy: "$a", boundaries: [5, 0] } }], docs: [], error: 40194, source: "bucket/" },
  { op: "$bucket", kind: "scalar", pipeline: [{ $bucket: { groupBy: "$a", boundaries: [0, "x"] } }], docs: [], error: 40193, source: "bucket/" },
  { op: "$bucket", kind: "scalar", pipeline: [{ $bucket: { groupBy: "$a", boundaries: [0, 9], default: 5 } }], docs: [], error: 40199, source: "bucket/" },
  // $bucketAuto
  { op: "$bucketAuto", kind: "scalar", pipeline: [{ $bucketAuto: { groupBy: "$n", buckets: 2 } }], docs: [1, 2, 2, 3, 9].map((n, i) => ({ _id: i, n })), gives: [{ _id: { min: 1, max: 3 }, count: 3 }, { _id: { min: 3, max: 9 }, count: 2 }], source: "bucketAuto/" },
  { op: "$bucketAuto", kind: "null", pipeline: [{ $bucketAuto: { groupBy: "$n", buckets: 2 } }], docs: [{ _id: 1 }, { _id: 2, n: null }, { _id: 3, n: 4 }], gives: [{ _id: { min: null, max: 4 }, count: 2 }, { _id: { min: 4, max: 4 }, count: 1 }], source: "bucketAuto/" },
  { op: "$bucketAuto", kind: "array", pipeline: [{ $bucketAuto: { groupBy: "$n", buckets: 1, output: { l: { $push: "$n" } } } }], docs: [{ _id: 1, n: [2] }, { _id: 2, n: 1 }], gives: [{ _id: { min: 1, max: [2] }, l: [[2], 1] }], source: "bucketAuto/" },
  { op: "$bucketAuto", kind: "scalar", pipeline: [{ $bucketAuto: { groupBy: "$n", buckets: 5, granularity: "R20" } }], docs: Array.from({ length: 100 }, (_, i) => ({ _id: i, n: i })), gives: [{ _id: { min: 0, max: 20 }, count: 20 }, { _id: { min: 20, max: 40 }, count: 20 }, { _id: { min: 40, max: 63 }, count: 23 }, { _id: { min: 63, max: 90 }, count: 27 }, { _id: { min: 90, max: 100 }, count: 10 }], source: "bucketAuto/#using-granularity" },
  { op: "$bucketAuto", kind: "scalar", pipeline: [{ $bucketAuto: { groupBy: "$n", buckets: 5, granularity: "POWERSOF2" } }], docs: Array.from({ length: 100 }, (_, i) => ({ _id: i, n: i })), gives: [{ _id: { min: 0, max: 32 }, count: 32 }, { _id: { min: 32, max: 64 }, count: 32 }, { _id: { min: 64, max: 128 }, count: 36 }], source: "bucketAuto/#using-granularity" },
  { op: "$bucketAuto", kind: "null", pipeline: [{ $bucketAuto: { groupBy: "$n", buckets: 2, granularity: "R5" } }], docs: [{ _id: 1 }], error: 40258, source: "bucketAuto/#granularity" },
  { op: "$bucketAuto", kind: "scalar", pipeline: [{ $bucketAuto: { groupBy: "$n", buckets: 0 } }], docs: [], error: 40243, source: "bucketAuto/" },
  // $sample
  { op: "$sample", kind: "scalar", pipeline: [{ $sample: { size: 3 } }, { $group: { _id: null, n: { $sum: 1 }, ids: { $addToSet: "$_id" } } }, { $project: { n: 1, different: { $size: "$ids" } } }], docs: Array.from({ length: 10 }, (_, i) => ({ _id: i })), gives: [{ _id: null, n: 3, different: 3 }], source: "sample/#behavior", gap: true },
  { op: "$sample", kind: "null", pipeline: [{ $sample: { size: null } }], docs: [], error: 28746, source: "sample/" },
  { op: "$sample", kind: "array", pipeline: [{ $sample: { size: 9 } }, { $sort: { _id: 1 } }], docs: [{ _id: 1, a: [1] }, { _id: 2 }], gives: [{ _id: 1, a: [1] }, { _id: 2 }], source: "sample/", gap: true },
  { op: "$sample", kind: "scalar", pipeline: [{ $sample: { size: 0 } }], docs: [], error: 28747, source: "sample/" },
  // $redact
  { op: "$redact", kind: "scalar", pipeline: [{ $redact: { $cond: [{ $lte: ["$level", 2] }, "$$KEEP", "$$PRUNE"] } }], docs: [{ _id: 1, level: 1 }, { _id: 2, level: 3 }], gives: [{ _id: 1, level: 1 }], source: "redact/" },
  { op: "$redact", kind: "null", pipeline: [{ $redact: { $cond: [{ $eq: [{ $ifNull: ["$level", 0] }, 0] }, "$$DESCEND", "$$PRUNE"] } }], docs: [{ _id: 1, a: null, b: { level: null }, c: { level: 1 } }], gives: [{ _id: 1, a: null, b: { level: null } }], source: "redact/" },
  { op: "$redact", kind: "array", pipeline: [{ $redact: { $cond: [{ $eq: ["$level", 5] }, "$$PRUNE", "$$DESCEND"] } }], docs: [{ _id: 1, level: 1, a: [{ level: 5 }, { level: 3, x: 1 }, 7, [{ level: 5 }]], o: { level: 5 } }], gives: [{ _id: 1, level: 1, a: [{ level: 3, x: 1 }, 7, []] }], source: "redact/#exclude-all-fields-at-a-given-level" },
  { op: "$redact", kind: "scalar", pipeline: [{ $redact: "$a" }], docs: [{ _id: 1, a: 1 }], error: 17053, source: "redact/" },
  // $facet
  { op: "$facet", kind: "scalar", pipeline: [{ $facet: { n: [{ $count: "n" }], big: [{ $match: { a: { $gt: 1 } } }] } }], docs: [{ _id: 1, a: 1 }, { _id: 2, a: 2 }], gives: [{ n: [{ n: 2 }], big: [{ _id: 2, a: 2 }] }], source: "facet/" },
  { op: "$facet", kind: "null", pipeline: [{ $facet: { none: [{ $match: { a: 1 } }], all: [] } }], docs: [], gives: [{ none: [], all: [] }], source: "facet/" },
  { op: "$facet", kind: "array", pipeline: [{ $facet: { tags: [{ $unwind: "$t" }, { $sortByCount: "$t" }], first: [{ $limit: 1 }] } }], docs: [{ _id: 1, t: ["a", "b"] }, { _id: 2, t: ["a"] }], gives: [{ tags: [{ _id: "a", count: 2 }, { _id: "b", count: 1 }], first: [{ _id: 1, t: ["a", "b"] }] }], source: "facet/#example" },
  { op: "$facet", kind: "scalar", pipeline: [{ $facet: { a: [{ $out: "x" }] } }], docs: [], error: 40600, source: "facet/#behavior" },
  { op: "$facet", kind: "scalar", pipeline: [{ $facet: { a: [{ $facet: { b: [] } }] } }], docs: [], error: 40600, source: "facet/#behavior" },
  { op: "$facet", kind: "scalar", pipeline: [{ $facet: 5 }], docs: [], error: 40169, source: `${PARSER}/document_source_facet.cpp` },
  // $documents
  { op: "$documents", kind: "scalar", database: "library", pipeline: [{ $documents: [{ x: 1 }, { x: { $add: [1, 1] } }] }], docs: [], gives: [{ x: 1 }, { x: 2 }], source: "documents/", gap: true },
  { op: "$documents", kind: "null", database: "library", pipeline: [{ $documents: [{ x: null }, {}] }, { $match: { x: null } }], docs: [], gives: [{ x: null }, {}], source: "documents/", gap: true },
  { op: "$documents", kind: "array", database: "library", pipeline: [{ $documents: [{ x: [1, 2] }] }, { $unwind: "$x" }], docs: [], gives: [{ x: 1 }, { x: 2 }], source: "documents/", gap: true },
  // $lookup
  { op: "$lookup", kind: "scalar", pipeline: [{ $match: { _id: 1 } }, { $lookup: LOOK }], docs: ORDERS, others: { stock: STOCK }, gives: [{ _id: 1, item: "almonds", qty: 2, s: [{ _id: 1, sku: "almonds", n: 120 }] }], source: "lookup/#perform-a-single-equality-join-with--lookup" },
  { op: "$lookup", kind: "null", pipeline: [{ $match: { _id: 3 } }, { $lookup: LOOK }], docs: ORDERS, others: { stock: STOCK }, gives: [{ _id: 3, s: [{ _id: 4, sku: null, n: 0 }, { _id: 5 }] }], source: "lookup/#perform-a-single-equality-join-with--lookup" },
  { op: "$lookup", kind: "array", pipeline: [{ $lookup: { from: "m", localField: "names", foreignField: "name", as: "r" } }], docs: [{ _id: 1, names: ["b", "a", "b"] }], others: { m: [{ _id: 1, name: "a" }, { _id: 2, name: ["b", "z"] }, { _id: 3, name: "c" }] }, gives: [{ _id: 1, names: ["b", "a", "b"], r: [{ _id: 1, name: "a" }, { _id: 2, name: ["b", "z"] }] }], source: "lookup/#use--lookup-with-an-array" },
  { op: "$lookup", kind: "scalar", pipeline: [{ $match: { _id: 1 } }, { $lookup: { from: "stock", let: { item: "$item", qty: "$qty" }, pipeline: [{ $match: { $expr: { $and: [{ $eq: ["$sku", "$$item"] }, { $gte: ["$n", "$$qty"] }] } } }, { $project: { n: 1, _id: 0 } }], as: "s" } }], docs: ORDERS, others: { stock: STOCK }, gives: [{ _id: 1, item: "almonds", qty: 2, s: [{ n: 120 }] }], source: "lookup/#perform-multiple-joins-and-a-correlated-subquery-with--lookup" },
  { op: "$lookup", kind: "null", pipeline: [{ $match: { _id: 3 } }, { $lookup: { from: "stock", let: { item: "$item" }, pipeline: [{ $match: { $expr: { $eq: ["$sku", "$$item"] } } }], as: "s" } }], docs: ORDERS, others: { stock: STOCK }, gives: [{ _id: 3, s: [{ _id: 5 }] }], source: "expr/ (missing equals missing, not null)", gap: true },
  { op: "$lookup", kind: "scalar", pipeline: [{ $match: { _id: 2 } }, { $lookup: { ...LOOK, let: { q: "$qty" }, pipeline: [{ $set: { q: "$$q" } }] } }], docs: ORDERS, others: { stock: STOCK }, gives: [{ _id: 2, item: "pecans", qty: 1, s: [{ _id: 3, sku: "pecans", n: 70, q: 1 }] }], source: "lookup/#perform-a-concise-correlated-subquery-with--lookup" },
  { op: "$lookup", kind: "scalar", pipeline: [{ $limit: 1 }, { $lookup: { from: "h", pipeline: [{ $match: { y: 2018 } }, { $replaceWith: { d: "$d" } }], as: "h" } }], docs: ORDERS, others: { h: [{ _id: 1, y: 2018, d: 1 }, { _id: 2, y: 2019, d: 2 }] }, gives: [{ _id: 1, item: "almonds", qty: 2, h: [{ d: 1 }] }], source: "lookup/#perform-an-uncorrelated-subquery-with--lookup" },
  { op: "$lookup", kind: "array", pipeline: [{ $lookup: LOOK }, { $unwind: { path: "$s", preserveNullAndEmptyArrays: true } }, { $project: { n: "$s.n" } }], docs: [...ORDERS, { _id: 4, item: "none" }], others: { stock: STOCK }, gives: [{ _id: 1, n: 120 }, { _id: 2, n: 70 }, { _id: 3, n: 0 }, { _id: 3 }, { _id: 4 }], source: "core/aggregation-pipeline-optimization/#-lookup---unwind-coalescence" },
  { op: "$lookup", kind: "scalar", pipeline: [{ $limit: 1 }, { $lookup: { as: "d", pipeline: [{ $documents: [{ x: 1 }] }] } }], docs: ORDERS, gives: [{ _id: 1, item: "almonds", qty: 2, d: [{ x: 1 }] }], source: "documents/#use--documents-stage-in--lookup" },
  { op: "$lookup", kind: "scalar", pipeline: [{ $limit: 1 }, { $lookup: { as: "d", localField: "qty", foreignField: "x", pipeline: [{ $documents: [{ x: 1 }, { x: 2 }] }] } }], docs: ORDERS, gives: [{ _id: 1, item: "almonds", qty: 2, d: [{ x: 2 }] }], source: "documents/#use--documents-stage-in--lookup" },
  { op: "$lookup", kind: "scalar", pipeline: [{ $lookup: 5 }], docs: [], error: 9, source: `${PARSER}/document_source_lookup.cpp` },
  { op: "$lookup", kind: "scalar", pipeline: [{ $lookup: { from: { db: "other", coll: "x" }, localField: "a", foreignField: "a", as: "a" } }], docs: [], error: 9, source: "lookup/#syntax (from: same database)" },
  // $graphLookup
  { op: "$graphLookup", kind: "scalar", pipeline: [{ $match: { _id: 5 } }, { $graphLookup: { ...GRAPH, depthField: "d" } }, { $project: { r: { $sortArray: { input: "$up", sortBy: { d: 1 } } } } }], docs: STAFF, gives: [{ _id: 5, r: [{ _id: 3, name: "Ron", boss: "Eliot", d: 0 }, { _id: 2, name: "Eliot", boss: "Dev", d: 1 }, { _id: 1, name: "Dev", d: 2 }] }], source: "graphLookup/#within-a-single-collection" },
  { op: "$graphLookup", kind: "null", pipeline: [{ $match: { _id: 1 } }, { $graphLookup: GRAPH }], docs: STAFF, gives: [{ _id: 1, name: "Dev", up: [] }], source: "graphLookup/#within-a-single-collection" },
  { op: "$graphLookup", kind: "array", pipeline: [{ $match: { _id: 1 } }, { $graphLookup: { from: "c", startWith: "$friends", connectFromField: "friends", connectToField: "_id", as: "up", restrictSearchWithMatch: { _id: { $ne: 4 } } } }, { $project: { n: { $sortArray: { input: { $map: { input: "$up", in: "$$this._id" } }, sortBy: 1 } } } }], docs: [{ _id: 1, friends: [2, 4] }, { _id: 2, friends: [1, 3] }, { _id: 3, friends: [2] }, { _id: 4, friends: [5] }, { _id: 5 }], gives: [{ _id: 1, n: [1, 2, 3] }], source: "graphLookup/#with-a-query-filter" },
  { op: "$graphLookup", kind: "scalar", pipeline: [{ $match: { _id: 5 } }, { $graphLookup: { ...GRAPH, maxDepth: 0 } }, { $project: { n: names } }], docs: STAFF, gives: [{ _id: 5, n: ["Ron"] }], source: "graphLookup/#max-depth" },
  { op: "$graphLookup", kind: "scalar", pipeline: [{ $graphLookup: {} }], docs: [], error: 9, source: `${PARSER}/document_source_graph_lookup.cpp` },
  // $unionWith
  { op: "$unionWith", kind: "scalar", pipeline: [{ $unionWith: "o" }], docs: [{ _id: 1 }], others: { o: [{ _id: 1, x: 1 }] }, gives: [{ _id: 1 }, { _id: 1, x: 1 }], source: "unionWith/", gap: true },
  { op: "$unionWith", kind: "null", pipeline: [{ $unionWith: "nope" }], docs: [{ _id: 1, a: null }], gives: [{ _id: 1, a: null }], source: "unionWith/#behavior (a collection that does not exist)" },
  { op: "$unionWith", kind: "array", pipeline: [{ $unionWith: { coll: "o", pipeline: [{ $unwind: "$a" }] } }], docs: [], others: { o: [{ _id: 1, a: [1, 2] }] }, gives: [{ _id: 1, a: 1 }, { _id: 1, a: 2 }], source: "unionWith/", gap: true },
  { op: "$unionWith", kind: "scalar", pipeline: [{ $unionWith: { pipeline: [{ $documents: [{ x: 1 }] }] } }], docs: [{ _id: 1 }], gives: [{ _id: 1 }, { x: 1 }], source: "unionWith/#namespaces-in-subpipelines", gap: true },
  { op: "$unionWith", kind: "scalar", pipeline: [{ $unionWith: { coll: "o", pipeline: [{ $out: "x" }] } }], docs: [], error: 31441, source: "unionWith/#restrictions" },
  { op: "$unionWith", kind: "scalar", pipeline: [{ $unionWith: 5 }], docs: [], error: 9, source: `${PARSER}/document_source_union_with.cpp` },
  // $out
  { op: "$out", kind: "scalar", pipeline: [{ $match: { a: 1 } }, { $out: "t" }], docs: [{ _id: 1, a: 1 }, { _id: 2, a: 2 }], others: { t: [{ _id: 9 }] }, written: "t", gives: [{ _id: 1, a: 1 }], source: "out/#replace-existing-collection", gap: true },
  { op: "$out", kind: "null", pipeline: [{ $match: { a: null } }, { $out: { db: "library", coll: "t" } }], docs: [{ _id: 1, a: 1 }], others: { t: [{ _id: 9 }] }, written: "t", gives: [], source: "out/", gap: true },
  { op: "$out", kind: "array", pipeline: [{ $unwind: "$a" }, { $set: { _id: "$a" } }, { $out: "t" }], docs: [{ _id: 1, a: [1, 2] }], written: "t", gives: [{ _id: 1, a: 1 }, { _id: 2, a: 2 }], source: "out/", gap: true },
  { op: "$out", kind: "scalar", pipeline: [{ $out: 5 }], docs: [], error: 16990, source: `${PARSER}/document_source_out.cpp` },
  { op: "$out", kind: "scalar", pipeline: [{ $out: "t" }, { $match: {} }], docs: [], error: 40601, source: "out/" },
  // $merge
  { op: "$merge", kind: "scalar", pipeline: [{ $merge: "t" }], docs: [{ _id: 1, a: 1 }, { _id: 2, a: 2 }], others: { t: [{ _id: 1, b: 9 }] }, written: "t", gives: [{ _id: 1, b: 9, a: 1 }, { _id: 2, a: 2 }], source: "merge/#merge-results-from-multiple-collections" },
  { op: "$merge", kind: "null", pipeline: [{ $merge: { into: "t", whenMatched: "replace", whenNotMatched: "discard" } }], docs: [{ _id: 1, a: null }, { _id: 2 }], others: { t: [{ _id: 1, b: 9 }] }, written: "t", gives: [{ _id: 1, a: null }], source: "merge/#only-insert-new-data" },
  { op: "$merge", kind: "array", pipeline: [{ $merge: { into: "t", whenMatched: [{ $set: { l: { $concatArrays: ["$l", "$$new.l"] }, by: "$$who" } }], let: { who: "$who" } } }], docs: [{ _id: 1, l: [2], who: "me" }], others: { t: [{ _id: 1, l: [1] }] }, written: "t", gives: [{ _id: 1, l: [1, 2], by: "me" }], source: "merge/#use-the-pipeline-to-customize-the-merge" },
  { op: "$merge", kind: "scalar", pipeline: [{ $merge: { into: "t", whenMatched: "fail" } }], docs: [{ _id: 1 }], others: { t: [{ _id: 1 }] }, error: 11000, source: "merge/#only-insert-new-data" },
  { op: "$merge", kind: "scalar", pipeline: [{ $merge: { into: "t", whenNotMatched: "fail" } }], docs: [{ _id: 1 }], error: 13113, source: "merge/" },
  { op: "$merge", kind: "scalar", pipeline: [{ $merge: { into: "t", on: "a" } }], docs: [{ _id: 1 }], others: { t: [{ _id: 1 }] }, error: 51183, source: "merge/#unique-index-constraints" },
  { op: "$merge", kind: "scalar", pipeline: [{ $merge: { into: "t", whenMatched: "keepExisting", whenNotMatched: "fail" } }], docs: [], error: 51181, source: "merge/" },
  { op: "$merge", kind: "scalar", pipeline: [{ $merge: 5 }], docs: [], error: 14, source: `${PARSER}/document_source_merge.cpp` },
  // A pipeline leaves the documents that it reads as they are
  { op: "$set", kind: "array", pipeline: [{ $set: { "a.b": 9, "l.x": 1 } }, { $unwind: "$l" }, { $unset: "a" }, { $addFields: { l: 5 } }], docs: [{ _id: 1, a: { b: 1 }, l: [{ x: 0 }, { y: 2 }] }], written: "c", gives: [{ _id: 1, a: { b: 1 }, l: [{ x: 0 }, { y: 2 }] }], source: "core/aggregation-pipeline/", gap: true },
  // Stages that show the server's own state
  { op: "$collStats", kind: "scalar", pipeline: [{ $collStats: { count: {} } }, { $project: { ns: 1, count: 1 } }], docs: [{ _id: 1 }, { _id: 2 }], gives: [{ ns: "library.c", count: 2 }], source: "collStats/#count-field", gap: true },
  { op: "$collStats", kind: "null", pipeline: [{ $collStats: { count: {} } }], docs: [], error: 26, source: "collStats/#behavior", gap: true },
  { op: "$collStats", kind: "array", pipeline: [{ $collStats: { storageStats: {} } }, { $project: { n: "$storageStats.count", size: "$storageStats.size", avg: "$storageStats.avgObjSize", indexes: "$storageStats.nindexes" } }], docs: [{ _id: 1, a: [1, 2] }, { _id: 2 }], gives: [{ n: 2, size: 36 + 14, avg: 25, indexes: 1 }], source: "collStats/#storagestats-document", gap: true },
  { op: "$collStats", kind: "scalar", pipeline: [{ $collStats: { storageStats: {} } }, { $project: { avg: "$storageStats.avgObjSize" } }], docs: [{ _id: 1, a: true }, { _id: 2 }], gives: [{ avg: 16 }], source: "collStats/#storagestats-document (17 and 14 bytes: an int, cut)", gap: true },
  { op: "$collStats", kind: "scalar", pipeline: [{ $collStats: 1 }], docs: [{ _id: 1 }], error: 5447000, source: `${PARSER}/document_source_coll_stats.cpp` },
  { op: "$indexStats", kind: "scalar", pipeline: [{ $indexStats: {} }, { $project: { name: 1, key: 1, ops: "$accesses.ops" } }], docs: [{ _id: 1 }], gives: [{ name: "_id_", key: { _id: 1 }, ops: 0 }], source: "indexStats/#behavior", gap: true },
  { op: "$indexStats", kind: "null", pipeline: [{ $indexStats: {} }], docs: [], gives: [], source: "indexStats/", gap: true },
  { op: "$indexStats", kind: "array", pipeline: [{ $indexStats: [1] }], docs: [], error: 28803, source: `${PARSER}/document_source_index_stats.cpp`, gap: true },
  { op: "$planCacheStats", kind: "scalar", pipeline: [{ $planCacheStats: {} }], docs: [{ _id: 1 }], gives: [], source: "planCacheStats/ (nothing is cached)" },
  { op: "$planCacheStats", kind: "null", pipeline: [{ $planCacheStats: {} }], docs: [], error: 50933, source: `${PARSER}/document_source_plan_cache_stats.cpp` },
  { op: "$planCacheStats", kind: "array", pipeline: [{ $planCacheStats: [] }], docs: [], error: 9, source: `${PARSER}/document_source_plan_cache_stats.cpp` },
  { op: "$listCatalog", kind: "scalar", pipeline: [{ $listCatalog: {} }, { $project: { db: 1, name: 1, type: 1, ns: 1 } }], docs: [{ _id: 1 }], gives: [{ db: "library", name: "c", type: "collection", ns: "library.c" }], source: `${PARSER}/document_source_list_catalog.cpp` },
  { op: "$listCatalog", kind: "null", pipeline: [{ $listCatalog: {} }], docs: [], gives: [], source: `${PARSER}/document_source_list_catalog.cpp` },
  { op: "$listCatalog", kind: "array", pipeline: [{ $listCatalog: { a: [] } }], docs: [], error: 6200600, source: `${PARSER}/document_source_list_catalog.cpp` },
  { op: "$currentOp", kind: "scalar", database: "admin", pipeline: [{ $currentOp: {} }, { $project: { type: 1, ns: 1, asked: "$command.aggregate" } }], docs: [], gives: [{ type: "op", ns: "admin.$cmd.aggregate", asked: 1 }], source: "currentOp/#examples", gap: true },
  { op: "$currentOp", kind: "null", database: "admin", pipeline: [{ $currentOp: null }], docs: [], error: 9, source: `${PARSER}/document_source_current_op.cpp`, gap: true },
  { op: "$currentOp", kind: "array", database: "admin", pipeline: [{ $currentOp: { allUsers: [true] } }], docs: [], error: 9, source: `${PARSER}/document_source_current_op.cpp`, gap: true },
  { op: "$currentOp", kind: "scalar", database: "library", pipeline: [{ $currentOp: {} }], docs: [], error: 73, source: "currentOp/#syntax", gap: true },
  { op: "$listLocalSessions", kind: "scalar", database: "admin", pipeline: [{ $listLocalSessions: {} }], docs: [], gives: [], source: "listLocalSessions/" },
  { op: "$listLocalSessions", kind: "null", database: "admin", pipeline: [{ $listLocalSessions: null }], docs: [], error: 14, source: `${PARSER}/document_source_list_local_sessions.cpp` },
  { op: "$listLocalSessions", kind: "array", database: "admin", pipeline: [{ $listLocalSessions: { allUsers: true, users: [{ user: "a", db: "b" }] } }], docs: [], error: 12, source: `${PARSER}/document_source_list_local_sessions.cpp` },
  { op: "$listLocalSessions", kind: "array", database: "admin", pipeline: [{ $listLocalSessions: { allUsers: true, users: [] } }], docs: [], gives: [], source: `${PARSER}/document_source_list_local_sessions.cpp` },
  { op: "$listSessions", kind: "scalar", pipeline: [{ $listSessions: {} }], docs: [{ _id: 1 }], error: 73, source: "listSessions/ (config.system.sessions only)" },
  { op: "$listSessions", kind: "null", pipeline: [{ $listSessions: null }], docs: [], error: 14, source: `${PARSER}/document_source_list_sessions.cpp` },
  { op: "$listSessions", kind: "array", pipeline: [{ $listSessions: { users: 1 } }], docs: [], error: 14, source: `${PARSER}/document_source_list_sessions.cpp` },
  // Stages of a sharded cluster
  ...["$listClusterCatalog", "$listSampledQueries", "$shardedDataDistribution"].flatMap((op) => [
    { op, kind: "scalar" as const, database: "admin", pipeline: [{ [op]: {} }], docs: [], error: 238, source: SIMULATED },
    { op, kind: "null" as const, pipeline: [{ [op]: {} }], docs: [], error: 73, source: `${op.slice(1)}/` },
    { op, kind: "array" as const, database: "admin", pipeline: [{ $unwind: "$a" }, { [op]: {} }], docs: [], error: 40602, source: `${PARSER}/pipeline.cpp (only as the first stage)` },
  ]),
  // Refused
  { op: "$geoNear", kind: "scalar", pipeline: [{ $geoNear: { near: [0, 0], distanceField: "d" } }], docs: [{ _id: 1 }], error: 238, source: SIMULATED, gap: true },
  { op: "$changeStream", kind: "scalar", pipeline: [{ $changeStream: {} }], docs: [{ _id: 1 }], error: 238, source: SIMULATED, gap: true },
];
