/**
 * Careful writes: find one document, look at it, write exactly that one.
 *
 *     phase 1   ask the targeted shards for one match each, choose one
 *     phase 2   apply the update here, compare the shard key before and after:
 *                 same key, or another key on the same shard ──► replace it there
 *                 a key that another shard owns ──► insert it there, then delete it here
 *               nothing found and upsert ──► insert the new document where its key belongs
 *
 * This serves two of MongoDB's features at once: single writes without the
 * shard key (7.1+, "two-phase", facts-mongos.md §4.3–4.4) and changing a
 * document's shard key value (4.2+, §4.5). A real cluster wraps the phases in a
 * transaction. Here the caller holds the collection alone, so nobody can see or
 * disturb the moment between them; and a failure in phase 2 leaves the document
 * whole on one shard, because it is deleted only after it arrived.
 */
import type { RawValue } from "../../bson/index.js";
import {
  asDocument,
  BsonType,
  document,
  DocumentWriter,
  elements,
  fromDocument,
  getField,
  valuesIdentical,
} from "../../bson/index.js";
import { CommandError, ErrorCode, failureOf, isOk, readCursorReply, request } from "../../protocol/index.js";
import type { FilterNode, Update } from "../../query/index.js";
import { compileSort, upsertDocument } from "../../query/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { RouterContext } from "../context.js";
import { askShards } from "../merging/scatter.js";
import { deleteByIds } from "../support/collections.js";
import type { Targeting } from "../targeting/target.js";

/** A document and the shard that has it. */
export interface Located {
  readonly shard: string;
  readonly document: Uint8Array;
}

/** How to find the document. */
export interface Search {
  readonly filter: Uint8Array;
  readonly node: FilterNode;
  readonly target: Targeting;
  readonly sort?: Uint8Array | undefined;
  readonly hint?: RawValue | undefined;
  /** The command's `let`. */
  readonly variables?: Uint8Array | undefined;
}

/** What a careful update did. */
export type UpdateOutcome =
  | { readonly kind: "notFound" }
  | {
      readonly kind: "updated";
      readonly before: Uint8Array;
      readonly after: Uint8Array;
      readonly modified: boolean;
    }
  | { readonly kind: "upserted"; readonly id: RawValue; readonly after: Uint8Array };

/**
 * Phase 1: one match, the first by the sort, else of the first shard that has one.
 */
export async function locateOne(
  context: RouterContext,
  collection: ShardedCollection,
  { filter, target, sort, hint, variables }: Search,
): Promise<Located | undefined> {
  const find = new DocumentWriter().string("find", collection.name).document("filter", filter);
  if (sort) find.document("sort", sort);
  if (hint) find.field("hint", hint);
  if (variables) find.document("let", variables);
  const command = request(collection.db, find.int32("limit", 1).bool("singleBatch", true).finish());
  const replies = await askShards(context, target.shards, () => command);
  const found = replies.flatMap(({ shard, reply }) => {
    const [first] = readCursorReply(reply).batch;
    return first ? [{ shard, document: first }] : [];
  });
  if (!sort || found.length < 2) return found[0];
  const compiled = compileSort(sort);
  return found.reduce((best, other) =>
    compiled.key(other.document) < compiled.key(best.document) ? other : best,
  );
}

/**
 * Both phases of an update of one document.
 * @param retryable the command came with a transaction number
 * @throws CommandError the refusals of §4.5, and what the shards report
 */
export async function updateOneAlone(
  context: RouterContext,
  collection: ShardedCollection,
  search: Search,
  update: Update,
  options: { upsert: boolean; retryable: boolean },
): Promise<UpdateOutcome> {
  const now = context.environment.now();
  const found = await locateOne(context, collection, search);
  if (!found) {
    if (!options.upsert) return { kind: "notFound" };
    const upserting = { now, isInsert: true, newId: () => context.ids.objectId() };
    return insertUpserted(context, collection, upsertDocument(search.node, update, upserting));
  }
  const before = found.document;
  const after = update.apply(before, { now, filter: search.node });
  if (after === before) return { kind: "updated", before, after, modified: false };
  const id = getField(before, "_id")!;
  const newId = getField(after, "_id");
  if (!newId || !valuesIdentical(id, newId)) {
    throw new CommandError(
      ErrorCode.ImmutableField,
      "Performing an update on the path '_id' would modify the immutable field '_id'",
    );
  }
  const owner =
    ownerAfter(context, collection, search.target, before, after, options.retryable) ?? found.shard;
  if (owner === found.shard) await replaceById(context, collection, owner, id, after);
  else await moveDocument(context, collection, found.shard, owner, id, after);
  return { kind: "updated", before, after, modified: true };
}

/**
 * Checks that no matching document would get another shard key by a multi update.
 * @throws CommandError InvalidOptions (72)
 */
