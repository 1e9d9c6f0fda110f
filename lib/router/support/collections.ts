/**
 * The frame that every command on a collection runs in: take the namespace,
 * look it up, finish what an interrupted migration left undone.
 */
import { DocumentWriter, int32 } from "../../bson/index.js";
import type { RawValue } from "../../bson/index.js";
import type { Request } from "../../protocol/index.js";
import { failureOf, isOk, request } from "../../protocol/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { RouterContext } from "../context.js";

/** What runs on a collection: gets its entry, or undefined when it is unsharded. */
export type OnCollection<T> = (collection: ShardedCollection | undefined) => Promise<T>;

/** Runs an operation on documents: shares the namespace with others. */
export async function withCollection<T>(
  context: RouterContext,
  ns: string,
  work: OnCollection<T>,
): Promise<T> {
  const wait = context.locks.shared(ns);
  if (wait) await wait;
  try {
    if (isUnsettled(context)) await settle(context, ns);
    return await work(context.catalog.collection(ns));
  } finally {
    context.locks.release(ns);
  }
}

/** Runs an operation that reads several collections: shares all their names, taken in the order that everybody keeps. */
export function withCollections<T>(
  context: RouterContext,
  names: Iterable<string>,
  work: () => Promise<T>,
): Promise<T> {
  const sorted = [...new Set(names)].sort();
  const take = (position: number): Promise<T> => {
    const ns = sorted[position];
    return ns === undefined ? work() : withCollection(context, ns, () => take(position + 1));
  };
  return take(0);
}

/** Runs a change of the collection's map, or a write that nobody may interleave: has the namespace alone. */
export function withCollectionAlone<T>(
  context: RouterContext,
  ns: string,
  work: OnCollection<T>,
): Promise<T> {
  return context.locks.whileExclusive(ns, async () => {
    if (isUnsettled(context)) await settle(context, ns);
    return work(context.catalog.collection(ns));
  });
}

/** Whether something has to be settled before anything is used. */
export function isUnsettled({ catalog, unfinished }: RouterContext): boolean {
  return catalog.isStale || !unfinished.isEmpty;
}

/**
 * Finds out what has become of failed changes, and finishes what is unfinished about a namespace or database.
 * @throws CommandError where a server that is needed for it is still gone
 */
export async function settle({ catalog, unfinished }: RouterContext, name: string): Promise<void> {
  if (catalog.isStale) await catalog.load();
  await unfinished.settle(name);
}

/** Deletes documents by their `_id` on one shard, a thousand at a time. */
export async function deleteByIds(
  context: RouterContext,
  shard: string,
  collection: { readonly db: string; readonly name: string },
  ids: readonly RawValue[],
): Promise<void> {
  for (const command of deletionsOf(collection, ids)) {
    const reply = await context.shards.run(shard, command);
    if (!isOk(reply)) throw failureOf(reply);
  }
}

/** The commands of {@link deleteByIds}. */
export function* deletionsOf(
  { db, name }: { readonly db: string; readonly name: string },
  ids: readonly RawValue[],
): Generator<Request> {
  for (let from = 0; from < ids.length; from += 1000) {
    const among = new DocumentWriter().values("$in", ids.slice(from, from + 1000)).finish();
    const q = new DocumentWriter().document("_id", among).finish();
    const deletes = [new DocumentWriter().document("q", q).field("limit", int32(0)).finish()];
    yield request(db, { delete: name }, { deletes });
  }
}
