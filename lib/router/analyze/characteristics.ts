/**
 * `keyCharacteristics`: what a candidate shard key is like, judged by the documents that are there (facts-mongos.md
 * §9.3).
 *
 *     cardinality    numDistinctValues: as many chunks can there be at most
 *     frequency      mostCommonValues: a value can't be cut, all its documents stay in one chunk
 *     monotonicity   whether new documents all go to one end
 *
 * Every shard groups its documents by the key and sorts the groups; the router merges the sorted groups, because a
 * value may be on several shards. What it has to remember is one group of each shard and the few commonest.
 *
 *     shardA   (1, 3 documents) (2, 1) (5, 2)  ╲
 *     shardB   (2, 4)           (3, 1)          ╱  1: 3   2: 5   3: 1   5: 2
 */
import type { RawValue } from "../../bson/index.js";
import {
  asDocument,
  asNumber,
  documentSortableKey,
  DocumentWriter,
  fields,
  getField,
  int32,
  int64,
  isNumeric,
  NULL,
  string,
} from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import { typeName } from "../../query/index.js";
import type { RouterContext } from "../context.js";
import type { IndexSpec } from "../ddl/indexRules.js";
import { supportingIndexes } from "../ddl/indexRules.js";
import type { ShardKeyPattern } from "../keys/shardKeyPattern.js";
import type { Monotonicity } from "./monotonicity.js";
import { judge } from "./monotonicity.js";
import type { Analyzed, Part } from "./parts.js";
import { findOn, must, pipelineOn, rowsOn, shares } from "./parts.js";
import type { AnalysisIndex } from "./supportingIndex.js";

/** How many documents to look at: a part of them from 0 to 1, or a number. */
export type SampleOf = { readonly rate: number } | { readonly size: number };

/** A value of the key and how many documents have it. */
interface Frequency {
  /** The key's values, in its order. */
  readonly values: readonly RawValue[];
  readonly count: number;
}

/** What is told of all values together. */
interface Values {
  readonly sampled: number;
  readonly distinct: number;
  readonly common: readonly Frequency[];
}

/** The most bytes of common values in a reply. */
const MOST_BYTES = 15 * 1024 * 1024;

const ORPHANS_NOTE =
  "Orphan documents are not filtered out when the characteristics of the shard key are calculated. If " +
  '"numOrphanDocs" is large relative to "numDocsTotal", run the command again later for more accurate ' +
  '"numDistinctValues" and "mostCommonValues".';

/**
 * Measures a candidate key.
 * @param parts the parts that have documents, at least one
 * @param index what supports the key, see supportingIndex.ts
 * @param usable the collection's indexes that are not multikey
 * @returns the reply's `keyCharacteristics`
 * @throws CommandError InvalidOptions (72) for a sample smaller than the number of common values
 */
export async function keyCharacteristics(
  context: RouterContext,
  collection: Analyzed,
  key: ShardKeyPattern,
  parts: readonly Part[],
  { index, isUnique }: AnalysisIndex,
  usable: readonly IndexSpec[],
  sample: SampleOf,
): Promise<Uint8Array> {
  const most = context.server.parameters.number("analyzeShardKeyNumMostCommonValues");
  const total = parts.reduce((sum, { documents }) => sum + documents, 0);
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
  const wanted = "rate" in sample ? Math.ceil(sample.rate * total) : Math.min(sample.size, total);
  if ("size" in sample && sample.size < most) {
    throw new CommandError(
      ErrorCode.InvalidOptions,
      `The requested number of most common values is ${most} but the sample size is only ${sample.size}`,
    );
  }
  const values = isUnique
    ? await firstValues(context, collection, key, parts, index, wanted, most)
    : await countValues(context, collection, key, parts, wanted, most);
  const monotonicity = await measureMonotonicity(context, collection, key, parts[0]!, usable, wanted / total);
  const writer = new DocumentWriter().int64("numDocsTotal", BigInt(Math.max(total, values.sampled)));
  if (collection.sharded) writer.int64("numOrphanDocs", 0n);
  writer
    .int64("avgDocSizeBytes", BigInt(Math.floor(bytes / total)))
    .int64("numDocsSampled", BigInt(values.sampled))
    .bool("isUnique", isUnique)
    .int64("numDistinctValues", BigInt(values.distinct))
    .arrayOf(
      "mostCommonValues",
      values.common.map((each) => frequencyDocument(key, each, most)),
    )
    .document("monotonicity", monotonicityDocument(monotonicity));
  if (collection.sharded) writer.string("note", ORPHANS_NOTE);
  return writer.finish();
}

