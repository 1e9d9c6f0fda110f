/**
 * Ways to get at the records, as data: what a plan's lower stages are made of.
 *
 *     {kind: "scan", index a_1_b_1, bounds …, fetchFilter {c: 1}}     FETCH {c: 1} ← IXSCAN a_1_b_1
 *     {kind: "or", branches: [scan, scan]}                            OR ← IXSCAN, IXSCAN
 *
 * They are made by scanPlans.ts and orPlans.ts, turned around or divided for a
 * sort by ordering.ts, and built into stages by build.ts.
 */
import type { FilterNode } from "../../query/index.js";
import type { CollectionIndex } from "../storage/collectionIndex.js";
import type { IndexBounds } from "./bounds/keyIntervals.js";
import type { RawRange } from "./minMax.js";

/** The collection itself. */
export interface CollectionAccess {
  readonly kind: "collection";
  readonly backward: boolean;
}

/** A stretch of one index, and the records behind it. */
export interface ScanAccess {
  readonly kind: "scan";
  readonly index: CollectionIndex;
  /** One list of intervals for each field. */
  readonly bounds: IndexBounds;
  /** Instead of the bounds: from `min` to `max`. */
  readonly rawRange?: RawRange;
  readonly backward: boolean;
  /** What must be checked on the key before the record is fetched. */
  readonly keyFilter?: FilterNode;
  /** What must be checked on the document; nothing where the bounds say it all. */
  readonly fetchFilter?: FilterNode;
}

/** Several scans, each record once. */
export interface OrAccess {
  readonly kind: "or";
  readonly branches: readonly ScanAccess[];
  /** What must be checked on top. */
  readonly fetchFilter?: FilterNode;
  /** The branches give the wanted order each, and are merged in it. */
  readonly merged: boolean;
  /** One record can be in several branches. */
  readonly overlapping: boolean;
}

export type IndexAccess = ScanAccess | OrAccess;
export type Access = CollectionAccess | IndexAccess;

/** All scans of an access. */
export function scansOf(access: IndexAccess): readonly ScanAccess[] {
  return access.kind === "scan" ? [access] : access.branches;
}

/** Whether every record's document has been read, so that its fields are at hand. */
export function isFetched(access: Access): boolean {
  switch (access.kind) {
    case "collection":
      return true;
    case "scan":
      return access.fetchFilter !== undefined;
    case "or":
      return access.fetchFilter !== undefined || access.branches.every(isFetched);
  }
}
