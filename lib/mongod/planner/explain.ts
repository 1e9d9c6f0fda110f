/**
 * What `explain` says about a plan, in the shape of an 8.x server's classic engine.
 *
 *     queryPlanner     the stages that will run (nothing is executed)
 *     executionStats   the stages after they ran, with what each examined
 */
import type { Server } from "../command.js";
import type { PlanStage } from "./planStage.js";
import { SortStage } from "./shapingStages.js";

/** How much explain tells. */
export type Verbosity = "queryPlanner" | "executionStats" | "allPlansExecution";

/** The `queryPlanner` section. */
export function queryPlannerSection(
  namespace: string,
  parsedQuery: unknown,
  root: PlanStage,
): Record<string, unknown> {
  return {
    namespace,
    parsedQuery,
    indexFilterSet: false,
    optimizationTimeMillis: 0,
    maxIndexedOrSolutionsReached: false,
    maxIndexedAndSolutionsReached: false,
    maxScansToExplodeReached: false,
    prunedSimilarIndexes: false,
    winningPlan: { isCached: false, ...describeStage(root) },
    rejectedPlans: [],
  };
}

/** One stage of `winningPlan` with those below it. */
export function describeStage(stage: PlanStage): Record<string, unknown> {
  return { stage: stage.name, ...stage.describe(), ...inputs(stage, describeStage) };
}

/** The `executionStats` section of a plan that has run to its end. */
export function executionStatsSection(
  root: PlanStage,
  milliseconds: number,
  verbosity: Verbosity,
): Record<string, unknown> {
  const { keys, docs } = totals(root);
  return {
    executionSuccess: true,
    nReturned: root.returned,
    executionTimeMillis: milliseconds,
    totalKeysExamined: keys,
    totalDocsExamined: docs,
    executionStages: { isCached: false, ...describeExecution(root) },
    ...(verbosity === "allPlansExecution" && { allPlansExecution: [] }),
  };
}

function describeExecution(stage: PlanStage): Record<string, unknown> {
  return {
    stage: stage.name,
    nReturned: stage.returned,
    executionTimeMillisEstimate: 0,
    works: stage.works,
    advanced: stage.returned,
    needTime: Math.max(0, stage.keysExamined + stage.docsExamined - stage.returned),
    needYield: 0,
    saveState: 0,
    restoreState: 0,
    isEOF: stage.done ? 1 : 0,
    ...stage.describe(),
    ...(stage.name === "IXSCAN" && {
      keysExamined: stage.keysExamined,
      seeks: 1,
      dupsTested: 0,
      dupsDropped: 0,
    }),
    ...(stage.name === "EXPRESS_IXSCAN" && {
      keysExamined: stage.keysExamined,
      docsExamined: stage.docsExamined,
    }),
    ...(["COLLSCAN", "FETCH"].includes(stage.name) && { docsExamined: stage.docsExamined }),
    ...(stage instanceof SortStage && {
      totalDataSizeSorted: stage.totalDataSizeSorted,
      usedDisk: false,
      spills: 0,
    }),
    ...inputs(stage, describeExecution),
  };
}

function inputs(
  stage: PlanStage,
  describe: (stage: PlanStage) => Record<string, unknown>,
): Record<string, unknown> {
  const all = stage.inputs;
  if (all.length === 0) return {};
  if (all.length === 1 && stage.input) return { inputStage: describe(all[0] as PlanStage) };
  return { inputStages: all.map(describe) };
}

/**
 * Puts a stage that has no plan of its own (UPDATE, DELETE, COUNT) on top of a section's plan.
 * @param section a `queryPlanner` or `executionStats` section
 * @param field the field with its plan: `winningPlan` or `executionStages`
 * @param stage the stage's own fields
 */
export function topStage(
  section: Record<string, unknown>,
  field: "winningPlan" | "executionStages",
  stage: Record<string, unknown>,
): Record<string, unknown> {
  let plan = section[field] as Record<string, unknown>;
  // The writing stage itself stops after one document; our LIMIT below it is how, and not part of MongoDB's plan.
  if (plan["stage"] === "LIMIT") plan = plan["inputStage"] as Record<string, unknown>;
  const below = Object.entries(plan).filter(([name]) => name !== "isCached");
  return { ...section, [field]: { isCached: false, ...stage, inputStage: Object.fromEntries(below) } };
}

/** Keys and documents that a plan examined. */
export function totals(root: PlanStage): { keys: number; docs: number } {
  let keys = root.keysExamined;
  let docs = root.docsExamined;
  for (const input of root.inputs) {
    const below = totals(input);
    keys += below.keys;
    docs += below.docs;
  }
  return { keys, docs };
}

/** The fields that close every explain reply. */
export function explainTrailer(server: Server, command: Uint8Array): Record<string, unknown> {
  const [host = server.host, port = "27017"] = server.host.split(":");
  return {
    command,
    serverInfo: { host, port: Number(port), version: server.version, gitVersion: "shardlab" },
    serverParameters: {
      internalQueryFacetBufferSizeBytes: 104857600,
      internalQueryFacetMaxOutputDocSizeBytes: 104857600,
      internalLookupStageIntermediateDocumentMaxSizeBytes: 104857600,
      internalDocumentSourceGroupMaxMemoryBytes: 104857600,
      internalQueryMaxBlockingSortMemoryUsageBytes: 104857600,
      internalQueryProhibitBlockingMergeOnMongoS: 0,
      internalQueryMaxAddToSetBytes: 104857600,
      internalDocumentSourceSetWindowFieldsMaxMemoryBytes: 104857600,
      internalQueryFrameworkControl: "forceClassicEngine",
    },
  };
}
