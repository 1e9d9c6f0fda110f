/**
 * Where SHARDING_FILTER stands in a shard's plan: pure policy (facts-mongos.md §5.1).
 *
 * A real shard may hold orphans: documents whose chunk has moved away. Its plans for reads drop them in a stage
 * of that name. Our shards are ordinary servers without orphans, so the stage is added to what they explain,
 * where a real shard's planner has it: as low as the shard key is known, below everything that sorts, counts,
 * limits or shows.
 *
 *     no index                 SHARDING_FILTER ← COLLSCAN
 *     index with the key       FETCH ← SHARDING_FILTER ← IXSCAN        the key is in the index entry
 *     the same, and a filter   SHARDING_FILTER ← FETCH{filter} ← IXSCAN     the document is there already
 *     another index            SHARDING_FILTER ← FETCH ← IXSCAN        the document must be fetched first,
 *                                                                      also where the query would be covered
 *     count on an index        COUNT ← SHARDING_FILTER ← IXSCAN        COUNT_SCAN can't filter
 *     distinct on an index     DISTINCT_SCAN {isShardFiltering: true}  filters by itself (8.2)
 *     by _id                   EXPRESS_IXSCAN                          filters by itself
 *     whole key by equality    none: a shard has no orphans in ranges that it owns
 *     count of everything      RECORD_STORE_FAST_COUNT: counts orphans too
 *     a write                  none: it looks at each document's owner as it writes
 *
 * "The key is in the index entry": every key field is a field of the index that is not multikey there; an entry
 * that has only the hash of a field will do where the shard key has its hash too.
 */
import { Int32 } from "bson";
import type { ShardKeyPattern } from "../keys/shardKeyPattern.js";
import { asIndexScan } from "./countScan.js";
import type { Tree } from "./planTree.js";
import { inputsOf, numberOf, subtree, subtrees, sumOver } from "./planTree.js";

type KeyField = ShardKeyPattern["fields"][number];

/** Stages that only arrange or use what is below them. */
const ABOVE: ReadonlySet<string> = new Set([
  "SORT",
  "LIMIT",
  "SKIP",
  "COUNT",
  "PROJECTION_SIMPLE",
  "PROJECTION_DEFAULT",
  "PROJECTION_COVERED",
  "GROUP",
  "SUBPLAN",
  "RETURN_KEY",
  "SORT_KEY_GENERATOR",
]);

/** Plans that find nothing, count without looking at documents, or filter by themselves. */
const UNFILTERED: ReadonlySet<string> = new Set([
  "EOF",
  "RECORD_STORE_FAST_COUNT",
  "EXPRESS_IXSCAN",
  "EXPRESS_CLUSTERED_IXSCAN",
]);

/** Stages that have whole documents. */
const FETCHED: ReadonlySet<string> = new Set(["FETCH", "COLLSCAN", "IDHACK", "CLUSTERED_IXSCAN"]);

/**
 * A plan with the filter in it.
 * @param plan `winningPlan` or `executionStages` of one shard
 * @param key the shard key's fields
 */
function withShardingFilter(plan: Tree, key: readonly KeyField[]): Tree {
  // The root of a plan says whether it came from the plan cache; that stays with the root.
  const { isCached, ...root } = plan;
  const placed = place(root, key);
  return isCached === undefined ? placed : { isCached, ...placed };
}

function place(plan: Tree, key: readonly KeyField[]): Tree {
  const stage = String(plan.stage);
  if (UNFILTERED.has(stage)) return plan;
  if (stage === "DISTINCT_SCAN") return filteringDistinct(plan, key);
  if (stage === "COUNT_SCAN") return filtered(asIndexScan(plan), key);
  const input = subtree(plan, "inputStage");
  if (!input) return filtered(plan, key);
  if (stage === "PROJECTION_COVERED") return placeBelowCovered(plan, input, key);
  if (ABOVE.has(stage)) return { ...plan, inputStage: place(input, key) };
  // A fetch without a filter is only for what comes after it: it can wait until the orphans are gone.
  if (stage === "FETCH" && plan.filter === undefined && provides(input, key)) {
    return { ...plan, inputStage: filtered(input, key) };
  }
  return filtered(plan, key);
}

/** A covered plan is not covered any more when the filter has to see the document. */
function placeBelowCovered(plan: Tree, input: Tree, key: readonly KeyField[]): Tree {
  const below = place(input, key);
  if (below.stage === "DISTINCT_SCAN" && below.isFetching === true) return below;
  const fetches = subtree(below, "inputStage")?.stage === "FETCH";
  return { ...plan, ...(fetches && { stage: "PROJECTION_SIMPLE" }), inputStage: below };
}

