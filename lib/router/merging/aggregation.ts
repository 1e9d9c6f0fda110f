/**
 * How one aggregation is carried out: whole on one shard, split over several,
 * or from a source that the router makes itself.
 *
 *     everything it touches is on one shard ──► that shard runs it all
 *     one shard has its documents, others what it joins
 *                       ──► the shard runs what comes before the join, the router the rest
 *     several shards    ──► split (pipelineSplit.ts): shards' part, merge, router's part
 *     $collStats, $indexStats ──► one row per owning shard, tagged with `shard`; the rest on the router
 *     {aggregate: 1} with $shardedDataDistribution, … ──► rows of the router, the rest on the router
 *
 * "Everything" is the collection itself, or the one shard of it that the routing
 * filter names, and all that `$lookup` and its like read, views taken apart, and
 * what `$out` or `$merge` writes.
 *
 * A real mongos may also let a shard merge (`mergeType: "specificShard"`), because
 * its shards can read each other. Ours are ordinary servers, so the router does
 * all merging and joining; explain tells what a mongos would have chosen.
 */
import { asDocument, BsonType, elements } from "../../bson/index.js";
import type { Request } from "../../protocol/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { ExpressionOptions, ParsedStage, Source } from "../../query/index.js";
import {
  checkLet,
  collectionless,
  compileFilter,
  leadingMatch,
  optimizePipeline,
  parsePipeline,
} from "../../query/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { RouterContext } from "../context.js";
import { homeOf, requiredField, wrongType } from "../context.js";
import type { Targeting } from "../targeting/target.js";
import { targetEverything, targetFilter } from "../targeting/target.js";
import { isAllOn, type Reach } from "../views/reach.js";
import { referencesOf, routingFilter, writingStage } from "./pipelineReferences.js";
import type { PipelineSplit } from "./pipelineSplit.js";
import { splitForOneShard, splitPipeline, stageOf } from "./pipelineSplit.js";
import type { HostState } from "./routerHost.js";

/** Sources that give rows about each shard's part of a collection. */
const PER_SHARD_SOURCES: ReadonlySet<string> = new Set(["$collStats", "$indexStats"]);

/** An aggregation, views taken apart. */
export interface Aggregation {
  /** The client's command: what shards get beside the pipeline. */
  readonly request: Request;
  /** The collection or view as it was asked for: the cursor's name. */
  readonly ns: string;
  /** The collection that is read. */
  readonly source: Source;
  /** Its entry; undefined for an unsharded one. */
  readonly collection: ShardedCollection | undefined;
  readonly pipeline: readonly Uint8Array[];
  /** Variables, clock, collation and host for stages that run here. */
  readonly options: ExpressionOptions;
  /** The collation that shards are told instead of the command's; undefined to leave that. */
  readonly collationSpec: Uint8Array | undefined;
  /** What the host serves stages with. */
  readonly state: HostState;
  /** What the pipeline's stages read; its own collection only where they read it once more. */
  readonly reach: Reach;
  /** The collections behind a view that its shard reads by itself. */
  readonly behind?: ReadonlySet<string> | undefined;
}

/** How an aggregation on a collection is carried out. */
export type AggregationPlan =
  | { readonly kind: "whole"; readonly shard: string; readonly exists: boolean; readonly target?: Targeting }
  | {
      readonly kind: "perShardSource";
      readonly shards: readonly string[];
      readonly target?: Targeting;
      readonly stages: readonly ParsedStage[];
      readonly writer?: ParsedStage;
    }
  | {
      /** `{aggregate: 1}`: the rows are here. */
      readonly kind: "rows";
      readonly rows: readonly Uint8Array[];
      readonly target?: undefined;
      readonly stages: readonly ParsedStage[];
      readonly writer?: ParsedStage;
    }
  | {
      readonly kind: "split";
      readonly shards: readonly string[];
      readonly target?: Targeting;
      readonly split: PipelineSplit;
      /** The `$out` or `$merge` at the end, which the router carries out. */
      readonly writer?: ParsedStage;
    };

/** The pipeline of a command. */
export function pipelineOf(request: Request): Uint8Array[] {
  const pipeline = requiredField(request, "pipeline");
  if (pipeline.type !== BsonType.array) throw wrongType(request, "pipeline", "array");
  return elements(asDocument(pipeline)).map((value) => {
    if (value.type !== BsonType.object) {
      throw new CommandError(
        ErrorCode.TypeMismatch,
        "Each element of the 'pipeline' array must be an object",
      );
    }
    return asDocument(value);
  });
}

/** The collections that a shard reads for an aggregation beside the one that its cursor is named after. */
export function readOnShard({ reach, behind }: Aggregation, plan: AggregationPlan): ReadonlySet<string> {
  // What is not passed on whole, the router has fetched before the cursor opened.
  if (plan.kind !== "whole") return behind ?? new Set();
  return behind ? new Set([...reach.collections, ...behind]) : reach.collections;
}

