/**
 * Writing config.chunks when neighbours on one shard become one chunk (facts-mongos.md §3.4).
 *
 *     [0, 5) A 1|1   [5, 10) A 1|2   ──►   [0, 10) A 1|3
 */
import type { RawValue } from "../../bson/index.js";
import { asTimestamp, DocumentWriter, getField } from "../../bson/index.js";
import type { Chunk } from "./chunkMap.js";
import type { ChangedChunks, ChunkWriter } from "./chunkWrites.js";
import { idOf, ofCollection, set, storedChunk } from "./chunkWrites.js";
import { historyEntry, lastmodOf } from "./documents.js";
import type { ShardedCollection } from "./entries.js";

/**
 * Makes one chunk of neighbours.
 * @param first index of the first one
 * @param last index of the last one, greater than `first`
 * @throws CommandError after which config.chunks has to be read again
 */
export async function writeMerge(
  { config, clock }: ChunkWriter,
  collection: ShardedCollection,
  first: number,
  last: number,
): Promise<ChangedChunks> {
  const { chunks, uuid } = collection;
  const head = chunks.chunk(first);
  const tail = chunks.chunk(last);
  const stored = await storedChunk(config, collection, head);
  const version = { major: collection.version.major, minor: collection.version.minor + 1 };
  // The history begins with the same moment: checkMetadataConsistency compares them.
  const since = (await latestArrival({ config }, collection, first, last)) ?? clock.tick();
  const merged = new DocumentWriter()
    .document("max", tail.max)
    .field("lastmod", lastmodOf(version))
    .field("onCurrentShardSince", since)
    .arrayOf("history", [historyEntry(since, head.shard)])
    .finish();
  const others = new DocumentWriter().document("$gt", head.min).document("$lte", tail.min).finish();
  await config.bulk([
    { update: "chunks", filter: idOf(stored), change: set(merged, "jumbo") },
    { remove: "chunks", filter: ofCollection(uuid).document("min", others).finish() },
  ]);
  const gone = new Set<string>();
  for (let index = first; index <= last; index++) gone.add(chunks.beginOf(index));
  const jumbo = new Set([...collection.jumbo].filter((begin) => !gone.has(begin)));
  return { chunks: chunks.withMerge(first, last), version, jumbo };
}

/** When the latest of some chunks came to its shard. */
async function latestArrival(
  { config }: Pick<ChunkWriter, "config">,
  { chunks, uuid }: ShardedCollection,
  first: number,
  last: number,
): Promise<RawValue | undefined> {
  let latest: RawValue | undefined;
  const range = new DocumentWriter()
    .document("$gte", chunks.chunk(first).min)
    .document("$lte", chunks.chunk(last).min)
    .finish();
  for await (const chunk of config.find("chunks", ofCollection(uuid).document("min", range).finish())) {
    const since = getField(chunk, "onCurrentShardSince");
    if (since && (!latest || isLaterTime(since, latest))) latest = since;
  }
  return latest;
}

/** Whether one timestamp is later than another. */
export function isLaterTime(a: RawValue, b: RawValue): boolean {
  const left = asTimestamp(a);
  const right = asTimestamp(b);
  return left.high !== right.high ? left.high > right.high : left.low > right.low;
}

/** The bounds of a chunk, as config.changelog has them. */
export function boundsOf({ min, max }: Chunk): Uint8Array {
  return new DocumentWriter().document("min", min).document("max", max).finish();
}