/** Whether what a stage hands on tells the shard key. */
function provides(plan: Tree, key: readonly KeyField[]): boolean {
  if (FETCHED.has(String(plan.stage))) return true;
  if (plan.stage === "IXSCAN" || plan.stage === "DISTINCT_SCAN") return indexProvides(plan, key);
  const inputs = inputsOf(plan);
  return inputs.length > 0 && inputs.every((input) => provides(input, key));
}

function indexProvides(scan: Tree, key: readonly KeyField[]): boolean {
  const pattern = subtree(scan, "keyPattern");
  const multikey = subtree(scan, "multiKeyPaths");
  return key.every(({ path, kind }) => {
    const indexed = pattern?.[path];
    if (indexed === undefined || (typeof indexed === "string" && indexed !== kind)) return false;
    const parts = multikey?.[path];
    return Array.isArray(parts) ? parts.length === 0 : scan.isMultiKey !== true;
  });
}

/** DISTINCT_SCAN fetches and filters by itself. */
function filteringDistinct(scan: Tree, key: readonly KeyField[]): Tree {
  const { isShardFiltering: _filtering, isFetching: _fetching, ...rest } = scan;
  const isFetching = !indexProvides(scan, key);
  const result: Tree = {};
  for (const [name, value] of Object.entries(rest)) {
    result[name] = value;
    if (name === "isPartial") Object.assign(result, { isShardFiltering: true, isFetching });
  }
  if ("keysExamined" in scan) {
    const docsExamined = isFetching ? scan.keysExamined : new Int32(0);
    Object.assign(result, { docsExamined, chunkSkips: new Int32(0), orphanChunkSkips: new Int32(0) });
  }
  return result;
}

/** The filter on top of a plan, with a fetch between them where the key is not known yet. */
function filtered(input: Tree, key: readonly KeyField[]): Tree {
  if (!provides(input, key)) return filtered(above("FETCH", input, fetchWork(input)), key);
  return above("SHARDING_FILTER", input, { chunkSkips: new Int32(0) });
}

function fetchWork(input: Tree): Tree {
  return { docsExamined: input.nReturned, alreadyHasObj: new Int32(0) };
}

/** A stage that hands on all that it gets. Without counts where the plan has not run. */
function above(stage: string, input: Tree, work: Tree): Tree {
  if (!("nReturned" in input)) return { stage, inputStage: input };
  const { nReturned } = input;
  const zero = new Int32(0);
  const works = input.works ?? nReturned;
  return {
    stage,
    nReturned,
    executionTimeMillisEstimate: zero,
    works,
    advanced: nReturned,
    needTime: input.needTime ?? zero,
    needYield: zero,
    saveState: zero,
    restoreState: zero,
    isEOF: input.isEOF ?? new Int32(1),
    ...work,
    inputStage: input,
  };
}

/** The same for every plan in a shard's explain reply: find-shaped or aggregate-shaped. */
export function filterEveryPlan(reply: Tree, key: readonly KeyField[]): Tree {
  const result: Tree = { ...reply };
  const planner = subtree(reply, "queryPlanner");
  if (planner) {
    const rejectedPlans = subtrees(planner, "rejectedPlans").map((plan) => withShardingFilter(plan, key));
    result.queryPlanner = {
      ...filterPlan(planner, "winningPlan", key),
      ...(planner.rejectedPlans !== undefined && { rejectedPlans }),
    };
  }
  const stats = subtree(reply, "executionStats");
  if (stats) {
    const trials = subtrees(stats, "allPlansExecution").map((trial) => filterExecution(trial, key));
    result.executionStats = {
      ...filterExecution(stats, key),
      ...(stats.allPlansExecution !== undefined && { allPlansExecution: trials }),
    };
  }
  const stages = subtrees(reply, "stages");
  if (stages.length > 0) {
    result.stages = stages.map((stage) => {
      const cursor = subtree(stage, "$cursor");
      return cursor ? { ...stage, $cursor: filterEveryPlan(cursor, key) } : stage;
    });
  }
  return result;
}

function filterPlan(section: Tree, name: string, key: readonly KeyField[]): Tree {
  const plan = subtree(section, name);
  return plan ? { ...section, [name]: withShardingFilter(plan, key) } : section;
}

/** Plan and totals: a fetch for the filter's sake examines documents that the shard did not. */
function filterExecution(section: Tree, key: readonly KeyField[]): Tree {
  const before = subtree(section, "executionStages");
  if (!before) return section;
  const after = withShardingFilter(before, key);
  const total = (name: string, work: string): Tree => {
    const more = sumOver(after, work) - sumOver(before, work);
    return more === 0 ? {} : { [name]: new Int32(numberOf(section[name]) + more) };
  };
  return {
    ...section,
    ...total("totalKeysExamined", "keysExamined"),
    ...total("totalDocsExamined", "docsExamined"),
    executionStages: after,
  };
}
