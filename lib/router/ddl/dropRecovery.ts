/**
 * A drop that nobody has brought to its end: `config.drops` has a document `{_id: UUID, ns}` from before the first shard
 * drops its part until the catalog has forgotten the collection. Half of a collection is nothing that anybody wants to
 * see, so there is no way back: whoever finds the document drops the rest.
 */
import { asString, DocumentWriter, getField } from "../../bson/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { TrackedCollection } from "../catalog/tracked.js";
import type { RouterContext } from "../context.js";
import { detached, sameUuid } from "../support/values.js";
import { quietly } from "./fanOut.js";
import { dropOn } from "./shardCollections.js";

const COLLECTION = "drops";

/** A collection that is being dropped, sharded or not. */
export type DroppedCollection = Pick<ShardedCollection | TrackedCollection, "ns" | "uuid">;

/**
 * Drops a collection that the catalog knows, on its shards and in the catalog. The caller holds it alone.
 * @throws CommandError what a server said; what is left to do is done before the name is used again
 */
export async function dropWhole(context: RouterContext, { ns, uuid }: DroppedCollection): Promise<void> {
  try {
    await noteDrop(context, { ns, uuid });
  } catch (error) {
    // Without a reply it may be noted all the same, and nobody shall drop anything because of that.
    await forgetDropSometime(context, { ns, uuid });
    throw error;
  }
  try {
    await finishDrop(context, { ns, uuid });
  } catch (error) {
    await finishDropSometime(context, { ns, uuid });
    throw error;
  }
}

async function noteDrop({ catalog }: RouterContext, { ns, uuid }: DroppedCollection): Promise<void> {
  await catalog.config.insert(COLLECTION, [
    new DocumentWriter().field("_id", uuid).string("ns", ns).finish(),
  ]);
}

async function forgetDrop({ catalog }: RouterContext, { uuid }: DroppedCollection): Promise<void> {
  await catalog.config.remove(COLLECTION, new DocumentWriter().field("_id", uuid).finish());
}

async function forgetDropSometime(context: RouterContext, dropped: DroppedCollection): Promise<void> {
  try {
    await forgetDrop(context, dropped);
  } catch {
    context.unfinished.add(dropped.ns, () => forgetDrop(context, dropped));
  }
}

/** @throws CommandError when the config server can't be read */
export async function recoverDrops(context: RouterContext): Promise<void> {
  const found: DroppedCollection[] = [];
  for await (const document of context.catalog.config.find(COLLECTION)) {
    const uuid = detached(getField(document, "_id")!);
    found.push({ ns: asString(getField(document, "ns")!), uuid });
  }
  for (const dropped of found) await finishDropSometime(context, dropped);
}

async function finishDropSometime(context: RouterContext, dropped: DroppedCollection): Promise<void> {
  try {
    await finishDrop(context, dropped);
  } catch (error) {
    await quietly(context, "a drop is unfinished", () => Promise.reject(error as Error));
    context.unfinished.add(dropped.ns, () => finishDrop(context, dropped));
  }
}

/** Doing it twice does no harm. @throws CommandError where a server does not answer */
async function finishDrop(context: RouterContext, { ns, uuid }: DroppedCollection): Promise<void> {
  const { catalog, shards } = context;
  if (catalog.isStale) await catalog.load();
  const sharded = catalog.collection(ns);
  const tracked = catalog.tracked(ns);
  if (sharded && sameUuid(sharded.uuid, uuid)) {
    for (const shard of shards.ids) await dropOn(context, shard, sharded);
    await catalog.dropCollection(sharded);
  } else if (tracked && sameUuid(tracked.uuid, uuid)) {
    await dropOn(context, tracked.shard, tracked);
    await catalog.dropTracked(tracked);
  }
  await forgetDrop(context, { ns, uuid });
}
