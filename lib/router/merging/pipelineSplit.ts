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
 * | `$group` by the whole shard key | the whole stage (groupPushdown.ts) | nothing, no cut |
 * | `$sort` | sort their part | merge sort of the sorted streams |
 * | `$sort` then `$skip`, `$limit` | also stop after skip + limit documents | merge sort, skip, limit |
 * | `$limit` | stop after n documents each | stops after n |
 * | `$skip` | nothing | skips |
 * | `$sample` | draw n each, in the order of random numbers | merge sort by them, stops after n |
 * | `$count`, `$sortByCount`, `$bucket` | are a `$group` and what follows | the same |
 * | `$lookup`, `$graphLookup`, `$unionWith` | nothing | the whole stage: a shard sees its own documents only |
 * | anything else that sees all documents | nothing | the whole stage |
 *
 * A stage that treats every document by itself ({@link PER_DOCUMENT}) never
 * causes a cut. Worked example, key {region: 1}, `[{$match: {x: 1}}, {$group: {_id:
 * "$region", n: {$sum: 1}}}]` under rules without pushdown: shards send at most one
 * row per region each, the router adds the rows of a region up.
 *
 * Why the random numbers of `$sample`: if each of two shards sent n documents and
 * the router took n of those 2n, a document on a small shard would be likelier
 * to come through than one on a big shard. Give every document of the cluster a
 * number and take the n least: that is fair, none comes twice, and each shard
 * need only send its own n least.
 *
 * Where one shard has all documents there is nothing to merge, and only stages
 * that read other collections are the router's ({@link splitForOneShard}).
 */
import type { RawValue } from "../../bson/index.js";
import {
  asDocument,
  asNumber,
  BsonType,
  DocumentWriter,
  EMPTY_DOCUMENT,
  firstField,
  getField,
  int64,
  isNumeric,
  NULL,
  string,
} from "../../bson/index.js";
import { notSimulated } from "../../protocol/index.js";
import type { ExpressionOptions, ParsedStage, Stage } from "../../query/index.js";
import { createStages, metaNames, parsePipeline, splitGroup, usesMeta } from "../../query/index.js";
import { groupsAreLocal } from "./groupPushdown.js";

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

/** Stages that are a `$group` and a little more. */
const SHORTHANDS: ReadonlySet<string> = new Set(["$count", "$sortByCount", "$bucket"]);

/** A pipeline cut in two. */
export interface PipelineSplit {
  /** Stages for every shard. */
  readonly shardPart: readonly Uint8Array[];
  /** The shards' stages as MongoDB would name them, where that is not what they get; for explain. */
  readonly shownShardPart?: readonly Uint8Array[];
  /** How the shards' streams become one: in any order, or by merge sort. */
  readonly mergeSort: Uint8Array | undefined;
  /** A stage behind the merge sort asks for `{$meta: "sortKey"}`, which shards do not send along. */
  readonly needsSortKeys: boolean;
  /** The field of the shards' rows that holds the document; absent where the row is the document. */
  readonly wrappedIn?: string;
  /** The router's stages as text of MongoDB, for explain. */
  readonly mergerPart: readonly Uint8Array[];
  /** The same, ready to run. */
  readonly mergerStages: () => Stage[];
  /** For the trace: what the merge mainly is. */
  readonly mergeKind: "none" | "concatenate" | "sort" | "group";
}

