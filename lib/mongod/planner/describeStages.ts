/** Stages as explain prints them, in MongoDB's order of fields. */
import { chosenPlan } from "./multiPlan.js";
import type { PlanStage } from "./planStage.js";

/** One stage of `winningPlan`, with those below it. */
export function describeStage(stage: PlanStage): Record<string, unknown> {
  const { filter, ...own } = stage.describe();
  return {
    stage: stage.name,
    ...(filter !== undefined && { filter }),
    ...own,
    ...inputs(stage, describeStage),
  };
}

/** One stage of `executionStages`, with those below it. */
export function describeExecution(root: PlanStage): Record<string, unknown> {
  const stage = chosenPlan(root);
  const { filter, ...own } = stage.describe();
  if (stage.name.startsWith("EXPRESS_")) {
    return {
      stage: stage.name,
      ...own,
      nReturned: stage.returned,
      executionTimeMillisEstimate: 0,
      ...stage.describeWork(),
    };
  }
  return {
    stage: stage.name,
    ...(filter !== undefined && { filter }),
    nReturned: stage.returned,
    executionTimeMillisEstimate: 0,
    works: stage.works,
    advanced: stage.returned,
    needTime: stage.needTime,
    needYield: 0,
    saveState: 0,
    restoreState: 0,
    isEOF: stage.done ? 1 : 0,
    ...(stage.name === "COUNT_SCAN"
      ? { ...stage.describeWork(), ...own }
      : { ...own, ...stage.describeWork() }),
    ...inputs(stage, describeExecution),
  };
}

function inputs(
  stage: PlanStage,
  describe: (stage: PlanStage) => Record<string, unknown>,
): Record<string, unknown> {
  const all = stage.inputs;
  if (all.length === 0) return {};
  if (all.length === 1) return { inputStage: describe(all[0] as PlanStage) };
  return { inputStages: all.map(describe) };
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
