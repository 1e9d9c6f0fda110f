/**
 * What one predicate says about one field of an index.
 *
 * Beside the intervals it matters how *tight* they are:
 *
 *     exact     a key within them belongs to a match; nothing to check         { a: 5 }
 *     covered   the key itself must be checked                                 { a: /b/ }, { a: { $mod: [2, 0] } }
 *     fetch     the document must be checked                                   { a: null }, { a: { $elemMatch: … } }
 *
 * Which predicates can use an index at all, and how tight, follows MongoDB's
 * planner; the intervals of the plain ones come from the query layer.
 */
import type { Collation, RawValue } from "../../../bson/index.js";
import { BsonType, hashedValue, NULL } from "../../../bson/index.js";
import type { FilterNode, KeyField, PathNode } from "../../../query/index.js";
import { keyBounds } from "../../../query/index.js";
import { intersect, type FieldCodec, type FieldIntervals } from "./keyIntervals.js";

export type Tightness = "exact" | "covered" | "fetch";

export interface PredicateBounds {
  readonly intervals: FieldIntervals;
  readonly tightness: Tightness;
}

/** What is known of the index field. */
export interface FieldFacts {
  readonly codec: FieldCodec;
  /** Documents may have several keys in it. */
  readonly multikey: boolean;
  readonly sparse: boolean;
  /** The only field of its index. */
  readonly alone: boolean;
  /** The index's strings are not ordered as the query compares them. */
  readonly foreignStrings: boolean;
  /** How the index orders strings: then its keys of strings are no strings. */
  readonly collation: Collation | undefined;
}

/**
 * The bounds of a predicate on an index field of the same path.
 * @param node a path predicate, or a `not` of one; inside `$elemMatch` on plain values its path is ""
 * @param inElement the predicate is about one array element
 * @returns undefined where the index is of no use for it
 */
export function predicateBounds(
  node: FilterNode,
  facts: FieldFacts,
  inElement = false,
): PredicateBounds | undefined {
  if (node.op === "not") return negationBounds(node.child, facts, inElement);
  if (node.op === "expr") return expressionBounds(node, facts);
  if (!("path" in node)) return undefined;
  if (facts.foreignStrings && comparesStrings(node)) return undefined;
  if (facts.sparse && !inElement && matchesMissing(node)) return undefined;
  const { codec } = facts;
  if (codec.field.kind === "hashed") return hashedBounds(node, facts);
  switch (node.op) {
    case "eq":
      // By far the most common predicate: a plain value is its own bounds.
      if (!isLoose(node.value, facts) && !(facts.multikey && NUMBERED.test(node.path)))
        return { intervals: codec.points([node.value]), tightness: "exact" };
      return bounded(node, facts, "fetch");
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      return bounded(node, facts, isLoose(node.value, facts) ? "fetch" : "exact");
    case "in": {
      if (facts.collation && node.regexes.length > 0) return undefined;
      const loose = node.values.some((value) => isLoose(value, facts));
      // A long list of plain values is its own bounds.
      if (!loose && node.regexes.length === 0 && !(facts.multikey && NUMBERED.test(node.path)))
        return { intervals: codec.points(node.values), tightness: "exact" };
      return bounded(node, facts, loose ? "fetch" : node.regexes.length > 0 ? "covered" : "exact");
    }
    case "regex":
      // The keys of strings in a collated index say nothing about their letters.
      return facts.collation ? undefined : bounded(node, facts, "covered");
    case "mod":
      return bounded(node, facts, "covered");
    case "type":
      return bounded(node, facts, "fetch");
    case "exists":
      return { intervals: codec.all, tightness: facts.sparse && facts.alone ? "exact" : "fetch" };
    case "elemMatch":
      return node.of === "value" ? elementBounds(node.child, facts) : undefined;
    default:
      return undefined;
  }
}

/** A number in a path may pick an element or name a field: the keys of a multikey index don't tell which. */
const NUMBERED = /(?:^|\.)\d+(?:\.|$)/;

/** The query layer's bounds. What it calls exact stays so only if `tightness` allows. */
function bounded(
  node: PathNode,
  { codec, multikey, collation }: FieldFacts,
  tightness: Tightness,
): PredicateBounds | undefined {
  const field: KeyField = { ...codec.field, path: node.path };
  const { fields, exact } = keyBounds(node, [field], { multikey, collation });
  const intervals = codec.intervals(fields[0] ?? []);
  if (exact) return { intervals, tightness: tightness === "covered" ? "exact" : tightness };
  if (codec.isAll(intervals) && tightness !== "covered") return undefined;
  return { intervals, tightness: tightness === "exact" ? "fetch" : tightness };
}

/** Operands whose matches their keys do not prove: null is also missing, an array is stored by its elements. */
function isLoose(value: RawValue, { multikey }: FieldFacts): boolean {
  switch (value.type) {
    case BsonType.null:
    case BsonType.undefined:
    case BsonType.array:
      return true;
    case BsonType.minKey:
    case BsonType.maxKey:
      return multikey;
    default:
      return false;
  }
}

