/**
 * The values that a filter pins: `{ a: 5, $and: [{ b: 1 }] }` pins a and b.
 *
 * The router sends an operation to a single shard when every key field is
 * pinned (facts §4.1), an upsert takes the pinned values into the new document.
 */
import { BsonType, FieldPath, NULL, asDocument, type RawValue } from "../../bson/index.js";
import type { FilterNode } from "../filter/node.js";

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

/** All equalities that must hold, repeated paths included. */
export function* equalities(node: FilterNode): Iterable<{ path: string; value: RawValue }> {
  if (node.op === "eq") yield node;
  else if (node.op === "and") for (const child of node.children) yield* equalities(child);
}

/** A value that can be a shard key's: not an array, not a regular expression, not the deprecated undefined. */
function isStorable(v: RawValue): boolean {
  return v.type !== BsonType.array && v.type !== BsonType.regex && v.type !== BsonType.undefined;
}

/**
 * The value that every match has at `path`, by an equality on the path itself
 * or on an object around it: `{ a: { b: 1 } }` pins "a.b" to 1 and "a.c" to
 * null (missing). Undefined where nothing pins it, or where the value could
 * not be a shard key's (an array, a regular expression).
 */
export function pinnedValue(node: FilterNode, path: string): RawValue | undefined {
  const pinned = equalityValues(node);
  const direct = pinned.get(path);
  if (direct !== undefined) return isStorable(direct) ? direct : undefined;
  for (let dot = path.lastIndexOf("."); dot > 0; dot = path.lastIndexOf(".", dot - 1)) {
    const parent = pinned.get(path.slice(0, dot));
    if (parent === undefined) continue;
    if (parent.type !== BsonType.object) return undefined;
    const rest = new FieldPath(path.slice(dot + 1));
    const inner = asDocument(parent);
    if (rest.meetsArray(inner)) return undefined;
    const value = rest.get(inner) ?? NULL;
    return isStorable(value) ? value : undefined;
  }
  return undefined;
}
