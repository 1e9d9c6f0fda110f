/**
 * Which element of an array a filter matched: what the positional `$` of updates and projections stands for.
 *
 *     filter { "grades.score": { $lt: 50 } } on { grades: [{ score: 80 }, { score: 40 }] }   →   1
 *
 * It is the index in the outermost array that a condition's path led through
 * without naming an index. Where several conditions lead through arrays the
 * one that is looked at last counts, and MongoDB looks at them in an order of
 * its own: by operator, then by path. Conditions under a negation or an `$or`
 * tell nothing; an `$or` of equalities on one path is an `$in`.
 */
import { BsonType, array, asDocument, elements, getField, type RawValue } from "../../bson/index.js";
import type { ExpressionOptions } from "../expression/context.js";
import { isArrayIndex } from "../values/types.js";
import { documentTest, singleValueTest } from "./match.js";
import type { FilterNode, PathNode } from "./node.js";

/**
 * The index of the array element that a matching document matched by.
 * @param doc a document that the filter matches
 * @returns undefined where no condition led through an array
 */
export function matchedPosition(
  node: FilterNode,
  doc: Uint8Array,
  options: ExpressionOptions = {},
): number | undefined {
  switch (node.op) {
    case "and": {
      let found: number | undefined;
      for (const child of inOrder(node.children)) found = matchedPosition(child, doc, options) ?? found;
      return found;
    }
    case "or": {
      if (!isMembership(node.children)) return undefined;
      const found = node.children.flatMap((child) => matchedPosition(child, doc, options) ?? []);
      return found.length > 0 ? Math.min(...found) : undefined;
    }
    default:
      return "path" in node ? pathPosition(node, doc, node.path.split("."), 0) : undefined;
  }
}

/** MongoDB's order of evaluation, as far as it tells conditions apart that lead through arrays. */
const ORDER: ReadonlyArray<FilterNode["op"]> = [
  "and",
  "or",
  "elemMatch",
  "size",
  "eq",
  "lte",
  "lt",
  "gt",
  "gte",
  "regex",
  "mod",
  "exists",
  "in",
  "bits",
  "not",
  "nor",
  "type",
];

function inOrder(children: readonly FilterNode[]): readonly FilterNode[] {
  if (children.length < 2) return children;
  const path = (node: FilterNode) => ("path" in node ? node.path : "");
  return [...children].sort(
    (x, y) =>
      ORDER.indexOf(x.op) - ORDER.indexOf(y.op) || (path(x) < path(y) ? -1 : path(x) > path(y) ? 1 : 0),
  );
}

function isMembership(children: readonly FilterNode[]): boolean {
  const [first] = children;
  return children.every(
    (child) =>
      (child.op === "eq" || child.op === "in" || child.op === "regex") &&
      "path" in first! &&
      child.path === first.path,
  );
}

/** Follows parts[at…] through objects to the first array. */
function pathPosition(
  node: PathNode,
  doc: Uint8Array,
  parts: readonly string[],
  at: number,
): number | undefined {
  let object = doc;
  for (let i = at; i < parts.length; i++) {
    const value = getField(object, parts[i]!);
    if (value === undefined) return undefined;
    if (value.type === BsonType.array) return inArray(node, value, parts, i + 1);
    if (value.type !== BsonType.object) return undefined;
    object = asDocument(value);
  }
  return undefined;
}

function inArray(node: PathNode, value: RawValue, parts: readonly string[], at: number): number | undefined {
  const list = elements(asDocument(value));
  const found = list.findIndex(at === parts.length ? elementTest(node) : objectTest(node, parts.slice(at)));
  if (found >= 0) return found;
  const part = parts[at];
  if (part === undefined || !isArrayIndex(part)) return undefined;
  const named = list[Number(part)];
  if (named?.type === BsonType.object) return pathPosition(node, asDocument(named), parts, at + 1);
  return named?.type === BsonType.array ? inArray(node, named, parts, at + 1) : undefined;
}

function elementTest(node: PathNode): (element: RawValue) => boolean {
  if (node.op === "size" || node.op === "exists") return () => false; // they ask about the array itself
  const test = singleValueTest({ ...node, path: "" } as PathNode, false);
  return node.op === "elemMatch" ? (element) => test(array([element])) : test;
}

function objectTest(node: PathNode, rest: readonly string[]): (element: RawValue) => boolean {
  const test = documentTest({ ...node, path: rest.join(".") } as PathNode);
  return (element) => element.type === BsonType.object && test(asDocument(element));
}
