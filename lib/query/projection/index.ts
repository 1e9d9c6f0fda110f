import { isEmptyDocument } from "../../bson/index.js";
import type { ExpressionOptions } from "../expression/context.js";
import { parseProjection } from "./parse.js";

/**
 * Compiles a projection as `find` takes it.
 * @param spec `{}` keeps everything; `{ a: 1 }` includes, `{ a: 0 }` excludes; `_id` is included unless excluded;
 *   values may be expressions, `$slice` or `$elemMatch`
 * @returns a function from document to projected document; kept fields stay in the document's order
 * @throws CommandError 31253/31254 for mixing inclusion and exclusion, 31249/31250 for colliding paths, 238 for the
 *   positional operator and `$meta`
 * @example compileProjection(toDocument({ _id: 0, n: 1 }))(toDocument({ _id: 1, n: 2, m: 3 })) // { n: 2 }
 */
export function compileProjection(
  spec: Uint8Array,
  options: ExpressionOptions = {},
): (doc: Uint8Array) => Uint8Array {
  if (isEmptyDocument(spec)) return (doc) => doc;
  const tree = parseProjection(spec, "find", options);
  return (doc) => tree.apply(doc);
}

export { parseAddFields, parseProjection, parseUnset } from "./parse.js";
export type { ProjectionTree } from "./tree.js";