/** What decides about a cut beside the pipeline itself. */
export interface SplitOptions extends ExpressionOptions {
  /** The shard key's paths, where a whole `$group` may run on the shards. */
  readonly localGroupsBy?: readonly string[];
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

/** Replaces stages that are short for others: `$count`, `$sortByCount` and `$bucket` are a `$group` and a little more. */
function expandShorthands(stages: readonly ParsedStage[], options: ExpressionOptions): ParsedStage[] {
  return stages.flatMap((each) =>
    SHORTHANDS.has(each.name) && each.explain ? parsePipeline(each.explain().map(runnable), options) : [each],
  );
}

/** Explain shows `{$sort: {sortKey: {…}}}`; what runs is `{$sort: {…}}`. */
function runnable(document: Uint8Array): Uint8Array {
  const { name, spec } = stageOf(document);
  const key =
    name === "$sort" && spec.type === BsonType.object ? getField(asDocument(spec), "sortKey") : undefined;
  return key?.type === BsonType.object ? stage(name, key) : document;
}

/**
 * Cuts a pipeline for several shards.
 * @param pipeline the client's stages, parsed with `options`
 * @throws CommandError for a stage that the router would have to run and cannot
 */
export function splitPipeline(pipeline: readonly ParsedStage[], options: SplitOptions = {}): PipelineSplit {
  const stages = expandShorthands(pipeline, options);
  const cut = firstCut(stages, options);
  const before = stages.slice(0, cut).map(({ raw }) => raw);
  const rest = stages.slice(cut);
  const [first] = rest;
  if (!first) return routerRuns(before, rest, "concatenate");
  switch (first.name) {
    case "$group":
      return cutAtGroup(before, rest, options);
    case "$sort":
      return cutAtSort(before, rest);
    case "$sample":
      return cutAtSample(before, rest, options);
    case "$limit":
    case "$skip":
      return routerRuns([...before, ...limitForShards(rest)], rest, "concatenate");
    default:
      return routerRuns(before, rest, "concatenate");
  }
}

/**
 * Cuts a pipeline for one shard that has all documents of its collection: in front of the first stage that reads
 * another. Where a stage behind it asks for the sort key, which a shard does not send along, the `$sort` is the
 * router's as well.
 */
export function splitForOneShard(pipeline: readonly ParsedStage[]): PipelineSplit {
  const join = pipeline.findIndex(({ needsHost, reads }) => needsHost || (reads?.length ?? 0) > 0);
  let cut = join < 0 ? pipeline.length : join;
  if (pipeline.slice(cut).some(({ raw }) => metaNames(raw).has("sortKey"))) {
    const sort = pipeline.findIndex(({ name }) => name === "$sort");
    if (sort >= 0) cut = Math.min(cut, sort);
  }
  return routerRuns(
    pipeline.slice(0, cut).map(({ raw }) => raw),
    pipeline.slice(cut),
    "none",
  );
}

/** Position of the first stage that needs to see all documents; the length where none does. */
function firstCut(stages: readonly ParsedStage[], { localGroupsBy, collation }: SplitOptions): number {
  let pushed = false;
  const cut = stages.findIndex(({ name, spec }, i) => {
    if (PER_DOCUMENT.has(name)) return false;
    const local =
      name === "$group" &&
      !pushed &&
      localGroupsBy !== undefined &&
      collation === undefined &&
      groupsAreLocal(stages.slice(0, i), spec, localGroupsBy);
    // What comes out of a $group is no document of the collection any more.
    if (local) pushed = true;
    return !local;
  });
  return cut < 0 ? stages.length : cut;
}

function cutAtGroup(
  before: readonly Uint8Array[],
  rest: readonly ParsedStage[],
  options: ExpressionOptions,
): PipelineSplit {
  const [group, ...after] = rest;
  const split = splitGroup(group!.spec, options);
  if (!split) return routerRuns(before, rest, "group");
  refuseLostMeta(after);
  return {
    shardPart: [...before, split.partial],
    shownShardPart: [...before, group!.raw],
    mergeSort: undefined,
    needsSortKeys: false,
    mergerPart: rest.map(({ raw }) => raw),
    mergerStages: () => [split.merge(), ...createStages(after)],
    mergeKind: "group",
  };
}

function cutAtSort(before: readonly Uint8Array[], rest: readonly ParsedStage[]): PipelineSplit {
  const [sort, ...after] = rest;
  const plan = routerRuns([...before, sort!.raw, ...limitForShards(after)], after, "sort");
  return {
    ...plan,
    mergeSort: asDocument(sort!.spec),
    needsSortKeys: after.some(({ raw }) => usesMeta(raw)),
    mergerPart: rest.map(({ raw }) => raw),
  };
}

/** `{d: the document, r: its random number}`, the least numbers first. */
function cutAtSample(
  before: readonly Uint8Array[],
  rest: readonly ParsedStage[],
  options: ExpressionOptions,
): PipelineSplit {
  const [sample, ...after] = rest;
  const size = Math.trunc(asNumber(getField(asDocument(sample!.spec), "size")!));
  const limit = stage("$limit", int64(Math.min(size, Number.MAX_SAFE_INTEGER)));
  const random = new DocumentWriter().document("$rand", EMPTY_DOCUMENT).finish();
  const numbered = new DocumentWriter()
    .int32("_id", 0)
    .field("d", string("$$ROOT"))
    .document("r", random)
    .finish();
  const byNumber = new DocumentWriter().int32("r", 1).finish();
  const draw = [
    new DocumentWriter().document("$project", numbered).finish(),
    new DocumentWriter().document("$sort", byNumber).finish(),
    limit,
  ];
  const [first] = parsePipeline([limit], options);
  return {
    ...routerRuns([...before, ...draw], [first!, ...after], "sort"),
    shownShardPart: [...before, sample!.raw],
    mergeSort: byNumber,
    wrappedIn: "d",
    mergerPart: rest.map(({ raw }) => raw),
  };
}

/** The router runs all of `rest`. */
function routerRuns(
  shardPart: readonly Uint8Array[],
  rest: readonly ParsedStage[],
  mergeKind: PipelineSplit["mergeKind"],
): PipelineSplit {
  refuseLostMeta(rest);
  return {
    shardPart,
    mergeSort: undefined,
    needsSortKeys: false,
    mergerPart: rest.map(({ raw }) => raw),
    mergerStages: () => createStages(rest),
    mergeKind,
  };
}

/**
 * Metadata stays on the shard, but for the sort key, which the router can tell again.
 * @throws CommandError NotImplemented (238)
 */
function refuseLostMeta(stages: readonly ParsedStage[]): void {
  for (const name of stages.flatMap(({ raw }) => [...metaNames(raw)])) {
    if (name === "recordId" || name === "indexKey") throw notSimulated(`{$meta: "${name}"} behind a merge`);
  }
}

/**
 * A `$limit` for the shards, where the router's stages begin with skips and a
 * limit: no shard needs to send more than all skips and the limit together.
 */
function limitForShards(rest: readonly ParsedStage[]): Uint8Array[] {
  let skipped = 0;
  for (const { name, spec } of rest) {
    if ((name !== "$skip" && name !== "$limit") || !isNumeric(spec)) return [];
    const amount = asNumber(spec);
    if (!Number.isInteger(amount) || amount < 0) return [];
    if (skipped + amount > Number.MAX_SAFE_INTEGER) return [];
    if (name === "$limit") return amount > 0 ? [stage("$limit", int64(skipped + amount))] : [];
    skipped += amount;
  }
  return [];
}
