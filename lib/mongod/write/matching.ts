import type { CommandContext } from "../command.js";
import { planQuery } from "../planner/plan.js";
import type { PlanStage } from "../planner/planStage.js";
import type { Query } from "../planner/query.js";
import type { Collection } from "../storage/collection.js";

/**
 * The ids of the records that a write is about.
 *
 * They are all found before the first one is changed: an update that moves a
 * record ahead in the very index that finds it would otherwise meet it again.
 */
export function matchingIds(
  { interrupt }: CommandContext,
  collection: Collection | undefined,
  query: Query,
): number[] {
  return idsOf(planQuery(collection, query, interrupt));
}

/** The record ids that a plan yields. */
export function idsOf(root: PlanStage): number[] {
  const ids: number[] = [];
  while (root.next()) ids.push(root.recordId);
  return ids;
}