/** Of a unique key every value is there once: nothing has to be counted. */
async function firstValues(
  context: RouterContext,
  collection: Analyzed,
  key: ShardKeyPattern,
  parts: readonly Part[],
  { key: order }: IndexSpec,
  wanted: number,
  most: number,
): Promise<Values> {
  const limit = Math.min(most, wanted);
  const isHashed = fields(order).some(([, value]) => !isNumeric(value));
  const find = new DocumentWriter().document("projection", projectionOf(key));
  if (!isHashed) find.document("sort", order);
  const command = findOn(collection, find.int64("limit", BigInt(limit)).finish());
  const common: Frequency[] = [];
  for (const { shard } of parts) {
    if (common.length === limit) break;
    for await (const row of rowsOn(context, shard, collection, command)) {
      if (common.length < limit)
        common.push({ values: key.originalsOf(row).map((value) => value ?? NULL), count: 1 });
    }
  }
  return { sampled: wanted, distinct: wanted, common };
}

/** Counts every value. */
async function countValues(
  context: RouterContext,
  collection: Analyzed,
  key: ShardKeyPattern,
  parts: readonly Part[],
  wanted: number,
  most: number,
): Promise<Values> {
  const given = shares(parts, wanted);
  const groups = parts.map(({ shard, documents }, i) => {
    const stages = groupingStages(key);
    if (given[i]! < documents) stages.unshift(stage("$sample", { size: int64(given[i]!) }));
    return given[i] === 0 ? undefined : rowsOn(context, shard, collection, pipelineOn(collection, stages));
  });
  let sampled = 0;
  let distinct = 0;
  const common: Frequency[] = [];
  for await (const each of mergeGroups(groups.filter((rows) => rows !== undefined))) {
    sampled += each.count;
    distinct += 1;
    keepCommonest(common, each, most);
  }
  if (sampled === 0) {
    throw new CommandError(ErrorCode.IllegalOperation, "Cannot analyze a shard key for an empty collection");
  }
  return { sampled, distinct, common };
}

/** Groups that come sorted from several shards, each value once, its counts added. */
async function* mergeGroups(sources: readonly AsyncGenerator<Uint8Array>[]): AsyncGenerator<Frequency> {
  interface Head {
    readonly rows: AsyncGenerator<Uint8Array>;
    readonly id: Uint8Array;
    readonly key: string;
    readonly count: number;
  }
  const next = async (rows: AsyncGenerator<Uint8Array>): Promise<Head | undefined> => {
    const { value: row, done } = await rows.next();
    if (done) return undefined;
    const id = asDocument(must(row, "_id"));
    return { rows, id, key: documentSortableKey(id), count: asNumber(must(row, "n")) };
  };
  let heads = (await Promise.all(sources.map(next))).filter((head) => head !== undefined);
  while (heads.length > 0) {
    let first = heads[0]!;
    for (const head of heads) if (head.key < first.key) first = head;
    const { key } = first;
    let count = 0;
    const left: Head[] = [];
    for (const head of heads) {
      if (head.key === key) count += head.count;
      const kept = head.key === key ? await next(head.rows) : head;
      if (kept) left.push(kept);
    }
    heads = left;
    yield { values: fields(first.id).map(([, value]) => value), count };
  }
}

/** Puts a value among the commonest so far, where it is one. Of equally common ones the first stays. */
function keepCommonest(common: Frequency[], each: Frequency, most: number): void {
  if (common.length === most && common[most - 1]!.count >= each.count) return;
  const at = common.findIndex(({ count }) => count < each.count);
  common.splice(at < 0 ? common.length : at, 0, each);
  if (common.length > most) common.pop();
}

