/**
 * Which indexes can serve the conditions of a filter, and how.
 *
 *     filter {a: 5, b: {$gt: 3}, c: 1}      index {a: 1, b: 1}
 *
 *     a: [5, 5]   b: (3, inf]               IXSCAN, then FETCH with {c: 1}
 *
 * An index is of use when some predicate is on its first field. Further
 * predicates are put on its other fields. In a *multikey* index a document has
 * one key for each element of its array, and two conditions on the array may be
 * met by different elements, hence by different keys:
 *
 *     {tags: 1, n: 1}   tags: ["x", "y"]   keys ("x", 5) ("y", 5)
 *     {"a.b": 1, "a.c": 1}   a: [{b: 1, c: 9}, {b: 8, c: 2}]   keys (1, 9) (8, 2)
 *
 * So only one predicate for each array goes into the bounds (`a.b: 1` or
 * `a.c: 2`, here not both) unless one `$elemMatch` holds them together. Which
 * of them is a choice: each gives a plan of its own.
 */
import type { FilterNode } from "../../query/index.js";
import { allOf } from "../../query/index.js";
import type { Collation } from "../../bson/index.js";
import { sameCollation } from "../../bson/index.js";
import type { CollectionIndex } from "../storage/collectionIndex.js";
import type { ScanAccess } from "./access.js";
import { intersect, type FieldIntervals } from "./bounds/keyIntervals.js";
import {
  predicateBounds,
  type FieldFacts,
  type PredicateBounds,
  type Tightness,
} from "./bounds/predicateBounds.js";
import { fieldCodecs, indexCollation, isMultikeyField, multikeyPrefixes } from "./indexInfo.js";
import type { Predicate } from "./predicates.js";

/** Predicates that are put on one field; the others are checked on the document. */
const MOST_ON_FIELD = 32;
/** Ways to use one multikey index that are tried. */
const MOST_PLANS = 16;

/** A predicate put on a field of an index. */
interface Assignment {
  readonly predicate: Predicate;
  readonly field: number;
  readonly bounds: PredicateBounds;
}

/** What a plan is made for. */
export interface ScanRequest {
  /** All conditions that must hold. */
  readonly conditions: readonly FilterNode[];
  /** The predicates among them. */
  readonly predicates: readonly Predicate[];
  /** The query's collation. */
  readonly collation: Collation | undefined;
}

/** Every way in which one index serves the conditions; [] where it does not. */
export function scanPlans(index: CollectionIndex, request: ScanRequest): ScanAccess[] {
  const possible = assignable(index, request);
  const leading = possible.filter(({ field }) => field === 0);
  if (leading.length === 0) return [];
  if (!index.multikey) return [scanOf(index, request, possible)];
  const plans: Assignment[][] = [];
  for (const first of leading.slice(0, MOST_PLANS)) {
    const chosen = [first];
    for (const one of possible) if (one !== first && fitsBeside(one, chosen, index)) chosen.push(one);
    if (!plans.some((plan) => sameSet(plan, chosen))) plans.push(chosen);
  }
  return plans.map((chosen) => scanOf(index, request, chosen));
}

/** A scan of the whole index, everything checked afterwards. */
export function wholeIndexPlan(index: CollectionIndex, request: ScanRequest): ScanAccess {
  return scanOf(index, request, []);
}

/** The predicates that have bounds on some field of the index. */
function assignable(index: CollectionIndex, { predicates, collation }: ScanRequest): Assignment[] {
  const { fields, sparse } = index.spec;
  const result: Assignment[] = [];
  const used = fields.map(() => 0);
  let facts: FieldFacts[] | undefined;
  for (const predicate of predicates) {
    for (let field = 0; field < fields.length; field++) {
      if (predicate.path !== fields[field]?.path && predicate.node.op !== "expr") continue;
      if ((used[field] as number) >= MOST_ON_FIELD) continue;
      facts ??= fieldFacts(index, sparse, collation);
      const bounds = predicateBounds(predicate.node, facts[field] as FieldFacts);
      if (!bounds) continue;
      used[field] = (used[field] as number) + 1;
      result.push({ predicate, field, bounds });
    }
  }
  return result;
}

function fieldFacts(index: CollectionIndex, sparse: boolean, collation: Collation | undefined): FieldFacts[] {
  const own = indexCollation(index);
  const foreignStrings = !sameCollation(own, collation);
  return fieldCodecs(index).map((codec, i) => ({
    codec,
    multikey: isMultikeyField(index, i),
    sparse,
    alone: index.spec.fields.length === 1,
    foreignStrings,
    collation: own,
  }));
}

/** Whether a predicate may go into the bounds beside those that are chosen: see the picture above. */
function fitsBeside(one: Assignment, chosen: readonly Assignment[], index: CollectionIndex): boolean {
  return multikeyPrefixes(index, one.field).every((prefix) => {
    const scope = scopeAt(one.predicate, prefix);
    return chosen.every(
      (other) =>
        !multikeyPrefixes(index, other.field).includes(prefix) ||
        (scope !== undefined && scope === scopeAt(other.predicate, prefix)),
    );
  });
}

function scopeAt({ scopes }: Predicate, path: string): FilterNode | undefined {
  return scopes.find((scope) => scope.path === path)?.node;
}

function sameSet(a: readonly Assignment[], b: readonly Assignment[]): boolean {
  return a.length === b.length && a.every((one) => b.includes(one));
}

/** The scan with these predicates in its bounds. */
function scanOf(
  index: CollectionIndex,
  { conditions }: ScanRequest,
  chosen: readonly Assignment[],
): ScanAccess {
  const bounds = fieldCodecs(index).map((codec, field) => {
    let intervals: FieldIntervals | undefined;
    for (const one of chosen)
      if (one.field === field)
        intervals = intervals ? intersect(intervals, one.bounds.intervals) : one.bounds.intervals;
    return intervals ?? codec.all;
  });
  const tightest = new Map<FilterNode, Tightness>();
  for (const { predicate, bounds: own } of chosen) {
    if (predicate.scopes.length > 0 || tightest.get(predicate.condition) === "exact") continue;
    if (own.tightness !== "fetch") tightest.set(predicate.condition, own.tightness);
  }
  const onKey: FilterNode[] = [];
  const onDocument: FilterNode[] = [];
  for (const condition of conditions) {
    const tightness = tightest.get(condition);
    if (tightness === "exact") continue;
    if (tightness === "covered" && !index.multikey) onKey.push(condition);
    else onDocument.push(condition);
  }
  return {
    kind: "scan",
    index,
    bounds,
    backward: false,
    ...(onKey.length > 0 && { keyFilter: allOf(onKey) }),
    ...(onDocument.length > 0 && { fetchFilter: allOf(onDocument) }),
  };
}
