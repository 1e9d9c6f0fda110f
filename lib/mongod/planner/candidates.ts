/**
 * All plans that are worth a try.
 *
 *     each index that some condition can use          IXSCAN
 *     each `$or` whose branches all have an index     OR of IXSCANs
 *     an index in the wanted order                    IXSCAN from end to end, where no plan above gives the order
 *     nothing of it                                   COLLSCAN
 *
 * The collection is read only if no index is of any use, as in MongoDB. An
 * equality on a unique index leaves nothing to try: it is the plan.
 */
import type { CollectionIndex } from "../storage/collectionIndex.js";
import type { Access, IndexAccess, ScanAccess } from "./access.js";
import { isPoint, type FieldIntervals } from "./bounds/keyIntervals.js";
import { fieldCodecs } from "./indexInfo.js";
import { minMaxNeedsHint, minMaxRange } from "./minMax.js";
import { directionFor, inOrder } from "./ordering.js";
import { orPlan } from "./orPlans.js";
import { conditionsOf, predicatesOf } from "./predicates.js";
import type { Query } from "./query.js";
import { scanPlans, wholeIndexPlan, type ScanRequest } from "./scanPlans.js";
import { hintedIndex, usableIndexes } from "./usableIndexes.js";

/** Plans that are tried at most. */
const MOST_CANDIDATES = 64;

/** A way to answer a query. */
export interface CandidateAccess {
  readonly access: Access;
  /** It gives the query's order. */
  readonly ordered: boolean;
}

/** What there is to choose from. */
export interface CandidateList {
  readonly candidates: readonly CandidateAccess[];
  readonly maxScansToExplodeReached: boolean;
  /** The `$or` at the root was planned branch by branch. */
  readonly subplanned: boolean;
}

/**
 * The candidates for a query.
 * @throws CommandError for a hint that names no index (2), and for min or max without a fitting one (51173, 51174, 51175)
 */
export function candidatesFor(indexes: readonly CollectionIndex[], query: Query): CandidateList {
  const { hint } = query;
  if (hint?.kind === "natural" || query.tailable) {
    if (query.min || query.max) throw minMaxNeedsHint();
    const backward = hint?.kind === "natural" && hint.backward;
    return only([{ access: { kind: "collection", backward }, ordered: !query.sort }]);
  }
  if (!hint && (query.min || query.max)) throw minMaxNeedsHint();
  const conditions = conditionsOf(query.filter.node);
  const request: ScanRequest = {
    conditions,
    predicates: predicatesOf(conditions),
    collation: query.options.collation,
  };
  if (hint) {
    const index = hintedIndex(indexes, hint);
    if (query.min || query.max) return minMaxCandidate(index, request, query);
    const scans = scanPlans(index, request);
    return ordered(scans.length > 0 ? scans : [wholeIndexPlan(index, request)], query);
  }
  const usable = usableIndexes(indexes, query.filter.node);
  const found = indexPlans(indexes, usable, request, query);
  const list = ordered(found, query);
  const subplanned = query.filter.node.op === "or";
  // An $or that was planned branch by branch has one plan, whatever its order.
  const settled = subplanned && found.length > 0;
  if (query.sort && !settled && !list.candidates.some((one) => one.ordered)) {
    const whole = wholeIndexInOrder(usable, request, query);
    if (whole.length > 0) return { ...list, candidates: [...list.candidates, ...whole], subplanned };
  }
  if (list.candidates.length > 0) return { ...list, subplanned };
  return {
    ...only([{ access: { kind: "collection", backward: false }, ordered: !query.sort }]),
    subplanned,
  };
}

function only(candidates: readonly CandidateAccess[]): CandidateList {
  return { candidates, maxScansToExplodeReached: false, subplanned: false };
}

