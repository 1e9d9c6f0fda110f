/**
 * The predicates of a filter that an index may serve.
 *
 *     { a: 5, b: { $elemMatch: { x: 1, y: { $gt: 2 } } }, $or: [ … ] }
 *
 *     a          eq 5
 *     b.x        eq 1      in the element of b        its $elemMatch must be checked anyway
 *     b.y        gt 2      in the same element of b
 *
 * `$or` is planned apart (orPlans.ts), `$nor` serves no index, as in MongoDB.
 */
import type { FilterNode } from "../../query/index.js";

/** An `$elemMatch` around a predicate. */
export interface ElementScope {
  /** The full path of the array. */
  readonly path: string;
  readonly node: FilterNode;
}

/** A predicate on one path. */
export interface Predicate {
  readonly node: FilterNode;
  /** The full path. */
  readonly path: string;
  /** The condition of the filter that it is, or is a part of. */
  readonly condition: FilterNode;
  /** The `$elemMatch`es around it, outermost first; [] where it is a condition itself. */
  readonly scopes: readonly ElementScope[];
}

/** The conditions that must all hold. */
export function conditionsOf(node: FilterNode): readonly FilterNode[] {
  return node.op === "and" ? node.children : [node];
}

/** The predicates among conditions that must all hold. */
export function predicatesOf(conditions: readonly FilterNode[]): Predicate[] {
  const result: Predicate[] = [];
  for (const condition of conditions) collect(condition, condition, "", [], result);
  return result;
}

function collect(
  node: FilterNode,
  condition: FilterNode,
  prefix: string,
  scopes: readonly ElementScope[],
  result: Predicate[],
): void {
  switch (node.op) {
    case "and":
      for (const child of node.children) collect(child, condition, prefix, scopes, result);
      return;
    case "or":
    case "nor":
    case "alwaysFalse":
      return;
    case "not":
      if ("path" in node.child) result.push({ node, path: prefix + node.child.path, condition, scopes });
      return;
    case "expr":
      if (prefix === "") result.push({ node, path: "", condition, scopes });
      return;
    default:
  }
  if (!("path" in node)) return;
  const path = prefix + node.path;
  if (node.op === "elemMatch" && node.of === "object") {
    collect(node.child, condition, `${path}.`, [...scopes, { path, node }], result);
    return;
  }
  result.push({ node, path, condition, scopes });
}
