/**
 * A document that moves between shards, and nobody has brought it to its end: its document in `config.movingDocuments`
 * says which one it was.
 *
 *     {_id: ObjectId, ns, uuid, id: <its _id>, from, to, outcome?: "undo"}
 *
 * It is written when the `_id` was not on the new shard. So a document with that `_id` which is there now is the one
 * that has arrived, and the old one goes; only where the client was told that the move failed, the new one goes.
 */
import type { RawValue } from "../../bson/index.js";
import { asString, DocumentWriter, getField } from "../../bson/index.js";
import { readCursorReply, request } from "../../protocol/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import { isUnreachable } from "../catalog/unreachable.js";
import type { RouterContext } from "../context.js";
import { detached } from "../support/values.js";
import { byId, deleteById, deleteRequest } from "./onShard.js";

const COLLECTION = "movingDocuments";

/** A document on its way. */
export interface MovingDocument {
  readonly note: RawValue;
  readonly ns: string;
  readonly uuid: RawValue;
  readonly id: RawValue;
  readonly from: string;
  readonly to: string;
}

/** Writes down what is going to happen. @throws CommandError when the config server can't; nothing may happen then */
export async function noteDocument({ catalog }: RouterContext, moving: MovingDocument): Promise<void> {
  const { note, ns, uuid, id, from, to } = moving;
  const document = new DocumentWriter().field("_id", note).string("ns", ns).field("uuid", uuid);
  await catalog.config.insert(COLLECTION, [
    document.field("id", id).string("from", from).string("to", to).finish(),
  ]);
}

/** The document is where it belongs. */
export async function forgetDocument({ catalog }: RouterContext, { note }: MovingDocument): Promise<void> {
  await catalog.config.remove(COLLECTION, noteOf(note));
}

/** {@link forgetDocument}, now or before the collection is used again: nothing else is left to do. */
export async function forgetSometime(context: RouterContext, moving: MovingDocument): Promise<void> {
  try {
    await forgetDocument(context, moving);
  } catch {
    context.unfinished.add(moving.ns, () => forgetDocument(context, moving));
  }
}

/**
 * Deletes the copy that does not count: now, or when its shard is back, before anything else is asked of it; where the
 * config server is gone, before the collection is used again.
 * @param outcome `undo`: the client hears that the document did not move
 */
export async function settleDocument(
  context: RouterContext,
  moving: MovingDocument,
  outcome: "undo" | "moved",
): Promise<void> {
  const finish = async (): Promise<void> => {
    // Whoever finds the note after us has to know what the client was told.
    if (outcome === "undo") {
      const set = new DocumentWriter().string("outcome", outcome).finish();
      const update = new DocumentWriter().document("$set", set).finish();
      await context.catalog.config.update(COLLECTION, noteOf(moving.note), update);
    }
    await deleteCopy(context, moving, outcome);
  };
  try {
    await finish();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    context.environment.log?.("warn", "a document is on its way", { ns: moving.ns, message });
    context.unfinished.add(moving.ns, finish);
  }
}

/** @throws CommandError when the config server can't be read */
export async function recoverDocuments(context: RouterContext): Promise<void> {
  for await (const document of context.catalog.config.find(COLLECTION)) {
    const field = (name: string): RawValue => detached(getField(document, name)!);
    const moving: MovingDocument = {
      note: field("_id"),
      ns: asString(field("ns")),
      uuid: field("uuid"),
      id: field("id"),
      from: asString(field("from")),
      to: asString(field("to")),
    };
    await recoverDocument(context, moving, getField(document, "outcome") !== undefined);
  }
}

/** Settles a document of a router that is no more, now or before its collection is used. */
async function recoverDocument(context: RouterContext, moving: MovingDocument, undo: boolean): Promise<void> {
  if (undo) return settleDocument(context, moving, "undo");
  const finish = async (): Promise<void> => {
    if (await hasArrived(context, moving)) await settleDocument(context, moving, "moved");
    else await forgetSometime(context, moving);
  };
  try {
    await finish();
  } catch {
    context.unfinished.add(moving.ns, finish);
  }
}

async function deleteCopy(
  context: RouterContext,
  moving: MovingDocument,
  outcome: "undo" | "moved",
): Promise<void> {
  const { ns, id, from, to } = moving;
  const collection = context.catalog.collection(ns);
  const shard = outcome === "undo" ? to : from;
  if (collection && context.shards.has(shard)) {
    try {
      await deleteById(context, shard, collection, id);
    } catch (error) {
      if (!isUnreachable(error)) throw error;
      context.shards.owe(shard, deleteRequest(collection, id), undefined, () =>
        forgetSometime(context, moving),
      );
      return;
    }
  }
  await forgetSometime(context, moving);
}

/** Whether the new shard has the document. @throws CommandError when it does not answer */
async function hasArrived(context: RouterContext, { ns, to, id }: MovingDocument): Promise<boolean> {
  const collection = context.catalog.collection(ns);
  return collection !== undefined && context.shards.has(to) && hasId(context, to, collection, id);
}

/** Whether a shard has a document with this `_id`. */
export async function hasId(
  context: RouterContext,
  shard: string,
  { db, name }: ShardedCollection,
  id: RawValue,
): Promise<boolean> {
  const find = new DocumentWriter()
    .string("find", name)
    .document("filter", byId(id))
    .document("projection", new DocumentWriter().int32("_id", 1).finish())
    .int32("limit", 1)
    .bool("singleBatch", true)
    .finish();
  return readCursorReply(await context.shards.run(shard, request(db, find))).batch.length > 0;
}

function noteOf(note: RawValue): Uint8Array {
  return new DocumentWriter().field("_id", note).finish();
}
