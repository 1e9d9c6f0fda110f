/** What MongoDB's update operators do to a document. */
import { Decimal128, Double, Long, MaxKey, ObjectId, Timestamp } from "bson";
import type { DocumentRow } from "./row.js";

/** The clock of the rows: $currentDate and $$NOW. */
export const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);

/** Options of a row beside the query. */
export interface UpdateRowOptions {
  readonly arrayFilters?: object[];
  /** A collation specification. */
  readonly collation?: object;
  readonly constants?: object;
  readonly let?: object;
  /** The row shows the document that an upsert with this query inserts. */
  readonly upsert?: true;
}

const long = Long.fromBigInt;
const decimal = Decimal128.fromString;
const SET = "manual: operator/update/set";
const UNSET = "manual: operator/update/unset";
const INC = "manual: operator/update/inc";
const MUL = "manual: operator/update/mul";
const MIN = "manual: operator/update/min";
const MAX = "manual: operator/update/max";
const RENAME = "manual: operator/update/rename";
const DATE = "manual: operator/update/currentDate";
const ON_INSERT = "manual: operator/update/setOnInsert";
const BIT = "manual: operator/update/bit";
const PUSH = "manual: operator/update/push";
const EACH = "manual: operator/update/each";
const POSITION = "manual: operator/update/position";
const SLICE = "manual: operator/update/slice";
const SORT = "manual: operator/update/sort";
const ADD_TO_SET = "manual: operator/update/addToSet";
const POP = "manual: operator/update/pop";
const PULL = "manual: operator/update/pull";
const PULL_ALL = "manual: operator/update/pullAll";
const POSITIONAL = "manual: operator/update/positional";
const ALL = "manual: operator/update/positional-all";
const FILTERED = "manual: operator/update/positional-filtered";
const PIPELINE = "manual: command/update#update-with-an-aggregation-pipeline";
const REPLACE = "manual: method/db.collection.replaceOne";
const UPSERT = "manual: method/db.collection.update#upsert-behavior";
const DOLLARS = "manual: core/dot-dollar-considerations";

