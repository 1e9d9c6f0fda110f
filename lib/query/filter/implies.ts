/**
 * Does every match of one filter match another one too?
 *
 * A partial index holds the documents that match its filter. It can answer a
 * query only if none of the query's matches is missing from it, that is, if
 * the query implies the filter. A sparse index is the same with the filter
 * `{ field: { $exists: true } }`.
 *
 *     { a: 5, b: 1 }                   implies   { a: { $gt: 3 } }
 *     { a: { $in: [5, 7] } }           implies   { a: { $gte: 5 } }
 *     { a: 5 }, { a: { $type: 2 } }    imply     { a: { $exists: true } }
 *     { a: null }                      does not
 *
 * This asks for no proof, only for the plain cases, which are those that
 * MongoDB's planner sees; "no" may be wrong, "yes" never is.
 */
import { BsonType, canonicalType, compareValues, sameCollation, type RawValue } from "../../bson/index.js";
import { isNaNValue } from "./comparison.js";
import { filterDocument } from "./describe.js";
import type { FilterNode, PathNode } from "./node.js";

type Comparison = Extract<PathNode, { op: "eq" | "gt" | "gte" | "lt" | "lte" }>;

/**
 * Whether every document that matches `query` matches `partial`.
 * @example implies(compileFilter({ a: 5 }).node, compileFilter({ a: { $gt: 3 } }).node) // true
 */
export function implies(query: FilterNode, partial: FilterNode): boolean {
  if (query.op === "alwaysFalse") return true;
  if (partial.op === "or" && partial.children.some((child) => implies(query, child))) return true;
  if (partial.op === "and") return partial.children.every((child) => implies(query, child));
  if (query.op === "and" && query.children.some((child) => implies(child, partial))) return true;
  if (query.op === "or") return query.children.every((child) => implies(child, partial));
  if (query.op === "and" || partial.op === "or") return false;
  switch (partial.op) {
    case "eq":
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      return impliesComparison(query, partial);
    case "in":
      return (
        isEquivalent(query, partial) || (partial.regexes.length === 0 && impliesMembership(query, partial))
      );
    case "exists":
      return impliesExistence(query, partial.path);
    case "type":
      return (
        query.op === "type" &&
        query.path === partial.path &&
        query.types.every((type) => partial.types.includes(type))
      );
    default:
      return isEquivalent(query, partial);
  }
}

/** Whether every document that matches has the field: the condition for a sparse index on it. */
export function impliesExistence(query: FilterNode, path: string): boolean {
  switch (query.op) {
    case "alwaysFalse":
      return true;
    case "and":
      return query.children.some((child) => impliesExistence(child, path));
    case "or":
      return query.children.every((child) => impliesExistence(child, path));
    case "not":
      return isNullTest(query.child, path);
    case "nor":
      return query.children.some((child) => isNullTest(child, path));
    case "eq":
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      return query.path === path && !matchesMissing(query.value);
    case "in":
      return query.path === path && !query.values.some(matchesMissing);
    case "elemMatch":
      return (
        query.path === path ||
        (query.of === "object" &&
          path.startsWith(`${query.path}.`) &&
          impliesExistence(query.child, path.slice(query.path.length + 1)))
      );
    case "exists":
    case "type":
    case "mod":
    case "regex":
    case "size":
    case "bits":
      return query.path === path;
    default:
      return false;
  }
}

/** null is what a missing field equals; MinKey and MaxKey compare with everything, also with what is missing. */
function matchesMissing({ type }: RawValue): boolean {
  return type === BsonType.null || type === BsonType.minKey || type === BsonType.maxKey;
}

/** `{ path: null }`, or an `$in` with null among its values: what a missing field matches. */
function isNullTest(node: FilterNode, path: string): boolean {
  if (node.op === "eq") return node.path === path && node.value.type === BsonType.null;
  return node.op === "in" && node.path === path && node.values.some(({ type }) => type === BsonType.null);
}

function impliesComparison(query: FilterNode, partial: Comparison): boolean {
  switch (query.op) {
    case "eq":
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      return comparisonImplies(query, partial);
    case "in":
      return (
        query.path === partial.path &&
        query.regexes.length === 0 &&
        query.values.every((value) => comparisonImplies(equalityTo(query, value), partial))
      );
    default:
      return false;
  }
}

function impliesMembership(query: FilterNode, partial: Extract<PathNode, { op: "in" }>): boolean {
  if (query.op === "in") {
    return (
      query.regexes.length === 0 &&
      query.values.every((value) => impliesMembership(equalityTo(query, value), partial))
    );
  }
  return partial.values.some((value) => impliesComparison(query, equalityTo(partial, value)));
}

function equalityTo(node: Extract<PathNode, { op: "in" }>, value: RawValue): Comparison {
  const { path, collation } = node;
  return { op: "eq", path, value, ...(collation && { collation }) };
}

function comparisonImplies(query: Comparison, partial: Comparison): boolean {
  if (query.path !== partial.path || !sameCollation(query.collation, partial.collation)) return false;
  if (canonicalType(query.value.type) !== canonicalType(partial.value.type)) return false;
  const includesEqual = (op: Comparison["op"]) => op === "eq" || op === "gte" || op === "lte";
  if (isNaNValue(query.value) || isNaNValue(partial.value)) {
    return (
      isNaNValue(query.value) &&
      isNaNValue(partial.value) &&
      includesEqual(query.op) &&
      includesEqual(partial.op)
    );
  }
  const order = compareValues(query.value, partial.value, partial.collation);
  if (query.op === partial.op && order === 0) return true;
  switch (partial.op) {
    case "lt":
    case "lte":
      if (query.op !== "lt" && query.op !== "lte" && query.op !== "eq") return false;
      return order < 0 || (order === 0 && (partial.op === "lte" || query.op === "lt"));
    case "gt":
    case "gte":
      if (query.op !== "gt" && query.op !== "gte" && query.op !== "eq") return false;
      return order > 0 || (order === 0 && (partial.op === "gte" || query.op === "gt"));
    default:
      return false;
  }
}

/** The same condition, word for word. */
function isEquivalent(a: FilterNode, b: FilterNode): boolean {
  if (a.op !== b.op || a.op === "sampleRate") return false;
  if ("collation" in a || "collation" in b) {
    const collationOf = (node: FilterNode) => ("collation" in node ? node.collation : undefined);
    if (!sameCollation(collationOf(a), collationOf(b))) return false;
  }
  const [x, y] = [filterDocument(a), filterDocument(b)];
  return x.length === y.length && x.every((byte, i) => byte === y[i]);
}
