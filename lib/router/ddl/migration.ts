/**
 * Moving a chunk: its documents go to another shard, then the map says so.
 *
 *     1 drain    open cursors on both shards read what they have left into memory
 *     2 prepare  the recipient gets the collection and its indexes
 *     3 copy     donor ──documents of the range──► recipient
 *     4 commit   config.chunks and the map: the chunk belongs to the recipient
 *     5 delete   the donor deletes what it gave away
 *
 * The caller holds the collection alone from 1 to 5, so for clients it is one
 * step. Up to 4 any failure undoes the copy and nothing has changed. After 4 the
 * chunk has moved whatever happens; if 5 fails, the donor's leftovers (orphans)
 * are deleted before anything else touches the collection.
 *
 * A real cluster copies in the background while writes go on, catches up, blocks
 * writes for a moment at 4, and deletes minutes later; readers filter the orphans
 * in between (SHARDING_FILTER in explain).
 */
import type { RawValue } from "../../bson/index.js";
import {
  asDocument,
  asNumber,
  bool,
  documentSortableKey,
  DocumentWriter,
  elements,
  fromDocument,
  getField,
  int32,
  NULL,
} from "../../bson/index.js";
import type { Reply, Request } from "../../protocol/index.js";
import {
  CommandError,
  documentsOf,
  ErrorCode,
  failureOf,
  isOk,
  MAX_WRITE_BATCH,
  request,
} from "../../protocol/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import { isUnreachable } from "../catalog/unreachable.js";
import type { Chunk } from "../catalog/chunkMap.js";
import type { RouterContext } from "../context.js";
import { deleteByIds, deletionsOf } from "../support/collections.js";
import { detached } from "../support/values.js";
import { quietly } from "./fanOut.js";
import { readChunk } from "./range.js";
import { copyDefinition, SIMPLE_COLLATION } from "./shardCollections.js";

/** What a migration moved. */
export interface Migration {
  readonly documents: number;
  readonly bytes: number;
}

/**
 * Moves one chunk. The caller holds the collection alone.
 * @param to id of the recipient, another shard than the chunk's
 * @throws CommandError what a shard refused; nothing has moved then
 */
export async function migrateChunk(
  context: RouterContext,
  collection: ShardedCollection,
  chunk: Chunk,
  to: string,
): Promise<Migration> {
  const { catalog } = context;
  const from = chunk.shard;
  const details = new DocumentWriter()
    .document("min", chunk.min)
    .document("max", chunk.max)
    .string("from", from)
    .string("to", to)
    .finish();
  await catalog.log("moveChunk.start", collection.ns, details, from);
  await context.cursors.drain(collection.ns, [from, to]);
  await copyDefinition(context, collection, from, to);
  const ids: RawValue[] = [];
  let moved: Migration;
  try {
    moved = await copyDocuments(context, collection, chunk, to, ids);
    await catalog.moveChunk(collection, chunk, to);
  } catch (error) {
    // Where the config server's reply was lost, the catalog has been read again: the chunk may have moved after all.
    if (ownerNow(context, collection, chunk) === to) leaveForLater(context, collection, from, ids);
    else await takeBack(context, collection, to, ids);
    await quietly(context, "config.changelog was not written", () =>
      catalog.log("moveChunk.error", collection.ns, details, from),
    );
    throw error;
  }
  try {
    await deleteByIds(context, from, collection, ids);
  } catch (error) {
    leaveForLater(context, collection, from, ids);
    throw error;
  }
  await catalog.log("moveChunk.commit", collection.ns, details, from);
  const outcome = new DocumentWriter().fieldsOf(details).string("note", "success").finish();
  await catalog.log("moveChunk.from", collection.ns, outcome, from);
  await catalog.log("moveChunk.to", collection.ns, outcome, to);
  return moved;
}

/** Who owns a chunk as the catalog has it now. */
function ownerNow({ catalog }: RouterContext, { ns }: ShardedCollection, { min }: Chunk): string | undefined {
  const chunks = catalog.collection(ns)?.chunks;
  return chunks?.ownerOf(chunks.find(documentSortableKey(min)));
}

