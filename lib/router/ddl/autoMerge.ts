/** Which chunks of a shard can be merged now: by `mergeAllChunksOnShard`, and by the balancer's auto-merger (7.0+). */
import type { SortableKey } from "../../bson/index.js";
import { asDocument, asTimestamp, documentSortableKey, getField } from "../../bson/index.js";
import type { Catalog } from "../catalog/catalog.js";
import type { ShardedCollection } from "../catalog/entries.js";
import { ofCollection } from "../catalog/chunkWrites.js";
import type { RouterContext } from "../context.js";
import type { Run } from "./mergeChunks.js";
import { mergeableRuns } from "./mergeChunks.js";

/** How long a chunk must have been on its shard: `minSnapshotHistoryWindowInSeconds`. */
const HISTORY_SECONDS = 300;

/**
 * Runs of chunks that can become one each, from the last to the first.
 * @param most chunks in one run
 */
export async function runsToMerge(
  { catalog, waiting }: RouterContext,
  collection: ShardedCollection,
  shard: string,
  most?: number,
): Promise<Run[]> {
  const latest = Math.floor(waiting.now() / 1000) - HISTORY_SECONDS;
  const old = new Set<SortableKey>();
  const ofShard = ofCollection(collection.uuid).string("shard", shard).finish();
  for await (const chunk of catalog.config.find("chunks", ofShard)) {
    const since = getField(chunk, "onCurrentShardSince");
    const min = getField(chunk, "min");
    if (min && (!since || asTimestamp(since).high <= latest)) old.add(documentSortableKey(asDocument(min)));
  }
  const { chunks, jumbo } = collection;
  const isMergeable = (index: number): boolean => {
    const begin = chunks.beginOf(index);
    return old.has(begin) && !jumbo.has(begin);
  };
  const bounds = await zoneBounds(catalog, collection.ns);
  return mergeableRuns(collection, shard, isMergeable, most, (index) => bounds.has(chunks.beginOf(index)));
}

/** Where zone ranges begin and end: there the balancer would cut again what was merged. */
async function zoneBounds(catalog: Catalog, ns: string): Promise<Set<SortableKey>> {
  const bounds = (await catalog.zonesOf(ns)).flatMap(({ min, max }) => [min, max]);
  return new Set(bounds.map((bound) => documentSortableKey(bound)));
}
