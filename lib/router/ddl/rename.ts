/**
 * Giving a collection another name when one of the two is sharded: on every shard and in the catalog, or not at all.
 *
 *     1 aside    what has the new name now gets a name that nobody knows    (dropTarget)
 *     2 rename   every shard that has a part renames it
 *     3 commit   config.collections and config.tags
 *     4 drop     what was put aside
 *
 * The caller holds both names alone, so for clients it is one step. Up to 3 every step can be taken back, in reverse
 * order; after 3 the collection has its new name whatever happens.
 */
import { ErrorCode, failureOf, isOk, request } from "../../protocol/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { TrackedCollection } from "../catalog/tracked.js";
import { isUnreachable } from "../catalog/unreachable.js";
import type { RouterContext } from "../context.js";
import type { Namespace } from "../support/arguments.js";
import { quietly } from "./fanOut.js";
import { describeOn, dropOn, shardsWithParts } from "./shardCollections.js";

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
  const { catalog, shards } = context;
  const aside = asideName(context);
  const undo: (() => Promise<unknown>)[] = [];
  const rename = async (shard: string, source: string, target: string): Promise<void> => {
    const back = (): Promise<void> => renameBack(context, shard, target, source);
    try {
      await shards.must(shard, "admin", { renameCollection: source, to: target });
    } catch (error) {
      // Where the reply is lost it may have happened; if it has not, there is nothing to take back (26).
      if (isUnreachable(error)) undo.push(back);
      throw error;
    }
    undo.push(back);
  };
  const details = { source: from.ns, destination: to.ns };
  await catalog.log("renameCollection.start", from.ns, details, from.primary);
  const asideOn: string[] = [];
  try {
    for (const shard of shards.ids) {
      if (!(await describeOn(context, shard, to))) continue;
      await rename(shard, to.ns, `${to.db}.${aside}`);
      asideOn.push(shard);
    }
    for (const shard of partsOf(context, from)) await rename(shard, from.ns, to.ns);
    await catalog.renameCollection(to.ns, from.collection, to.collection);
  } catch (error) {
    for (const back of undo.reverse()) await quietly(context, "a renaming could not be taken back", back);
    throw error;
  }
  for (const shard of asideOn) {
    await quietly(context, "a replaced collection was not dropped", () =>
      dropOn(context, shard, { db: to.db, name: aside }),
    );
  }
  await catalog.log("renameCollection.end", from.ns, details, from.primary);
}

/** Renames if there is something to rename; a shard that does not answer gets to it when it does. */
async function renameBack(
  { shards }: RouterContext,
  shard: string,
  source: string,
  target: string,
): Promise<void> {
  const command = request("admin", { renameCollection: source, to: target });
  try {
    const reply = await shards.run(shard, command);
    const failure = isOk(reply) ? undefined : failureOf(reply);
    if (failure && failure.code !== ErrorCode.NamespaceNotFound) throw failure;
  } catch (error) {
    if (!isUnreachable(error)) throw error;
    shards.owe(shard, command, ErrorCode.NamespaceNotFound);
  }
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
