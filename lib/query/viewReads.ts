/**
 * Reading views: find, count and distinct become aggregations. Shard and router translate alike.
 *
 *     find({a: 1}).sort({b: 1}).skip(2).limit(5) on view v
 *     → aggregate v [{$match: {a: 1}}, {$sort: {b: 1}}, {$skip: 2}, {$limit: 5}]
 *     → aggregate events [...pipeline of v, {$match: …}, …]
 *
 * The translation is MongoDB's own, so that what cannot be said as a pipeline
 * (`min`, `returnKey`, tailable cursors) is refused in its words. A count comes
 * out as `{count}` in the one row, a distinct as `{distinct: [values]}`; where
 * nothing was counted or found there is no row.
 */
import type { RawValue } from "../bson/index.js";
import {
  array,
  asDocument,
  asNumber,
  asString,
  BsonType,
  document,
  DocumentWriter,
  EMPTY_DOCUMENT,
  fields,
  firstField,
  getField,
  isNumeric,
  isTruthy,
  string,
} from "../bson/index.js";
import { CommandError, ErrorCode } from "../protocol/index.js";

/** Fields of a read that an aggregation takes over as they are. */
const SHARED: readonly string[] = [
  "collation",
  "hint",
  "let",
  "maxTimeMS",
  "comment",
  "readConcern",
  "allowDiskUse",
  "lsid",
];
/** Options of find that no pipeline expresses. */
const NOT_IN_PIPELINES: readonly string[] = [
  "min",
  "max",
  "returnKey",
  "showRecordId",
  "tailable",
  "awaitData",
  "oplogReplay",
  "noCursorTimeout",
  "allowPartialResults",
];

/** One stage as a value. */
function stage(name: string, value: RawValue): RawValue {
  return document(new DocumentWriter().field(name, value).finish());
}

/** The aggregate command of a read: its stages, its batch size, and what both commands have. */
function aggregateBody(body: Uint8Array, stages: readonly RawValue[], batchSize?: RawValue): Uint8Array {
  const cursor = batchSize ? new DocumentWriter().field("batchSize", batchSize).finish() : EMPTY_DOCUMENT;
  const writer = new DocumentWriter()
    .field("aggregate", firstField(body)![1])
    .field("pipeline", array(stages))
    .document("cursor", cursor);
  for (const [name, value] of fields(body)) if (SHARED.includes(name)) writer.field(name, value);
  return writer.finish();
}

function isEmptyObject(value: RawValue | undefined): boolean {
  return value === undefined || (value.type === BsonType.object && asDocument(value).length === 5);
}

/** Null says as little as nothing. */
function given(body: Uint8Array, name: string): RawValue | undefined {
  const value = getField(body, name);
  return value?.type === BsonType.null ? undefined : value;
}

function refuseOption(name: string): never {
  throw new CommandError(ErrorCode.InvalidPipelineOperator, `Option ${name} not supported in aggregation.`);
}

/**
 * The aggregate command that a find on a view stands for.
 * @throws CommandError InvalidPipelineOperator (168) for an option that no pipeline expresses
 */
export function findAsAggregate(body: Uint8Array): Uint8Array {
  for (const name of NOT_IN_PIPELINES) {
    const value = given(body, name);
    if (value !== undefined && isTruthy(value) && !isEmptyObject(value)) refuseOption(name);
  }
  const limit = given(body, "limit");
  const single = given(body, "singleBatch");
  if (single && isTruthy(single) && !(limit && isNumeric(limit) && asNumber(limit) === 1))
    refuseOption("singleBatch");
  const sort = given(body, "sort");
  if (sort?.type === BsonType.object && getField(asDocument(sort), "$natural")) {
    throw new CommandError(
      ErrorCode.InvalidPipelineOperator,
      "Sort option $natural not supported in aggregation.",
    );
  }
  const stages: RawValue[] = [];
  const add = (name: string, value: RawValue | undefined): void => {
    if (value !== undefined && !isEmptyObject(value)) stages.push(stage(name, value));
  };
  add("$match", given(body, "filter"));
  add("$sort", sort);
  add("$skip", positive(given(body, "skip")));
  add("$limit", positive(limit));
  add("$project", given(body, "projection"));
  return aggregateBody(body, stages, given(body, "batchSize"));
}

/** Zero means none, to find and count. */
function positive(value: RawValue | undefined): RawValue | undefined {
  return value !== undefined && isNumeric(value) && asNumber(value) === 0 ? undefined : value;
}

/** The aggregate command that a count on a view stands for. */
export function countAsAggregate(body: Uint8Array): Uint8Array {
  const stages: RawValue[] = [];
  const query = given(body, "query");
  if (!isEmptyObject(query)) stages.push(stage("$match", query!));
  const skip = positive(given(body, "skip"));
  if (skip) stages.push(stage("$skip", skip));
  const limit = positive(given(body, "limit"));
  // A negative limit means the same as its positive value.
  if (limit) stages.push(stage("$limit", asNumber(limit) < 0 ? magnitude(limit) : limit));
  stages.push(stage("$count", string("count")));
  return aggregateBody(body, stages);
}

function magnitude(value: RawValue): RawValue {
  return getField(new DocumentWriter().int64("n", Math.abs(Math.trunc(asNumber(value)))).finish(), "n")!;
}

/**
 * The aggregate command that a distinct on a view stands for: every array on the way is unwound, and the values
 * are put into one set.
 * @throws CommandError TypeMismatch (14) for a `key` that is no string
 */
export function distinctAsAggregate(body: Uint8Array): Uint8Array {
  const key = given(body, "key");
  if (key?.type !== BsonType.string) {
    throw new CommandError(ErrorCode.TypeMismatch, "distinct: 'key' must be a string");
  }
  const path = asString(key);
  const stages: RawValue[] = [];
  const query = given(body, "query");
  if (!isEmptyObject(query)) stages.push(stage("$match", query!));
  const parts = path.split(".");
  for (let i = 1; i <= parts.length; i++) {
    const unwind = new DocumentWriter()
      .string("path", `$${parts.slice(0, i).join(".")}`)
      .bool("preserveNullAndEmptyArrays", true)
      .finish();
    stages.push(stage("$unwind", document(unwind)));
  }
  // An array inside an array is not gone into: "a.b" of {a: [[{b: 1}]]} is no value.
  if (parts.length > 1) {
    const parent = parts.slice(0, -1).join(".");
    const type = document(new DocumentWriter().string("$type", `$${parent}`).finish());
    const test = new DocumentWriter().values("$eq", [type, string("object")]).finish();
    stages.push(stage("$match", document(new DocumentWriter().document("$expr", test).finish())));
  }
  const set = new DocumentWriter().string("$addToSet", `$${path}`).finish();
  const group = new DocumentWriter().null("_id").document("distinct", set).finish();
  stages.push(stage("$group", document(group)));
  return aggregateBody(body, stages);
}
