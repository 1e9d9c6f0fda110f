/**
 * What `explain` says about a plan, in the shape of an 8.x server's classic engine.
 *
 *     queryPlanner        the stages that will run, and the plans that were rejected
 *     executionStats      the stages after they ran, with what each examined
 *     allPlansExecution   how far each plan came in the trial that decided
 */
import { DocumentWriter, getField, topLevelNames } from "../../bson/index.js";
import type { Server } from "../command.js";
import { describeExecution, describeStage, totals } from "./describeStages.js";
import { chosenPlan } from "./multiPlan.js";
import type { PlanStage } from "./planStage.js";
import { STAGE_MEMORY_LIMIT } from "../../query/index.js";

export { describeStage, totals } from "./describeStages.js";

/** How much explain tells. */
export type Verbosity = "queryPlanner" | "executionStats" | "allPlansExecution";

/**
 * The `queryPlanner` section.
 * @param parsedQuery the filter in its normal form
 * @param root the plan; made with an interrupt that `explains`, it brings its rejected plans along
 */
export function queryPlannerSection(
  namespace: string,
  parsedQuery: unknown,
  root: PlanStage,
): Record<string, unknown> {
  const { planning } = root;
  return {
    namespace,
    parsedQuery,
    indexFilterSet: false,
    ...(planning && {
      queryHash: planning.queryHash,
      planCacheShapeHash: planning.queryHash,
      planCacheKey: planning.planCacheKey,
    }),
    optimizationTimeMillis: 0,
    maxIndexedOrSolutionsReached: false,
    maxIndexedAndSolutionsReached: false,
    maxScansToExplodeReached: planning?.maxScansToExplodeReached ?? false,
    prunedSimilarIndexes: false,
    winningPlan: planOf(chosenPlan(root)),
    rejectedPlans: (planning?.rejected ?? []).map(planOf),
  };
}

function planOf(root: PlanStage): Record<string, unknown> {
  return { isCached: false, ...describeStage(root) };
}

/**
 * The `executionStats` section of a plan that has run to its end.
 * @param milliseconds how long it took
 */
export function executionStatsSection(
  root: PlanStage,
  milliseconds: number,
  verbosity: Verbosity,
): Record<string, unknown> {
  const plan = chosenPlan(root);
  const { keys, docs } = totals(plan);
  return {
    executionSuccess: true,
    nReturned: plan.returned,
    executionTimeMillis: milliseconds,
    totalKeysExamined: keys,
    totalDocsExamined: docs,
    executionStages: { isCached: false, ...describeExecution(plan) },
    ...(verbosity === "allPlansExecution" && { allPlansExecution: trials(root) }),
  };
}

function trials(root: PlanStage): Record<string, unknown>[] {
  return (root.planning?.tried ?? []).map(({ score, trial }) => ({
    nReturned: trial["nReturned"],
    executionTimeMillisEstimate: 0,
    totalKeysExamined: sumOf(trial, "keysExamined"),
    totalDocsExamined: sumOf(trial, "docsExamined"),
    score,
    executionStages: { isCached: false, ...trial },
  }));
}

/** A count summed over a described stage and all below it. */
function sumOf(stage: Record<string, unknown>, name: string): number {
  const below = (stage["inputStages"] ?? (stage["inputStage"] ? [stage["inputStage"]] : [])) as Record<
    string,
    unknown
  >[];
  const own = typeof stage[name] === "number" ? stage[name] : 0;
  return below.reduce((sum, one) => sum + sumOf(one, name), own);
}

/**
 * Puts a stage that has no plan of its own (UPDATE, DELETE) on top of a section's plan. An update or delete of
 * one record by an express plan is one stage, EXPRESS_UPDATE or EXPRESS_DELETE.
 * @param section a `queryPlanner` or `executionStats` section
 * @param field the field with its plan: `winningPlan` or `executionStages`
 * @param stage the stage's own fields
 * @param express false for writes that also return the document or may insert it: they have IDHACK below
 */
export function topStage(
  section: Record<string, unknown>,
  field: "winningPlan" | "executionStages",
  stage: Record<string, unknown>,
  express = true,
): Record<string, unknown> {
  const plans =
    field === "winningPlan"
      ? {
          rejectedPlans: ((section["rejectedPlans"] ?? []) as Record<string, unknown>[]).map((plan) =>
            underStage(plan, stage, express),
          ),
        }
      : {};
  const plan = section[field] as Record<string, unknown>;
  return { ...section, [field]: underStage(plan, stage, express), ...plans };
}