// prettier-ignore
export const rows: DocumentRow[] = [
  // --- $set
  { op: "$set", kind: "scalar", spec: { $set: { a: 2 } }, doc: { a: 1, b: 1 }, gives: "{ a: 2, b: 1 }", source: SET },
  { op: "$set", kind: "scalar", spec: { $set: { a: new Double(1) } }, doc: { a: 1 }, gives: "{ a: 1.0 }", source: SET },
  { op: "$set", kind: "scalar", spec: { $set: { a: -0 } }, doc: { a: 0 }, gives: "{ a: -0.0 }", source: SET },
  { op: "$set", kind: "null", spec: { $set: { a: null } }, doc: { a: 1 }, gives: "{ a: null }", source: SET },
  { op: "$set", kind: "null", spec: { $set: { z: 1, a: 2, "10": 3, "9": 4 } }, doc: { q: 0 }, gives: "{ q: 0, 9: 4, 10: 3, a: 2, z: 1 }", source: `${SET}#behavior` },
  { op: "$set", kind: "null", spec: { $set: { "a.c": 1, "a.b": 2 } }, doc: {}, gives: "{ a: { b: 2, c: 1 } }", source: SET },
  { op: "$set", kind: "null", spec: { $set: {} }, doc: { a: 1 }, gives: "{ a: 1 }", source: `${SET}#behavior` },
  { op: "$set", kind: "null", spec: { $set: { "a.b": 1 } }, doc: { a: null }, error: 28, source: SET },
  { op: "$set", kind: "scalar", spec: { $set: { "a.b": 1 } }, doc: { a: 5 }, error: 28, source: SET },
  { op: "$set", kind: "array", spec: { $set: { "a.1": 9 } }, doc: { a: [1, 2] }, gives: "{ a: [ 1, 9 ] }", source: `${SET}#set-elements-in-arrays` },
  { op: "$set", kind: "array", spec: { $set: { "a.3": 9 } }, doc: { a: [1] }, gives: "{ a: [ 1, null, null, 9 ] }", source: SET },
  { op: "$set", kind: "array", spec: { $set: { "a.1.b": 9 } }, doc: { a: [1] }, gives: "{ a: [ 1, { b: 9 } ] }", source: SET },
  { op: "$set", kind: "array", spec: { $set: { "a.b": 9 } }, doc: { a: [{ b: 1 }] }, error: 28, source: SET },
  { op: "$set", kind: "array", spec: { $set: { "a.1500002": 1 } }, doc: { a: [] }, error: 34, source: "src/mongo/db/update/path_support.h" },
  { op: "$set", kind: "array", spec: { $set: { "a.99999999999999999999": 1 } }, doc: { a: [] }, error: 34, source: "src/mongo/db/update/path_support.h" },
  { op: "$set", kind: "scalar", spec: { $set: { _id: 2 } }, doc: { _id: 1 }, error: 66, source: "manual: core/document#the-_id-field" },
  { op: "$set", kind: "scalar", spec: { $set: { _id: new Double(1) } }, doc: { _id: 1 }, error: 66, source: "manual: core/document#the-_id-field" },
  { op: "$set", kind: "scalar", spec: { $set: { _id: 1 } }, doc: { _id: 1 }, gives: "{ _id: 1 }", source: "manual: core/document#the-_id-field" },
  { op: "$set", kind: "array", spec: { $set: { "_id.b": 2 } }, doc: { _id: { a: 1 } }, error: 66, source: "manual: core/document#the-_id-field" },
  { op: "$set", kind: "scalar", spec: { $set: { $a: 1 } }, doc: {}, error: 52, source: DOLLARS },
  { op: "$set", kind: "array", spec: { $set: { "a.$b": 1 } }, doc: { a: {} }, gives: "{ a: { $b: 1 } }", source: DOLLARS },
  { op: "$set", kind: "scalar", spec: { $set: { a: 1, "a.b": 1 } }, doc: {}, error: 40, source: SET },
  { op: "$set", kind: "scalar", spec: { $set: { a: 1 }, $inc: { a: 1 } }, doc: {}, error: 40, source: SET },
  { op: "$set", kind: "null", spec: { $set: { "": 1 } }, doc: {}, error: 56, source: "src/mongo/db/update/field_checker.cpp" },
  { op: "$set", kind: "null", spec: { $set: { "a..b": 1 } }, doc: {}, error: 56, source: "src/mongo/db/update/field_checker.cpp" },
  { op: "$set", kind: "scalar", spec: { $set: { a: 1 }, b: 1 }, doc: {}, error: 9, source: "manual: method/db.collection.update" },
  { op: "$set", kind: "scalar", spec: { $nosuch: { a: 1 } }, doc: {}, error: 9, source: "manual: method/db.collection.update" },

  // --- $unset
  { op: "$unset", kind: "scalar", spec: { $unset: { a: "" } }, doc: { a: 1, b: 2 }, gives: "{ b: 2 }", source: UNSET },
  { op: "$unset", kind: "null", spec: { $unset: { a: "" } }, doc: { a: null }, gives: "{}", source: UNSET },
  { op: "$unset", kind: "null", spec: { $unset: { c: "", "d.e": "", "a.x": "" } }, doc: { a: 1 }, gives: "{ a: 1 }", source: UNSET },
  { op: "$unset", kind: "array", spec: { $unset: { "a.0": "" } }, doc: { a: [1, 2] }, gives: "{ a: [ null, 2 ] }", source: `${UNSET}#behavior` },
  { op: "$unset", kind: "array", spec: { $unset: { "a.b": "" } }, doc: { a: { b: 1, c: 2 } }, gives: "{ a: { c: 2 } }", source: UNSET },
  { op: "$unset", kind: "array", spec: { $unset: { "a.b": "" } }, doc: { a: [{ b: 1 }] }, gives: "{ a: [ { b: 1 } ] }", source: UNSET },
  { op: "$unset", kind: "scalar", spec: { $unset: { _id: "" } }, doc: { _id: 1 }, error: 66, source: "manual: core/document#the-_id-field" },

  // --- $inc
  { op: "$inc", kind: "scalar", spec: { $inc: { a: 2 } }, doc: { a: 1 }, gives: "{ a: 3 }", source: INC },
  { op: "$inc", kind: "scalar", spec: { $inc: { a: 1 } }, doc: { a: 2147483647 }, gives: "{ a: 2147483648 }", source: INC },
  { op: "$inc", kind: "scalar", spec: { $inc: { a: 0.5 } }, doc: { a: 1 }, gives: "{ a: 1.5 }", source: INC },
  { op: "$inc", kind: "scalar", spec: { $inc: { a: 1 } }, doc: { a: long(9007199254740993n) }, gives: "{ a: 9007199254740994 }", source: INC },
  { op: "$inc", kind: "scalar", spec: { $inc: { a: 1 } }, doc: { a: decimal("1.10") }, gives: "{ a: 2.10 }", source: INC },
  { op: "$inc", kind: "scalar", spec: { $inc: { a: 1 } }, doc: { a: long(9223372036854775807n) }, error: 2, source: "src/mongo/db/update/arithmetic_node_test.cpp" },
  { op: "$inc", kind: "null", spec: { $inc: { a: 5 } }, doc: {}, gives: "{ a: 5 }", source: `${INC}#behavior` },
  { op: "$inc", kind: "null", spec: { $inc: { a: 1 } }, doc: { a: null }, error: 14, source: `${INC}#behavior` },
  { op: "$inc", kind: "array", spec: { $inc: { "a.0": 1, "b.c": 1 } }, doc: { a: [1], b: {} }, gives: "{ a: [ 2 ], b: { c: 1 } }", source: INC },
  { op: "$inc", kind: "array", spec: { $inc: { a: 1 } }, doc: { a: [1] }, error: 14, source: INC },
  { op: "$inc", kind: "scalar", spec: { $inc: { a: "x" } }, doc: { a: 1 }, error: 14, source: INC },

  // --- $mul
  { op: "$mul", kind: "scalar", spec: { $mul: { a: 4 } }, doc: { a: 3 }, gives: "{ a: 12 }", source: MUL },
  { op: "$mul", kind: "scalar", spec: { $mul: { a: 65536 } }, doc: { a: 65536 }, gives: "{ a: 4294967296 }", source: `${MUL}#multiply-value-of-fields-with-different-numeric-types` },
  { op: "$mul", kind: "scalar", spec: { $mul: { a: 4 } }, doc: { a: long(4611686018427387904n) }, error: 2, source: "src/mongo/db/update/arithmetic_node_test.cpp" },
  { op: "$mul", kind: "null", spec: { $mul: { a: long(100n), b: 0.5, c: decimal("2.5") } }, doc: {}, gives: "{ a: 0, b: 0.0, c: 0.0 }", source: `${MUL}#apply-mul-operator-to-a-non-existing-field` },
  { op: "$mul", kind: "null", spec: { $mul: { a: 2 } }, doc: { a: null }, error: 14, source: MUL },
  { op: "$mul", kind: "array", spec: { $mul: { "a.b": 2 } }, doc: { a: { b: 3 } }, gives: "{ a: { b: 6 } }", source: MUL },

  // --- $min, $max
  { op: "$min", kind: "scalar", spec: { $min: { a: 3 } }, doc: { a: 5 }, gives: "{ a: 3 }", source: MIN },
  { op: "$min", kind: "scalar", spec: { $min: { a: new Double(5) } }, doc: { a: 5 }, gives: "{ a: 5 }", source: MIN },
  { op: "$min", kind: "scalar", spec: { $min: { a: "x" } }, doc: { a: 5 }, gives: "{ a: 5 }", source: `${MIN}#behavior` },
  { op: "$min", kind: "scalar", spec: { $min: { a: "B" } }, doc: { a: "a" }, gives: '{ a: "B" }', source: MIN },
  { op: "$min", kind: "scalar", spec: { $min: { a: "B" } }, doc: { a: "a" }, options: { collation: { locale: "en" } }, gives: '{ a: "a" }', source: "manual: reference/collation" },
  { op: "$min", kind: "null", spec: { $min: { a: 1, b: 1 } }, doc: { b: null }, gives: "{ b: null, a: 1 }", source: MIN },
  { op: "$min", kind: "array", spec: { $min: { a: 7 } }, doc: { a: [1] }, gives: "{ a: 7 }", source: MIN },
  { op: "$max", kind: "scalar", spec: { $max: { a: 7.5 } }, doc: { a: 5 }, gives: "{ a: 7.5 }", source: MAX },
  { op: "$max", kind: "scalar", spec: { $max: { a: new MaxKey() } }, doc: { a: 5 }, gives: "{ a: MaxKey }", source: MAX },
  { op: "$max", kind: "null", spec: { $max: { a: 1, b: 1 } }, doc: { b: null }, gives: "{ b: 1, a: 1 }", source: MAX },
  { op: "$max", kind: "array", spec: { $max: { a: 7 } }, doc: { a: [1] }, gives: "{ a: [ 1 ] }", source: MAX },

  // --- $rename
  { op: "$rename", kind: "scalar", spec: { $rename: { a: "c" } }, doc: { a: 1, b: 2 }, gives: "{ b: 2, c: 1 }", source: RENAME },
  { op: "$rename", kind: "scalar", spec: { $rename: { a: "b" } }, doc: { a: 1, b: 2, d: 3 }, gives: "{ b: 1, d: 3 }", source: `${RENAME}#behavior` },
  { op: "$rename", kind: "null", spec: { $rename: { x: "c" } }, doc: { a: 1 }, gives: "{ a: 1 }", source: `${RENAME}#behavior` },
  { op: "$rename", kind: "null", spec: { $rename: { a: "c" } }, doc: { a: null }, gives: "{ c: null }", source: RENAME },
  { op: "$rename", kind: "array", spec: { $rename: { "a.b": "c.d" } }, doc: { a: { b: 1 } }, gives: "{ a: {}, c: { d: 1 } }", source: `${RENAME}#rename-a-field-in-an-embedded-document` },
  { op: "$rename", kind: "array", spec: { $rename: { a: "b" } }, doc: { a: [1] }, gives: "{ b: [ 1 ] }", source: RENAME },
  { op: "$rename", kind: "array", spec: { $rename: { "a.0.b": "c" } }, doc: { a: [{ b: 1 }] }, error: 2, source: `${RENAME}#behavior` },
  { op: "$rename", kind: "array", spec: { $rename: { c: "a.0.b" } }, doc: { a: [{ b: 1 }], c: 1 }, error: 2, source: `${RENAME}#behavior` },
  { op: "$rename", kind: "array", spec: { $rename: { "a.9.b": "c" } }, doc: { a: [{ b: 1 }] }, gives: "{ a: [ { b: 1 } ] }", source: "src/mongo/db/update/rename_node_test.cpp" },
  { op: "$rename", kind: "scalar", spec: { $rename: { "a.b": "c" } }, doc: { a: "text" }, error: 28, source: "src/mongo/db/update/rename_node_test.cpp" },
  { op: "$rename", kind: "scalar", spec: { $rename: { a: "a" } }, doc: { a: 1 }, error: 2, source: "src/mongo/db/update/rename_node_test.cpp" },
  { op: "$rename", kind: "scalar", spec: { $rename: { a: "a.b" } }, doc: { a: 1 }, error: 2, source: "src/mongo/db/update/rename_node_test.cpp" },
  { op: "$rename", kind: "array", spec: { $rename: { "a.$[].b": "c" } }, doc: { a: [] }, error: 2, source: "src/mongo/db/update/rename_node_test.cpp" },
  { op: "$rename", kind: "scalar", spec: { $rename: { a: 5 } }, doc: { a: 1 }, error: 2, source: "src/mongo/db/update/rename_node_test.cpp" },
  { op: "$rename", kind: "scalar", spec: { $rename: { _id: "a" } }, doc: { _id: 1 }, error: 66, source: "manual: core/document#the-_id-field" },

  // --- $currentDate
  { op: "$currentDate", kind: "scalar", spec: { $currentDate: { a: true } }, doc: { a: 1 }, gives: `{ a: new Date(${NOW}) }`, source: DATE },
  { op: "$currentDate", kind: "null", spec: { $currentDate: { a: { $type: "timestamp" } } }, doc: {}, gives: `{ a: Timestamp(${NOW / 1000}, 1) }`, source: DATE },
  { op: "$currentDate", kind: "array", spec: { $currentDate: { "a.0": { $type: "date" }, "b.c": false } }, doc: { a: [1] }, gives: `{ a: [ new Date(${NOW}) ], b: { c: new Date(${NOW}) } }`, source: DATE },
  { op: "$currentDate", kind: "scalar", spec: { $currentDate: { a: 1 } }, doc: {}, error: 2, source: DATE },
  { op: "$currentDate", kind: "null", spec: { $currentDate: { a: {} } }, doc: {}, error: 2, source: DATE },

  // --- $setOnInsert
  { op: "$setOnInsert", kind: "scalar", spec: { $setOnInsert: { a: 1 } }, doc: { a: 5 }, gives: "{ a: 5 }", source: ON_INSERT, gap: true },
  { op: "$setOnInsert", kind: "null", spec: { $setOnInsert: { "a.b": 1 } }, doc: { a: 5 }, gives: "{ a: 5 }", source: ON_INSERT },
  { op: "$setOnInsert", kind: "null", spec: { $set: { b: 1 }, $setOnInsert: { a: 1 } }, doc: {}, query: { _id: 7 }, options: { upsert: true }, gives: "{ _id: 7, a: 1, b: 1 }", source: ON_INSERT, gap: true },
  { op: "$setOnInsert", kind: "array", spec: { $setOnInsert: { "a.b": 1, c: [1] } }, doc: {}, query: { _id: 7 }, options: { upsert: true }, gives: "{ _id: 7, a: { b: 1 }, c: [ 1 ] }", source: ON_INSERT, gap: true },

  // --- $bit
  { op: "$bit", kind: "scalar", spec: { $bit: { a: { and: 10 } } }, doc: { a: 13 }, gives: "{ a: 8 }", source: BIT },
  { op: "$bit", kind: "scalar", spec: { $bit: { a: { or: long(5n) } } }, doc: { a: 3 }, gives: "{ a: 7 }", source: BIT },
  { op: "$bit", kind: "scalar", spec: { $bit: { a: { xor: -1 } } }, doc: { a: 5 }, gives: "{ a: -6 }", source: BIT },
  { op: "$bit", kind: "null", spec: { $bit: { a: { or: 4 } } }, doc: {}, gives: "{ a: 4 }", source: BIT },
  { op: "$bit", kind: "null", spec: { $bit: { a: { or: 4 } } }, doc: { a: null }, error: 2, source: BIT },
  { op: "$bit", kind: "array", spec: { $bit: { "a.1": { and: 1 } } }, doc: { a: [0, 3] }, gives: "{ a: [ 0, 1 ] }", source: BIT },
  { op: "$bit", kind: "scalar", spec: { $bit: { a: { and: 1.5 } } }, doc: { a: 1 }, error: 2, source: BIT },
  { op: "$bit", kind: "scalar", spec: { $bit: { a: {} } }, doc: { a: 1 }, error: 2, source: BIT },

  // --- $push and its clauses
  { op: "$push", kind: "scalar", spec: { $push: { a: 3 } }, doc: { a: [1, 2] }, gives: "{ a: [ 1, 2, 3 ] }", source: PUSH },
  { op: "$push", kind: "null", spec: { $push: { a: 3, "b.c": null } }, doc: {}, gives: "{ a: [ 3 ], b: { c: [ null ] } }", source: `${PUSH}#behavior` },
  { op: "$push", kind: "null", spec: { $push: { a: 3 } }, doc: { a: null }, error: 2, source: PUSH },
  { op: "$push", kind: "array", spec: { $push: { a: [2, 3] } }, doc: { a: [1] }, gives: "{ a: [ 1, [ 2, 3 ] ] }", source: `${PUSH}#behavior` },
  { op: "$push", kind: "scalar", spec: { $push: { a: 1 } }, doc: { a: 5 }, error: 2, source: `${PUSH}#behavior` },
  { op: "$each", kind: "scalar", spec: { $push: { a: { $each: [2, 3] } } }, doc: { a: [1] }, gives: "{ a: [ 1, 2, 3 ] }", source: EACH },
  { op: "$each", kind: "null", spec: { $push: { a: { $each: [] } } }, doc: {}, gives: "{ a: [] }", source: EACH },
  { op: "$each", kind: "array", spec: { $push: { a: { $each: [[2], { b: 1 }] } } }, doc: { a: [1] }, gives: "{ a: [ 1, [ 2 ], { b: 1 } ] }", source: EACH },
  { op: "$each", kind: "scalar", spec: { $push: { a: { $each: 1 } } }, doc: { a: [1] }, error: 2, source: EACH },
  { op: "$each", kind: "scalar", spec: { $push: { a: { $each: [1], $nosuch: 1 } } }, doc: { a: [1] }, error: 2, source: EACH },
  { op: "$position", kind: "scalar", spec: { $push: { a: { $each: [9, 8], $position: 1 } } }, doc: { a: [1, 2] }, gives: "{ a: [ 1, 9, 8, 2 ] }", source: POSITION },
  { op: "$position", kind: "scalar", spec: { $push: { a: { $each: [9], $position: -2 } } }, doc: { a: [1, 2, 3] }, gives: "{ a: [ 1, 9, 2, 3 ] }", source: POSITION },
  { op: "$position", kind: "scalar", spec: { $push: { a: { $each: [9], $position: -7 } } }, doc: { a: [1, 2] }, gives: "{ a: [ 9, 1, 2 ] }", source: POSITION },
  { op: "$position", kind: "null", spec: { $push: { a: { $each: [9], $position: 5 } } }, doc: {}, gives: "{ a: [ 9 ] }", source: POSITION },
  { op: "$position", kind: "array", spec: { $push: { "a.0": { $each: [9], $position: 0 } } }, doc: { a: [[1]] }, gives: "{ a: [ [ 9, 1 ] ] }", source: POSITION },
  { op: "$position", kind: "scalar", spec: { $push: { a: { $each: [9], $position: 1.5 } } }, doc: { a: [1] }, error: 2, source: POSITION },
  { op: "$slice", kind: "scalar", spec: { $push: { a: { $each: [3, 4], $slice: -3 } } }, doc: { a: [1, 2] }, gives: "{ a: [ 2, 3, 4 ] }", source: SLICE },
  { op: "$slice", kind: "scalar", spec: { $push: { a: { $each: [3], $slice: 2 } } }, doc: { a: [1, 2] }, gives: "{ a: [ 1, 2 ] }", source: SLICE },
  { op: "$slice", kind: "null", spec: { $push: { a: { $each: [], $slice: 0 } } }, doc: { a: [1, 2] }, gives: "{ a: [] }", source: SLICE },
  { op: "$slice", kind: "array", spec: { $push: { a: { $each: [[3]], $slice: 1 } } }, doc: { a: [[1], [2]] }, gives: "{ a: [ [ 1 ] ] }", source: SLICE },
  { op: "$sort", kind: "scalar", spec: { $push: { a: { $each: [4, 0], $sort: 1 } } }, doc: { a: [3, 1] }, gives: "{ a: [ 0, 1, 3, 4 ] }", source: SORT },
  { op: "$sort", kind: "scalar", spec: { $push: { a: { $each: ["b"], $sort: 1 } } }, doc: { a: ["C", "a"] }, options: { collation: { locale: "en" } }, gives: '{ a: [ "a", "b", "C" ] }', source: "manual: reference/collation" },
  { op: "$sort", kind: "null", spec: { $push: { a: { $each: [{ q: null }], $sort: { q: -1 } } } }, doc: { a: [{}, { q: 1 }, 7] }, gives: "{ a: [ { q: 1 }, {}, 7, { q: null } ] }", source: SORT },
  { op: "$sort", kind: "array", spec: { $push: { a: { $each: [], $sort: { "p.q": 1, r: -1 } } } }, doc: { a: [{ p: { q: 2 } }, { p: { q: 1 }, r: 1 }, { p: { q: 1 }, r: 2 }] }, gives: "{ a: [ { p: { q: 1 }, r: 2 }, { p: { q: 1 }, r: 1 }, { p: { q: 2 } } ] }", source: SORT },
  { op: "$sort", kind: "array", spec: { $push: { a: { $each: [], $sort: { q: 1 } } } }, doc: { a: [{ q: [0, 9] }, { q: [5] }, { q: 7 }] }, gives: "{ a: [ { q: 7 }, { q: [ 0, 9 ] }, { q: [ 5 ] } ] }", source: "src/mongo/db/update/pattern_cmp_test.cpp" },
  { op: "$sort", kind: "scalar", spec: { $push: { a: { $each: [], $sort: 2 } } }, doc: { a: [1] }, error: 2, source: SORT },
  { op: "$sort", kind: "null", spec: { $push: { a: { $each: [], $sort: {} } } }, doc: { a: [1] }, error: 2, source: SORT },

  // --- $addToSet
  { op: "$addToSet", kind: "scalar", spec: { $addToSet: { a: 2 } }, doc: { a: [1] }, gives: "{ a: [ 1, 2 ] }", source: ADD_TO_SET },
  { op: "$addToSet", kind: "scalar", spec: { $addToSet: { a: new Double(1) } }, doc: { a: [1] }, gives: "{ a: [ 1 ] }", source: ADD_TO_SET },
  { op: "$addToSet", kind: "scalar", spec: { $addToSet: { a: "A" } }, doc: { a: ["a"] }, options: { collation: { locale: "en", strength: 2 } }, gives: '{ a: [ "a" ] }', source: "manual: reference/collation" },
  { op: "$addToSet", kind: "null", spec: { $addToSet: { a: null } }, doc: {}, gives: "{ a: [ null ] }", source: `${ADD_TO_SET}#missing-field` },
  { op: "$addToSet", kind: "array", spec: { $addToSet: { a: [2, 3] } }, doc: { a: [1] }, gives: "{ a: [ 1, [ 2, 3 ] ] }", source: `${ADD_TO_SET}#value-to-add-is-an-array` },
  { op: "$addToSet", kind: "array", spec: { $addToSet: { a: { $each: [2, 2, 1] } } }, doc: { a: [1] }, gives: "{ a: [ 1, 2 ] }", source: `${ADD_TO_SET}#value-to-add-is-an-array` },
  { op: "$addToSet", kind: "array", spec: { $addToSet: { a: { c: 2, b: 1 } } }, doc: { a: [{ b: 1, c: 2 }] }, gives: "{ a: [ { b: 1, c: 2 }, { c: 2, b: 1 } ] }", source: `${ADD_TO_SET}#value-to-add-is-a-document` },
  { op: "$addToSet", kind: "scalar", spec: { $addToSet: { a: 1 } }, doc: { a: 5 }, error: 2, source: `${ADD_TO_SET}#field-is-not-an-array` },
  { op: "$addToSet", kind: "scalar", spec: { $addToSet: { a: { $each: 1 } } }, doc: { a: [] }, error: 14, source: "src/mongo/db/update/addtoset_node_test.cpp" },

  // --- $pop
  { op: "$pop", kind: "scalar", spec: { $pop: { a: 1 } }, doc: { a: [1, 2, 3] }, gives: "{ a: [ 1, 2 ] }", source: POP },
  { op: "$pop", kind: "scalar", spec: { $pop: { a: -1 } }, doc: { a: [1, 2, 3] }, gives: "{ a: [ 2, 3 ] }", source: POP },
  { op: "$pop", kind: "null", spec: { $pop: { a: 1, b: 1, "c.d": 1 } }, doc: { a: [] }, gives: "{ a: [] }", source: `${POP}#behavior` },
  { op: "$pop", kind: "null", spec: { $pop: { a: 1 } }, doc: { a: null }, error: 14, source: `${POP}#behavior` },
  { op: "$pop", kind: "array", spec: { $pop: { "a.0": 1 } }, doc: { a: [[1, 2]] }, gives: "{ a: [ [ 1 ] ] }", source: POP },
  { op: "$pop", kind: "scalar", spec: { $pop: { a: 2 } }, doc: { a: [1] }, error: 9, source: POP },
  { op: "$pop", kind: "scalar", spec: { $pop: { "a.b": 1 } }, doc: { a: 5 }, error: 28, source: "src/mongo/db/update/pop_node_test.cpp" },

  // --- $pull, $pullAll
  { op: "$pull", kind: "scalar", spec: { $pull: { a: 1 } }, doc: { a: [1, 2, 1] }, gives: "{ a: [ 2 ] }", source: PULL },
  { op: "$pull", kind: "scalar", spec: { $pull: { a: { $gte: 5 } } }, doc: { a: [1, 5, 8] }, gives: "{ a: [ 1 ] }", source: PULL },
  { op: "$pull", kind: "scalar", spec: { $pull: { a: /^a/ } }, doc: { a: ["ab", "cd"] }, gives: '{ a: [ "cd" ] }', source: PULL },
  { op: "$pull", kind: "scalar", spec: { $pull: { a: "A" } }, doc: { a: ["a", "b"] }, options: { collation: { locale: "en", strength: 2 } }, gives: '{ a: [ "b" ] }', source: "manual: reference/collation" },
  { op: "$pull", kind: "null", spec: { $pull: { a: null, b: 1 } }, doc: { a: [1, null] }, gives: "{ a: [ 1 ] }", source: PULL },
  { op: "$pull", kind: "array", spec: { $pull: { a: { b: { $gt: 5 } } } }, doc: { a: [{ b: 1 }, { b: 7 }, 9] }, gives: "{ a: [ { b: 1 }, 9 ] }", source: `${PULL}#remove-items-from-an-array-of-documents` },
  { op: "$pull", kind: "array", spec: { $pull: { a: [1, 2] } }, doc: { a: [1, [1, 2], [2, 1]] }, gives: "{ a: [ 1, [ 2, 1 ] ] }", source: `${PULL}#behavior` },
  { op: "$pull", kind: "array", spec: { $pull: { a: { b: 1, c: 2 } } }, doc: { a: [{ c: 2, b: 1, d: 3 }, { b: 1 }] }, gives: "{ a: [ { b: 1 } ] }", source: `${PULL}#behavior` },
  { op: "$pull", kind: "array", spec: { $pull: { a: { x: { $elemMatch: { q: 2 } } } } }, doc: { a: [{ x: [{ q: 2 }] }, { x: [{ q: 3 }] }] }, gives: "{ a: [ { x: [ { q: 3 } ] } ] }", source: `${PULL}#remove-documents-from-nested-arrays` },
  { op: "$pull", kind: "scalar", spec: { $pull: { a: 1 } }, doc: { a: 1 }, error: 2, source: PULL },
  { op: "$pull", kind: "scalar", spec: { $pull: { "a.b": 1 } }, doc: { a: 1 }, error: 28, source: "src/mongo/db/update/pull_node_test.cpp" },
  { op: "$pullAll", kind: "scalar", spec: { $pullAll: { a: [1, 3] } }, doc: { a: [1, 2, 1, 3] }, gives: "{ a: [ 2 ] }", source: PULL_ALL },
  { op: "$pullAll", kind: "null", spec: { $pullAll: { a: [null], b: [1] } }, doc: { a: [null, 1] }, gives: "{ a: [ 1 ] }", source: PULL_ALL },
  { op: "$pullAll", kind: "array", spec: { $pullAll: { a: [[1], { b: 1 }] } }, doc: { a: [[1], { b: 1 }, { b: 1, c: 2 }] }, gives: "{ a: [ { b: 1, c: 2 } ] }", source: `${PULL_ALL}#behavior` },
  { op: "$pullAll", kind: "scalar", spec: { $pullAll: { a: 1 } }, doc: { a: [1] }, error: 2, source: PULL_ALL },

  // --- $, $[], $[identifier]
  { op: "$", kind: "scalar", spec: { $set: { "a.$": 9 } }, query: { a: 2 }, doc: { a: [1, 2, 2] }, gives: "{ a: [ 1, 9, 2 ] }", source: POSITIONAL },
  { op: "$", kind: "null", spec: { $set: { "a.$": 9 } }, query: { a: null }, doc: { a: [1, null] }, gives: "{ a: [ 1, 9 ] }", source: POSITIONAL },
  { op: "$", kind: "null", spec: { $set: { "a.$": 9 } }, query: { b: 1 }, doc: { a: [1], b: 1 }, error: 2, source: `${POSITIONAL}#behavior` },
  { op: "$", kind: "array", spec: { $set: { "a.$.s": 6 } }, query: { "a.g": 85 }, doc: { a: [{ g: 80, s: 8 }, { g: 85, s: 5 }] }, gives: "{ a: [ { g: 80, s: 8 }, { g: 85, s: 6 } ] }", source: `${POSITIONAL}#update-documents-in-an-array` },
  { op: "$", kind: "array", spec: { $inc: { "a.$.n": 1 } }, query: { a: { $elemMatch: { g: { $lte: 90 }, n: { $gt: 80 } } } }, doc: { a: [{ g: 80, n: 75 }, { g: 85, n: 90 }] }, gives: "{ a: [ { g: 80, n: 75 }, { g: 85, n: 91 } ] }", source: `${POSITIONAL}#update-embedded-documents-using-multiple-field-matches` },
  { op: "$", kind: "array", spec: { $unset: { "a.$": "" } }, query: { a: 2 }, doc: { a: [1, 2, 3] }, gives: "{ a: [ 1, null, 3 ] }", source: `${POSITIONAL}#behavior` },
  { op: "$", kind: "array", spec: { $set: { "a.$.b.$": 1 } }, query: { a: 2 }, doc: { a: [2] }, error: 2, source: "src/mongo/db/update/field_checker_test.cpp" },
  { op: "$", kind: "scalar", spec: { $set: { "$.a": 1 } }, doc: { a: [2] }, error: 2, source: "src/mongo/db/update/field_checker_test.cpp" },
  { op: "$", kind: "null", spec: { $set: { "a.$": 1 } }, doc: {}, query: { a: 1 }, options: { upsert: true }, error: 2, source: `${POSITIONAL}#upsert` },
  { op: "$[]", kind: "scalar", spec: { $inc: { "a.$[]": 10 } }, doc: { a: [1, 2] }, gives: "{ a: [ 11, 12 ] }", source: ALL },
  { op: "$[]", kind: "null", spec: { $inc: { "a.$[]": 10 } }, doc: {}, error: 2, source: `${ALL}#upsert` },
  { op: "$[]", kind: "null", spec: { $inc: { "a.$[]": 10 } }, doc: { a: [] }, gives: "{ a: [] }", source: ALL },
  { op: "$[]", kind: "array", spec: { $inc: { "a.$[].b.$[]": 1 } }, doc: { a: [{ b: [1] }, { b: [2, 3] }] }, gives: "{ a: [ { b: [ 2 ] }, { b: [ 3, 4 ] } ] }", source: `${ALL}#update-nested-arrays-in-conjunction-with-arrayfilters` },
  { op: "$[]", kind: "scalar", spec: { $set: { "a.$[]": 0 } }, doc: { a: 5 }, error: 2, source: ALL },
  { op: "$[]", kind: "array", spec: { $set: { "a.$[].z": 1, "a.0.b": 2 } }, doc: { a: [{}, {}] }, gives: "{ a: [ { b: 2, z: 1 }, { z: 1 } ] }", source: "src/mongo/db/update/update_array_node_test.cpp" },
  { op: "$[]", kind: "array", spec: { $set: { "a.$[]": 1, "a.0": 2 } }, doc: { a: [0] }, error: 40, source: "src/mongo/db/update/update_array_node_test.cpp" },
  { op: "$[<identifier>]", kind: "scalar", spec: { $set: { "a.$[big]": 0 } }, options: { arrayFilters: [{ big: { $gte: 5 } }] }, doc: { a: [1, 5, 8] }, gives: "{ a: [ 1, 0, 0 ] }", source: FILTERED },
  { op: "$[<identifier>]", kind: "null", spec: { $set: { "a.$[x]": 0 } }, options: { arrayFilters: [{ x: null }] }, doc: { a: [1, null] }, gives: "{ a: [ 1, 0 ] }", source: FILTERED },
  { op: "$[<identifier>]", kind: "array", spec: { $inc: { "a.$[x].v.$[y]": 10 } }, options: { arrayFilters: [{ "x.k": 1 }, { y: 2 }] }, doc: { a: [{ k: 1, v: [1, 2] }, { k: 2, v: [2] }] }, gives: "{ a: [ { k: 1, v: [ 1, 12 ] }, { k: 2, v: [ 2 ] } ] }", source: `${FILTERED}#update-nested-arrays-in-conjunction-with-arrayfilters` },
  { op: "$[<identifier>]", kind: "scalar", spec: { $set: { "a.$[x]": 0 } }, options: { arrayFilters: [{ x: "A" }], collation: { locale: "en", strength: 2 } }, doc: { a: ["a", "b"] }, gives: '{ a: [ 0, "b" ] }', source: "manual: reference/collation" },
  { op: "$[<identifier>]", kind: "scalar", spec: { $set: { "a.$[x]": 0 } }, doc: { a: [1] }, error: 2, source: FILTERED },
  { op: "$[<identifier>]", kind: "scalar", spec: { $set: { a: 0 } }, options: { arrayFilters: [{ x: 1 }] }, doc: { a: [1] }, error: 9, source: FILTERED },
  { op: "$[<identifier>]", kind: "scalar", spec: { $set: { "a.$[x]": 0 } }, options: { arrayFilters: [{ x: 1 }, { x: 2 }] }, doc: { a: [1] }, error: 9, source: FILTERED },
  { op: "$[<identifier>]", kind: "scalar", spec: { $set: { "a.$[x]": 0 } }, options: { arrayFilters: [{ x: 1, y: 2 }] }, doc: { a: [1] }, error: 9, source: FILTERED },
  { op: "$[<identifier>]", kind: "null", spec: { $set: { "a.$[x]": 0 } }, options: { arrayFilters: [{}] }, doc: { a: [1] }, error: 9, source: FILTERED },
  { op: "$[<identifier>]", kind: "scalar", spec: { $set: { "a.$[Xy]": 0 } }, options: { arrayFilters: [{ Xy: 1 }] }, doc: { a: [1] }, error: 2, source: FILTERED },
  { op: "$[<identifier>]", kind: "array", spec: { $set: { "a.$[x]": 0 }, $inc: { "a.$[y]": 1 } }, options: { arrayFilters: [{ x: 1 }, { y: 1 }] }, doc: { a: [1] }, error: 40, source: FILTERED },

  // --- replacement
  { op: "replacement", kind: "scalar", spec: { b: 2 }, doc: { _id: 1, a: 1 }, gives: "{ _id: 1, b: 2 }", source: REPLACE, gap: true },
  { op: "replacement", kind: "scalar", spec: { b: 2, _id: 1 }, doc: { _id: 1, a: 1 }, gives: "{ _id: 1, b: 2 }", source: REPLACE, gap: true },
  { op: "replacement", kind: "scalar", spec: { _id: 2 }, doc: { _id: 1 }, error: 66, source: REPLACE },
  { op: "replacement", kind: "null", spec: {}, doc: { _id: 1, a: 1 }, gives: "{ _id: 1 }", source: REPLACE, gap: true },
  { op: "replacement", kind: "null", spec: { t: new Timestamp({ t: 0, i: 0 }), n: { t: new Timestamp({ t: 0, i: 0 }) } }, doc: { _id: 1 }, gives: `{ _id: 1, t: Timestamp(${NOW / 1000}, 1), n: { t: Timestamp(0, 0) } }`, source: "manual: reference/bson-types#timestamps" },
  { op: "replacement", kind: "array", spec: { "a.b": 1, c: { $d: [1] } }, doc: { _id: 1 }, gives: "{ _id: 1, a.b: 1, c: { $d: [ 1 ] } }", source: DOLLARS },
  { op: "replacement", kind: "array", spec: { a: 1, $b: 1 }, doc: { _id: 1 }, error: 52, source: DOLLARS },

  // --- pipelines
  { op: "pipeline", kind: "scalar", spec: [{ $set: { b: { $add: ["$a", 1] } } }, { $unset: "a" }], doc: { _id: 1, a: 2 }, gives: "{ _id: 1, b: 3 }", source: PIPELINE },
  { op: "pipeline", kind: "scalar", spec: [{ $set: { a: "$$c", b: "$$d" } }], options: { constants: { c: "$a" }, let: { c: 1, d: 2 } }, doc: { _id: 1, a: 2 }, gives: '{ _id: 1, a: "$a", b: 2 }', source: PIPELINE },
  { op: "pipeline", kind: "null", spec: [], doc: { _id: 1, a: 2 }, gives: "{ _id: 1, a: 2 }", source: PIPELINE },
  { op: "pipeline", kind: "null", spec: [{ $project: { _id: 0, a: 1 } }], doc: { _id: 1, a: 2, b: 3 }, gives: "{ _id: 1, a: 2 }", source: PIPELINE },
  { op: "pipeline", kind: "array", spec: [{ $replaceWith: { n: { $size: "$a" }, _id: "$_id" } }], doc: { _id: 1, a: [1, 2] }, gives: "{ _id: 1, n: 2 }", source: PIPELINE },
  { op: "pipeline", kind: "array", spec: [{ $set: { "a.b": 1 } }], doc: { _id: 1, a: [{ b: 0 }, {}] }, gives: "{ _id: 1, a: [ { b: 1 }, { b: 1 } ] }", source: PIPELINE },
  { op: "pipeline", kind: "scalar", spec: [{ $set: { _id: 2 } }], doc: { _id: 1 }, error: 66, source: PIPELINE },
  { op: "pipeline", kind: "scalar", spec: [{ $match: {} }], doc: { _id: 1 }, error: 72, source: PIPELINE },
  { op: "pipeline", kind: "scalar", spec: [{ $set: { a: 1 } }], options: { arrayFilters: [{ x: 1 }] }, doc: { _id: 1 }, error: 9, source: PIPELINE },
  { op: "pipeline", kind: "scalar", spec: { $set: { a: 1 } }, options: { constants: { c: 1 } }, doc: { _id: 1 }, error: 51198, source: "src/mongo/db/update/update_driver.cpp" },

  // --- what an upsert takes from its filter
  { op: "upsert", kind: "scalar", spec: { $set: { z: 9 } }, query: { _id: 7, a: { $eq: 1 } }, options: { upsert: true }, doc: {}, gives: "{ _id: 7, a: 1, z: 9 }", source: UPSERT, gap: true },
  { op: "upsert", kind: "scalar", spec: { $set: { z: 9 } }, query: { _id: 7, a: { $in: [1] }, b: { $all: [2] } }, options: { upsert: true }, doc: {}, gives: "{ _id: 7, a: 1, b: 2, z: 9 }", source: UPSERT },
  { op: "upsert", kind: "scalar", spec: { $set: { z: 9 } }, query: { $and: [{ _id: 7 }, { $and: [{ a: 1 }] }], $or: [{ b: 2 }] }, options: { upsert: true }, doc: {}, gives: "{ _id: 7, a: 1, b: 2, z: 9 }", source: UPSERT },
  { op: "upsert", kind: "null", spec: { $set: { z: 9 } }, query: { _id: 7, a: null, b: { $gt: 1 }, c: { $exists: true }, d: { $in: [1, 2] }, e: { $ne: 1 } }, options: { upsert: true }, doc: {}, gives: "{ _id: 7, a: null, z: 9 }", source: UPSERT },
  { op: "upsert", kind: "null", spec: { $set: { z: 9 } }, query: { _id: 7, $or: [{ a: 1 }, { b: 2 }], $nor: [{ c: 1 }] }, options: { upsert: true }, doc: {}, gives: "{ _id: 7, z: 9 }", source: UPSERT },
  { op: "upsert", kind: "array", spec: { $push: { a: 3 } }, query: { _id: 7, a: [1], "b.c": 2, "b.d": 3 }, options: { upsert: true }, doc: {}, gives: "{ _id: 7, a: [ 1, 3 ], b: { c: 2, d: 3 } }", source: UPSERT },
  { op: "upsert", kind: "array", spec: { a: 1 }, query: { _id: new ObjectId("000000000000000000000001"), b: 2 }, options: { upsert: true }, doc: {}, gives: "{ _id: ObjectId('000000000000000000000001'), a: 1 }", source: UPSERT, gap: true },
  { op: "upsert", kind: "scalar", spec: { $set: { a: 7 } }, query: { _id: 7, a: 1 }, options: { upsert: true }, doc: {}, gives: "{ _id: 7, a: 7 }", source: UPSERT },
  { op: "upsert", kind: "scalar", spec: [{ $set: { b: { $add: ["$a", 1] } } }], query: { _id: 7, a: 1 }, options: { upsert: true }, doc: {}, gives: "{ _id: 7, a: 1, b: 2 }", source: UPSERT },
  { op: "upsert", kind: "scalar", spec: { $set: { z: 9 } }, query: { $and: [{ a: 1 }, { a: 1 }] }, options: { upsert: true }, doc: {}, error: 54, source: "src/mongo/db/update/path_support_test.cpp" },
  { op: "upsert", kind: "array", spec: { $set: { z: 9 } }, query: { a: { $all: [1, 2] } }, options: { upsert: true }, doc: {}, error: 54, source: "src/mongo/db/update/path_support_test.cpp" },
  { op: "upsert", kind: "array", spec: { $set: { z: 9 } }, query: { a: { b: 1 }, "a.b": 1 }, options: { upsert: true }, doc: {}, error: 54, source: "src/mongo/db/update/path_support_test.cpp" },
  { op: "upsert", kind: "scalar", spec: { $set: { _id: 2 } }, query: { _id: 1 }, options: { upsert: true }, doc: {}, error: 66, source: UPSERT },
];

/** What has rows beside the operators themselves. */
export const OTHERS = [
  "$each",
  "$position",
  "$slice",
  "$sort",
  "$",
  "$[]",
  "$[<identifier>]",
  "replacement",
  "pipeline",
  "upsert",
];
