/**
 * Plans for the different values of a field.
 *
 *     distinct("dept"), index {dept: 1, name: 1}
 *
 *     PROJECTION_COVERED ← DISTINCT_SCAN dept_1_name_1     one key for each department
 *
 * That works where the index holds the field's own values, where nothing but
 * bounds is to be checked, and where the filter bounds the index's fields up to
 * the wanted one. Everything else reads what a find would read.
 */
import { DocumentWriter } from "../../bson/index.js";
import { compileProjection } from "../../query/index.js";
import type { Collection } from "../storage/collection.js";
import type { ScanAccess } from "./access.js";
import { KeyDocuments, provides } from "./covering.js";
import { fieldPosition } from "./indexInfo.js";
import type { Interrupt } from "./interrupt.js";
import { planningRecord, planQuery } from "./plan.js";
import type { PlanStage } from "./planStage.js";
import { conditionsOf, predicatesOf } from "./predicates.js";
import { matchesEverything, type Query } from "./query.js";
import { scanPlans, wholeIndexPlan, type ScanRequest } from "./scanPlans.js";
import { DistinctScan } from "./stages/countScans.js";
import { Projection } from "./stages/shaping.js";
import { hintedIndex, usableIndexes } from "./usableIndexes.js";

/**
 * Plans a distinct: documents in which the field has every value that it has among the matches.
 * @param key the field's path
 * @throws CommandError see planQuery
 */
export function planDistinct(
  collection: Collection | undefined,
  query: Query,
  key: string,
  interrupt: Interrupt,
): PlanStage {
  const scan = collection && query.hint?.kind !== "natural" && distinctAccess(collection, query, key);
  if (!scan || query.filter.node.op === "alwaysFalse") return planQuery(collection, query, interrupt);
  scan.index.accesses++;
  const field = fieldPosition(scan.index.spec.fields, key);
  const stage = new DistinctScan(collection, scan, field, new KeyDocuments(scan.index), interrupt);
  const spec = projectionFor(key);
  const root = new Projection(
    key.includes(".") ? "PROJECTION_DEFAULT" : "PROJECTION_COVERED",
    stage,
    compileProjection(spec),
    spec,
  );
  if (interrupt.explains) root.planning = planningRecord(collection, query);
  return root;
}

function projectionFor(key: string): Uint8Array {
  const writer = new DocumentWriter();
  if (key !== "_id") writer.int32("_id", 0);
  return writer.int32(key, 1).finish();
}

/** The scan that meets each value once; the index with the fewest fields, where several have it. */
function distinctAccess(collection: Collection, query: Query, key: string): ScanAccess | undefined {
  const { hint, filter, options } = query;
  const conditions = conditionsOf(filter.node);
  const request: ScanRequest = {
    conditions,
    predicates: predicatesOf(conditions),
    collation: options.collation,
  };
  const indexes = hint
    ? hint.kind === "natural"
      ? []
      : [hintedIndex(collection.indexes, hint)]
    : usableIndexes(collection.indexes, filter.node);
  let best: ScanAccess | undefined;
  for (const index of indexes) {
    const position = fieldPosition(index.spec.fields, key);
    if (position === -1 || (index.spec.sparse && !hint && matchesEverything(query))) continue;
    const everything = matchesEverything(query);
    if (everything && position > 0) continue;
    const plans = everything ? [wholeIndexPlan(index, request)] : scanPlans(index, request);
    for (const plan of plans) {
      if (plan.fetchFilter || plan.keyFilter || !provides(plan, [key])) continue;
      if (plan.bounds.some((intervals) => intervals.length === 0)) continue;
      if (!best || plan.bounds.length < best.bounds.length) best = plan;
    }
  }
  return best;
}
