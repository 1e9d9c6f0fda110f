/**
 * The collection that `$out` or `$merge` writes: what is known of it, and
 * whether it may be written so (facts-mongos.md §6).
 */
import type { Collation } from "../../../bson/index.js";
import {
  asDocument,
  BsonType,
  DocumentWriter,
  fields,
  getField,
  isTruthy,
  sameCollation,
} from "../../../bson/index.js";
import { CommandError, failureOf, isOk, readCursorReply, request } from "../../../protocol/index.js";
import type { MergeModes, Source } from "../../../query/index.js";
import { parseCollation } from "../../../query/index.js";
import type { ShardedCollection } from "../../catalog/entries.js";
import type { RouterContext } from "../../context.js";
import { homeOf } from "../../context.js";
import { isView, notACollection } from "../../views/resolve.js";
import { ShardCursor } from "../shardCursor.js";

/** An index of the target, as far as `$merge` cares. */
export interface TargetIndex {
  /** As listIndexes describes it. */
  readonly spec: Uint8Array;
  readonly paths: readonly string[];
  readonly unique: boolean;
  readonly partial: boolean;
  readonly sparse: boolean;
  readonly collation: Collation | undefined;
}

/** What is known of a target. */
export interface OutputTarget {
  readonly db: string;
  readonly name: string;
  readonly ns: string;
  readonly isView: boolean;
  readonly sharded: ShardedCollection | undefined;
  /** Its options as listCollections tells them; undefined where it does not exist. */
  readonly options: Uint8Array | undefined;
  readonly indexes: readonly TargetIndex[];
}

/** Asks for what is known of a collection. */
export async function outputTarget(
  context: RouterContext,
  { db, collection }: Source,
): Promise<OutputTarget> {
  const ns = `${db}.${collection}`;
  const sharded = context.catalog.collection(ns);
  const target = { db, name: collection, ns, sharded, isView: false, options: undefined, indexes: [] };
  const home = homeOf(context, db, ns);
  if (!sharded && !home.exists) return target;
  if (await isView(context, ns)) return { ...target, isView: true };
  // Every shard that owns chunks has the collection with its options and indexes.
  const shard = sharded ? sharded.chunks.owningShards()[0]! : home.shard;
  const [entry] = await list(context, shard, db, {
    listCollections: 1,
    filter: { name: collection },
    cursor: {},
  });
  if (!entry) return target;
  const options = getField(entry, "options");
  const indexes = await list(context, shard, db, { listIndexes: collection, cursor: {} });
  return {
    ...target,
    options: options?.type === BsonType.object ? asDocument(options) : new DocumentWriter().finish(),
    indexes: indexes.map(indexOf),
  };
}

async function list(
  context: RouterContext,
  shard: string,
  db: string,
  command: object,
): Promise<Uint8Array[]> {
  const reply = await context.shards.run(shard, request(db, command));
  if (!isOk(reply)) throw failureOf(reply);
  const cursor = new ShardCursor(context.shards, shard, readCursorReply(reply));
  await cursor.drain();
  const found: Uint8Array[] = [];
  for (let document = cursor.take(); document; document = cursor.take()) found.push(document);
  return found;
}

function indexOf(spec: Uint8Array): TargetIndex {
  const key = getField(spec, "key");
  const paths = key ? fields(asDocument(key)).map(([path]) => path) : [];
  const collation = getField(spec, "collation");
  return {
    spec,
    paths,
    unique: isTruthy(getField(spec, "unique")) || (paths.length === 1 && paths[0] === "_id"),
    partial: getField(spec, "partialFilterExpression") !== undefined,
    sparse: isTruthy(getField(spec, "sparse")),
    collation: collation?.type === BsonType.object ? parseCollation(asDocument(collation)) : undefined,
  };
}

/**
 * Whether `$out` may replace a collection.
 * @throws CommandError CommandNotSupportedOnView (166), 28769 for a sharded collection, 17152 for a capped one
 */
export function checkOut(target: OutputTarget): void {
  if (target.isView) throw notACollection(target.ns);
  if (target.sharded) throw cannotBeSharded(target.ns);
  const capped = target.options && getField(target.options, "capped");
  if (isTruthy(capped)) {
    throw new CommandError(17152, `namespace '${target.ns}' is capped so it can't be used for $out`);
  }
}

/** The error of a stage that takes unsharded collections only. */
export function cannotBeSharded(ns: string): CommandError {
  return new CommandError(28769, `${ns} cannot be sharded`);
}

/**
 * The fields by which `$merge` finds a document's counterpart. Without `on` they are `_id` and, in a sharded
 * collection, the shard key: together they are in one shard only, and `_id` is unique there.
 */
export function mergeFields(target: OutputTarget, { on }: MergeModes): string[] {
  if (on) return [...on];
  return [...new Set(["_id", ...(target.sharded?.key.paths ?? [])])];
}

/**
 * Whether `$merge` may write a collection.
 * @param collation of the aggregation; the index must have the same
 * @returns the unique index over the fields `on`; undefined where none is needed
 * @throws CommandError CommandNotSupportedOnView (166), 51190 where no unique index covers `on`, or in a sharded
 *   collection where `on` lacks a shard key field: uniqueness ends at the shard
 */
export function checkMerge(
  target: OutputTarget,
  { on }: MergeModes,
  collation: Collation | undefined,
): TargetIndex | undefined {
  if (target.isView) throw notACollection(target.ns);
  if (on === undefined) return undefined;
  const wanted = new Set(on);
  if (!target.options && wanted.size === 1 && wanted.has("_id")) return undefined;
  const keyIsIn = target.sharded?.key.paths.every((path) => wanted.has(path)) ?? true;
  const index = target.indexes.find(
    (each) =>
      each.unique &&
      !each.partial &&
      each.paths.length === wanted.size &&
      each.paths.every((path) => wanted.has(path)) &&
      sameCollation(each.collation, collation),
  );
  if (!index || !keyIsIn) {
    throw new CommandError(51190, "Cannot find index to verify that join fields will be unique");
  }
  return index;
}
