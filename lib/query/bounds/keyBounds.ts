/**
 * From a filter to the part of an index — or of a shard key's range — where
 * its matches must be.
 *
 * The shard's planner scans these bounds, the router contacts the shards whose
 * chunks meet them. One function serves both, as in MongoDB, and a bound that
 * is too tight is a document silently lost. So whatever isn't understood
 * leaves the full range, and a property test holds the promise for random
 * filters: *every document that matches has its key within the bounds*.
 *
 *     key { a: 1, b: 1 }, filter { a: 5, b: { $gt: 3 }, c: 1 }
 *       a: [5, 5]    b: (3, Infinity]    exact: false (nothing about c)
 *
 * A multikey index has one key for each array element. Two conditions on such
 * a field may be met by different elements, so their bounds must not be
 * intersected: `{ a: { $gt: 5, $lt: 3 } }` matches `{ a: [1, 7] }`. A shard
 * key never is multikey.
 */
import type { Collation } from "../../bson/index.js";
import type { FilterNode, PathNode } from "../filter/node.js";
import { isArrayIndex } from "../values/types.js";
import { expressionBounds } from "./expressions.js";
import {
  complement,
  FULL_RANGE,
  intersect,
  isFullRange,
  isPoint,
  unite,
  type FieldBounds,
} from "./intervals.js";
import {
  ANY,
  hashedBounds,
  hashedNullPoint,
  NULL_POINT,
  predicateBounds,
  type Bounds,
  type IndexTraits,
} from "./predicates.js";

/** One field of an index key or shard key. */
export interface KeyField {
  readonly path: string;
  readonly kind: 1 | -1 | "hashed";
}

export interface KeyBoundsOptions {
  /** The index has several keys for some documents. Default false. */
  readonly multikey?: boolean;
  /**
   * How the index orders strings (the query's own collation is part of the filter). Where the two differ, bounds
   * for strings, objects and arrays are all of their kind.
   */
  readonly collation?: Collation | undefined;
}

/** Where a filter's matches lie in a key's space: in the product of the fields' intervals. */
export interface KeyBounds {
  /** Bounds per key field, always ascending; full range where nothing is known. */
  readonly fields: FieldBounds[];
  /** Every key within the bounds belongs to a match: the filter needs no second look. */
  readonly exact: boolean;
}

/**
 * Bounds of `node` on the fields of `key`.
 * @param key fields of an index or shard key; on hashed fields bounds are over the hashes (int64)
 */
export function keyBounds(
  node: FilterNode,
  key: readonly KeyField[],
  options: KeyBoundsOptions = {},
): KeyBounds {
  const index: IndexTraits = { multikey: options.multikey ?? false, collation: options.collation };
  const fieldsBounds = key.map((field) => boundsOn(node, field, index).intervals);
  // A filter that nothing can match has empty bounds on every field.
  const empty = fieldsBounds.some((bounds) => bounds.length === 0);
  if (empty || node.op === "alwaysFalse") return { fields: key.map(() => []), exact: true };
  return { fields: fieldsBounds, exact: isExpressed(node, key, index) };
}

/**
 * The bounds of each branch of an `$or` on its own (one entry for any other
 * filter): for compound keys tighter than {@link keyBounds}, which has to put
 * all branches into one box.
 *
 *     { $or: [{ a: 1, b: 1 }, { a: 5, b: 5 }] }  →  {a: [1,1], b: [1,1]} and {a: [5,5], b: [5,5]}
 */
export function keyBoundsBranches(
  node: FilterNode,
  key: readonly KeyField[],
  options: KeyBoundsOptions = {},
): KeyBounds[] {
  if (node.op === "or") return node.children.flatMap((child) => keyBoundsBranches(child, key, options));
  return [keyBounds(node, key, options)];
}

/** True where the bounds of some fields together say all that the filter says. */
function isExpressed(node: FilterNode, key: readonly KeyField[], index: IndexTraits): boolean {
  if (node.op === "and" && node.children.length !== 1) {
    // In a multikey index only one condition per field went into the bounds.
    const used = new Set<KeyField>();
    return node.children.every((child) => {
      const field = key.find((candidate) => boundsOn(child, candidate, index).exact);
      if (field === undefined || (index.multikey && used.has(field))) return false;
      used.add(field);
      return true;
    });
  }
  return key.some((field) => boundsOn(node, field, index).exact);
}