/**
 * Groups by the key and counts. An index does not tell a missing field from null, so neither is told here; fields are
 * numbered, because a group's `_id` can't have names with dots.
 */
function groupingStages(key: ShardKeyPattern): Uint8Array[] {
  const id = new DocumentWriter();
  key.paths.forEach((path, i) => {
    const orNull = new DocumentWriter().values("$ifNull", [string(`$${path}`), NULL]).finish();
    id.document(`k${i}`, orNull);
  });
  const sum = new DocumentWriter().int32("$sum", 1).finish();
  const group = new DocumentWriter().document("_id", id.finish()).document("n", sum).finish();
  return [new DocumentWriter().document("$group", group).finish(), stage("$sort", { _id: int32(1) })];
}

function stage(name: string, parts: Readonly<Record<string, RawValue>>): Uint8Array {
  const spec = new DocumentWriter();
  for (const [field, value] of Object.entries(parts)) spec.field(field, value);
  return new DocumentWriter().document(name, spec.finish()).finish();
}

/**
 * Reads one shard's record ids in the order of the key.
 * @param rate the part of its documents to look at
 */
async function measureMonotonicity(
  context: RouterContext,
  collection: Analyzed,
  key: ShardKeyPattern,
  { shard }: Part,
  usable: readonly IndexSpec[],
  rate: number,
): Promise<Monotonicity> {
  if (getField(collection.options, "clusteredIndex")) return { type: "unknown" };
  if (key.hashedField === 0) return { type: "not monotonic", coefficient: 0 };
  if (key.hashedField > 0) return { type: "unknown" };
  const [index] = supportingIndexes(usable, key);
  if (!index) return { type: "unknown" };
  const find = new DocumentWriter();
  if (rate < 1) find.document("filter", new DocumentWriter().double("$sampleRate", rate).finish());
  find
    .document("projection", projectionOf(key))
    .document("sort", index.key)
    .string("hint", index.name)
    .bool("showRecordId", true);
  const ids: number[] = [];
  let firstKey: string | undefined;
  let allEqual = true;
  for await (const row of rowsOn(context, shard, collection, findOn(collection, find.finish()))) {
    const id = getField(row, "$recordId");
    if (!id || !isNumeric(id)) return { type: "unknown" };
    ids.push(asNumber(id));
    if (!allEqual) continue;
    const own = key.keyOf(row);
    firstKey ??= own;
    allEqual = own === firstKey;
  }
  return judge(ids, allEqual);
}

/** Only the key's fields: `{_id: 0, a: 1}`. */
export function projectionOf(key: ShardKeyPattern): Uint8Array {
  const projection = new DocumentWriter();
  if (!key.includesId) projection.int32("_id", 0);
  for (const path of key.paths) projection.int32(path, 1);
  return projection.finish();
}

/** `{value: {a: 7}, frequency: 4}`; values that are too large for a reply are named, not shown. */
function frequencyDocument(key: ShardKeyPattern, { values, count }: Frequency, most: number): Uint8Array {
  const limit = Math.floor(MOST_BYTES / most / key.fields.length);
  const value = new DocumentWriter();
  key.paths.forEach((path, i) => {
    const own = values[i] ?? NULL;
    const size = own.end - own.start;
    if (size <= limit) {
      value.field(path, own);
      return;
    }
    const truncated = new DocumentWriter()
      .string("type", typeName(own))
      .string("value", "truncated")
      .int32("sizeBytes", size);
    value.document(path, truncated.finish());
  });
  return new DocumentWriter().document("value", value.finish()).int64("frequency", BigInt(count)).finish();
}

function monotonicityDocument({ type, coefficient }: Monotonicity): Uint8Array {
  const writer = new DocumentWriter();
  if (coefficient !== undefined) writer.double("recordIdCorrelationCoefficient", coefficient);
  return writer.string("type", type).finish();
}
