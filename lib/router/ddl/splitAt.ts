/** Cutting chunks at given bounds: where a zone begins or ends, no chunk may lie across (facts-mongos.md §10). */
import { describeDocument, documentSortableKey, DocumentWriter } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { Chunk } from "../catalog/chunkMap.js";
import type { ShardedCollection } from "../catalog/entries.js";
import { boundsOf } from "../catalog/mergeWrites.js";
import type { RouterContext } from "../context.js";

/**
 * Cuts every chunk that has one of these points strictly inside it. The caller holds the collection alone.
 * @param points full keys, in any order; those that are bounds already change nothing
 * @returns how many chunks were cut
 * @throws CommandError BadValue (2) for a point that is no full key, what the config server refuses
 */
export async function splitAtBounds(
  { catalog }: RouterContext,
  collection: ShardedCollection,
  points: readonly Uint8Array[],
): Promise<number> {
  const byChunk = new Map<string, Uint8Array[]>();
  const end = documentSortableKey(collection.key.maximum);
  for (const point of points) {
    if (!collection.key.isBound(point)) {
      throw new CommandError(
        ErrorCode.BadValue,
        `${describeDocument(point)} is no bound of ${collection.key.text}`,
      );
    }
    const { chunks } = collection;
    const at = documentSortableKey(point);
    const begin = chunks.beginOf(chunks.find(at));
    if (begin === at || at >= end) continue;
    const inside = byChunk.get(begin) ?? [];
    if (!inside.some((other) => documentSortableKey(other) === at)) inside.push(point.slice());
    byChunk.set(begin, inside);
  }
  for (const [begin, inside] of byChunk) {
    const chunk = collection.chunks.chunk(collection.chunks.find(begin));
    inside.sort((a, b) => (documentSortableKey(a) < documentSortableKey(b) ? -1 : 1));
    await catalog.splitChunk(collection, chunk, inside);
    await logSplit({ catalog }, collection, chunk, inside);
  }
  return byChunk.size;
}

/** config.changelog: `split` for two pieces, one `multi-split` a piece for more (§3.4). */
export async function logSplit(
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