function underStage(
  plan: Record<string, unknown>,
  stage: Record<string, unknown>,
  express: boolean,
): Record<string, unknown> {
  const top = withoutLimit(plan);
  const { isCached: _, ...below } = top;
  const name = stage["stage"];
  if (top["stage"] === "EXPRESS_IXSCAN" && (name === "UPDATE" || name === "DELETE")) {
    const { stage: __, ...rest } = stage;
    if (express) return { isCached: false, ...below, ...counts(rest), stage: `EXPRESS_${name}` };
    if (below["indexName"] === "_id_") return above(stage, idHack(below, "nReturned" in below));
  }
  return above(stage, below);
}

/**
 * A writing stage with the plan that feeds it. Once it ran it has the counts of every stage: a work for each work
 * of its input, and nothing to hand on unless the command answers the document.
 */
function above(stage: Record<string, unknown>, inputStage: Record<string, unknown>): Record<string, unknown> {
  const { stage: name, nReturned, ...outcome } = stage;
  if (nReturned === undefined) return { isCached: false, ...stage, inputStage };
  const works = (inputStage["works"] ?? 1) as number;
  return {
    isCached: false,
    stage: name,
    nReturned,
    executionTimeMillisEstimate: 0,
    works,
    advanced: nReturned,
    needTime: works - 1,
    needYield: 0,
    saveState: 0,
    restoreState: 0,
    isEOF: 1,
    ...outcome,
    inputStage,
  };
}

/** A writing stage itself stops after one document; our LIMIT below it is how, and not part of MongoDB's plan. */
function withoutLimit(plan: Record<string, unknown>): Record<string, unknown> {
  const input = plan["inputStage"] as Record<string, unknown>;
  if (plan["stage"] === "LIMIT") return input;
  return plan["stage"] === "SUBPLAN" ? { ...plan, inputStage: withoutLimit(input) } : plan;
}

/** The counts of a writing stage that an express stage shows too. */
function counts(stage: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(stage).filter(([name]) => name.startsWith("nWould")));
}

function idHack(express: Record<string, unknown>, ran: boolean): Record<string, unknown> {
  if (!ran) return { stage: "IDHACK" };
  const nReturned = express["nReturned"] as number;
  return {
    stage: "IDHACK",
    nReturned,
    executionTimeMillisEstimate: 0,
    works: 1,
    advanced: nReturned,
    needTime: 0,
    needYield: 0,
    saveState: 0,
    restoreState: 0,
    isEOF: 1,
    keysExamined: express["keysExamined"],
    docsExamined: express["docsExamined"],
  };
}

/** Fields of a command that say how it was sent, not what it asks for. `$db` is shown at the end. */
const NOT_SHOWN: ReadonlySet<string> = new Set(["lsid", "$clusterTime", "$readPreference", "$client", "$db"]);

/**
 * The fields that close every explain reply.
 * @param command what was explained
 * @param db its database
 */
export function explainTrailer(server: Server, command: Uint8Array, db: string): Record<string, unknown> {
  const [host = server.host, port = "27017"] = server.host.split(":");
  return {
    command: shownCommand(command, db),
    serverInfo: { host, port: Number(port), version: server.version, gitVersion: "shardlab" },
    serverParameters: {
      internalQueryFacetBufferSizeBytes: 104857600,
      internalQueryFacetMaxOutputDocSizeBytes: 104857600,
      internalLookupStageIntermediateDocumentMaxSizeBytes: 104857600,
      internalDocumentSourceGroupMaxMemoryBytes: 104857600,
      internalQueryMaxBlockingSortMemoryUsageBytes: STAGE_MEMORY_LIMIT,
      internalQueryProhibitBlockingMergeOnMongoS: 0,
      internalQueryMaxAddToSetBytes: 104857600,
      internalDocumentSourceSetWindowFieldsMaxMemoryBytes: 104857600,
      internalQueryFrameworkControl: "forceClassicEngine",
    },
  };
}

function shownCommand(command: Uint8Array, db: string): Uint8Array {
  const writer = new DocumentWriter();
  for (const name of topLevelNames(command)) {
    const value = NOT_SHOWN.has(name) ? undefined : getField(command, name);
    if (value) writer.field(name, value);
  }
  return writer.string("$db", db).finish();
}
