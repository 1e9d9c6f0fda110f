/**
 * Reading the documents of one chunk on its shard, in key order.
 *
 * A shard does not know chunks. But it has an index that begins with the shard
 * key, and a chunk is a range of that index: `find` with `hint`, `min` and `max`
 * reads exactly its documents. For a hashed key the index holds hashes, which is
 * what the chunk's bounds are.
 *
 *     chunk [{x: 10}, {x: 20}), index {x: 1, y: -1}
 *     find {} hint {x: 1, y: -1}  min {x: 10, y: MaxKey}  max {x: 20, y: MaxKey}
 *
 * Index fields beyond the key are filled with the value that sorts first in
 * their direction, so that the range begins and ends between whole key values.
 * The last chunk has no `max`: a key of MaxKey itself belongs to it.
 */
import type { RawValue } from "../../bson/index.js";
import {
  asNumber,
  compareDocuments,
  documentSortableKey,
  DocumentWriter,
  fields,
  isNumeric,
  MAX_KEY,
  MIN_KEY,
} from "../../bson/index.js";
import type { Request } from "../../protocol/index.js";
import { CommandError, ErrorCode, readCursorReply, request } from "../../protocol/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { Chunk } from "../catalog/chunkMap.js";
import type { RouterContext } from "../context.js";
import { ShardCursor } from "../merging/shardCursor.js";
import type { IndexSpec } from "./indexRules.js";
import { supportingIndexes } from "./indexRules.js";
import { indexesOn } from "./shardCollections.js";

/**
 * The documents of a chunk, raw, in the order of the shard key.
 * @param projection fields wanted; all when absent
 * @throws CommandError IndexNotFound (27) when the shard has no index for the key
 */
export async function* readChunk(
  context: RouterContext,
  collection: ShardedCollection,
  chunk: Chunk,
  projection?: Uint8Array,
): AsyncGenerator<readonly Uint8Array[]> {
  const index = await indexForKey(context, collection, chunk.shard);
  const find = new DocumentWriter()
    .string("find", collection.name)
    .document("filter", new DocumentWriter().finish())
    .document("hint", index.key)
    .document("min", extend(index, chunk.min));
  if (compareDocuments(chunk.max, collection.key.maximum) !== 0)
    find.document("max", extend(index, chunk.max));
  if (projection) find.document("projection", projection);
  yield* batchesFrom(context, chunk.shard, request(collection.db, find.finish()));
}

/** The documents of a range on a shard that has no index for the key: all of them are looked at. */
export async function* scanRange(
  context: RouterContext,
  { db, name, key }: ShardedCollection,
  { min, max, shard }: Pick<Chunk, "min" | "max" | "shard">,
): AsyncGenerator<readonly Uint8Array[]> {
  const low = documentSortableKey(min);
  const high = compareDocuments(max, key.maximum) === 0 ? undefined : documentSortableKey(max);
  const find = new DocumentWriter().string("find", name).finish();
  for await (const batch of batchesFrom(context, shard, request(db, find))) {
    yield batch.filter((document) => {
      const at = key.keyOf(document);
      return at >= low && (high === undefined || at < high);
    });
  }
}

/** The documents of a `find` on one shard, batch by batch. */
export async function* batchesFrom(
  context: RouterContext,
  shard: string,
  find: Request,
): AsyncGenerator<readonly Uint8Array[]> {
  const reply = await context.shards.run(shard, find);
  const cursor = new ShardCursor(context.shards, shard, readCursorReply(reply));
  try {
    while (!cursor.ended) {
      await cursor.fill();
      const batch: Uint8Array[] = [];
      for (let document = cursor.take(); document; document = cursor.take()) batch.push(document);
      if (batch.length > 0) yield batch;
    }
  } finally {
    await cursor.close();
  }
}

/** The smallest index on a shard that supports the collection's key. */
async function indexForKey(
  context: RouterContext,
  collection: ShardedCollection,
  shard: string,
): Promise<IndexSpec> {
  const [index] = supportingIndexes(await indexesOn(context, shard, collection), collection.key);
  if (index) return index;
  throw new CommandError(
    ErrorCode.IndexNotFound,
    `can't find an index with prefix ${collection.key.text} for ${collection.ns} on shard ${shard}`,
  );
}

/** A chunk bound as a bound of the whole index. */
function extend(index: IndexSpec, bound: Uint8Array): Uint8Array {
  const given = new Map<string, RawValue>(fields(bound));
  const writer = new DocumentWriter();
  for (const [path, direction] of fields(index.key)) {
    const descending = isNumeric(direction) && asNumber(direction) < 0;
    writer.field(path, given.get(path) ?? (descending ? MAX_KEY : MIN_KEY));
  }
  return writer.finish();
}
