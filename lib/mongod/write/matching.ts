import type { PlanStage } from "../planner/planStage.js";

/**
 * The ids of the records that a plan yields.
 *
 * They are all found before the first one is changed: an update that moves a
 * record ahead in the very index that finds it would otherwise meet it again.
 */
export function idsOf(root: PlanStage): number[] {
  const ids: number[] = [];
  while (root.next()) ids.push(root.recordId);
  return ids;
}
