/**
 * Giving a collection another name when one of the two is sharded: on every shard and in the catalog, or not at all.
 *
 *     1 aside    what has the new name now gets a name that nobody knows    (dropTarget)
 *     2 rename   every shard that has a part renames it
 *     3 commit   config.collections and config.tags
 *     4 drop     what was put aside
 *
 * The caller holds both names alone, so for clients it is one step. Up to 3 every step can be taken back, in reverse
 * order; after 3 the collection has its new name whatever happens. Whoever dies in between: renameRecovery.ts.
 */
import type { ShardedCollection } from "../catalog/entries.js";
import type { TrackedCollection } from "../catalog/tracked.js";
import type { RouterContext } from "../context.js";
import type { Namespace } from "../support/arguments.js";
import type { Renaming } from "./renameRecovery.js";
import { finishRenamingSometime, noteRenaming } from "./renameRecovery.js";
import { describeOn, shardsWithParts } from "./shardCollections.js";

/** One end of a renaming. */
export interface RenameEnd extends Namespace {
  /** Its entry, when the catalog has one. */
  readonly collection: ShardedCollection | TrackedCollection | undefined;
  /** The shard that has it, or the primary shard of its database. */
  readonly primary: string;
}

/**
 * Renames a collection. The caller has checked that it may be.
 * @param to what is there is dropped
 * @throws CommandError what a shard or the config server refused; nothing has changed then
 */
export async function renameOnShards(context: RouterContext, from: RenameEnd, to: RenameEnd): Promise<void> {
  const { catalog, shards, ids } = context;
  const renaming: Renaming = {
    id: ids.objectId(),
    from: from.ns,
    to: to.ns,
    aside: asideName(context),
    uuid: from.collection?.uuid,
    parts: partsOf(context, from),
  };
  const rename = (shard: string, source: string, target: string): Promise<unknown> =>
    shards.must(shard, "admin", { renameCollection: source, to: target });
  const details = { source: from.ns, destination: to.ns };
  await catalog.log("renameCollection.start", from.ns, details, from.primary);
  let isDone = false;
  try {
    await noteRenaming(context, renaming);
    for (const shard of shards.ids) {
      if (await describeOn(context, shard, to)) await rename(shard, to.ns, `${to.db}.${renaming.aside}`);
    }
    for (const shard of renaming.parts) await rename(shard, from.ns, to.ns);
    await catalog.renameCollection(to.ns, from.collection, to.collection);
    isDone = true;
  } catch (error) {
    // Where the reply of the commit was lost it may have happened all the same.
    if (!(await finishRenamingSometime(context, renaming))) throw error;
  }
  if (isDone) await finishRenamingSometime(context, renaming);
  await catalog.log("renameCollection.end", from.ns, details, from.primary);
}

function partsOf(context: RouterContext, { collection, primary }: RenameEnd): string[] {
  if (!collection) return [primary];
  return "chunks" in collection ? shardsWithParts(context, collection) : [collection.shard];
}

/** A name that no collection has; MongoDB calls them alike. */
function asideName({ environment }: RouterContext): string {
  const letter = (): string => Math.floor(environment.random() * 36).toString(36);
  return `tmp${Array.from({ length: 5 }, letter).join("")}.renameCollection`;
}
