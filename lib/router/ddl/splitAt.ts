/** Cutting a chunk at given bounds: for `split`, at the bounds of zones, and where a chunk has grown too large. */
import { documentSortableKey, DocumentWriter } from "../../bson/index.js";
import type { Chunk } from "../catalog/chunkMap.js";
import type { ShardedCollection } from "../catalog/entries.js";
import { boundsOf } from "../catalog/mergeWrites.js";
import type { RouterContext } from "../context.js";

/**
 * Cuts a chunk, and notes it in config.changelog. The caller holds the collection alone.
 * @param points bounds strictly inside the chunk, ascending
 * @throws CommandError what the config server refuses
 */
export async function splitAt(
  { catalog }: Pick<RouterContext, "catalog">,
  collection: ShardedCollection,
  chunk: Chunk,
  points: readonly Uint8Array[],
): Promise<void> {
  await catalog.splitChunk(collection, chunk, points);
  await logSplit({ catalog }, collection, chunk, points);
}

/** config.changelog: `split` for two pieces, one `multi-split` a piece for more (§3.4). */
async function logSplit(
  { catalog }: Pick<RouterContext, "catalog">,
  { ns, chunks }: ShardedCollection,
  before: Chunk,
  points: readonly Uint8Array[],
): Promise<void> {
  const pieces = [before.min, ...points].map((min, i) => ({ min, max: points[i] ?? before.max }));
  const piece = (range: { min: Uint8Array; max: Uint8Array }): Uint8Array =>
    new DocumentWriter().document("min", range.min).document("max", range.max).finish();
  if (pieces.length === 2) {
    const details = new DocumentWriter()
      .document("before", boundsOf(before))
      .document("left", piece(pieces[0]!))
      .document("right", piece(pieces[1]!))
      .string("owningShard", before.shard);
    await catalog.log("split", ns, details.finish(), before.shard);
    return;
  }
  for (const [i, range] of pieces.entries()) {
    const details = new DocumentWriter()
      .document("before", boundsOf(before))
      .int32("number", i + 1)
      .int32("of", pieces.length)
      .document("chunk", piece(range))
      .string("owningShard", chunks.ownerOf(chunks.find(documentSortableKey(range.min))));
    await catalog.log("multi-split", ns, details.finish(), before.shard);
  }
}
