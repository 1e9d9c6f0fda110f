/** What a collection must have before its shard key gets longer (facts-mongos.md §8.1). */
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { RouterContext } from "../context.js";
import { homeOf } from "../context.js";
import type { ShardKeyPattern } from "../keys/shardKeyPattern.js";
import { checkSupport, supportingIndexes } from "./indexRules.js";
import type { Names } from "./shardCollections.js";
import { describeOn, indexesOn, multikeyOn } from "./shardCollections.js";

const BEFORE_SHARDING = "before sharding the collection.";
const BEFORE_REFINING = "before refining the collection's shard key.";

/**
 * Every shard with documents needs an index that begins with the new key; where the collection was sharded as unique, a
 * unique one on exactly that key.
 * @throws CommandError InvalidOptions (72), naming why each candidate can't
 */
export async function checkRefinedIndexes(
  context: RouterContext,
  collection: ShardedCollection,
  key: ShardKeyPattern,
  enforceUniqueness: boolean,
): Promise<void> {
  const { unique } = collection;
  for (const shard of collection.chunks.owningShards()) {
    const indexes = await indexesOn(context, shard, collection);
    const multikey = await multikeyOn(context, shard, collection, supportingIndexes(indexes, key));
    try {
      checkSupport(indexes, key, { unique, enforceUniqueness, empty: false, multikey });
    } catch (error) {
      if (!(error instanceof CommandError) || error.code !== ErrorCode.InvalidOptions) throw error;
      throw new CommandError(error.code, error.message.replace(BEFORE_SHARDING, BEFORE_REFINING));
    }
  }
}

/** Whether there is an unsharded collection of this name. */
export async function existsUnsharded(context: RouterContext, names: Names): Promise<boolean> {
  const { shard, exists } = homeOf(context, names.db, `${names.db}.${names.name}`);
  return exists && (await describeOn(context, shard, names)) !== undefined;
}
