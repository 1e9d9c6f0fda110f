/**
 * Short names for query shapes, `queryHash` and `planCacheKey`: 8 hexadecimal digits.
 *
 *     {a: 5, b: {$gt: 3}} sorted by c     "an"(eq a, gt b) ~ c:1      → e.g. 1B9C60E4
 *
 * Queries that differ in values only have the same shape. The hash is not
 * MongoDB's, whose text form of a shape is internal; what matters is that equal
 * shapes have equal hashes, and that the key changes with the indexes in reach.
 */
import { BsonType, describeDocument, fields, isNumeric } from "../../bson/index.js";
import type { FilterNode } from "../../query/index.js";
import type { CollectionIndex } from "../storage/collectionIndex.js";
import { conditionsOf, predicatesOf } from "./predicates.js";
import type { Query } from "./query.js";

/** The hash of a query's shape. */
export function queryHash(query: Query): string {
  return hash(shapeOf(query));
}

/** The hash of a query's shape and of the indexes that it could use. */
export function planCacheKey(query: Query, indexes: readonly CollectionIndex[]): string {
  const paths = new Set(predicatesOf(conditionsOf(query.filter.node)).map(({ path }) => path));
  const relevant = indexes.filter(({ spec }) => !spec.hidden && paths.has(spec.fields[0]?.path ?? ""));
  return hash(`${shapeOf(query)}|${relevant.map(({ spec }) => spec.name).join(",")}`);
}

function shapeOf({ filter, sort, projection, options }: Query): string {
  return [
    nodeShape(filter.node),
    sort ? describeDocument(sort.pattern) : "",
    projection ? projectionShape(projection.spec) : "",
    options.collation ? describeDocument(options.collation.spec) : "",
  ].join("~");
}

function nodeShape(node: FilterNode): string {
  if ("children" in node) return `${node.op}[${node.children.map(nodeShape).sort().join(",")}]`;
  if (node.op === "not") return `not(${nodeShape(node.child)})`;
  if (!("path" in node)) return node.op;
  return node.op === "elemMatch"
    ? `elemMatch ${node.path}(${nodeShape(node.child)})`
    : `${node.op} ${node.path}`;
}

function projectionShape(spec: Uint8Array): string {
  return fields(spec)
    .map(([name, value]) => `${name}:${isNumeric(value) || value.type === BsonType.bool ? "1" : "x"}`)
    .sort()
    .join(",");
}

/** FNV-1a, 32 bits. */
function hash(text: string): string {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return (h >>> 0).toString(16).toUpperCase().padStart(8, "0");
}
