/**
 * A migration that nobody has brought to its end: its document in `config.migrations` says what was to move.
 *
 *     {_id: ObjectId, ns, uuid, min, max, from, to}
 *
 * config.chunks decides. Whichever of the two shards owns the range keeps its documents; what the other one has of it is
 * deleted: a copy that was not committed, or what was given away. Nothing else is sent to that shard before; where it is
 * gone, the collection can be used as far as it does not concern that shard.
 */
import type { RawValue } from "../../bson/index.js";
import { asDocument, asString, documentSortableKey, DocumentWriter, getField } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import { isUnreachable } from "../catalog/unreachable.js";
import type { RouterContext } from "../context.js";
import { deleteByIds } from "../support/collections.js";
import { detached, sameUuid } from "../support/values.js";
import { quietly } from "./fanOut.js";
import { readChunk, scanRange } from "./range.js";
import { describeOn } from "./shardCollections.js";

const COLLECTION = "migrations";

/** A range on its way from one shard to another. */
export interface MovingRange {
  readonly id: RawValue;
  readonly ns: string;
  readonly uuid: RawValue;
  readonly min: Uint8Array;
  readonly max: Uint8Array;
  readonly from: string;
  readonly to: string;
}

/** Writes down what is going to happen. @throws CommandError when the config server can't; nothing may happen then */
export async function noteMigration({ catalog }: RouterContext, moving: MovingRange): Promise<void> {
  const { id, ns, uuid, min, max, from, to } = moving;
  const document = new DocumentWriter().field("_id", id).string("ns", ns).field("uuid", uuid);
  document.document("min", min).document("max", max).string("from", from).string("to", to);
  await catalog.config.insert(COLLECTION, [document.finish()]);
}

/** Forgets a migration that is over. */
export async function forgetMigration({ catalog }: RouterContext, { id }: MovingRange): Promise<void> {
  await catalog.config.remove(COLLECTION, new DocumentWriter().field("_id", id).finish());
}

/**
 * Brings a migration to its end, whichever it is. Doing it twice does no harm.
 * @throws CommandError where the config server or a shard does not answer
 */
export async function finishMigration(context: RouterContext, moving: MovingRange): Promise<void> {
  const { catalog, shards } = context;
  await catalog.load();
  const collection = catalog.collection(moving.ns);
  // Dropped or made anew meanwhile: whoever did that has taken care of the documents.
  if (collection && sameUuid(collection.uuid, moving.uuid)) {
    const { chunks } = collection;
    const owner = chunks.ownerOf(chunks.find(documentSortableKey(moving.min)));
    const other = owner === moving.to ? moving.from : moving.to;
    if (other !== owner && shards.has(other)) {
      try {
        await deleteRange(context, collection, moving, other);
      } catch (error) {
        if (!isUnreachable(error)) throw error;
        shards.oweWork(other, (direct) => payDeletion({ ...context, shards: direct }, moving, other));
        return;
      }
    }
  }
  await forgetMigration(context, moving);
}

/** Deletes on a shard that was gone what it should not have, before it hears anything else. */
async function payDeletion(context: RouterContext, moving: MovingRange, shard: string): Promise<void> {
  const collection = context.catalog.collection(moving.ns);
  // The range can't have come back meanwhile: that is more than this shard could have heard of.
  if (collection && sameUuid(collection.uuid, moving.uuid)) {
    await deleteRange(context, collection, moving, shard);
  }
  await quietly(context, "config.migrations has one too many", () => forgetMigration(context, moving));
}

/** {@link finishMigration} now, or before the collection is used again where a server is gone or refuses. */
export async function finishMigrationSometime(context: RouterContext, moving: MovingRange): Promise<void> {
  try {
    await finishMigration(context, moving);
  } catch (error) {
    await quietly(context, "a migration is unfinished", () => Promise.reject(error as Error));
    context.unfinished.add(moving.ns, () => finishMigration(context, moving));
  }
}

/** @throws CommandError when the config server can't be read */
export async function recoverMigrations(context: RouterContext): Promise<void> {
  const found: MovingRange[] = [];
  for await (const document of context.catalog.config.find(COLLECTION)) {
    const field = (name: string): RawValue => detached(getField(document, name)!);
    found.push({
      id: field("_id"),
      ns: asString(field("ns")),
      uuid: field("uuid"),
      min: asDocument(field("min")),
      max: asDocument(field("max")),
      from: asString(field("from")),
      to: asString(field("to")),
    });
  }
  for (const moving of found) await finishMigrationSometime(context, moving);
}

/**
 * Deletes what a shard has of a range that is another's. Chunks may have been cut and moved since the range was: what is
 * the shard's own now stays.
 * @throws CommandError what the shard says
 */
async function deleteRange(
  context: RouterContext,
  collection: ShardedCollection,
  { min, max }: Pick<MovingRange, "min" | "max">,
  shard: string,
): Promise<void> {
  const { key, chunks } = collection;
  const range = { min, max, shard };
  const strangersIn = async (batches: AsyncIterable<readonly Uint8Array[]>): Promise<RawValue[]> => {
    const ids: RawValue[] = [];
    for await (const batch of batches) {
      for (const document of batch) {
        if (chunks.ownerOf(key.chunkOf(document, chunks)) === shard) continue;
        ids.push(detached(getField(document, "_id")!));
      }
    }
    return ids;
  };
  let ids: RawValue[];
  try {
    ids = await strangersIn(readChunk(context, collection, { index: -1, ...range }, idAndKey(collection)));
  } catch (error) {
    if (!(error instanceof CommandError) || error.code !== ErrorCode.IndexNotFound) throw error;
    // A recipient that has not even got the collection has no copies; without an index they have to be looked for.
    const isThere = await describeOn(context, shard, collection);
    ids = isThere ? await strangersIn(scanRange(context, collection, range)) : [];
  }
  await deleteByIds(context, shard, collection, ids);
}

/** The whole `_id` and the key's fields. */
function idAndKey({ key }: ShardedCollection): Uint8Array {
  const projection = new DocumentWriter().int32("_id", 1);
  for (const path of key.paths) {
    if (path !== "_id" && !path.startsWith("_id.")) projection.int32(path, 1);
  }
  return projection.finish();
}
