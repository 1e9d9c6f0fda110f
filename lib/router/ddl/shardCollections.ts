/**
 * What a shard knows about a collection, and making another shard know it too.
 *
 * A shard is an ordinary server: its part of a sharded collection is an
 * ordinary collection. The primary shard always has one; other shards get
 * theirs, with the same options and indexes, when they get their first chunk.
 */
import type { RawValue } from "../../bson/index.js";
import {
  asDocument,
  asString,
  BsonType,
  compareDocuments,
  DocumentWriter,
  fields,
  forEachField,
  getField,
  isTruthy,
  string,
} from "../../bson/index.js";
import { CommandError, ErrorCode, failureOf, isOk, readCursorReply, request } from "../../protocol/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { RouterContext } from "../context.js";
import { ShardCursor } from "../merging/shardCursor.js";
import type { IndexSpec } from "./indexRules.js";
import { readIndex } from "./indexRules.js";

/** A collection on one shard, as `listCollections` describes it. */
export interface ShardCollection {
  /** `collection`, `view` or `timeseries` */
  readonly type: string;
  readonly options: Uint8Array;
  readonly uuid: RawValue | undefined;
}

export const SIMPLE_COLLATION = new DocumentWriter().string("locale", "simple").finish();

/** A database and a collection in it. */
export interface Names {
  readonly db: string;
  readonly name: string;
}

/** The collection's description on a shard; undefined when it is not there. */
export async function describeOn(
  context: RouterContext,
  shard: string,
  { db, name }: Names,
): Promise<ShardCollection | undefined> {
  const command = request(db, { listCollections: 1, filter: { name }, cursor: {} });
  const [found] = readCursorReply(await context.shards.run(shard, command)).batch;
  if (!found) return undefined;
  const type = getField(found, "type");
  const options = getField(found, "options");
  const info = getField(found, "info");
  return {
    type: type?.type === BsonType.string ? asString(type) : "collection",
    options: options?.type === BsonType.object ? asDocument(options) : new DocumentWriter().finish(),
    uuid: info?.type === BsonType.object ? getField(asDocument(info), "uuid") : undefined,
  };
}

/** The collection's indexes on a shard; none when it is not there. */
export async function indexesOn(
  context: RouterContext,
  shard: string,
  { db, name }: Names,
): Promise<IndexSpec[]> {
  const reply = await context.shards.run(shard, request(db, { listIndexes: name, cursor: {} }));
  if (!isOk(reply)) {
    const failure = failureOf(reply);
    if (failure.code === ErrorCode.NamespaceNotFound) return [];
    throw failure;
  }
  const cursor = new ShardCursor(context.shards, shard, readCursorReply(reply));
  await cursor.drain();
  const indexes: IndexSpec[] = [];
  for (let raw = cursor.take(); raw; raw = cursor.take()) indexes.push(readIndex(raw));
  return indexes;
}

/** Shards that have the collection: its owners, and the primary, which has its definition. Ascending. */
export function shardsWithParts(context: RouterContext, { db, chunks }: ShardedCollection): string[] {
  const primary = context.catalog.database(db)?.primary;
  return [...new Set([...chunks.owningShards(), ...(primary ? [primary] : [])])].sort();
}

/**
 * Creates the collection and its indexes on `to` as they are on `from`. What is there already stays, unless it is
 * empty and different: then it is what a shard kept when it lost its last chunk, and missed changes since.
 */
export async function copyDefinition(
  context: RouterContext,
  names: Names,
  from: string,
  to: string,
): Promise<void> {
  if (from === to) return;
  const description = await describeOn(context, from, names);
  const indexes = await indexesOn(context, from, names);
  const there = await describeOn(context, to, names);
  if (there) {
    const same = isSame(description, indexes, there, await indexesOn(context, to, names));
    if (same) return;
    if (await isEmptyOn(context, to, names)) await dropOn(context, to, names);
  }
  await createOn(context, to, names, description?.options);
  await createIndexesOn(context, to, names, indexes);
}

