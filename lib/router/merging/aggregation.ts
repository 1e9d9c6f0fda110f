/**
 * How one aggregation is carried out: whole on one shard, split over several,
 * or from a source that the router makes itself.
 *
 *     collection unsharded, or the routing filter names one shard ──► that shard runs it all
 *     several shards ──► split (pipelineSplit.ts): shards' part, merge, router's part
 *     $collStats, $indexStats ──► one row per owning shard, tagged with `shard`; the rest on the router
 *     {aggregate: 1} with $shardedDataDistribution, … ──► rows of the router, the rest on the router
 */
import { asDocument, BsonType, elements } from "../../bson/index.js";
import type { Request } from "../../protocol/index.js";
import { CommandError, ErrorCode, notSimulated } from "../../protocol/index.js";
import type { ExpressionOptions } from "../../query/index.js";
import { collectionless, compileFilter, parsePipeline } from "../../query/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { RouterContext } from "../context.js";
import { expressionOptions, homeOf, requiredField, wrongType } from "../context.js";
import type { Targeting } from "../targeting/target.js";
import { targetEverything, targetFilter } from "../targeting/target.js";
import { referencesOf, routingFilter } from "./pipelineReferences.js";
import type { PipelineSplit } from "./pipelineSplit.js";
import { splitPipeline, stageOf } from "./pipelineSplit.js";

/** Sources that give rows about each shard's part of a collection. */
export const PER_SHARD_SOURCES: ReadonlySet<string> = new Set(["$collStats", "$indexStats"]);

/** How an aggregation on a collection is carried out. */
export type AggregationPlan =
  | { readonly kind: "whole"; readonly shard: string; readonly exists: boolean; readonly target?: Targeting }
  | { readonly kind: "perShardSource"; readonly shards: readonly string[]; readonly target?: Targeting }
  | { readonly kind: "split"; readonly target: Targeting; readonly split: PipelineSplit };

/** The pipeline of a command. */
export function pipelineOf(request: Request): Uint8Array[] {
  const pipeline = requiredField(request, "pipeline");
  if (pipeline.type !== BsonType.array) throw wrongType(request, "pipeline", "array");
  return elements(asDocument(pipeline)).map((value, index) => {
    if (value.type !== BsonType.object) throw wrongType(request, `pipeline.${index}`, "object");
    return asDocument(value);
  });
}

/**
 * Decides how to carry out a pipeline.
 * @throws CommandError NotImplemented (238) for what needs other collections' shards
 */
export function planAggregation(
  context: RouterContext,
  request: Request,
  collection: ShardedCollection | undefined,
  pipeline: readonly Uint8Array[],
): AggregationPlan {
  const { db } = request;
  const source = pipeline[0] && stageOf(pipeline[0]).name;
  const perShard = source !== undefined && PER_SHARD_SOURCES.has(source);
  if (!collection) {
    const { shard, exists } = homeOf(context, db);
    checkReferences(context, db, pipeline, shard);
    if (perShard && exists && context.shards.has(shard)) return { kind: "perShardSource", shards: [shard] };
    return { kind: "whole", shard, exists };
  }
  const options = expressionOptions(context, request);
  if (perShard) {
    checkPipeline(pipeline, options);
    checkReferences(context, db, pipeline, undefined);
    const target = targetEverything(collection.chunks);
    return { kind: "perShardSource", shards: target.shards, target };
  }
  const target = targetFilter(compileFilter(routingFilter(pipeline), options).node, collection);
  const only = target.shards.length === 1 ? target.shards[0]! : undefined;
  if (only === undefined) checkPipeline(pipeline, options);
  checkReferences(context, db, pipeline, only);
  if (only !== undefined) return { kind: "whole", shard: only, exists: true, target };
  return { kind: "split", target, split: splitPipeline(pipeline, options) };
}

/**
 * Checks a pipeline that is going to be cut as a whole, as one server does: a part by itself can be right where the
 * whole is not (`$documents` behind a cut is the first stage there).
 * @throws CommandError as `parsePipeline` does; 73 for a stage that stands over no collection
 */
function checkPipeline(pipeline: readonly Uint8Array[], options: ExpressionOptions): void {
  const [first] = parsePipeline(pipeline, options);
  if (first && collectionless(first.name) === "only") {
    throw new CommandError(ErrorCode.InvalidNamespace, `'${first.name}' can only be run with {aggregate: 1}`);
  }
}

/**
 * Other collections can be used where all of the pipeline runs on the shard
 * that has them: they are unsharded and that shard is their primary.
 * @param runsOn the shard that runs everything, or undefined
 */
function checkReferences(
  context: RouterContext,
  db: string,
  pipeline: readonly Uint8Array[],
  runsOn: string | undefined,
): void {
  for (const reference of referencesOf(pipeline, db)) {
    const ns = `${reference.db}.${reference.collection}`;
    const sharded = context.catalog.collection(ns) !== undefined;
    const home = homeOf(context, reference.db);
    const missing = !reference.writes && !home.exists;
    if (!sharded && (missing || (home.exists && home.shard === runsOn))) continue;
    throw notSimulated(
      `${reference.stage} with ${ns}, whose documents are not all on the shard that runs the pipeline`,
    );
  }
}