/** A hash tells equality only, and not for certain. */
function hashedBounds(node: PathNode, facts: FieldFacts): PredicateBounds | undefined {
  if (node.op === "exists") return { intervals: facts.codec.all, tightness: "fetch" };
  if (node.op !== "eq" && node.op !== "in") return undefined;
  if (node.op === "in" && !node.collation && node.regexes.length === 0 && node.values.every(hasOneHash))
    return { intervals: facts.codec.points(node.values.map(hashedValue)), tightness: "fetch" };
  return bounded(node, facts, "fetch");
}

/** Values whose equals all have the same hash: not so fractions, which are cut or rounded by their type. */
function hasOneHash({ type }: RawValue): boolean {
  return type !== BsonType.double && type !== BsonType.decimal128 && type !== BsonType.array;
}

/** All conditions are about the same element, so their intervals may be intersected even in a multikey index. */
function elementBounds(child: FilterNode, facts: FieldFacts): PredicateBounds | undefined {
  if (facts.codec.field.kind === "hashed") return undefined;
  let intervals = facts.codec.all;
  for (const one of child.op === "and" ? child.children : [child]) {
    const bounds = predicateBounds(one, { ...facts, multikey: false }, true);
    if (!bounds) return undefined;
    intervals = intersect(intervals, bounds.intervals);
  }
  return { intervals, tightness: "fetch" };
}

/** The complement, where the bounds of what is negated are exact. */
function negationBounds(
  child: FilterNode,
  facts: FieldFacts,
  inElement: boolean,
): PredicateBounds | undefined {
  const { codec, multikey, sparse } = facts;
  if (child.op === "exists") {
    if (sparse) return undefined;
    return bounded({ op: "eq", path: child.path, value: NULL }, facts, "fetch");
  }
  if (codec.field.kind === "hashed" || !("path" in child)) return undefined;
  const ofNull = child.op === "eq" && child.value.type === BsonType.null;
  if (sparse && !ofNull) return undefined;
  switch (child.op) {
    case "eq":
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      if (child.value.type === BsonType.array) return undefined;
      break;
    case "in":
      if (child.regexes.length > 0) return undefined;
      if (child.values.some(({ type }) => type === BsonType.array)) return undefined;
      break;
    default:
      return undefined; // $regex, $mod, $type, $elemMatch: no exact bounds to turn around
  }
  const negatesNull =
    ofNull ||
    (child.op === "in" && child.values.some(({ type }) => type === BsonType.null)) ||
    (child.op !== "eq" && child.op !== "in" && child.value.type === BsonType.null);
  // A document with null in one array element may have other keys too.
  if (negatesNull && multikey) return undefined;
  const positive = predicateBounds(child, { ...facts, sparse: false }, inElement);
  if (!positive) return undefined;
  if (positive.tightness !== "exact" && !negatesNull) return undefined;
  return {
    intervals: codec.complement(positive.intervals),
    // With several keys a document can have one outside and still be excluded by another.
    tightness: multikey ? "fetch" : "exact",
  };
}

/** `$expr` comparisons with a constant: bounds, but the expression has the last word. */
function expressionBounds(
  node: FilterNode & { readonly op: "expr" },
  { codec, multikey, sparse, foreignStrings, collation }: FieldFacts,
): PredicateBounds | undefined {
  // A missing value is less than any other, and a sparse index does not have it.
  if (multikey || sparse || collation || foreignStrings || codec.field.kind === "hashed") return undefined;
  const { fields } = keyBounds(node, [codec.field], { multikey: false });
  const intervals = codec.intervals(fields[0] ?? []);
  return codec.isAll(intervals) ? undefined : { intervals, tightness: "fetch" };
}

function comparesStrings(node: PathNode): boolean {
  switch (node.op) {
    case "eq":
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      return hasStrings(node.value);
    case "in":
      return node.values.some(hasStrings);
    case "elemMatch":
      return node.of === "value" && someComparesStrings(node.child);
    default:
      return false;
  }
}

function someComparesStrings(node: FilterNode): boolean {
  if (node.op === "and") return node.children.some(someComparesStrings);
  if (node.op === "not") return someComparesStrings(node.child);
  return "path" in node && comparesStrings(node);
}

function hasStrings({ type }: RawValue): boolean {
  return type === BsonType.string || type === BsonType.object || type === BsonType.array;
}

/** Whether a document without the field may match: a sparse index does not have it. */
function matchesMissing(node: PathNode): boolean {
  switch (node.op) {
    case "eq":
    case "gte":
    case "lte":
      return node.value.type === BsonType.null;
    case "in":
      return node.values.some(({ type }) => type === BsonType.null);
    default:
      return false;
  }
}
