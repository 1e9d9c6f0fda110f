/**
 * Where SHARDING_FILTER stands in a shard's plan: pure policy (facts-mongos.md §5.1).
 *
 * A real shard may hold orphans: documents whose chunk has moved away. Its plans
 * drop them in a stage of that name. Our shards are ordinary servers without
 * orphans, so the stage is added to what they explain, where a real shard has it:
 *
 *     no index               SHARDING_FILTER ← COLLSCAN
 *     index with the key     FETCH ← SHARDING_FILTER ← IXSCAN       the key is in the index entry
 *     another index          SHARDING_FILTER ← FETCH ← IXSCAN       the document must be fetched first
 *     whole key by equality  none: a shard has no orphans in ranges that it owns
 */
import { Int32 } from "bson";
import type { Tree } from "./planTree.js";
import { subtree, subtrees } from "./planTree.js";

/** Stages that only arrange or use what is below them. */
const ABOVE: ReadonlySet<string> = new Set([
  "SORT",
  "LIMIT",
  "SKIP",
  "COUNT",
  "UPDATE",
  "DELETE",
  "PROJECTION_SIMPLE",
  "PROJECTION_DEFAULT",
  "PROJECTION_COVERED",
  "GROUP",
  "SUBPLAN",
  "RETURN_KEY",
  "SORT_KEY_GENERATOR",
]);

/** Plans that find nothing, or count without looking at documents. */
const UNFILTERED: ReadonlySet<string> = new Set(["EOF", "RECORD_STORE_FAST_COUNT"]);

/**
 * A plan with the filter in it.
 * @param plan `winningPlan` or `executionStages` of one shard
 * @param keyPaths the shard key's fields
 */
export function withShardingFilter(plan: Tree, keyPaths: readonly string[]): Tree {
  const stage = String(plan.stage);
  if (UNFILTERED.has(stage)) return plan;
  const input = subtree(plan, "inputStage");
  if (input && ABOVE.has(stage)) return { ...plan, inputStage: withShardingFilter(input, keyPaths) };
  if (input && stage === "FETCH" && coversKey(input, keyPaths))
    return { ...plan, inputStage: filtered(input) };
  return filtered(plan);
}

function coversKey(scan: Tree, keyPaths: readonly string[]): boolean {
  if (scan.stage !== "IXSCAN") return false;
  const pattern = subtree(scan, "keyPattern");
  return pattern !== undefined && keyPaths.every((path) => path in pattern);
}

function filtered(input: Tree): Tree {
  // The root of a plan says whether it came from the plan cache; that stays with the root.
  const { isCached, ...below } = input;
  const cached = isCached === undefined ? {} : { isCached };
  if (!("nReturned" in input)) return { ...cached, stage: "SHARDING_FILTER", inputStage: below };
  const { nReturned } = input;
  const zero = new Int32(0);
  return {
    ...cached,
    stage: "SHARDING_FILTER",
    nReturned,
    executionTimeMillisEstimate: zero,
    works: input.works ?? nReturned,
    advanced: nReturned,
    needTime: zero,
    needYield: zero,
    saveState: zero,
    restoreState: zero,
    isEOF: input.isEOF ?? new Int32(1),
    chunkSkips: zero,
    inputStage: below,
  };
}

/** The same for every plan in a shard's explain reply: find-shaped or aggregate-shaped. */
export function filterEveryPlan(reply: Tree, keyPaths: readonly string[]): Tree {
  const result: Tree = { ...reply };
  const planner = subtree(reply, "queryPlanner");
  if (planner) result.queryPlanner = filterPlan(planner, "winningPlan", keyPaths);
  const stats = subtree(reply, "executionStats");
  if (stats) result.executionStats = filterPlan(stats, "executionStages", keyPaths);
  const stages = subtrees(reply, "stages");
  if (stages.length > 0) {
    result.stages = stages.map((stage) => {
      const cursor = subtree(stage, "$cursor");
      return cursor ? { ...stage, $cursor: filterEveryPlan(cursor, keyPaths) } : stage;
    });
  }
  return result;
}

function filterPlan(section: Tree, name: string, keyPaths: readonly string[]): Tree {
  const plan = subtree(section, name);
  return plan ? { ...section, [name]: withShardingFilter(plan, keyPaths) } : section;
}
