import { filterDocument } from "../../query/index.js";
import type { CommandContext } from "../command.js";
import { executionStatsSection, queryPlannerSection, type Verbosity } from "./explain.js";
import type { PlanStage } from "./planStage.js";
import type { Query } from "./query.js";

/**
 * What explain says of a read.
 * @param plan makes the plan; that is part of the time it takes
 */
export function explainRead(
  { server, interrupt }: CommandContext,
  namespace: string,
  query: Query,
  verbosity: Verbosity,
  plan: () => PlanStage,
): Record<string, unknown> {
  const { now } = server.environment;
  const started = now();
  interrupt.explains = true;
  const root = plan();
  const queryPlanner = queryPlannerSection(namespace, filterDocument(query.filter.node), root);
  if (verbosity === "queryPlanner") return { explainVersion: "1", queryPlanner };
  while (root.next());
  const executionStats = executionStatsSection(root, now() - started, verbosity);
  return { explainVersion: "1", queryPlanner, executionStats };
}