function indexPlans(
  indexes: readonly CollectionIndex[],
  usable: readonly CollectionIndex[],
  request: ScanRequest,
  query: Query,
): IndexAccess[] {
  const { node } = query.filter;
  if (node.op === "or") {
    const plan = orPlan(node, [], indexes, request.collation);
    return plan ? [plan] : [];
  }
  const unique = uniqueEquality(usable, request);
  if (unique) return [unique];
  const plans: IndexAccess[] = usable.flatMap((index) => scanPlans(index, request));
  for (const condition of request.conditions) {
    if (condition.op !== "or") continue;
    const beside = request.conditions.filter((other) => other !== condition);
    const plan = orPlan(condition, beside, indexes, request.collation);
    if (plan) plans.push(plan);
  }
  return plans.slice(0, MOST_CANDIDATES);
}

/** An equality beside other conditions, on a unique index of that one field. */
function uniqueEquality(indexes: readonly CollectionIndex[], request: ScanRequest): ScanAccess | undefined {
  if (request.conditions.length < 2) return undefined;
  for (const predicate of request.predicates) {
    const { node, path, condition, scopes } = predicate;
    if (node.op !== "eq" || scopes.length > 0) continue;
    for (const index of indexes) {
      const { fields, unique } = index.spec;
      if (!unique || fields.length !== 1 || fields[0]?.path !== path) continue;
      const [plan] = scanPlans(index, { ...request, predicates: [{ ...predicate, condition }] });
      if (plan) return plan;
    }
  }
  return undefined;
}

/** Puts plans into the query's order where that is possible. */
function ordered(plans: readonly IndexAccess[], query: Query): CandidateList {
  const { sort, options } = query;
  if (!sort) return only(plans.map((access): CandidateAccess => ({ access, ordered: true })));
  let maxScansToExplodeReached = false;
  const candidates = plans.map((plan): CandidateAccess => {
    const one = inOrder(plan, sort.compiled, options.collation);
    maxScansToExplodeReached ||= one.tooManyScans;
    return { access: one.access, ordered: one.ordered };
  });
  return { candidates, maxScansToExplodeReached, subplanned: false };
}

/** Indexes that have the wanted order from end to end. A sparse one lacks documents. */
function wholeIndexInOrder(
  indexes: readonly CollectionIndex[],
  request: ScanRequest,
  query: Query,
): CandidateAccess[] {
  const { sort, options } = query;
  const result: CandidateAccess[] = [];
  for (const index of indexes) {
    if (!sort || index.spec.sparse) continue;
    const scan = wholeIndexPlan(index, request);
    const direction = directionFor(scan, sort.compiled.fields, options.collation);
    if (direction !== 0) result.push({ access: { ...scan, backward: direction === -1 }, ordered: true });
  }
  return result;
}

function minMaxCandidate(index: CollectionIndex, request: ScanRequest, query: Query): CandidateList {
  const scan: ScanAccess = { ...wholeIndexPlan(index, request), rawRange: minMaxRange(index, query) };
  const { sort, options } = query;
  const direction = sort ? directionFor(scan, sort.compiled.fields, options.collation) : 1;
  return only([{ access: { ...scan, backward: direction === -1 }, ordered: direction !== 0 }]);
}

/**
 * How well a plan's indexes are bounded, to decide between equals: leading single values count most, then
 * bounded fields, then a short index.
 */
export function indexRank(access: Access): number {
  if (access.kind === "collection") return 0;
  if (access.kind === "or") return access.branches.reduce((sum, branch) => sum + indexRank(branch), 0);
  const { index, bounds } = access;
  const codecs = fieldCodecs(index);
  let points = 0;
  let bounded = 0;
  for (let i = 0; i < bounds.length; i++) {
    const intervals = bounds[i] as FieldIntervals;
    if (codecs[i]?.isAll(intervals) ?? true) break;
    bounded++;
    if (points === i && intervals.every(isPoint)) points++;
  }
  return points * 10_000 + bounded * 100 - bounds.length;
}
