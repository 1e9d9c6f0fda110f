/**
 * Moving a database's home: everything unsharded goes from one primary shard to another.
 *
 *     1 check    nothing on the recipient has one of the names; what is to happen is written to config.movePrimaries
 *     2 copy     collection by collection: options, indexes, documents byte for byte; then the views
 *     3 define   sharded collections stay where their chunks are; the recipient learns their definitions
 *     4 commit   config.databases
 *     5 drop     the old primary forgets what it gave away
 *
 * The caller holds the database with all its collections alone. Up to 4 any failure leaves everything where it was:
 * what has been copied is dropped again. After 4 the database has moved whatever happens. Which of the two it is, and
 * the rest of the way, is movePrimaryRecovery.ts: also for a router that finds the document of a dead one.
 */
import {
  asDocument,
  asNumber,
  asString,
  BsonType,
  bool,
  DocumentWriter,
  elements,
  EMPTY_DOCUMENT,
  getField,
} from "../../bson/index.js";
import {
  CommandError,
  ErrorCode,
  failureOf,
  isOk,
  MAX_WRITE_BATCH,
  readCursorReply,
  request,
} from "../../protocol/index.js";
import type { Database } from "../catalog/entries.js";
import type { RouterContext } from "../context.js";
import { ShardCursor } from "../merging/shardCursor.js";
import { collectionsOn } from "../support/databases.js";
import { quietly } from "./fanOut.js";
import { finishMoveSometime, noteMove } from "./movePrimaryRecovery.js";
import type { Names } from "./shardCollections.js";
import { copyDefinition, createIndexesOn, createOn, indexesOn } from "./shardCollections.js";

/** A collection or view that moves. */
interface Moving extends Names {
  readonly isView: boolean;
  readonly options: Uint8Array;
}

/**
 * Moves a database. The caller holds it and its collections alone.
 * @param to id of another shard than the primary
 * @throws CommandError NamespaceExists (48), or what a shard refused; nothing has moved then
 */
export async function moveDatabase(context: RouterContext, database: Database, to: string): Promise<void> {
  const { catalog } = context;
  const { name: db, primary: from } = database;
  const moving = await whatMoves(context, database);
  await checkRecipient(context, db, to, moving);
  const intent = { db, from, to, collections: moving.map(({ name }) => name) };
  await catalog.log("movePrimary.start", db, { from, to }, from);
  try {
    await noteMove(context, intent);
    for (const one of moving) {
      await context.cursors.drain(`${db}.${one.name}`, [from]);
      await createOn(context, to, one, one.options);
      if (one.isView) continue;
      await createIndexesOn(context, to, one, await indexesOn(context, from, one));
      await copyDocuments(context, one, from, to);
    }
    for (const collection of catalog.collections) {
      if (collection.db === db) await copyDefinition(context, collection, from, to);
    }
    await catalog.movePrimary(db, to);
  } catch (error) {
    // Where the config server's reply was lost it may have moved after all: the catalog knows.
    await finishMoveSometime(context, intent);
    const why = error instanceof Error ? error.message : String(error);
    await quietly(context, "config.changelog was not written", () =>
      catalog.log("movePrimary.error", db, { from, to, error: why }, from),
    );
    throw error;
  }
  await finishMoveSometime(context, intent);
  await catalog.log("movePrimary.end", db, { from, to }, from);
}

/** What is unsharded: collections first, views after what they read. */
async function whatMoves(context: RouterContext, { name: db, primary }: Database): Promise<Moving[]> {
  const moving: Moving[] = [];
  for (const entry of await collectionsOn(context, primary, db)) {
    const name = asString(getField(entry, "name")!);
    const ns = `${db}.${name}`;
    // What the catalog knows the place of stays there, even if that is the old primary.
    if (name === "system.views" || context.catalog.collection(ns) || context.catalog.tracked(ns)) continue;
    const type = getField(entry, "type");
    const options = getField(entry, "options");
    moving.push({
      db,
      name,
      isView: type?.type === BsonType.string && asString(type) === "view",
      options: options?.type === BsonType.object ? asDocument(options) : EMPTY_DOCUMENT,
    });
  }
  return [...moving.filter(({ isView }) => !isView), ...moving.filter(({ isView }) => isView)];
}

async function checkRecipient(
  context: RouterContext,
  db: string,
  to: string,
  moving: readonly Moving[],
): Promise<void> {
  const wanted = new Set(moving.map(({ name }) => name));
  const taken = (await collectionsOn(context, to, db))
    .map((entry) => asString(getField(entry, "name")!))
    .filter((name) => wanted.has(name));
  if (taken.length === 0) return;
  throw new CommandError(
    ErrorCode.NamespaceExists,
    `Found orphaned collections on recipient ${to}: ${taken.map((name) => `${db}.${name}`).join(", ")}`,
  );
}

/** All documents in their natural order, which a capped collection keeps. */
async function copyDocuments(
  context: RouterContext,
  { db, name }: Moving,
  from: string,
  to: string,
): Promise<void> {
  const find = new DocumentWriter().string("find", name).document("filter", EMPTY_DOCUMENT).finish();
  const cursor = new ShardCursor(
    context.shards,
    from,
    readCursorReply(await context.shards.run(from, request(db, find))),
  );
  try {
    while (!cursor.ended) {
      await cursor.fill();
      const batch: Uint8Array[] = [];
      while (batch.length < MAX_WRITE_BATCH && cursor.buffered > 0) batch.push(cursor.take()!);
      if (batch.length > 0) await insertAll(context, { db, name }, to, batch);
    }
  } finally {
    await cursor.close();
  }
}

async function insertAll(
  context: RouterContext,
  { db, name }: Names,
  to: string,
  documents: readonly Uint8Array[],
): Promise<void> {
  const insert = new DocumentWriter()
    .string("insert", name)
    .field("ordered", bool(true))
    .field("bypassDocumentValidation", bool(true))
    .finish();
  const reply = await context.shards.run(to, request(db, insert, { documents }));
  if (!isOk(reply)) throw failureOf(reply);
  const errors = getField(reply.body, "writeErrors");
  const first = errors && elements(asDocument(errors))[0];
  if (!first) return;
  const code = getField(asDocument(first), "code");
  const errmsg = getField(asDocument(first), "errmsg");
  throw new CommandError(
    code ? asNumber(code) : ErrorCode.OperationFailed,
    `movePrimary operation on database ${db} failed cloning data to recipient :: caused by :: ${errmsg ? asString(errmsg) : "?"}`,
  );
}
