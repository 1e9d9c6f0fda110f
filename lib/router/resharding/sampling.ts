/** Keys of documents chosen at random, from all shards that have some. */
import { asNumber, DocumentWriter, getField, int32 } from "../../bson/index.js";
import { readCursorReply, request } from "../../protocol/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { RouterContext } from "../context.js";
import type { PlacedKey } from "../ddl/splitPoints.js";
import type { ShardKeyPattern } from "../keys/shardKeyPattern.js";
import { ShardCursor } from "../merging/shardCursor.js";

/**
 * Samples of a new key, ascending: of every shard as many as its share of the documents is.
 * @param size how many; all documents where there are no more
 * @throws CommandError ShardKeyNotFound (61) for an array in the key
 */
export async function sampleKeys(
  context: RouterContext,
  { db, name, chunks }: ShardedCollection,
  key: ShardKeyPattern,
  size: number,
): Promise<PlacedKey[]> {
  const counts = await Promise.all(
    chunks.owningShards().map(async (shard) => {
      const n = getField(await context.shards.must(shard, db, { count: name, query: {} }), "n");
      return { shard, count: n ? asNumber(n) : 0 };
    }),
  );
  const total = counts.reduce((sum, { count }) => sum + count, 0);
  const samples: PlacedKey[] = [];
  for (const { shard, count } of counts) {
    const share = total <= size ? count : Math.ceil((size * count) / total);
    if (share === 0) continue;
    const project = new DocumentWriter().document("$project", projectionOf(key)).finish();
    const some = new DocumentWriter().int64("size", BigInt(share)).finish();
    const sample = new DocumentWriter().document("$sample", some).finish();
    const pipeline = share < count ? [sample, project] : [project];
    const command = new DocumentWriter()
      .string("aggregate", name)
      .arrayOf("pipeline", pipeline)
      .document("cursor", new DocumentWriter().finish());
    const reply = await context.shards.run(shard, request(db, command.finish()));
    const cursor = new ShardCursor(context.shards, shard, readCursorReply(reply));
    await cursor.drain();
    for (let document = cursor.take(); document; document = cursor.take()) {
      samples.push(key.extract(document));
    }
  }
  return samples.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}

function projectionOf(key: ShardKeyPattern): Uint8Array {
  const projection = new DocumentWriter();
  for (const path of key.paths) projection.field(path, int32(1));
  if (!key.includesId) projection.field("_id", int32(0));
  return projection.finish();
}
