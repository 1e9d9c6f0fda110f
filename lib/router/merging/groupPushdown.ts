/**
 * When a whole `$group` can run on the shards: pure policy (facts-mongos.md §6).
 *
 * Ordinarily the documents of a group lie on several shards, which can only send
 * partial groups. Where the group's `_id` contains the whole shard key, they
 * cannot: equal `_id`s mean equal shard keys, equal shard keys mean one chunk,
 * and a chunk is on one shard. Every group is then complete where it is made:
 *
 *     key {region: 1, user: 1}
 *     {_id: {r: "$region", u: "$user"}}             every group on one shard
 *     {_id: {r: "$region", u: "$user", d: "$day"}}  too
 *     {_id: "$region"}                              one region may span chunks: partial groups
 *     {_id: {$toLower: "$user"}}                    "Anna" and "anna" lie apart: partial groups
 *
 * What must hold, and why:
 *
 * - `_id` has each key field as a plain `"$path"`, as the whole `_id` or as a
 *   field of it. Grouping and routing compare alike: 1 and 1.0 are one group and
 *   one point of the map, hashed or not; missing and null may be two groups, but
 *   are one point.
 * - No collation: under one, "Anna" and "anna" are one group and two points.
 * - No stage before it changes a key field. `$unwind`, `$match` and stages that
 *   set other fields are harmless.
 */
import { asDocument, asString, BsonType, fields, getField, type RawValue } from "../../bson/index.js";
import type { ParsedStage } from "../../query/index.js";

/** Stages that hand on a document's fields as they are. */
const KEEPING: ReadonlySet<string> = new Set(["$match"]);

/**
 * Whether each group is complete on one shard.
 * @param before the stages in front of the `$group`
 * @param group the `$group` stage's argument
 * @param keyPaths the shard key's paths
 */
export function groupsAreLocal(
  before: readonly ParsedStage[],
  group: RawValue,
  keyPaths: readonly string[],
): boolean {
  const id = group.type === BsonType.object ? getField(asDocument(group), "_id") : undefined;
  if (!id) return false;
  const plain = plainPaths(id);
  return keyPaths.every((path) => plain.has(path)) && before.every((stage) => keeps(stage, keyPaths));
}

/** The paths that are grouped by as they are. */
function plainPaths(id: RawValue): Set<string> {
  if (id.type === BsonType.string) return new Set(pathOf(id));
  if (id.type !== BsonType.object) return new Set();
  const list = fields(asDocument(id));
  // An operator in place of an object: {$toLower: "$user"}.
  if (list.some(([name]) => name.startsWith("$"))) return new Set();
  return new Set(list.flatMap(([, value]) => pathOf(value)));
}

function pathOf(value: RawValue): string[] {
  if (value.type !== BsonType.string) return [];
  const text = asString(value);
  return text.startsWith("$") && !text.startsWith("$$") ? [text.slice(1)] : [];
}

/** Whether a stage leaves the key's fields alone. */
function keeps({ name, moves, unwind }: ParsedStage, keyPaths: readonly string[]): boolean {
  if (KEEPING.has(name)) return true;
  // By first names: what sets "a.b" may replace an "a" that was no object.
  const names = keyPaths.map(firstName);
  if (unwind) return !names.includes(firstName(unwind.path)) && !indexNames(unwind.index, names);
  if (!moves) return false;
  if (moves.kind === "only") return !moves.paths.some((path) => names.includes(firstName(path)));
  return keyPaths.every((path) => moves.paths.includes(firstName(path)));
}

function indexNames(index: readonly string[] | undefined, names: readonly string[]): boolean {
  return index?.[0] !== undefined && names.includes(index[0]);
}

function firstName(path: string): string {
  return path.split(".")[0]!;
}
