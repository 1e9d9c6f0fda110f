/**
 * The last index that supports a shard key has to stay (§1.5).
 *
 * Another index will do that begins with the key and holds no array: one that is
 * multikey has several entries of a document and can't tell what a chunk holds.
 */
import { fields } from "../../bson/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { RouterContext } from "../context.js";
import type { IndexSpec } from "./indexRules.js";
import { supportingIndexes } from "./indexRules.js";
import { multikeyOn } from "./shardCollections.js";

/**
 * Whether the last index that supports the key would be gone, where the release keeps it.
 * @param shard whose part is looked at
 * @param indexes the collection's indexes on that shard
 * @param gone those of them that are to be dropped or hidden
 */
export async function isLastForKey(
  context: RouterContext,
  shard: string,
  collection: ShardedCollection,
  indexes: readonly IndexSpec[],
  gone: readonly IndexSpec[],
): Promise<boolean> {
  const { rules } = context;
  const { key } = collection;
  if (!(key.isHashed ? rules.lastHashedKeyIndexProtected : rules.lastKeyIndexProtected)) return false;
  const supporting = supportingIndexes(indexes, key);
  if (!supporting.some((index) => gone.includes(index))) return false;
  const left = supporting.filter((index) => !gone.includes(index));
  // The key's own fields never hold arrays (61): an index of nothing else is not multikey.
  if (left.some((index) => fields(index.key).length === key.fields.length)) return false;
  const multikey = await multikeyOn(context, shard, collection, left);
  return left.every((index) => multikey.has(index));
}