/** The collection that a pipeline ends by writing. */
export function writtenBy(pipeline: readonly Uint8Array[], db: string): Source | undefined {
  if (!writingStage(pipeline)) return undefined;
  return referencesOf(pipeline.slice(-1), db)[0];
}

/**
 * Whether one shard can run a pipeline on a collection of its own to the end.
 * @param shard it has the collection, or all documents of it that count
 */
function canRunAll(context: RouterContext, shard: string, { pipeline, source, reach }: Aggregation): boolean {
  const written = writtenBy(pipeline, source.db);
  if (written) {
    const ns = `${written.db}.${written.collection}`;
    const home = homeOf(context, written.db, ns);
    if (context.catalog.collection(ns) || !home.exists || home.shard !== shard) return false;
  }
  return isAllOn(context, shard, reach);
}

/**
 * Decides how to carry out an aggregation.
 * @throws CommandError as `parsePipeline` does, where the router has to run a part; 73 for a stage that stands over no
 *   collection
 */
export function planAggregation(context: RouterContext, aggregation: Aggregation): AggregationPlan {
  const { source, collection, pipeline, options } = aggregation;
  const [first] = pipeline;
  const perShard = first !== undefined && PER_SHARD_SOURCES.has(stageOf(first).name);
  if (!collection) {
    const { shard, exists } = homeOf(context, source.db, `${source.db}.${source.collection}`);
    if (perShard && exists && context.shards.has(shard)) {
      return perShardPlan(aggregation, [shard]);
    }
    if (canRunAll(context, shard, aggregation)) return { kind: "whole", shard, exists };
    return { ...divided(checked(pipeline, options), splitForOneShard), shards: [shard] };
  }
  if (perShard) {
    const target = targetEverything(collection.chunks);
    return { ...perShardPlan(aggregation, target.shards), target };
  }
  let parsed: ParsedStage[];
  try {
    parsed = checked(pipeline, options);
  } catch (error) {
    // The one shard that it is for may know the stage, or will say what is wrong with it.
    const target = targetFilter(compileFilter(routingFilter(pipeline), options).node, collection);
    const [only] = target.shards;
    const passes = target.shards.length === 1 && canRunAll(context, only!, aggregation);
    if (!passes) throw error;
    return { kind: "whole", shard: only!, exists: true, target };
  }
  const target = targetFilter(leadingMatch(optimizePipeline(parsed)), collection);
  const [only] = target.shards;
  if (target.shards.length === 1) {
    if (canRunAll(context, only!, aggregation)) {
      return { kind: "whole", shard: only!, exists: true, target };
    }
    return { ...divided(parsed, splitForOneShard), shards: target.shards, target };
  }
  const split = (stages: readonly ParsedStage[]): PipelineSplit =>
    splitPipeline(stages, {
      ...options,
      ...(context.rules.fullGroupPushdown && { localGroupsBy: collection.key.paths }),
    });
  return { ...divided(parsed, split), shards: target.shards, target };
}

function divided(
  parsed: readonly ParsedStage[],
  split: (stages: readonly ParsedStage[]) => PipelineSplit,
): { kind: "split"; split: PipelineSplit; writer?: ParsedStage } {
  const last = parsed.at(-1);
  const writer = last?.writes ? last : undefined;
  const stages = optimizePipeline(writer ? parsed.slice(0, -1) : parsed);
  return { kind: "split", split: split(stages), ...(writer && { writer }) };
}

function perShardPlan(
  { pipeline, options }: Aggregation,
  shards: readonly string[],
): Extract<AggregationPlan, { kind: "perShardSource" }> {
  return { kind: "perShardSource", shards, ...behindSource(checked(pipeline, options)) };
}

/** The plan of a pipeline over rows that the router has made. */
export function planRows({ pipeline, options }: Aggregation, rows: readonly Uint8Array[]): AggregationPlan {
  checkLet(options);
  return { kind: "rows", rows, ...behindSource(parsePipeline(pipeline, options)) };
}

function behindSource([, ...stages]: readonly ParsedStage[]): {
  stages: readonly ParsedStage[];
  writer?: ParsedStage;
} {
  const last = stages.at(-1);
  return last?.writes ? { stages: stages.slice(0, -1), writer: last } : { stages };
}

/**
 * Checks a pipeline that is going to be cut as a whole, as one server does: a part by itself can be right where the
 * whole is not (`$documents` behind a cut is the first stage there).
 * @throws CommandError as `parsePipeline` does; 73 for a stage that stands over no collection
 */
function checked(pipeline: readonly Uint8Array[], options: ExpressionOptions): ParsedStage[] {
  checkLet(options);
  const parsed = parsePipeline(pipeline, options);
  const [first] = parsed;
  if (first && collectionless(first.name) === "only") {
    throw new CommandError(ErrorCode.InvalidNamespace, `'${first.name}' can only be run with {aggregate: 1}`);
  }
  return parsed;
}
