/**
 * Moving one document to the shard that owns its new key.
 *
 *     1. is the `_id` taken over there?      (then the insert will fail) else: a note in config.movingDocuments
 *     2. insert the new document there       ── fails ──► nothing has happened; a copy that may be there must go
 *     3. delete the old one here             ── refused ──► the copy over there goes: undone
 *                                            ── no reply ──► the move counts; the old one goes later
 *     4. the note goes
 *
 * A real cluster runs steps 2 and 3 in one transaction on both shards. Here the
 * caller has the collection to itself, so nobody sees the moment between them.
 * What is left is a server that dies in the middle, when nobody can know whether
 * its step has happened. What is to be deleted then is deleted before the
 * collection is used again, by this router or the next one (moveRecovery.ts), as a
 * participant of a committed transaction catches up when it comes back. So
 * through the router the document is always there exactly once.
 */
import type { RawValue } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { RouterContext } from "../context.js";
import { detached } from "../support/values.js";
import type { MovingDocument } from "./moveRecovery.js";
import { forgetSometime, hasId, noteDocument, settleDocument } from "./moveRecovery.js";
import type { WriteTerms } from "./onShard.js";
import { deleteById, insertOne } from "./onShard.js";

/** The two shards of a move. */
export interface Move {
  readonly from: string;
  readonly to: string;
}

/**
 * Moves a document. The caller holds the collection alone.
 * @param after the document as it will be
 * @throws CommandError DuplicateKey (11000) in its context where the new shard has the `_id`; what a shard refuses, in
 * the context of a failed move. The document is where and what it was then.
 */
export async function moveDocument(
  context: RouterContext,
  collection: ShardedCollection,
  { from, to }: Move,
  id: RawValue,
  after: Uint8Array,
  terms: WriteTerms,
): Promise<void> {
  const moving: MovingDocument = {
    note: context.ids.objectId(),
    ns: collection.ns,
    uuid: collection.uuid,
    id: detached(id),
    from,
    to,
  };
  const taken = await hasId(context, to, collection, id);
  try {
    if (!taken) await noteDocument(context, moving);
  } catch (error) {
    // A note that nobody takes away would one day speak of another document.
    if (error instanceof CommandError && mayHaveRun(error)) await forgetSometime(context, moving);
    throw error;
  }
  try {
    await insertOne(context, to, collection, after, terms);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    if (mayHaveRun(error) && !taken) await settleDocument(context, moving, "undo");
    else if (!taken) await forgetSometime(context, moving);
    throw inContext(error);
  }
  try {
    await deleteById(context, from, collection, id, terms);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    await settleDocument(context, moving, mayHaveRun(error) ? "moved" : "undo");
    if (mayHaveRun(error)) return;
    throw inContext(error);
  }
  await forgetSometime(context, moving);
}

/** No reply came: the shard may have carried the command out. */
function mayHaveRun({ code }: CommandError): boolean {
  return code === ErrorCode.HostUnreachable;
}

function inContext(error: CommandError): CommandError {
  const context =
    error.code === ErrorCode.DuplicateKey
      ? "Failed to update document's shard key field. There is either an orphan for this document or _id for this " +
        "collection is not globally unique."
      : "Update operation was converted into a distributed transaction because the document being updated would " +
        "move shards and that transaction failed.";
  const framed = new CommandError(error.code, `${context} :: caused by :: ${error.message}`, error.extra);
  if (error.remedy !== undefined) framed.remedy = error.remedy;
  return framed;
}
