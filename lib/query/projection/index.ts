import { isEmptyDocument } from "../../bson/index.js";
import type { ExpressionOptions } from "../expression/context.js";
import type { FilterNode } from "../filter/node.js";
import { parse } from "./parse.js";

/**
 * Compiles a projection as `find` takes it.
 * @param spec `{}` keeps everything; `{ a: 1 }` includes, `{ a: 0 }` excludes; `_id` is included unless excluded;
 *   values may be expressions, `$slice` or `$elemMatch`, and `"a.$": 1` is the element that the query matched
 * @param filter the query's filter, for the positional operator
 * @returns a function from document to projected document; kept fields stay in the document's order, computed ones
 *   follow in the specification's
 * @throws CommandError 31253/31254 for mixing inclusion and exclusion, 31249/31250 for colliding paths, 31276 for
 *   a second positional operator, 31394 for one in the middle of a path; the function throws 51246 where there is an
 *   array and the filter matched by no element
 * @example compileProjection(toDocument({ _id: 0, n: 1 }))(toDocument({ _id: 1, n: 2, m: 3 })) // { n: 2 }
 */
export function compileProjection(
  spec: Uint8Array,
  options: ExpressionOptions = {},
  filter?: FilterNode,
): (doc: Uint8Array) => Uint8Array {
  if (isEmptyDocument(spec)) return (doc) => doc;
  const { tree, after } = parse(spec, "find", options, filter);
  if (after.length === 0) return (doc) => tree.apply(doc);
  return (doc) => after.reduce((projected, change) => change(projected, doc), tree.apply(doc));
}

export { isPositionalProjection, isSimpleProjection, projectedPaths, type ProjectedPaths } from "./shape.js";
export { parseAddFields, parseProjection, parseUnset } from "./stages.js";
export type { ProjectionTree } from "./tree.js";
