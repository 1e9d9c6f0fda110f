/**
 * Where a mongos would have merged (facts-mongos.md §5.2): pure policy.
 *
 *     on itself                        "router"; before 8.0 "mongos"
 *     a stage joins, or writes, an unsharded collection
 *                                      its shard: "specificShard", before 6.0 "primaryShard"
 *     a stage may spill to disk        any shard: "anyShard"
 *
 * A mongos keeps no documents and spills nothing, so such pipelines are merged by
 * a shard. Here the router always does it; explain says what a real cluster says.
 */
import type { RouterContext } from "../context.js";
import { flag, homeOf } from "../context.js";
import type { Aggregation } from "../merging/aggregation.js";
import { referencesOf } from "../merging/pipelineReferences.js";
import { stageOf } from "../merging/pipelineSplit.js";
import type { Tree } from "./planTree.js";

/** Stages that hold documents back and may write them to disk meanwhile. */
const SPILLING: ReadonlySet<string> = new Set([
  "$bucketAuto",
  "$facet",
  "$fill",
  "$group",
  "$setWindowFields",
  "$sort",
]);

/**
 * The fields of explain that say where the second half runs.
 * @param mergerPart the stages of that half
 */
export function mergeTypeOf(
  context: RouterContext,
  { request, source }: Aggregation,
  mergerPart: readonly Uint8Array[],
): Tree {
  const { rules, catalog } = context;
  for (const reference of referencesOf(mergerPart, source.db)) {
    const ns = `${reference.db}.${reference.collection}`;
    const home = homeOf(context, reference.db, ns);
    if (reference.stage === "$merge" || !home.exists) continue;
    if (catalog.collection(ns)) continue;
    if (rules.mergeShardField === undefined) return { mergeType: "primaryShard" };
    return { mergeType: "specificShard", [rules.mergeShardField]: home.shard };
  }
  // A $sort at the head of the merge is one of sorted streams, and holds nothing back.
  const holds = mergerPart.some((stage, i) => {
    const { name } = stageOf(stage);
    return SPILLING.has(name) && !(name === "$sort" && i === 0);
  });
  if (holds && flag(request, "allowDiskUse")) return { mergeType: "anyShard" };
  return { mergeType: rules.mergeTypeName };
}
