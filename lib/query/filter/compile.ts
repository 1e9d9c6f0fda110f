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
 * @param options `let`: values of `$$name` variables in `$expr`; `now`: the clock of `$$NOW`; `collation`: how
 *   strings compare (not in `$regex`); `random`: the source of `$sampleRate`
 * @throws CommandError 2 (BadValue), 9 (FailedToParse) or 14 (TypeMismatch) for a malformed filter or an unknown
 *   operator, 51091 and 51108 for a malformed regular expression, 238 for what is not simulated
 * @example compileFilter(toDocument({ n: { $gt: 5 } })).matches(toDocument({ n: 7 })) // true
 */
export function compileFilter(filter: Uint8Array, options: ExpressionOptions = {}): Filter {
  return filterOf(parseFilter(filter, options));
}

/** A filter from its tree. Whoever only looks at the tree, to target or to plan, never pays for the test. */
export function filterOf(node: FilterNode): Filter {
  let test: ((doc: Uint8Array) => boolean) | undefined;
  return { node, matches: (doc) => (test ??= documentTest(node))(doc) };
}
