/**
 * A shard has been started again.
 *
 *     shardB  gone ……… back, on its old address
 *     router           └─► for each sharded collection that lives there:
 *                          is it there? if not, make it: options and indexes as on
 *                          another shard that has it, else the shard key's index
 *
 * A real shard has its collections on disk and our own its journal, if it was given
 * a directory: nothing is missing then. One without keeps everything in memory and
 * comes back empty, while the catalog still gives it its chunks. Without this, the
 * next insert would create the collection anew without its indexes: a unique index
 * would no longer hold, a query would scan. What such a shard can't have back is
 * data: documents, unsharded collections and views, and those indexes of a sharded
 * collection that no other shard has.
 *
 * No locks are taken: commands on these collections wait for us already (the
 * registry sends nothing to the shard before), and what is there already stays.
 */
import { DocumentWriter } from "../../bson/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import { isUnreachable } from "../catalog/unreachable.js";
import type { RouterContext } from "../context.js";
import { indexName } from "./indexRules.js";
import { copyDefinition, createOn, describeOn } from "./shardCollections.js";

/**
 * Makes a shard know the sharded collections that live on it.
 * @param shard id of a shard that answers again
 * @throws CommandError when it does not, or refuses
 */
export async function restoreShard(context: RouterContext, shard: string): Promise<void> {
  const { catalog } = context;
  for (const collection of catalog.collections) {
    if (!livesOn(context, collection, shard) || (await describeOn(context, shard, collection))) continue;
    if (catalog.collection(collection.ns) === collection) await restore(context, collection, shard);
  }
}

/** The primary shard has every collection of its databases; others have those whose chunks they own. */
function livesOn({ catalog }: RouterContext, { db, chunks }: ShardedCollection, shard: string): boolean {
  return catalog.database(db)?.primary === shard || chunks.owningShards().includes(shard);
}

async function restore(context: RouterContext, collection: ShardedCollection, shard: string): Promise<void> {
  for (const other of context.shards.ids) {
    if (other === shard || !livesOn(context, collection, other)) continue;
    try {
      if (!(await describeOn(context, other, collection))) continue;
      await copyDefinition(context, collection, other, shard);
      return;
    } catch (error) {
      // The one we would copy from is gone as well: another may be there.
      if (!isUnreachable(error)) throw error;
    }
  }
  await createFromCatalog(context, collection, shard);
}

/** What the catalog alone knows of a collection: its collation, its key and whether that is unique. */
async function createFromCatalog(
  context: RouterContext,
  { db, name, key, unique, defaultCollation }: ShardedCollection,
  shard: string,
): Promise<void> {
  const options = new DocumentWriter();
  if (defaultCollation) options.document("collation", defaultCollation);
  await createOn(context, shard, { db, name }, options.finish());
  const index = new DocumentWriter().document("key", key.document).string("name", indexName(key));
  if (defaultCollation) {
    index.document("collation", new DocumentWriter().string("locale", "simple").finish());
  }
  if (unique) index.bool("unique", true);
  const create = new DocumentWriter().string("createIndexes", name).arrayOf("indexes", [index.finish()]);
  await context.shards.must(shard, db, create.finish());
}
