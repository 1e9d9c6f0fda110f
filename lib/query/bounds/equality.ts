/**
 * The values that a filter pins: `{ a: 5, $and: [{ b: 1 }] }` pins a and b.
 *
 * The router sends an operation to a single shard when every key field is
 * pinned (facts §4.1), an upsert takes the pinned values into the new document.
 */
import { BsonType, FieldPath, asDocument, type RawValue } from "../../bson/index.js";
import type { FilterNode, PathNode } from "../filter/node.js";
import { mayHoldString } from "../filter/operators.js";

/**
 * Paths that an equality at the top level or under `$and` pins, in the
 * filter's order, with their values as they are (arrays included). Where one
 * path is pinned twice the first wins.
 */
export function equalityValues(node: FilterNode): Map<string, RawValue> {
  const pinned = new Map<string, RawValue>();
  for (const { path, value } of equalities(node)) if (!pinned.has(path)) pinned.set(path, value);
  return pinned;
}

/** An equality that must hold, with the collation that strings in it compare by. */
type Equality = Pick<PathNode & { readonly op: "eq" }, "path" | "value" | "collation">;

/** All equalities that must hold, repeated paths included. */
export function* equalities(node: FilterNode): Iterable<Equality> {
  if (node.op === "eq") yield node as PathNode & { readonly op: "eq" };
  else if (node.op === "and") for (const child of node.children) yield* equalities(child);
}

/** A value that can be a shard key's: not an array, not a regular expression, not the deprecated undefined. */
function isStorable(v: RawValue): boolean {
  return v.type !== BsonType.array && v.type !== BsonType.regex && v.type !== BsonType.undefined;
}

/**
 * The value that every match has at `path`, by an equality on the path itself
 * or on an object around it: `{ a: { b: 1 } }` pins "a.b" to 1.
 *
 * Undefined where nothing pins it, an object without the field ("a.c") included;
 * where two equalities do (MongoDB leaves such filters to the bounds); where the value could not be a shard key's (an array,
 * a regular expression); and where a collation lets other values equal it.
 */
export function pinnedValue(node: FilterNode, path: string): RawValue | undefined {
  let found: Equality | undefined;
  for (const equality of equalities(node)) {
    if (equality.path !== path && !path.startsWith(`${equality.path}.`)) continue;
    if (found !== undefined) return undefined;
    found = equality;
  }
  const value = found && valueAt(found, path);
  if (value === undefined || !isStorable(value)) return undefined;
  return found?.collation !== undefined && mayHoldString(value) ? undefined : value;
}

/** The value at `path` of whatever equals the equality's: itself, or one inside an object. */
function valueAt({ path: pinned, value }: Equality, path: string): RawValue | undefined {
  if (pinned === path) return value;
  if (value.type !== BsonType.object) return undefined;
  const rest = new FieldPath(path.slice(pinned.length + 1));
  const inner = asDocument(value);
  return rest.meetsArray(inner) ? undefined : rest.get(inner);
}
