/**
 * What a planner wants to know of a projection.
 *
 * MongoDB names its projection stages by how much work they are:
 *
 *     PROJECTION_SIMPLE    top-level fields in or out, nothing else: copies bytes
 *     PROJECTION_COVERED   simple, an inclusion, and the index keys hold all its fields: no document is fetched
 *     PROJECTION_DEFAULT   everything else: dotted paths, expressions, $slice, $elemMatch, the positional operator
 */
import { BsonType, asDocument, fields, isEmptyDocument, isNumeric, isTruthy } from "../../bson/index.js";
import { operatorOf } from "./parse.js";

/** The paths that a projection lets through. */
export interface ProjectedPaths {
  /** Dotted, in the specification's order, `_id` included where the result has it. */
  readonly paths: readonly string[];
  /** Top-level fields only: PROJECTION_SIMPLE, or PROJECTION_COVERED where an index has them all. */
  readonly simple: boolean;
}

/**
 * The paths of an inclusion without computed fields.
 * @param spec a projection that {@link compileProjection} accepts
 * @returns undefined where more of a document is needed than a list of paths can tell: exclusions, expressions,
 *   `$slice`, `$elemMatch`, the positional operator
 * @example projectedPaths(toDocument({ _id: 0, a: 1, "b.c": 1 })) // { paths: ["a", "b.c"], simple: false }
 */
export function projectedPaths(spec: Uint8Array): ProjectedPaths | undefined {
  const paths: string[] = [];
  let id = true;
  const collect = (doc: Uint8Array, prefix: string): boolean => {
    for (const [name, value] of fields(doc)) {
      const path = prefix + name;
      if (value.type === BsonType.object) {
        const inner = asDocument(value);
        if (operatorOf(value) !== undefined || isEmptyDocument(inner) || !collect(inner, `${path}.`))
          return false;
      } else if (value.type !== BsonType.bool && !isNumeric(value)) {
        return false;
      } else if (isTruthy(value)) {
        if (path.endsWith(".$") || path.includes(".$.")) return false;
        paths.push(path);
      } else if (path === "_id") {
        id = false;
      } else {
        return false;
      }
    }
    return true;
  };
  if (isEmptyDocument(spec) || !collect(spec, "") || paths.length === 0) return undefined;
  if (id && !paths.some((path) => path === "_id" || path.startsWith("_id."))) paths.unshift("_id");
  return { paths, simple: paths.every((path) => !path.includes(".")) };
}

/**
 * Whether a projection is PROJECTION_SIMPLE: only top-level fields, in or out.
 * @param spec a projection that {@link compileProjection} accepts
 */
export function isSimpleProjection(spec: Uint8Array): boolean {
  return fields(spec).every(
    ([name, value]) => !name.includes(".") && (value.type === BsonType.bool || isNumeric(value)),
  );
}

/** Whether a projection has a positional operator, `"a.$": 1`. */
export function isPositionalProjection(spec: Uint8Array): boolean {
  return fields(spec).some(([name, value]) => {
    if (value.type !== BsonType.object) return name.endsWith(".$") || name.includes(".$.");
    return operatorOf(value) === undefined && isPositionalProjection(asDocument(value));
  });
}
