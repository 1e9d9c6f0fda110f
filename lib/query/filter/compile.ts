import type { ExpressionOptions } from "../expression/context.js";
import { documentTest } from "./match.js";
import type { FilterNode } from "./node.js";
import { parseFilter } from "./parse.js";

/** A filter ready for use on many documents. */
export interface Filter {
  readonly node: FilterNode;
  matches(doc: Uint8Array): boolean;
}

/**
 * Compiles a filter document.
 * @param filter as in `find(filter)`; `{}` matches everything
 * @param options `let`: values of `$$name` variables in `$expr`; `now`: the clock of `$$NOW`
 * @throws CommandError 2 (BadValue) for a malformed filter or an unknown operator, 238 for operators of MongoDB
 *   that are not simulated
 * @example compileFilter(toDocument({ n: { $gt: 5 } })).matches(toDocument({ n: 7 })) // true
 */
export function compileFilter(filter: Uint8Array, options: ExpressionOptions = {}): Filter {
  return filterOf(parseFilter(filter, { ...options, depth: 0 }));
}

/** A filter from its tree. */
export function filterOf(node: FilterNode): Filter {
  return { node, matches: documentTest(node) };
}
