/**
 * What mingo 7.2 has wrong or lacks, measured before this engine was written, line by line: behind each line
 * the rows that show MongoDB's answer.
 *
 * A row is named by its operator and by a piece of what it says (its query, document and result as text), and
 * must be marked as a gap: a line whose row is gone, or lost its mark, fails here; a row whose answer is wrong
 * fails in its own table.
 */
import { describeDocument, toDocument } from "shardlab/bson";
import { describe, expect, test } from "vitest";
import { rows as accumulators } from "./accumulator.table.js";
import { rows as expressions } from "./expression.table.js";
import { rows as filters } from "./filter.table.js";
import { rows as projections } from "./projection.table.js";
import type { Row } from "./row.js";
import { rows as stages } from "./stage.table.js";
import { rows as updates } from "./update.table.js";
import { rows as windows } from "./window.table.js";

const ALL: readonly Row[] = [
  ...filters,
  ...projections,
  ...updates,
  ...expressions,
  ...accumulators,
  ...stages,
  ...windows,
];

/** An operator, and a piece of one of its rows. */
type Proof = readonly [op: string, says: string];

const GAPS: Readonly<Record<string, readonly Proof[]>> = {
  "comparison across types: MinKey and MaxKey": [
    ["$gt", "a: { $gt: MinKey"],
    ["$lt", "a: { $lt: MaxKey"],
  ],
  "comparison across types: Timestamp": [["$gt", "$gt: Timestamp("]],
  "comparison across types: Decimal128": [
    ["$eq", "$eq: 0.1 } }, doc: { a: 0.1 }, matches: false"],
    ["$gte", "$gte: 1.5"],
  ],
  "comparison across types: Long beyond 2^53": [
    ["$eq", "a: 9007199254740993 }, matches: false"],
    ["$gt", "filter: { a: { $gt: 9007199254740992.0 }"],
  ],
  "comparison across types: wrapped Int32 and Double": [["$eq", "$eq: nan.0"]],
  "comparison across types: in expressions": [["$gt", 'expr: { $gt: [ "text", 5 ] }']],
  "sort order across types: MinKey … MaxKey, Timestamp, Decimal128, Long, Int32, Double": [
    ["$sort", "a: MinKey"],
    ["$sort", "$sort: { a: -1, _id: 1 }"],
    ["$sortArray", "sortBy: 1"],
  ],
  "Binary subtype": [["$eq", "BinData(5"]],
  $type: [
    ["$type", '$type: "number"'],
    ["$type", "$type: -1"],
    ["$type", '$type: "double"'],
  ],
  "{$gte: null}": [
    ["$gte", "filter: { a: { $gte: null } }, doc: {}"],
    ["$lte", "$lte: null"],
  ],
  '{"a.b": null} over arrays': [
    ["$eq", "a.b: { $eq: null } }, doc: { a: [ { b: 1 }, {} ] }, matches: true"],
    ["$eq", "a.b: { $eq: null } }, doc: { a: [] }, matches: false"],
  ],
  "equality of embedded documents goes by field order": [
    ["$eq", "doc: { a: { y: 2, x: 1 } }, matches: false"],
  ],
  "$expr: missing is not null": [
    ["$expr", '$eq: [ "$a", null ]'],
    ["$lookup", '$eq: [ "$sku", "$$item" ]'],
  ],
  "descending sort on arrays": [["$sort", "docs: [ { _id: 1, a: [ 1, 9 ] }"]],
  "collation in matching": [
    ["$eq", "strength: 1"],
    ["$eq", "strength: 2"],
    ["$in", "strength: 1"],
    ["$gt", "strength: 1"],
    ["$lt", "numericOrdering: true"],
    ["$expr", "strength: 1"],
  ],
  "no upsert": [["upsert", "upsert: true"]],
  "no replacement": [["replacement", "gives: "]],
  "no $setOnInsert": [["$setOnInsert", "upsert: true"]],
  "$out appends": [["$out", "t: [ { _id: 9 } ]"]],
  "$sample with replacement": [["$sample", "different: 3"]],
  "$toHashedIndexKey is another hash": [["$toHashedIndexKey", "long 763543691661428748"]],
  "pipelines mutate their input": [["$set", 'written: "c"']],
  "projection puts _id last": [
    ["inclusion", "spec: { a: 1 }"],
    ["$project", 'dialect: "$project"'],
  ],
  "missing: $collStats": [["$collStats", "count: 2"]],
  "missing: $indexStats": [["$indexStats", 'name: "_id_"']],
  "missing: $currentOp": [["$currentOp", 'type: "op"']],
  "missing: $geoNear (refused)": [["$geoNear", "error: 238"]],
  "missing: $changeStream (refused)": [["$changeStream", "error: 238"]],
  "missing: $toObjectId": [["$toObjectId", "gives: \"ObjectId('5ab9cbfa31c2ab715d42129e')\""]],
  "missing: $toUUID": [["$toUUID", 'gives: "UUID(']],
  "missing: $bsonSize": [["$bsonSize", 'gives: "int 12"']],
  "missing: $binarySize": [["$binarySize", 'gives: "int 9"']],
  "missing: $meta": [["$meta", 'gives: "missing"']],
  "missing: $tsSecond": [["$tsSecond", 'gives: "long 1622731060"']],
  "missing: geo (refused)": [
    ["$geoWithin", "error: 238"],
    ["$geoIntersects", "error: 238"],
    ["$near", "error: 238"],
    ["$nearSphere", "error: 238"],
  ],
  "missing: $text (refused)": [["$text", "error: 238"]],
  "missing: $comment": [["$comment", "matches: true"]],
  "missing: $sampleRate": [["$sampleRate", "matches: false"]],
  "$where and $function must be off": [
    ["$where", "error: 238"],
    ["$function", "error: 238"],
  ],
};

function saysOf({ op: _, kind: __, source: ___, ...what }: Row): string {
  return describeDocument(toDocument(what));
}

describe("what mingo has wrong or lacks is right here", () => {
  const proofs = Object.entries(GAPS).flatMap(([line, list]) =>
    list.map((proof) => [line, ...proof] as const),
  );

  test.each(proofs)("%s: a row of %s with %s", (_, op, piece) => {
    const marked = ALL.filter((row) => row.op === op && row.gap);
    const proving = marked.map(saysOf).filter((says) => says.includes(piece));
    expect(proving.length).toBeGreaterThan(0);
  });
});
