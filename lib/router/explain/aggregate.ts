/**
 * Explaining an aggregation (facts-mongos.md §5.2).
 */
import { array, document, EMPTY_DOCUMENT } from "../../bson/index.js";
import type { Reply, Request } from "../../protocol/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { RouterContext } from "../context.js";
import { pipelineOf, planAggregation } from "../merging/aggregation.js";
import { forwardedBody } from "../support/forward.js";
import type { Verbosity } from "./ask.js";
import { askExplain, filterAll, finish } from "./ask.js";
import { treeOf } from "./planTree.js";
import type { ShardExplain } from "./shapes.js";
import { nonExistent, shardsOfAggregate } from "./shapes.js";

/** `explain` of an aggregation, also as `{aggregate, explain: true}` (§5.2). */
export async function explainAggregate(
  context: RouterContext,
  inner: Request,
  ns: string,
  collection: ShardedCollection | undefined,
  verbosity: Verbosity,
): Promise<Reply> {
  const pipeline = pipelineOf(inner);
  const plan = planAggregation(context, inner, collection, pipeline);
  const ask = (shards: readonly string[], stages: readonly Uint8Array[]): Promise<ShardExplain[]> => {
    const changes = {
      explain: undefined,
      pipeline: array(stages.map(document)),
      cursor: document(EMPTY_DOCUMENT),
    };
    return askExplain(context, inner.db, shards, forwardedBody(inner.body, changes), verbosity);
  };
  if (plan.kind === "whole") {
    if (!plan.exists) return finish(context, inner, { queryPlanner: nonExistent(ns) });
    const answers = await ask([plan.shard], pipeline);
    const shown = collection && plan.target ? filterAll(answers, collection, plan.target) : answers;
    return finish(context, inner, { splitPipeline: null, shards: shardsOfAggregate(shown) });
  }
  const shards = plan.kind === "split" ? plan.target.shards : plan.shards;
  const shardsPart = plan.kind === "split" ? plan.split.shardPart : pipeline.slice(0, 1);
  const mergerPart = plan.kind === "split" ? plan.split.mergerPart : pipeline.slice(1);
  const answers = await ask(shards, shardsPart);
  const shown = collection && plan.kind === "split" ? filterAll(answers, collection, plan.target) : answers;
  return finish(context, inner, {
    mergeType: context.rules.mergeTypeName,
    splitPipeline: { shardsPart: shardsPart.map(treeOf), mergerPart: mergerPart.map(treeOf) },
    shards: shardsOfAggregate(shown),
  });
}
