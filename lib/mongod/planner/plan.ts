/**
 * From a query to a chain of stages.
 *
 *     find({device: "dev-42"}).sort({n: 1}).skip(10).limit(5), index device_1
 *
 *     SKIP 10 ← SORT (keeps 15) ← FETCH ← IXSCAN device_1
 *
 * With an index {device: 1, n: 1} the sort falls away and the scan ends after 15.
 *
 *     express.ts      an equality that one document meets: no planning at all
 *     candidates.ts   which accesses are worth a try
 *     build.ts        an access as stages
 *     multiPlan.ts    where there are several: the one that gets on best
 */
import type { Collection } from "../storage/collection.js";
import { buildPlan } from "./build.js";
import { candidatesFor, indexRank } from "./candidates.js";
import { describeExecution } from "./describeStages.js";
import { expressPlan } from "./express.js";
import type { Interrupt } from "./interrupt.js";
import { pickBestPlan, type Candidate } from "./multiPlan.js";
import { planCacheKey, queryHash } from "./planHash.js";
import type { PlanningRecord } from "./planningRecord.js";
import type { PlanStage } from "./planStage.js";
import type { Query } from "./query.js";
import { EofStage } from "./stages/collectionScan.js";
import { Subplan } from "./stages/shaping.js";

/**
 * Plans a query.
 * @param collection undefined when it does not exist: the plan is empty
 * @param interrupt ends the plan's work; where it `explains`, the root tells of the plans that were rejected
 * @throws CommandError see {@link candidatesFor}
 */
export function planQuery(collection: Collection | undefined, query: Query, interrupt: Interrupt): PlanStage {
  if (!collection) return new EofStage("nonExistentNamespace");
  if (query.filter.node.op === "alwaysFalse") return new EofStage("predicateEvalsToFalse");
  const express = expressPlan(collection, query);
  if (express) return express;
  const { candidates, maxScansToExplodeReached, subplanned } = candidatesFor(collection.indexes, query);
  const context = { collection, query, interrupt };
  const built = candidates.map(({ access, ordered }): Candidate => {
    const plan = buildPlan(access, ordered, context);
    const root = subplanned ? new Subplan(plan.root) : plan.root;
    return { root, hasFetch: plan.hasFetch, hasSort: plan.hasSort, indexRank: indexRank(access) };
  });
  const [first] = built as [Candidate, ...Candidate[]];
  if (built.length === 1) {
    if (interrupt.explains) first.root.planning = planningRecord(collection, query, maxScansToExplodeReached);
    return first.root;
  }
  const snapshot = interrupt.explains ? describeExecution : undefined;
  const decision = pickBestPlan(built, query.limit, collection.records.count, interrupt, snapshot);
  if (interrupt.explains)
    decision.winner.planning = planningRecord(collection, query, maxScansToExplodeReached, decision);
  return decision.winner;
}

/** What explain will tell of how the plan was found. */
export function planningRecord(
  collection: Collection,
  query: Query,
  maxScansToExplodeReached = false,
  { rejected, tried }: Pick<PlanningRecord, "rejected" | "tried"> = { rejected: [], tried: [] },
): PlanningRecord {
  return {
    rejected,
    tried,
    queryHash: queryHash(query),
    planCacheKey: planCacheKey(query, collection.indexes),
    maxScansToExplodeReached,
  };
}
