/**
 * Where an aggregation is cut: pure policy.
 *
 * A pipeline over several shards is cut once. The stages before the cut run on
 * every shard over its own documents, the stages after it run on the router
 * over what the shards send:
 *
 *     [$match, $set, $group, $sort]
 *        │      │      └──── the first stage that needs to see all documents: cut here
 *        └──────┴─ shards
 *
 *     shards   [$match, $set, partial $group]      sums and counts per shard
 *     router   [merging $group, $sort]             sums of sums
 *
 * Some stages at the cut can do half of their work on the shards
 * (facts-mongos.md §6):
 *
 * | stage | shards | router |
 * |---|---|---|
 * | `$group` | partial groups | merges partial groups (averages from sums and counts, …) |
 * | `$sort` | sort their part | merge sort of the sorted streams |
 * | `$sort` then `$skip`, `$limit` | also stop after skip + limit documents | merge sort, skip, limit |
 * | `$limit` | stop after n documents each | stops after n |
 * | `$skip` | nothing | skips |
 * | `$count`, `$sortByCount` | are a `$group` and what follows | the same |
 * | anything else that sees all documents | nothing | the whole stage |
 *
 * A stage that treats every document by itself ({@link PER_DOCUMENT}) never
 * causes a cut. Worked example, key {region: 1}, `[{$match: {x: 1}}, {$group: {_id:
 * "$region", n: {$sum: 1}}}]`: shards send at most one row per region each, the
 * router adds the rows of a region up.
 */
import type { RawValue } from "../../bson/index.js";
import {
  asDocument,
  asNumber,
  asString,
  BsonType,
  DocumentWriter,
  firstField,
  int64,
  isNumeric,
  NULL,
} from "../../bson/index.js";
import { notSimulated } from "../../protocol/index.js";
import type { ExpressionOptions, Stage } from "../../query/index.js";
import { createStages, metaNames, parsePipeline, splitGroup, usesMeta } from "../../query/index.js";

/** Stages that look at one document at a time. */
const PER_DOCUMENT: ReadonlySet<string> = new Set([
  "$match",
  "$project",
  "$set",
  "$addFields",
  "$unset",
  "$unwind",
  "$replaceRoot",
  "$replaceWith",
  "$redact",
]);

/** A pipeline cut in two. */
export interface PipelineSplit {
  /** Stages for every shard. */
  readonly shardPart: readonly Uint8Array[];
  /** How the shards' streams become one: in any order, or by merge sort. */
  readonly mergeSort: Uint8Array | undefined;
  /** A stage behind the merge sort asks for `{$meta: "sortKey"}`, which shards do not send along. */
  readonly needsSortKeys: boolean;
  /** The router's stages as text of MongoDB, for explain. */
  readonly mergerPart: readonly Uint8Array[];
  /** The same, ready to run. */
  readonly mergerStages: () => Stage[];
  /** For the trace: what the merge mainly is. */
  readonly mergeKind: "concatenate" | "sort" | "group";
}

/** One stage as a document: `{$match: {…}}`. */
function stage(name: string, spec: RawValue): Uint8Array {
  return new DocumentWriter().field(name, spec).finish();
}

/** A stage's name and argument. */
export function stageOf(document: Uint8Array): { name: string; spec: RawValue } {
  const [name, spec] = firstField(document) ?? ["", NULL];
  return { name, spec };
}

/**
 * Replaces stages that are short for others: `$count` and `$sortByCount` are a
 * `$group` and a little more.
 */
export function expandShorthands(pipeline: readonly Uint8Array[]): Uint8Array[] {
  return pipeline.flatMap((document) => {
    const { name, spec } = stageOf(document);
    const sumOfOnes = new DocumentWriter().int32("$sum", 1).finish();
    if (name === "$count" && spec.type === BsonType.string && isPlainName(asString(spec))) {
      const group = new DocumentWriter().null("_id").document(asString(spec), sumOfOnes).finish();
      const project = new DocumentWriter().int32("_id", 0).finish();
      return [wrap("$group", group), wrap("$project", project)];
    }
    if (name === "$sortByCount") {
      const group = new DocumentWriter().field("_id", spec).document("count", sumOfOnes).finish();
      const sort = new DocumentWriter().int32("count", -1).finish();
      return [wrap("$group", group), wrap("$sort", sort)];
    }
    return [document];
  });
}

