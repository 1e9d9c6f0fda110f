/**
 * What `explain` says about writes: the plan that finds the documents, and on
 * top of it a stage that would write them. Nothing is written.
 */
import type { CommandContext } from "../command.js";
import { filterDocument } from "../../query/index.js";
import {
  executionStatsSection,
  queryPlannerSection,
  topStage,
  totals,
  type Verbosity,
} from "../planner/explain.js";
import { planQuery } from "../planner/plan.js";
import type { Query } from "../planner/query.js";
import type { Collection } from "../storage/collection.js";
import type { DeleteStatement } from "./deleteStatement.js";
import { idsOf } from "./matching.js";
import type { UpdateStatement } from "./updateStatement.js";

/** What the writing stage would have done. */
type Outcome = Readonly<Record<string, number>>;

/**
 * explain of an update: `nMatched`, `nWouldModify`, `nWouldUpsert`.
 * @param returns the command answers the document (findAndModify)
 */
export function explainUpdate(
  context: CommandContext,
  statement: UpdateStatement,
  verbosity: Verbosity,
  returns = false,
): Record<string, unknown> {
  const alone = !returns && !statement.upsert && statement.query.limit === 1;
  return explainWrite(context, statement, "UPDATE", verbosity, alone, (ids) => ({
    nReturned: returns ? ids.length : 0,
    nMatched: ids.length,
    nWouldModify: countChanges(context, statement, ids),
    nWouldUpsert: statement.upsert && ids.length === 0 ? 1 : 0,
  }));
}

/** explain of a delete: `nWouldDelete`. @param returns as in {@link explainUpdate} */
export function explainDelete(
  context: CommandContext,
  statement: DeleteStatement,
  verbosity: Verbosity,
  returns = false,
): Record<string, unknown> {
  const alone = !returns && statement.query.limit === 1;
  return explainWrite(context, statement, "DELETE", verbosity, alone, (ids) => ({
    nReturned: returns ? ids.length : 0,
    nWouldDelete: ids.length,
  }));
}

function countChanges(
  { server }: CommandContext,
  { collection, update, query }: UpdateStatement,
  ids: readonly number[],
): number {
  let changes = 0;
  for (const id of ids) {
    const before = collection?.records.get(id);
    if (!before) continue;
    const after = update.apply(before, {
      now: server.environment.now(),
      filter: query.filter.node,
      nextTimestamp: () => server.clock.tick(),
    });
    if (after !== before) changes++;
  }
  return changes;
}

function explainWrite(
  { server, interrupt }: CommandContext,
  statement: {
    readonly namespace: string;
    readonly collection: Collection | undefined;
    readonly query: Query;
  },
  stage: "UPDATE" | "DELETE",
  verbosity: Verbosity,
  /** It writes at most one document and does nothing else: by `_id` it is one stage, EXPRESS_UPDATE or EXPRESS_DELETE. */
  alone: boolean,
  outcome: (ids: readonly number[]) => Outcome,
): Record<string, unknown> {
  const { namespace, collection, query } = statement;
  const started = server.environment.now();
  const root = planQuery(collection, { ...query, projection: undefined }, interrupt);
  const section = queryPlannerSection(namespace, filterDocument(query.filter.node), root);
  const queryPlanner = shaped(topStage(section, "winningPlan", { stage }, alone), "winningPlan", query);
  if (verbosity === "queryPlanner") return { explainVersion: "1", queryPlanner };
  const done = outcome(idsOf(root));
  const milliseconds = server.environment.now() - started;
  const { keys, docs } = totals(root);
  const stats = {
    ...executionStatsSection(root, milliseconds, verbosity),
    nReturned: done["nReturned"],
    totalKeysExamined: keys,
    totalDocsExamined: docs,
  };
  return {
    explainVersion: "1",
    queryPlanner,
    executionStats: shaped(
      topStage(stats, "executionStages", { stage, ...done }, alone),
      "executionStages",
      query,
      done["nReturned"],
    ),
  };
}

/** The projection of a findAndModify (`fields`), on top of the stage that writes. */
function shaped(
  section: Record<string, unknown>,
  field: "winningPlan" | "executionStages",
  { projection }: Query,
  nReturned?: number,
): Record<string, unknown> {
  if (!projection) return section;
  return topStage(section, field, {
    stage: "PROJECTION_DEFAULT",
    ...(nReturned !== undefined && { nReturned }),
    transformBy: projection.spec,
  });
}