export async function refuseKeyChanges(
  context: RouterContext,
  collection: ShardedCollection,
  { filter, node, target, variables }: Search,
  update: Update,
): Promise<void> {
  const writer = new DocumentWriter().string("find", collection.name).document("filter", filter);
  if (variables) writer.document("let", variables);
  const find = writer.finish();
  const now = context.environment.now();
  for (const shard of target.shards) {
    let reply = await context.shards.run(shard, request(collection.db, find));
    for (;;) {
      const { id, batch } = readCursorReply(reply);
      for (const before of batch) {
        const after = update.apply(before, { now, filter: node });
        if (after === before || sameKey(collection, before, after)) continue;
        throw new CommandError(
          ErrorCode.InvalidOptions,
          "Multi-update operations are not allowed when updating the shard key field.",
        );
      }
      if (id === 0n) break;
      reply = await context.shards.run(
        shard,
        request(collection.db, { getMore: id, collection: collection.name }),
      );
    }
  }
}

/**
 * The shard that owns the document after the update; undefined when the key is the same.
 * @throws CommandError where the rules do not allow the change
 */
function ownerAfter(
  context: RouterContext,
  collection: ShardedCollection,
  target: Targeting,
  before: Uint8Array,
  after: Uint8Array,
  retryable: boolean,
): string | undefined {
  const { key, chunks } = collection;
  if (sameKey(collection, before, after)) return undefined;
  const { rules } = context;
  if (!rules.keyValuesChangeable) {
    throw new CommandError(
      ErrorCode.ImmutableField,
      `After applying the update, the immutable field '${key.paths.join(", ")}' was found to have been altered`,
    );
  }
  if (!retryable) {
    throw new CommandError(
      ErrorCode.IllegalOperation,
      "Must run update to shard key field in a multi-statement transaction or with retryWrites: true.",
    );
  }
  if (rules.keyChangeNeedsFullKey && target.kind !== "shardKey") {
    throw new CommandError(
      31025,
      "Shard key update is not allowed without specifying the full shard key in the query",
    );
  }
  return chunks.ownerOf(chunks.find(key.keyOf(after)));
}

/**
 * Whether the key values are the same, byte for byte. A missing field and an
 * explicit null are the same key (§4.5).
 * @throws CommandError NotSingleValueField (54) when the update made an array of one
 */
function sameKey({ key }: ShardedCollection, before: Uint8Array, after: Uint8Array): boolean {
  const old = key.originalsOf(before);
  let next: (RawValue | undefined)[];
  try {
    next = key.originalsOf(after);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw new CommandError(
      ErrorCode.NotSingleValueField,
      `After applying the update, a field of the shard key ${key.text} was found to be an array or array descendant.`,
    );
  }
  return old.every((value, i) => {
    const other = next[i];
    if (value && other) return valuesIdentical(value, other);
    return (value ?? other ?? { type: BsonType.null }).type === BsonType.null;
  });
}

async function insertUpserted(
  context: RouterContext,
  collection: ShardedCollection,
  after: Uint8Array,
): Promise<UpdateOutcome> {
  const { key, chunks } = collection;
  await insertOne(context, collection, chunks.ownerOf(chunks.find(key.keyOf(after))), after);
  return { kind: "upserted", id: getField(after, "_id")!, after };
}

async function moveDocument(
  context: RouterContext,
  collection: ShardedCollection,
  from: string,
  to: string,
  id: RawValue,
  after: Uint8Array,
): Promise<void> {
  try {
    await insertOne(context, collection, to, after);
  } catch (error) {
    if (!(error instanceof CommandError) || error.code !== 11000) throw error;
    throw new CommandError(
      error.code,
      `Failed to update document's shard key field. There is either an orphan for this document or _id for this ` +
        `collection is not globally unique. :: caused by :: ${error.message}`,
      error.extra,
    );
  }
  try {
    await deleteByIds(context, from, collection, [id]);
  } catch (error) {
    // The new one must go, or the document would be there twice.
    await deleteByIds(context, to, collection, [id]);
    throw error;
  }
}

async function insertOne(
  context: RouterContext,
  collection: ShardedCollection,
  shard: string,
  inserted: Uint8Array,
): Promise<void> {
  const command = request(collection.db, { insert: collection.name }, { documents: [inserted] });
  throwWriteError((await context.shards.run(shard, command)).body);
}

async function replaceById(
  context: RouterContext,
  collection: ShardedCollection,
  shard: string,
  id: RawValue,
  after: Uint8Array,
): Promise<void> {
  const q = new DocumentWriter().field("_id", id).finish();
  const update = new DocumentWriter().document("q", q).field("u", document(after)).finish();
  const command = request(collection.db, { update: collection.name }, { updates: [update] });
  throwWriteError((await context.shards.run(shard, command)).body);
}

/** Turns a failure, or the first write error, into an exception. */
function throwWriteError(body: Uint8Array): void {
  if (!isOk({ body })) throw failureOf({ body });
  const errors = getField(body, "writeErrors");
  const first = errors && elements(asDocument(errors))[0];
  if (!first) return;
  const { index: _index, code, errmsg, ...extra } = fromDocument(asDocument(first));
  throw new CommandError(
    typeof code === "number" ? code : ErrorCode.UnknownError,
    typeof errmsg === "string" ? errmsg : "the shard refused the write",
    extra,
  );
}
