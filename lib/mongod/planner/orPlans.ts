/**
 * An `$or` by indexes: each branch by its own.
 *
 *     {c: 1, $or: [{a: 1}, {b: 2}]}     indexes a_1, b_1
 *
 *     FETCH {c: 1} ← OR ← IXSCAN a_1
 *                       ← IXSCAN b_1
 *
 * One branch without an index makes the others pointless: the collection would
 * have to be read anyway. What stands beside the `$or` holds in every branch
 * too, and narrows the bounds there where the branch's index has such a field.
 */
import type { Collation } from "../../bson/index.js";
import type { FilterNode } from "../../query/index.js";
import { allOf } from "../../query/index.js";
import type { CollectionIndex } from "../storage/collectionIndex.js";
import type { OrAccess, ScanAccess } from "./access.js";
import { isPoint, type FieldIntervals } from "./bounds/keyIntervals.js";
import { estimateKeys } from "./estimate.js";
import { fieldCodecs } from "./indexInfo.js";
import { conditionsOf, predicatesOf } from "./predicates.js";
import { scanPlans } from "./scanPlans.js";
import { usableIndexes } from "./usableIndexes.js";

/** Conditions beside an `$or` that are tried on the indexes of its branches. */
const MOST_BESIDE = 16;

/**
 * A plan for an `$or`.
 * @param beside the conditions that must hold beside it
 * @returns undefined where some branch has no index
 */
export function orPlan(
  or: { readonly children: readonly FilterNode[] },
  beside: readonly FilterNode[],
  indexes: readonly CollectionIndex[],
  collation: Collation | undefined,
): OrAccess | undefined {
  const branches: ScanAccess[] = [];
  for (const branch of or.children) {
    const best = branchPlans(branch, beside, indexes, collation);
    if (!best) return undefined;
    branches.push(...best);
  }
  return {
    kind: "or",
    branches,
    merged: false,
    overlapping: true,
    ...(beside.length > 0 && { fetchFilter: allOf(beside) }),
  };
}

/** The best scan for one branch; several where it is an `$or` itself. */
function branchPlans(
  branch: FilterNode,
  beside: readonly FilterNode[],
  indexes: readonly CollectionIndex[],
  collation: Collation | undefined,
): readonly ScanAccess[] | undefined {
  if (branch.op === "or") {
    const inner = orPlan(branch, beside, indexes, collation);
    return inner?.branches;
  }
  const own = conditionsOf(branch);
  const all = [...own, ...beside.slice(0, MOST_BESIDE)];
  const request = { conditions: all, predicates: predicatesOf(all), collation };
  const ownPredicates = predicatesOf(own);
  let best: ScanAccess | undefined;
  let bestKeys = Infinity;
  for (const index of usableIndexes(indexes, allOf(all))) {
    for (const plan of scanPlans(index, request)) {
      // What serves only the conditions beside the $or is no plan for this branch.
      if (!usesOwn(plan, own) && scanPlans(index, { ...request, predicates: ownPredicates }).length === 0)
        continue;
      const keys = estimateKeys(plan);
      if (!best || keys < bestKeys || (keys === bestKeys && isTighter(plan, best))) {
        best = plan;
        bestKeys = keys;
      }
    }
  }
  if (best) return [withoutBeside(best, beside)];
  return nestedOr(own, beside, indexes, collation);
}

/** A branch `{x: 1, $or: […]}` that only its inner `$or` can serve: what is beside it is checked on top of all. */
function nestedOr(
  own: readonly FilterNode[],
  beside: readonly FilterNode[],
  indexes: readonly CollectionIndex[],
  collation: Collation | undefined,
): readonly ScanAccess[] | undefined {
  for (const condition of own) {
    if (condition.op !== "or") continue;
    const rest = own.filter((other) => other !== condition);
    const inner = orPlan(condition, [...rest, ...beside], indexes, collation);
    if (!inner) continue;
    return inner.branches.map((scan) => {
      const filter = allOf([...(scan.fetchFilter ? conditionsOf(scan.fetchFilter) : []), ...rest]);
      return conditionsOf(filter).length === 0 ? scan : { ...scan, fetchFilter: filter };
    });
  }
  return undefined;
}

function usesOwn(plan: ScanAccess, own: readonly FilterNode[]): boolean {
  const left = plan.fetchFilter ? conditionsOf(plan.fetchFilter) : [];
  return own.some((condition) => !left.includes(condition));
}

/** More conditions in the bounds. */
function isTighter(a: ScanAccess, b: ScanAccess): boolean {
  const left = ({ fetchFilter }: ScanAccess): number => (fetchFilter ? conditionsOf(fetchFilter).length : 0);
  return left(a) < left(b) || (left(a) === left(b) && points(a) > points(b));
}

function points({ bounds, index }: ScanAccess): number {
  const codecs = fieldCodecs(index);
  let count = 0;
  for (let i = 0; i < bounds.length; i++) {
    const intervals = bounds[i] as FieldIntervals;
    if (codecs[i]?.isAll(intervals) ?? true) break;
    if (!intervals.every(isPoint)) break;
    count++;
  }
  return count;
}

/** The conditions beside the `$or` are checked above it, once. */
function withoutBeside(plan: ScanAccess, beside: readonly FilterNode[]): ScanAccess {
  if (!plan.fetchFilter || beside.length === 0) return plan;
  const { fetchFilter, ...rest } = plan;
  const left = conditionsOf(fetchFilter).filter((condition) => !beside.includes(condition));
  return left.length > 0 ? { ...rest, fetchFilter: allOf(left) } : rest;
}