function isSame(
  wanted: ShardCollection | undefined,
  indexes: readonly IndexSpec[],
  there: ShardCollection,
  known: readonly IndexSpec[],
): boolean {
  return (
    wanted !== undefined &&
    compareDocuments(wanted.options, there.options) === 0 &&
    indexes.length === known.length &&
    indexes.every(({ raw }) => known.some((other) => compareDocuments(raw, other.raw) === 0))
  );
}

/** Creates indexes as another shard describes them; `_id_` and what is there already is left. */
export async function createIndexesOn(
  context: RouterContext,
  shard: string,
  { db, name }: Names,
  indexes: readonly IndexSpec[],
): Promise<void> {
  const specs = indexes.filter((index) => index.name !== "_id_").map(({ raw }) => asSpec(raw));
  if (specs.length === 0) return;
  const create = new DocumentWriter().string("createIndexes", name).arrayOf("indexes", specs);
  await context.shards.must(shard, db, create.finish());
}

/** Drops a collection or view on a shard, if it is there. */
export async function dropOn(context: RouterContext, shard: string, { db, name }: Names): Promise<void> {
  try {
    await context.shards.must(shard, db, { drop: name });
  } catch (error) {
    if (!(error instanceof CommandError) || error.code !== ErrorCode.NamespaceNotFound) throw error;
  }
}

/** Creates a collection unless it is there. */
export async function createOn(
  context: RouterContext,
  shard: string,
  { db, name }: Names,
  options?: Uint8Array,
): Promise<void> {
  const create = new DocumentWriter().string("create", name);
  if (options) create.fieldsOf(options);
  try {
    await context.shards.must(shard, db, create.finish());
  } catch (error) {
    if (!(error instanceof CommandError) || error.code !== ErrorCode.NamespaceExists) throw error;
  }
}

/** Whether the shard's part holds no document. */
export async function isEmptyOn(
  context: RouterContext,
  shard: string,
  { db, name }: Names,
): Promise<boolean> {
  const command = request(db, { find: name, limit: 1, singleBatch: true, projection: { _id: 1 } });
  return readCursorReply(await context.shards.run(shard, command)).batch.length === 0;
}

/** Those of the indexes that hold a document with an array, in whichever of their fields (§1.5). */
export async function multikeyOn(
  context: RouterContext,
  shard: string,
  names: Names,
  indexes: readonly IndexSpec[],
): Promise<Set<IndexSpec>> {
  const multikey = new Set<IndexSpec>();
  for (const index of indexes) {
    const paths = fields(index.key).map(([path]) => path);
    if (await hasArraysOn(context, shard, names, paths)) multikey.add(index);
  }
  return multikey;
}

/** Whether any document on the shard has an array on one of the paths. */
async function hasArraysOn(
  context: RouterContext,
  shard: string,
  { db, name }: Names,
  paths: readonly string[],
): Promise<boolean> {
  const isArray = new DocumentWriter().field("$type", string("array")).finish();
  const prefixes = new Set(paths.flatMap(pathAndParents));
  const any = [...prefixes].map((path) => new DocumentWriter().document(path, isArray).finish());
  const filter = new DocumentWriter().arrayOf("$or", any).finish();
  const find = new DocumentWriter().string("find", name).document("filter", filter).int32("limit", 1);
  const reply = await context.shards.run(shard, request(db, find.bool("singleBatch", true).finish()));
  return readCursorReply(reply).batch.length > 0;
}

/** `a.b.c` → `a`, `a.b`, `a.b.c` */
function pathAndParents(path: string): string[] {
  const parts = path.split(".");
  return parts.map((_, i) => parts.slice(0, i + 1).join("."));
}

/**
 * An index description as another shard takes it: without `ns`, which older servers report and none accepts, and
 * with its collation in words. A description that names none means the simple one; a command that names none, the
 * collection's.
 */
function asSpec(raw: Uint8Array): Uint8Array {
  const writer = new DocumentWriter();
  forEachField(raw, (name, value) => {
    if (name !== "ns") writer.field(name, value);
  });
  if (!getField(raw, "collation")) writer.document("collation", SIMPLE_COLLATION);
  return writer.finish();
}

/** Whether the collection's options say that it is capped. */
export function isCapped(description: ShardCollection): boolean {
  return isTruthy(getField(description.options, "capped"));
}