/** A `$count` with a bad name stays as it is and is refused by whoever runs it. */
function isPlainName(name: string): boolean {
  return (
    name !== "" && name !== "_id" && !name.startsWith("$") && !name.includes(".") && !name.includes("\0")
  );
}

function wrap(name: string, argument: Uint8Array): Uint8Array {
  return new DocumentWriter().document(name, argument).finish();
}

/**
 * Cuts a pipeline.
 * @param pipeline the client's stages
 * @param options the command's variables, for the router's stages
 * @throws CommandError for a stage that the router would have to run and cannot
 */
export function splitPipeline(
  pipeline: readonly Uint8Array[],
  options: ExpressionOptions = {},
): PipelineSplit {
  const stages = expandShorthands(pipeline);
  const cut = stages.findIndex((document) => !PER_DOCUMENT.has(stageOf(document).name));
  if (cut < 0) {
    return {
      shardPart: stages,
      mergeSort: undefined,
      needsSortKeys: false,
      mergerPart: [],
      mergerStages: () => [],
      mergeKind: "concatenate",
    };
  }
  const before = stages.slice(0, cut);
  const rest = stages.slice(cut);
  const { name, spec } = stageOf(stages[cut]!);
  switch (name) {
    case "$group":
      return cutAtGroup(before, rest, spec, options);
    case "$sort":
      return cutAtSort(before, rest, options);
    case "$limit":
    case "$skip":
      return routerRuns([...before, ...limitForShards(rest)], rest, "concatenate", options);
    default:
      return routerRuns(before, rest, "concatenate", options);
  }
}

function cutAtGroup(
  before: readonly Uint8Array[],
  rest: readonly Uint8Array[],
  spec: RawValue,
  options: ExpressionOptions,
): PipelineSplit {
  const split = splitGroup(spec, options);
  if (!split) return routerRuns(before, rest, "group", options);
  refuseLostMeta(rest.slice(1));
  const after = parsePipeline(rest.slice(1), options);
  return {
    shardPart: [...before, split.partial],
    mergeSort: undefined,
    needsSortKeys: false,
    mergerPart: rest,
    mergerStages: () => [split.merge(), ...createStages(after)],
    mergeKind: "group",
  };
}

function cutAtSort(
  before: readonly Uint8Array[],
  rest: readonly Uint8Array[],
  options: ExpressionOptions,
): PipelineSplit {
  const sort = rest[0]!;
  const after = rest.slice(1);
  const plan = routerRuns([...before, sort, ...limitForShards(after)], after, "sort", options);
  return {
    ...plan,
    mergeSort: asDocument(stageOf(sort).spec),
    needsSortKeys: after.some(usesMeta),
    mergerPart: rest,
  };
}

/** The router runs all of `rest`. */
function routerRuns(
  shardPart: readonly Uint8Array[],
  rest: readonly Uint8Array[],
  mergeKind: PipelineSplit["mergeKind"],
  options: ExpressionOptions,
): PipelineSplit {
  refuseLostMeta(rest);
  const parsed = parsePipeline(rest, options);
  return {
    shardPart,
    mergeSort: undefined,
    needsSortKeys: false,
    mergerPart: rest,
    mergerStages: () => createStages(parsed),
    mergeKind,
  };
}

/**
 * Metadata stays on the shard, but for the sort key, which the router can tell again.
 * @throws CommandError NotImplemented (238)
 */
function refuseLostMeta(stages: readonly Uint8Array[]): void {
  for (const name of stages.flatMap((document) => [...metaNames(document)])) {
    if (name === "recordId" || name === "indexKey") throw notSimulated(`{$meta: "${name}"} behind a merge`);
  }
}

/**
 * A `$limit` for the shards, where the router's stages begin with skips and a
 * limit: no shard needs to send more than all skips and the limit together.
 */
function limitForShards(rest: readonly Uint8Array[]): Uint8Array[] {
  let skipped = 0;
  for (const document of rest) {
    const { name, spec } = stageOf(document);
    if ((name !== "$skip" && name !== "$limit") || !isNumeric(spec)) return [];
    const amount = asNumber(spec);
    if (!Number.isInteger(amount) || amount < 0) return [];
    if (skipped + amount > Number.MAX_SAFE_INTEGER) return [];
    if (name === "$limit") return amount > 0 ? [stage("$limit", int64(skipped + amount))] : [];
    skipped += amount;
  }
  return [];
}
