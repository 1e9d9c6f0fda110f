/**
 * The filter of a partial index: which documents it holds.
 *
 * It may use what the planner can reason about, so that it can prove of a query
 * that the index holds everything the query could match: comparisons, `$in`,
 * `$exists: true`, `$type`, `$and`, `$or`. A document enters and leaves the
 * index as updates make it match or not.
 */
import type { Collation, RawValue } from "../../bson/index.js";
import {
  asDocument,
  BsonType,
  describeValue,
  document,
  elements,
  fields,
  sortableValue,
} from "../../bson/index.js";
import { CommandError, notSimulated } from "../../protocol/index.js";
import type { Filter, FilterNode } from "../../query/index.js";
import { compileFilter, filterDocument } from "../../query/index.js";
import { cannotCreate } from "./keyPattern.js";

/** A partial index's filter, as it was given and ready for use. */
export interface PartialFilter {
  readonly document: Uint8Array;
  readonly filter: Filter;
}

/** Deepest nesting of `$and` and `$or`, the predicates included. */
const MOST_LEVELS = 4;
/** Operators that no filter in the catalog may have. */
const BANNED: ReadonlySet<string> = new Set(["$expr", "$where", "$text", "$jsonSchema", "$sampleRate"]);
const QUERY_FEATURE_NOT_ALLOWED = 224;

/**
 * Reads a `partialFilterExpression`.
 * @param collation the index's
 * @throws CommandError CannotCreateIndex (67) for operators that a partial index cannot have, 224 for `$expr` and its
 *   like, and what compiling a filter throws
 * @since MongoDB 3.2; `$or` and `$in` since 6.0
 */
export function parsePartialFilter(filterOfIndex: Uint8Array, collation?: Collation): PartialFilter {
  refuseBanned(filterOfIndex);
  const copy = filterOfIndex.slice();
  const filter = compileFilter(copy, collation && { collation });
  checkNode(filter.node, 1);
  return { document: copy, filter };
}

/** Looks for banned operators wherever a whole condition may stand. */
function refuseBanned(filter: Uint8Array): void {
  for (const [name, value] of fields(filter)) {
    if (BANNED.has(name))
      throw new CommandError(QUERY_FEATURE_NOT_ALLOWED, `${name} is not allowed in this context`);
    if (value.type !== BsonType.array || !/^\$(?:and|or|nor)$/.test(name)) continue;
    for (const part of elements(asDocument(value)))
      if (part.type === BsonType.object) refuseBanned(asDocument(part));
  }
}

function checkNode(node: FilterNode, level: number): void {
  if (level > MOST_LEVELS) throw cannotCreate(`partialFilterExpression depth may not exceed ${MOST_LEVELS}`);
  switch (node.op) {
    case "and":
    case "or":
      for (const child of node.children) checkNode(child, level + 1);
      return;
    case "eq":
    case "gt":
    case "gte":
    case "lt":
    case "lte":
    case "exists":
    case "type":
      return;
    case "in":
      if (node.regexes.length > 0)
        throw notSimulated("a regular expression in an $in of a partialFilterExpression");
      return;
    case "alwaysFalse":
      return;
    default:
      throw cannotCreate(`Expression not supported in partial index: ${debugText(node, 0)}`);
  }
}

/** A tree as MongoDB's messages print it: one node a line, children indented. */
function debugText(node: FilterNode, depth: number): string {
  const indent = "    ".repeat(depth);
  switch (node.op) {
    case "and":
    case "or":
    case "nor":
      return `${indent}$${node.op}\n${node.children.map((child) => debugText(child, depth + 1)).join("")}`;
    case "not":
      return `${indent}$not\n${debugText(node.child, depth + 1)}`;
    case "eq":
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      return `${indent}${node.path} $${node.op} ${describeValue(node.value)}\n`;
    case "exists":
      return `${indent}${node.path} exists\n`;
    default:
      return `${indent}${describeValue(document(filterDocument(node)))}\n`;
  }
}

/** Whether two indexes hold the same documents, as far as their filters say so in the same words. */
export function samePartialFilter(a: PartialFilter | undefined, b: PartialFilter | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return normalForm(a.filter.node) === normalForm(b.filter.node);
}

/** A text that is the same for trees that differ in the order of their conditions only. */
function normalForm(node: FilterNode): string {
  if (node.op === "and" || node.op === "or")
    return `${node.op}(${node.children.map(normalForm).sort().join(",")})`;
  const value: RawValue = document(filterDocument(node));
  return sortableValue(value);
}
