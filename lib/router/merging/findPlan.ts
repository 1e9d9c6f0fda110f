/**
 * What the shards do and what the router does for one `find`: pure policy.
 *
 *     client   {find, filter, sort: {x: 1}, skip: 2, limit: 3, projection: {name: 1}}
 *     shard    {find, filter, sort: {x: 1}, limit: 5}
 *     router   merge by x → skip 2 → limit 3 → project {name: 1}
 *
 * Merging needs the sort fields of every document. A projection that keeps them
 * goes to the shards and saves the transport; one that drops or might change
 * them stays here and is applied after the merge. (A real shard adds a hidden
 * `$sortKey` instead; ordinary servers, which our shards may be, do not.)
 */
import type { RawValue } from "../../bson/index.js";
import { BsonType, fields, int64, isTruthy, topLevelNames } from "../../bson/index.js";
import type { Changes } from "../support/forward.js";

/** The client's options that matter for merging. */
export interface FindOptions {
  /** The sort, or undefined for none or `{$natural: …}`. */
  readonly sort: Uint8Array | undefined;
  readonly projection: Uint8Array | undefined;
  readonly skip: number;
  /** undefined for none */
  readonly limit: number | undefined;
}

/** The division of work. */
export interface FindPlan {
  /** How the command to the shards differs from the client's. */
  readonly shardChanges: Changes;
  /** Projection that the router applies after merging. */
  readonly routerProjection: Uint8Array | undefined;
}

/** Divides a find that goes to several shards. */
export function planFind({ sort, projection, skip, limit }: FindOptions): FindPlan {
  const keepProjection = !sort || !projection || keepsSortFields(projection, topLevelNames(sort));
  return {
    shardChanges: {
      skip: undefined,
      limit: limitOfShards(limit, skip),
      ...(!keepProjection && { projection: undefined }),
    },
    routerProjection: keepProjection ? undefined : projection,
  };
}

/**
 * How many documents a shard may be asked for: whatever the others have, limit + skip are enough. A sum that is no
 * exact number any more limits nothing.
 */
export function limitOfShards(limit: number | undefined, skip: number): RawValue | undefined {
  if (limit === undefined || limit + skip > Number.MAX_SAFE_INTEGER) return undefined;
  return int64(limit + skip);
}

/**
 * Whether documents still have all sort fields, unchanged, after a projection.
 * Unsure means no.
 */
export function keepsSortFields(projection: Uint8Array, sortPaths: readonly string[]): boolean {
  const included: string[] = [];
  const excluded: string[] = [];
  for (const [path, value] of fields(projection)) {
    const plain =
      value.type !== BsonType.object && value.type !== BsonType.array && value.type !== BsonType.string;
    if (!plain || path.includes("$")) return false;
    (isTruthy(value) ? included : excluded).push(path);
  }
  const onlyId = excluded.every((path) => path === "_id");
  if (included.length > 0 && !(included.length === 1 && included[0] === "_id" && !onlyId)) {
    if (!excluded.includes("_id")) included.push("_id");
    return sortPaths.every((path) => included.some((kept) => path === kept || path.startsWith(`${kept}.`)));
  }
  return sortPaths.every((path) => !excluded.some((gone) => overlap(path, gone)));
}

/** Whether one path is the other or lies inside it. */
export function overlap(a: string, b: string): boolean {
  return a === b || a.startsWith(`${b}.`) || b.startsWith(`${a}.`);
}
