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
 *
 * What only a shard knows of a document — its record's number, the index key
 * that led to it — is then asked for in hidden fields and taken off again:
 *
 *     client   {find, sort: {x: 1}, projection: {name: 1}, showRecordId: true}
 *     shard    {find, sort: {x: 1}, projection: {__recordId: {$meta: "recordId"}}}
 *     router   merge by x → take off __recordId → project {name: 1} → add $recordId
 */
import type { RawValue } from "../../bson/index.js";
import { BsonType, document, fields, int64, isTruthy, toDocument, topLevelNames } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import { metaNames } from "../../query/index.js";
import type { Changes } from "../support/forward.js";

/** The client's options that matter for merging. */
export interface FindOptions {
  /** The sort, or undefined for none or `{$natural: …}`. */
  readonly sort: Uint8Array | undefined;
  readonly projection: Uint8Array | undefined;
  readonly skip: number;
  /** undefined for none */
  readonly limit: number | undefined;
  readonly showRecordId?: boolean;
  readonly returnKey?: boolean;
}

/** Metadata that shards send in a hidden field. */
export type HiddenMeta = "recordId" | "indexKey";

/** What the router makes of each merged document. */
export interface RouterProjection {
  /** undefined: the document as it is */
  readonly projection: Uint8Array | undefined;
  /** What the shards sent in hidden fields. */
  readonly hidden: readonly HiddenMeta[];
  readonly showRecordId: boolean;
  /** The index key in place of the document. */
  readonly returnKey: boolean;
}

/** The division of work. */
export interface FindPlan {
  /** How the command to the shards differs from the client's. */
  readonly shardChanges: Changes;
  /** What the router does after merging; undefined for nothing. */
  readonly afterMerge: RouterProjection | undefined;
}

/** The hidden field of some metadata. */
export function hiddenField(name: HiddenMeta): string {
  return `__shardlab_${name}`;
}

/** Divides a find that goes to several shards. */
export function planFind(options: FindOptions): FindPlan {
  const { sort, projection, skip, limit, showRecordId = false, returnKey = false } = options;
  const window = { skip: undefined, limit: limitOfShards(limit, skip), singleBatch: undefined };
  const keepsProjection =
    !sort || (!returnKey && (!projection || keepsSortFields(projection, topLevelNames(sort))));
  if (keepsProjection) return { shardChanges: window, afterMerge: undefined };
  const hidden = new Set<HiddenMeta>();
  const asked = projection ? metaNames(projection) : new Set<string>();
  if (showRecordId || asked.has("recordId")) hidden.add("recordId");
  if (returnKey || asked.has("indexKey")) hidden.add("indexKey");
  return {
    shardChanges: {
      ...window,
      projection: hidden.size > 0 ? document(hiddenProjection([...hidden])) : undefined,
      showRecordId: undefined,
      returnKey: undefined,
    },
    afterMerge: { projection, hidden: [...hidden], showRecordId, returnKey },
  };
}

/** Nothing but metadata: all fields of the document stay. */
function hiddenProjection(names: readonly HiddenMeta[]): Uint8Array {
  return toDocument(Object.fromEntries(names.map((name) => [hiddenField(name), { $meta: name }])));
}

/**
 * How many documents a shard may be asked for: whatever the others have, limit + skip are enough.
 * @throws CommandError Overflow (15) for a sum that is no 64-bit integer
 */
export function limitOfShards(limit: number | undefined, skip: number): RawValue | undefined {
  if (limit === undefined) return undefined;
  const [most, before] = [limit, skip].map(exactly) as [bigint, bigint];
  const sum = most + before;
  if (sum <= MAX_INT64) return int64(sum);
  throw new CommandError(
    ErrorCode.Overflow,
    `sum of limit and skip cannot be represented as a 64-bit integer, limit: ${most}, skip: ${before}`,
  );
}

const MAX_INT64 = 2n ** 63n - 1n;

/** The greatest 64-bit integer is no double: it has become the power of two above it. */
function exactly(count: number): bigint {
  return count < 2 ** 63 ? BigInt(count) : MAX_INT64;
}

/**
 * Whether documents still have all sort fields, unchanged, after a projection.
 * Unsure means no.
 */
function keepsSortFields(projection: Uint8Array, sortPaths: readonly string[]): boolean {
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
