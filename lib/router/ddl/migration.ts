/**
 * Moving a range: its documents go to another shard, then the map says so.
 *
 *     1 drain    open cursors on both shards read what they have left into memory
 *     2 prepare  the recipient gets the collection and its indexes; what is to happen is written to config.migrations
 *     3 copy     donor ──documents of the range──► recipient
 *     4 commit   config.chunks and the map: the range is a chunk of the recipient's
 *     5 delete   the donor deletes what it gave away
 *
 * The caller holds the collection alone from 1 to 5, so for clients it is one step. Up to 4 any failure undoes the copy
 * and nothing has changed; after 4 the range has moved whatever happens. Which of the two it is, and the rest of the
 * way, is migrationRecovery.ts: also for a router that finds the document of a dead one.
 *
 * A real cluster copies in the background while writes go on, catches up, blocks writes for a moment at 4, and deletes
 * minutes later; readers filter the orphans in between (SHARDING_FILTER in explain).
 */
import type { RawValue } from "../../bson/index.js";
import {
  asDocument,
  asNumber,
  bool,
  compareDocuments,
  documentSortableKey,
  DocumentWriter,
  elements,
  fromDocument,
  getField,
} from "../../bson/index.js";
import { CommandError, ErrorCode, failureOf, isOk, MAX_WRITE_BATCH, request } from "../../protocol/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { Chunk } from "../catalog/chunkMap.js";
import type { RouterContext } from "../context.js";
import { deleteByIds } from "../support/collections.js";
import { detached } from "../support/values.js";
import { checkNotTooBig } from "./chunkSize.js";
import { quietly } from "./fanOut.js";
import type { MovingRange } from "./migrationRecovery.js";
import { finishMigrationSometime, forgetMigration, noteMigration } from "./migrationRecovery.js";
import { readChunk } from "./range.js";
import { copyDefinition } from "./shardCollections.js";

/** What a migration moved. */
export interface Migration {
  readonly documents: number;
  readonly bytes: number;
}

/** How a range is moved. */
export interface MigrationOptions {
  /** Also a range with too many documents. */
  readonly forceJumbo?: boolean;
  /** The chunk size to go by instead of the collection's, in bytes. */
  readonly maxChunkSizeBytes?: number | undefined;
  /** The command that asked for it, for the trace; `moveChunk` when absent. */
  readonly op?: string;
  /** Why the balancer moves it. */
  readonly reason?: string | undefined;
}

/** A range of one chunk. */
export type ChunkRange = Pick<Chunk, "min" | "max" | "shard">;

/**
 * Moves a range that lies in one chunk. The caller holds the collection alone.
 * @param to id of the recipient, another shard than the range's
 * @throws CommandError ChunkTooBig (153), ConflictingOperationInProgress (117) where migrations are not allowed, what a
 * shard refused; nothing has moved then
 */
export async function migrateRange(
  context: RouterContext,
  collection: ShardedCollection,
  { min, max, shard: from }: ChunkRange,
  to: string,
  options: MigrationOptions = {},
): Promise<Migration> {
  const { catalog, ids: idSource } = context;
  const { ns } = collection;
  checkAllowed(context, collection);
  const started = context.waiting.now();
  const details = new DocumentWriter()
    .document("min", min)
    .document("max", max)
    .string("from", from)
    .string("to", to)
    .finish();
  await catalog.log("moveChunk.start", ns, details, from);
  const moving: MovingRange = { id: idSource.objectId(), ns, uuid: collection.uuid, min, max, from, to };
  const ids: RawValue[] = [];
  let moved: Migration;
  let isNoted = false;
  try {
    if (options.forceJumbo !== true) {
      await checkNotTooBig(context, collection, { min, max, shard: from }, options.maxChunkSizeBytes);
    }
    await context.cursors.drain(ns, [from, to]);
    await copyDefinition(context, collection, from, to);
    isNoted = true;
    await noteMigration(context, moving);
    moved = await copyDocuments(context, collection, { min, max, shard: from }, to, ids);
    await commit(context, collection, moving);
    await deleteByIds(context, from, collection, ids);
    await forgetMigration(context, moving);
  } catch (error) {
    if (isNoted) await finishMigrationSometime(context, moving);
    await quietly(context, "config.changelog was not written", () =>
      catalog.log("moveChunk.error", ns, details, from),
    );
    throw error;
  }
  await catalog.log("moveChunk.commit", ns, details, from);
  const outcome = new DocumentWriter().fieldsOf(details).string("note", "success").finish();
  await catalog.log("moveChunk.from", ns, outcome, from);
  await catalog.log("moveChunk.to", ns, outcome, to);
  const ms = context.waiting.now() - started;
  context.trace.add({
    at: started,
    op: options.op ?? "moveChunk",
    ns,
    targeting: "none",
    key: collection.key,
    migration: { min, max, from, to, ...moved, reason: options.reason },
    shards: [
      { shard: from, step: "copy", sent: moved.documents, ms },
      { shard: to, step: "insert", sent: moved.documents },
      { shard: from, step: "delete", sent: moved.documents },
    ],
    merge: { kind: "none" },
  });
  return moved;
}

/** @throws CommandError ConflictingOperationInProgress (117): setAllowMigrations, or the collection is being resharded */
function checkAllowed({ resharding }: RouterContext, { allowMigrations, ns }: ShardedCollection): void {
  if (allowMigrations && !resharding.get(ns)) return;
  throw new CommandError(
    ErrorCode.ConflictingOperationInProgress,
    "Collection is undergoing changes so moveChunk is not allowed.",
  );
}

/** The range becomes a chunk, if it is not one yet, and the chunk another shard's. */
async function commit(
  { catalog }: RouterContext,
  collection: ShardedCollection,
  { min, max, to }: MovingRange,
): Promise<void> {
  const begin = documentSortableKey(min);
  const chunk = collection.chunks.chunk(collection.chunks.find(begin));
  const points = [
    ...(compareDocuments(chunk.min, min) < 0 ? [min] : []),
    ...(compareDocuments(max, chunk.max) < 0 ? [max] : []),
  ];
  if (points.length > 0) await catalog.splitChunk(collection, chunk, points);
  await catalog.moveChunk(collection, collection.chunks.chunk(collection.chunks.find(begin)), to);
}

/** Copies a range's documents; `ids` receives the `_id` of each one that has arrived. */
async function copyDocuments(
  context: RouterContext,
  collection: ShardedCollection,
  range: ChunkRange,
  to: string,
  ids: RawValue[],
): Promise<Migration> {
  let documents = 0;
  let bytes = 0;
  for await (const batch of batchesOf(readChunk(context, collection, { index: -1, ...range }))) {
    const insert = new DocumentWriter()
      .string("insert", collection.name)
      .field("ordered", bool(true))
      .field("bypassDocumentValidation", bool(true))
      .finish();
    const reply = await context.shards.run(to, request(collection.db, insert, { documents: batch }));
    if (!isOk(reply)) throw failureOf(reply);
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