/** Bounds of a filter on one field. */
function boundsOn(node: FilterNode, field: KeyField, index: IndexTraits): Bounds {
  switch (node.op) {
    case "alwaysFalse":
      return { intervals: [], exact: true };
    case "and":
      return conjunction(node.children, field, index);
    case "or":
      return disjunction(
        node.children.map((child) => boundsOn(child, field, index)),
        index,
      );
    case "nor":
      return conjunction(
        node.children.map((child) => ({ op: "not", child })),
        field,
        index,
      );
    case "not":
      return negation(node.child, field, index);
    case "expr":
      // The elements of an array have keys, expressions see the array.
      return index.multikey ? ANY : expressionBounds(node, node.source, field, index);
    case "jsonSchema":
    case "sampleRate":
      return ANY;
    default:
      return leafBounds(node, field, index);
  }
}

function leafBounds(node: PathNode, field: KeyField, index: IndexTraits): Bounds {
  // A number in a path may pick an element or name a field: in a multikey index the keys don't tell which.
  if (index.multikey && field.path.split(".").some(isArrayIndex)) return ANY;
  if (node.op === "elemMatch") return elementBounds(node.path, node.of, node.child, field, index);
  if (node.path !== field.path) return ANY;
  return field.kind === "hashed" ? hashedBounds(node) : predicateBounds(node, index);
}

/** `$elemMatch` holds for one element, whose key is in the index. */
function elementBounds(
  path: string,
  of: "object" | "value",
  child: FilterNode,
  field: KeyField,
  index: IndexTraits,
): Bounds {
  if (field.kind === "hashed") return ANY;
  let inner: Bounds = ANY;
  if (of === "value" && path === field.path) {
    // All conditions are about the same element: their bounds may be intersected.
    inner = boundsOn(child, { ...field, path: "" }, { ...index, multikey: false });
  } else if (of === "object" && field.path.startsWith(`${path}.`)) {
    inner = boundsOn(child, { ...field, path: field.path.slice(path.length + 1) }, index);
  }
  return { intervals: inner.intervals, exact: false };
}

function conjunction(children: readonly FilterNode[], field: KeyField, index: IndexTraits): Bounds {
  const { multikey, collation } = index;
  const all = children.map((child) => boundsOn(child, field, index));
  const known = all.filter((bounds) => !isFullRange(bounds.intervals));
  const exact = all.length > 0 && all.every((bounds) => bounds.exact);
  if (!multikey) {
    return {
      intervals: known.reduce((sum, bounds) => intersect(sum, bounds.intervals, collation), FULL_RANGE),
      exact,
    };
  }
  const best =
    known.find((bounds) => bounds.intervals.every((interval) => isPoint(interval, collation))) ??
    known[0] ??
    ANY;
  return { intervals: best.intervals, exact: exact && all.length === 1 };
}

function disjunction(all: readonly Bounds[], { collation }: IndexTraits): Bounds {
  return {
    intervals: unite(
      all.flatMap((bounds) => bounds.intervals),
      collation,
    ),
    exact: all.every((bounds) => bounds.exact),
  };
}

/** The complement where the bounds of the negated are exact; all else may be anywhere. */
function negation(child: FilterNode, field: KeyField, index: IndexTraits): Bounds {
  const { multikey, collation } = index;
  if (child.op === "not") return boundsOn(child.child, field, index);
  if (child.op === "exists") {
    if (child.path !== field.path || (multikey && field.path.split(".").some(isArrayIndex))) return ANY;
    // A missing field has the key null, and so has an explicit null.
    return { intervals: field.kind === "hashed" ? hashedNullPoint() : NULL_POINT, exact: false };
  }
  const bounds = boundsOn(child, field, index);
  if (!bounds.exact || field.kind === "hashed") return ANY;
  // With several keys a document can have one outside the negated bounds and still be excluded by another.
  return { intervals: complement(bounds.intervals, collation), exact: !multikey };
}
