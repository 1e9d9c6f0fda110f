/**
 * Explaining an aggregation (facts-mongos.md §5.2).
 */
import { array, document, EMPTY_DOCUMENT, string } from "../../bson/index.js";
import type { Reply, Request } from "../../protocol/index.js";
import type { RouterContext } from "../context.js";
import type { Aggregation, AggregationPlan } from "../merging/aggregation.js";
import { planAggregation } from "../merging/aggregation.js";
import { withAggregation } from "../merging/runAggregation.js";
import { forwardedBody } from "../support/forward.js";
import type { Verbosity } from "./ask.js";
import { askExplain, explainNonExistent, filterAll, finish } from "./ask.js";
import { mergeTypeOf } from "./mergeType.js";
import { treeOf } from "./planTree.js";
import { shardsOfAggregate } from "./shapes.js";

/**
 * `explain` of an aggregation, also as `{aggregate, explain: true}` (§5.2). A pipeline that ends in `$out` or `$merge`
 * is explained like any other: nothing is written.
 *
 * Call it while holding no lock: it takes those of all collections that the pipeline reads.
 *
 * @param inner the aggregate command; of a find, count or distinct on a view, the one that it stands for
 */
export function explainAggregate(
  context: RouterContext,
  inner: Request,
  ns: string,
  verbosity: Verbosity,
): Promise<Reply> {
  return withAggregation(context, inner, ns, async (aggregation) => {
    const plan = planAggregation(context, aggregation);
    if (plan.kind === "whole" && !plan.exists) return explainNonExistent(context, inner, ns);
    const { shards, sent, shown, mergerPart } = partsOf(aggregation, plan);
    const changes = {
      aggregate: string(aggregation.source.collection),
      explain: undefined,
      pipeline: array(sent.map(document)),
      cursor: document(EMPTY_DOCUMENT),
      ...(aggregation.collationSpec && { collation: document(aggregation.collationSpec) }),
    };
    const answers = await askExplain(
      context,
      inner.db,
      shards,
      forwardedBody(inner.body, changes),
      verbosity,
    );
    const { collection } = aggregation;
    const { target } = plan;
    const filtered =
      collection && target && plan.kind !== "perShardSource"
        ? filterAll(answers, collection, target)
        : answers;
    const byShard = shardsOfAggregate(filtered);
    if (plan.kind === "whole") return finish(context, inner, { splitPipeline: null, shards: byShard });
    return finish(context, inner, {
      ...mergeTypeOf(context, aggregation, mergerPart),
      splitPipeline: { shardsPart: shown.map(treeOf), mergerPart: mergerPart.map(treeOf) },
      shards: byShard,
    });
  });
}

interface Parts {
  readonly shards: readonly string[];
  /** What each shard explains. */
  readonly sent: readonly Uint8Array[];
  /** What explain says that shards run. */
  readonly shown: readonly Uint8Array[];
  readonly mergerPart: readonly Uint8Array[];
}

function partsOf({ pipeline }: Aggregation, plan: AggregationPlan): Parts {
  switch (plan.kind) {
    case "whole":
      return { shards: [plan.shard], sent: pipeline, shown: pipeline, mergerPart: [] };
    case "perShardSource": {
      const source = pipeline.slice(0, 1);
      return { shards: plan.shards, sent: source, shown: source, mergerPart: pipeline.slice(1) };
    }
    case "rows":
      return { shards: [], sent: [], shown: pipeline.slice(0, 1), mergerPart: pipeline.slice(1) };
    case "split": {
      const { shards, split, writer } = plan;
      const { shardPart, shownShardPart = shardPart, mergerPart } = split;
      return {
        shards,
        sent: shardPart,
        shown: shownShardPart,
        mergerPart: writer ? [...mergerPart, writer.raw] : mergerPart,
      };
    }
  }
}