/** The donor's documents are gone from the map, and have to go from the donor before the collection is used again. */
function leaveForLater(
  { catalog }: RouterContext,
  collection: ShardedCollection,
  shard: string,
  ids: readonly RawValue[],
): void {
  // The catalog may have been read again meanwhile: its entry counts.
  (catalog.collection(collection.ns) ?? collection).pendingDeletions.push({ shard, ids });
}

/** Deletes a copy that was not committed; a recipient that does not answer gets to it when it does. */
async function takeBack(
  context: RouterContext,
  collection: ShardedCollection,
  to: string,
  ids: readonly RawValue[],
): Promise<void> {
  try {
    await deleteByIds(context, to, collection, ids);
  } catch (error) {
    if (!isUnreachable(error)) throw error;
    for (const command of deletionsOf(collection, ids)) context.shards.owe(to, command);
  }
}

/** Copies a chunk's documents; `ids` receives the `_id` of each one that has arrived. */
async function copyDocuments(
  context: RouterContext,
  collection: ShardedCollection,
  chunk: Chunk,
  to: string,
  ids: RawValue[],
): Promise<Migration> {
  let documents = 0;
  let bytes = 0;
  for await (const batch of batchesOf(readChunk(context, collection, chunk))) {
    const insert = new DocumentWriter()
      .string("insert", collection.name)
      .field("ordered", bool(true))
      .field("bypassDocumentValidation", bool(true))
      .finish();
    const reply = await sendCopies(
      context,
      collection,
      to,
      request(collection.db, insert, { documents: batch }),
    );
    const n = getField(reply.body, "n");
    const arrived = n ? asNumber(n) : 0;
    for (const document of batch.slice(0, arrived)) ids.push(detached(getField(document, "_id")!));
    const errors = getField(reply.body, "writeErrors");
    const first = errors && elements(asDocument(errors))[0];
    if (first) throw cannotCopy(asDocument(first), to);
    documents += batch.length;
    for (const document of batch) bytes += document.length;
  }
  return { documents, bytes };
}

/**
 * Sends a batch of copies. When no reply comes, nobody knows which of them have arrived: the recipient owes us their
 * deletion. They are named by `_id` and key, since it may have another document with the same `_id` (§7).
 */
async function sendCopies(
  context: RouterContext,
  collection: ShardedCollection,
  to: string,
  insert: Request,
): Promise<Reply> {
  let reply: Reply;
  try {
    reply = await context.shards.run(to, insert);
  } catch (error) {
    if (isUnreachable(error)) context.shards.owe(to, deletionOfCopies(collection, insert));
    throw error;
  }
  if (!isOk(reply)) throw failureOf(reply);
  return reply;
}

function deletionOfCopies({ db, name, key }: ShardedCollection, insert: Request): Request {
  const deletes = documentsOf(insert, "documents").map((document) => {
    const id = getField(document, "_id")!;
    const q = new DocumentWriter().document("_id", new DocumentWriter().field("$eq", id).finish());
    key.originalsOf(document).forEach((value, i) => {
      const path = key.paths[i]!;
      if (path !== "_id") q.document(path, new DocumentWriter().field("$eq", value ?? NULL).finish());
    });
    return new DocumentWriter()
      .document("q", q.finish())
      .field("limit", int32(1))
      .document("collation", SIMPLE_COLLATION)
      .finish();
  });
  return request(db, { delete: name }, { deletes });
}

/** Cuts what one getMore may bring (16 MB, however many documents) to what one insert may carry. */
async function* batchesOf(
  source: AsyncIterable<readonly Uint8Array[]>,
): AsyncGenerator<readonly Uint8Array[]> {
  for await (const batch of source) {
    for (let from = 0; from < batch.length; from += MAX_WRITE_BATCH)
      yield batch.slice(from, from + MAX_WRITE_BATCH);
  }
}

/** The recipient has refused a document: usually it has another one with the same `_id` (§7). */
function cannotCopy(writeError: Uint8Array, to: string): CommandError {
  const { index: _index, code, errmsg, ...extra } = fromDocument(writeError);
  return new CommandError(
    typeof code === "number" ? code : ErrorCode.OperationFailed,
    `moveChunk failed to copy a document to ${to} :: caused by :: ${String(errmsg)}`,
    extra,
  );
}
