import type { PlanStage } from "./planStage.js";

/** One of the plans that were tried, as explain tells of it. */
export interface TriedPlan {
  readonly root: PlanStage;
  readonly score: number;
  /** The plan's stages with their counts at the end of the trial. */
  readonly trial: Record<string, unknown>;
}

/** How a plan was found: what explain shows around it. */
export interface PlanningRecord {
  /** The other plans, best first. */
  readonly rejected: readonly PlanStage[];
  /** All plans as the trial left them, the winner first; empty where there was nothing to choose. */
  readonly tried: readonly TriedPlan[];
  /** 8 hexadecimal digits for the query's shape. */
  readonly queryHash: string;
  /** The same with the indexes that could serve it. */
  readonly planCacheKey: string;
  readonly maxScansToExplodeReached: boolean;
}
