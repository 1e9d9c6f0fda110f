/** What MongoDB's projections make of a document: those of find, and of `$project` where they differ. */
import { Double } from "bson";
import type { DocumentRow } from "./row.js";

/** Options of a row beside the query. */
export interface ProjectionRowOptions {
  readonly dialect?: "$project";
  readonly collation?: object;
}

const PROJECT = "manual: tutorial/project-fields-from-query-results";
const FIND = "manual: method/db.collection.find#projection";
const SLICE = "manual: operator/projection/slice";
const ELEM = "manual: operator/projection/elemMatch";
const POSITIONAL = "manual: operator/projection/positional";
const POSITIONAL_TESTS = "jstests/core/query/project/positional_projection.js";
const STAGE = "manual: operator/aggregation/project";
const PARSER = "src/mongo/db/query/projection_parser.cpp";

const DOC = { _id: 1, a: 5, b: { c: 1, d: 2 }, e: [{ f: 1, g: 2 }, 7, { g: 4 }], h: [1, 2, 3, 4], n: null };

// prettier-ignore
export const rows: DocumentRow[] = [
  // Inclusion
  { op: "inclusion", kind: "scalar", spec: { a: 1 }, doc: DOC, gives: "{ _id: 1, a: 5 }", source: PROJECT, gap: true },
  { op: "inclusion", kind: "scalar", spec: { h: true, a: new Double(0.5), _id: 0 }, doc: DOC, gives: "{ a: 5, h: [ 1, 2, 3, 4 ] }", source: PROJECT },
  { op: "inclusion", kind: "scalar", spec: { a: 1 }, doc: { a: 1, _id: 2, b: 3 }, gives: "{ a: 1, _id: 2 }", source: PROJECT, gap: true },
  { op: "inclusion", kind: "null", spec: { n: 1, x: 1, "a.x": 1, "b.x": 1, "y.z": 1 }, doc: DOC, gives: "{ _id: 1, b: {}, n: null }", source: PROJECT },
  { op: "inclusion", kind: "array", spec: { "e.f": 1 }, doc: DOC, gives: "{ _id: 1, e: [ { f: 1 }, {} ] }", source: `${PROJECT}#project-specific-array-elements-in-the-returned-array` },
  { op: "inclusion", kind: "array", spec: { b: { d: 1 } }, doc: DOC, gives: "{ _id: 1, b: { d: 2 } }", source: `${PROJECT}#return-specific-fields-in-embedded-documents` },
  { op: "inclusion", kind: "array", spec: { "e.f": 1 }, doc: { e: [[{ f: 1, g: 1 }, 3], { f: 2 }] }, gives: "{ e: [ [ { f: 1 } ], { f: 2 } ] }", source: PROJECT },
  { op: "inclusion", kind: "scalar", spec: { a: 1, b: 0 }, doc: DOC, error: 31254, source: FIND },
  { op: "inclusion", kind: "scalar", spec: { a: 1, "a.b": 1 }, doc: DOC, error: 31249, source: FIND },
  { op: "inclusion", kind: "scalar", spec: { "a.b": 1, a: 1 }, doc: DOC, error: 31250, source: FIND },
  { op: "inclusion", kind: "scalar", spec: { b: { c: 1 }, "b.c": 1 }, doc: DOC, error: 31250, source: FIND },
  { op: "inclusion", kind: "null", spec: { "": 1 }, doc: DOC, error: 40352, source: "src/mongo/db/pipeline/field_path.cpp" },
  { op: "inclusion", kind: "null", spec: { "a.": 1 }, doc: DOC, error: 40353, source: "src/mongo/db/pipeline/field_path.cpp" },
  { op: "inclusion", kind: "null", spec: { "a..b": 1 }, doc: DOC, error: 15998, source: "src/mongo/db/pipeline/field_path.cpp" },
  { op: "inclusion", kind: "scalar", spec: { $a: 1 }, doc: DOC, error: 16410, source: "src/mongo/db/pipeline/field_path.cpp" },
  { op: "inclusion", kind: "null", spec: { a: {} }, doc: DOC, error: 51270, source: PARSER },

  // Exclusion
  { op: "exclusion", kind: "scalar", spec: { a: 0, e: 0, h: false }, doc: DOC, gives: "{ _id: 1, b: { c: 1, d: 2 }, n: null }", source: PROJECT },
  { op: "exclusion", kind: "scalar", spec: { a: 0, e: 0, h: 0, _id: 1 }, doc: DOC, gives: "{ _id: 1, b: { c: 1, d: 2 }, n: null }", source: FIND },
  { op: "exclusion", kind: "null", spec: { n: 0, x: 0, "a.x": 0, b: 0, e: 0, h: 0 }, doc: DOC, gives: "{ _id: 1, a: 5 }", source: PROJECT },
  { op: "exclusion", kind: "array", spec: { "e.f": 0, b: 0, h: 0, n: 0 }, doc: DOC, gives: "{ _id: 1, a: 5, e: [ { g: 2 }, 7, { g: 4 } ] }", source: PROJECT },
  { op: "exclusion", kind: "array", spec: { b: { c: 0 }, e: 0, h: 0, n: 0 }, doc: DOC, gives: "{ _id: 1, a: 5, b: { d: 2 } }", source: PROJECT },
  { op: "exclusion", kind: "scalar", spec: { a: 0, b: 1 }, doc: DOC, error: 31253, source: FIND },
  { op: "exclusion", kind: "scalar", spec: { a: 0, b: "$a" }, doc: DOC, error: 31310, source: PARSER },
  { op: "exclusion", kind: "scalar", spec: { a: 0, b: { $add: [1, 2] } }, doc: DOC, error: 31252, source: PARSER },

  // _id
  { op: "_id", kind: "scalar", spec: { _id: 1 }, doc: DOC, gives: "{ _id: 1 }", source: PROJECT },
  { op: "_id", kind: "scalar", spec: { _id: 0 }, doc: { _id: 1, a: 1 }, gives: "{ a: 1 }", source: PROJECT },
  { op: "_id", kind: "null", spec: { a: 1 }, doc: { a: 1 }, gives: "{ a: 1 }", source: PROJECT },
  { op: "_id", kind: "array", spec: { "_id.b": 1 }, doc: { _id: { a: 1, b: 2 }, c: 1 }, gives: "{ _id: { b: 2 } }", source: FIND },
  { op: "_id", kind: "scalar", spec: { _id: 0, "_id.a": 1 }, doc: DOC, error: 31249, source: PARSER },

  // Expressions and literals: behind what is included, in the specification's order
  { op: "expression", kind: "scalar", spec: { s: { $add: ["$a", 1] }, a: 1 }, doc: DOC, gives: "{ _id: 1, a: 5, s: 6 }", source: FIND },
  { op: "expression", kind: "scalar", spec: { z: "text", a: "$b.c", _id: 0 }, doc: DOC, gives: '{ z: "text", a: 1 }', source: FIND },
  { op: "expression", kind: "null", spec: { _id: 0, x: "$nosuch", y: "$n", z: null }, doc: DOC, gives: "{ y: null, z: null }", source: FIND },
  { op: "expression", kind: "array", spec: { _id: 0, "b.x": "$a", "b.c": 1 }, doc: DOC, gives: "{ b: { c: 1, x: 5 } }", source: FIND },
  { op: "expression", kind: "array", spec: { _id: 0, y: ["$a", "$x", 1] }, doc: DOC, gives: "{ y: [ 5, null, 1 ] }", source: FIND },
  { op: "expression", kind: "scalar", spec: { a: { $nosuch: 1 } }, doc: DOC, error: 31325, source: PARSER },
  { op: "expression", kind: "scalar", spec: { a: { $add: [{ $nosuch: 1 }] } }, doc: DOC, error: 168, source: "src/mongo/db/pipeline/expression.cpp" },

  // $slice
  { op: "$slice", kind: "scalar", spec: { h: { $slice: 2 }, b: 0, e: 0, n: 0 }, doc: DOC, gives: "{ _id: 1, a: 5, h: [ 1, 2 ] }", source: SLICE },
  { op: "$slice", kind: "scalar", spec: { h: { $slice: -3 }, a: 1 }, doc: DOC, gives: "{ _id: 1, a: 5, h: [ 2, 3, 4 ] }", source: SLICE },
  { op: "$slice", kind: "scalar", spec: { h: { $slice: [1, 2] }, a: 1 }, doc: DOC, gives: "{ _id: 1, a: 5, h: [ 2, 3 ] }", source: SLICE },
  { op: "$slice", kind: "scalar", spec: { h: { $slice: [-3, 2] }, _id: 1 }, doc: DOC, gives: "{ _id: 1, h: [ 2, 3 ] }", source: SLICE },
  { op: "$slice", kind: "scalar", spec: { h: { $slice: [-9, 1] }, _id: 1 }, doc: DOC, gives: "{ _id: 1, h: [ 1 ] }", source: SLICE },
  { op: "$slice", kind: "scalar", spec: { h: { $slice: [9, 2] }, _id: 1 }, doc: DOC, gives: "{ _id: 1, h: [] }", source: SLICE },
  { op: "$slice", kind: "null", spec: { n: { $slice: 1 }, a: { $slice: 1 }, x: { $slice: 1 } }, doc: { a: 5, n: null }, gives: "{ a: 5, n: null }", source: SLICE },
  { op: "$slice", kind: "array", spec: { "e.k": { $slice: 1 } }, doc: { e: [{ k: [1, 2] }, { k: 3 }, [{ k: [4, 5] }]], z: 1 }, gives: "{ e: [ { k: [ 1 ] }, { k: 3 }, [ { k: [ 4, 5 ] } ] ], z: 1 }", source: `${SLICE}#behavior` },
  { op: "$slice", kind: "array", spec: { "b.k": { $slice: -1 }, "b.c": 1 }, doc: { _id: 1, b: { k: [1, 2], c: 3, d: 4 } }, gives: "{ _id: 1, b: { k: [ 2 ], c: 3 } }", source: `${SLICE}#behavior` },
  { op: "$slice", kind: "array", spec: { _id: 0, x: { $slice: ["$h", 1] } }, doc: DOC, gives: "{ x: [ 1 ] }", source: "manual: operator/aggregation/slice" },
  { op: "$slice", kind: "scalar", spec: { h: { $slice: 2 }, "h.x": 1 }, doc: DOC, error: 31249, source: SLICE },
  { op: "$slice", kind: "scalar", spec: { h: { $slice: "x" } }, doc: DOC, error: 28667, source: SLICE },
  { op: "$slice", kind: "array", spec: { h: { $slice: [1] } }, doc: DOC, error: 28667, source: SLICE },

  // $elemMatch
  { op: "$elemMatch", kind: "scalar", spec: { h: { $elemMatch: { $gt: 2 } } }, doc: DOC, gives: "{ _id: 1, h: [ 3 ] }", source: ELEM },
  { op: "$elemMatch", kind: "scalar", spec: { h: { $elemMatch: { $eq: "A" } }, _id: 0 }, options: { collation: { locale: "en", strength: 2 } }, doc: { h: ["b", "a"] }, gives: '{ h: [ "a" ] }', source: "manual: reference/collation" },
  { op: "$elemMatch", kind: "null", spec: { h: { $elemMatch: { $gt: 9 } }, n: { $elemMatch: { $exists: true } } }, doc: DOC, gives: "{ _id: 1 }", source: ELEM },
  { op: "$elemMatch", kind: "array", spec: { e: { $elemMatch: { g: 4 } }, a: 1 }, doc: { _id: 1, e: [{ g: 2 }, { g: 4 }], a: 5 }, gives: "{ _id: 1, a: 5, e: [ { g: 4 } ] }", source: ELEM },
  { op: "$elemMatch", kind: "array", spec: { h: { $elemMatch: { $gt: 2 } }, a: 0, b: 0, e: 0 }, doc: DOC, gives: "{ _id: 1, h: [ 3 ], n: null }", source: PARSER },
  { op: "$elemMatch", kind: "scalar", spec: { h: { $elemMatch: 5 } }, doc: DOC, error: 31274, source: PARSER },
  { op: "$elemMatch", kind: "array", spec: { "b.h": { $elemMatch: { $gt: 2 } } }, doc: DOC, error: 31275, source: PARSER },
  { op: "$elemMatch", kind: "scalar", spec: { h: { $elemMatch: { $gt: 2 } }, "e.$": 1 }, query: { e: 7 }, doc: DOC, error: 31256, source: PARSER },

  // The positional operator
  { op: "$", kind: "scalar", spec: { "h.$": 1 }, query: { h: { $gt: 2 } }, doc: DOC, gives: "{ _id: 1, h: [ 3 ] }", source: POSITIONAL },
  { op: "$", kind: "null", spec: { "n.$": 1 }, query: { n: null }, doc: DOC, gives: "{ _id: 1, n: null }", source: "src/mongo/db/exec/projection_executor_utils.cpp" },
  { op: "$", kind: "array", spec: { "e.$": 1, a: 1 }, query: { "e.g": 4 }, doc: { _id: 1, a: 5, e: [{ g: 2 }, { g: 4, k: 1 }], z: 0 }, gives: "{ _id: 1, a: 5, e: [ { g: 4, k: 1 } ] }", source: `${POSITIONAL}#array-field-limitations` },
  { op: "$", kind: "array", spec: { "b.l.$": 1 }, query: { "b.l": { $elemMatch: { x: 2 } } }, doc: { b: { l: [{ x: 1 }, { x: 2 }], m: 1 } }, gives: "{ b: { l: [ { x: 2 } ] } }", source: POSITIONAL },
  { op: "$", kind: "array", spec: { "h.$": 1 }, query: { "h.1": 2 }, doc: DOC, error: 51246, source: POSITIONAL },
  { op: "$", kind: "scalar", spec: { "h.$": 1 }, query: { a: 5 }, doc: DOC, error: 51246, source: POSITIONAL_TESTS },
  { op: "$", kind: "scalar", spec: { "h.$": 1, "e.$": 1 }, query: { h: 1, e: 7 }, doc: DOC, error: 31276, source: `${POSITIONAL}#array-field-limitations` },
  { op: "$", kind: "scalar", spec: { "h.$": 1, a: 0 }, query: { h: 1 }, doc: DOC, error: 31254, source: PARSER },
  { op: "$", kind: "scalar", spec: { "h.$": "x" }, query: { h: 1 }, doc: DOC, error: 31308, source: PARSER },
  { op: "$", kind: "scalar", spec: { "h.$": { $slice: 1 } }, query: { h: 1 }, doc: DOC, error: 31271, source: PARSER },
  { op: "$", kind: "scalar", spec: { "h.$": 0 }, query: { h: 1 }, doc: DOC, error: 31395, source: PARSER },
  { op: "$", kind: "scalar", spec: { "h.$.$": 1 }, query: { h: 1 }, doc: DOC, error: 31394, source: PARSER },
  { op: "$", kind: "scalar", spec: { "e.$.g": 1 }, query: { e: 7 }, doc: DOC, error: 31394, source: PARSER },
  { op: "$", kind: "scalar", spec: { ".$": 1 }, query: {}, doc: DOC, error: 5392900, source: POSITIONAL_TESTS },
  { op: "$", kind: "scalar", spec: { $: 1 }, query: {}, doc: DOC, error: 16410, source: PARSER },
  { op: "$", kind: "null", spec: { "g.$": 1 }, query: {}, doc: { x: [1, 2] }, gives: "{}", source: POSITIONAL_TESTS },
  { op: "$", kind: "array", spec: { "c.$": 1 }, query: { a: 2 }, doc: { a: [1, 2], c: [7, 8] }, gives: "{ c: [ 8 ] }", source: POSITIONAL_TESTS },
  { op: "$", kind: "array", spec: { "b.$": 1 }, query: { $and: [{ a: 3 }, { a: 2 }, { a: 1 }] }, doc: { a: [1, 2, 3], b: [4, 5, 6] }, gives: "{ b: [ 4 ] }", source: POSITIONAL_TESTS },
  { op: "$", kind: "array", spec: { "b.$": 1 }, query: { a: { $elemMatch: { $elemMatch: { $eq: 3 } } } }, doc: { a: [[1, 2], [3, 4]], b: [[5, 6], [7, 8]] }, gives: "{ b: [ [ 7, 8 ] ] }", source: POSITIONAL_TESTS },
  { op: "$", kind: "array", spec: { "a.b.c.$": 1 }, query: { x: 1 }, doc: { x: [1], a: [{ b: [[[{ c: 1, d: 2 }]]] }] }, gives: "{ a: [ { b: [ [ [ { c: 1 } ] ] ] } ] }", source: POSITIONAL_TESTS },
  { op: "$", kind: "array", spec: { "a.b.c.$": 1 }, query: { x: { $gt: 0 } }, doc: { x: [-1, 1], a: { b: { d: [1], f: 4 }, e: 1 } }, gives: "{ a: { b: {} } }", source: POSITIONAL_TESTS },
  { op: "$", kind: "array", spec: { "c.$": 1 }, query: { b: [4, 5, 6] }, doc: { b: [4, 5, 6], c: [7] }, error: 51246, source: POSITIONAL_TESTS },
  { op: "$", kind: "array", spec: { "a.$": 1 }, query: { $or: [{ a: 1 }, { b: 5 }] }, doc: { a: [1, 2], b: [5] }, error: 51246, source: POSITIONAL_TESTS },
  { op: "$", kind: "array", spec: { "a.$": 1 }, query: { a: { $not: { $not: { $elemMatch: { $eq: 1 } } } } }, doc: { a: [1, 2] }, error: 51246, source: POSITIONAL_TESTS },

  // $project
  { op: "$project", kind: "scalar", spec: { a: 1, s: { $add: ["$a", 1] } }, options: { dialect: "$project" }, doc: DOC, gives: "{ _id: 1, a: 5, s: 6 }", source: STAGE, gap: true },
  { op: "$project", kind: "null", spec: { x: "$nosuch", y: { $ifNull: ["$n", 1] } }, options: { dialect: "$project" }, doc: DOC, gives: "{ _id: 1, y: 1 }", source: STAGE },
  { op: "$project", kind: "array", spec: { h: { $slice: ["$h", 2] } }, options: { dialect: "$project" }, doc: DOC, gives: "{ _id: 1, h: [ 1, 2 ] }", source: STAGE },
  { op: "$project", kind: "array", spec: { "h.$": 1 }, options: { dialect: "$project" }, doc: DOC, error: 31324, source: PARSER },
  { op: "$project", kind: "array", spec: { "e.$.g": 1 }, options: { dialect: "$project" }, doc: DOC, error: 31394, source: PARSER },
  { op: "$project", kind: "array", spec: { h: { $elemMatch: { $gt: 2 } } }, options: { dialect: "$project" }, doc: DOC, error: 168, source: PARSER },
];

/** What must have rows of all three kinds. */
export const FORMS = ["inclusion", "exclusion", "_id", "expression", "$slice", "$elemMatch", "$", "$project"];
