/**
 * What becomes of a chunk that was too large to move (facts-mongos.md §3.1): it is cut at chunk size, or, where all its
 * documents have one key value and it can't be cut, marked as jumbo. The balancer passes over jumbo chunks until somebody
 * clears the mark, makes the key finer, or moves the chunk with forceJumbo.
 */
import { documentSortableKey } from "../../bson/index.js";
import { CommandError } from "../../protocol/index.js";
import { writeJumbo } from "../catalog/chunkWrites.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { RouterContext } from "../context.js";
import { maxChunkSize, partOnShard } from "../ddl/chunkSize.js";
import { splitAt } from "../ddl/splitAt.js";
import { keysOf } from "../ddl/splitKeys.js";
import { everyDocuments } from "../ddl/splitPoints.js";

/**
 * Cuts the chunk of a key at chunk size, or marks it. The caller holds the collection alone.
 * What goes wrong here is logged: the next round tries again.
 */
export async function splitOrMarkJumbo(
  context: RouterContext,
  collection: ShardedCollection,
  min: Uint8Array,
): Promise<void> {
  const { catalog, environment } = context;
  try {
    const chunk = collection.chunks.chunk(collection.chunks.find(documentSortableKey(min)));
    const { documents, bytes } = await partOnShard(context, collection, chunk.shard);
    if (documents === 0) return;
    const per = Math.max(1, Math.floor(maxChunkSize(context, collection) / Math.max(1, bytes / documents)));
    const begin = documentSortableKey(chunk.min);
    const points = everyDocuments(await keysOf(context, collection, chunk), per)
      .filter(({ key }) => key > begin)
      .map(({ values }) => collection.key.boundOf(values));
    if (points.length === 0) {
      await catalog.changeCollection(collection, (writer) => writeJumbo(writer, collection, chunk, true));
      return;
    }
    await splitAt(context, collection, chunk, points);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    environment.log?.("warn", "a chunk that is too large could not be cut or marked", { code: error.code });
  }
}
