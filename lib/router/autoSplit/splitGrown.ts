/**
 * Splitting a chunk that has grown: at every half of a chunk size, as splitVector does (facts-mongos.md §3.1).
 *
 *     100 KB in a chunk of at most 64 KB      │····32····│····32····│····32····│·4·│
 *
 * One point alone is no reason: the chunk is between half its size and all of it.
 */
import { getField, isTruthy } from "../../bson/index.js";
import { CommandError } from "../../protocol/index.js";
import type { Chunk } from "../catalog/chunkMap.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { RouterContext } from "../context.js";
import { maxChunkSize } from "../ddl/chunkSize.js";
import { readChunk } from "../ddl/range.js";
import { splitAt } from "../ddl/splitAt.js";
import type { PlacedKey } from "../ddl/splitPoints.js";
import { everyDocuments } from "../ddl/splitPoints.js";
import { withCollectionAlone } from "../support/collections.js";
import type { GrownChunk } from "./growth.js";

/** Looks at the chunks that are due and splits those that are too large. Never fails: the write is over. */
export async function splitGrown(context: RouterContext): Promise<void> {
  for (const grown of context.growth.take()) {
    try {
      if (await isSwitchedOff(context)) return;
      await withCollectionAlone(context, grown.ns, async (collection) => {
        if (collection) await splitIfLarge(context, collection, grown);
      });
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      context.environment.log?.("warn", "a chunk could not be split", {
        ns: grown.ns,
        message: error.message,
      });
    }
  }
}

/** `sh.disableAutoSplit()` */
async function isSwitchedOff({ catalog }: RouterContext): Promise<boolean> {
  const setting = await catalog.config.findOne("settings", { _id: "autosplit" });
  const enabled = setting && getField(setting, "enabled");
  return enabled !== undefined && !isTruthy(enabled);
}

async function splitIfLarge(
  context: RouterContext,
  collection: ShardedCollection,
  { begin }: GrownChunk,
): Promise<void> {
  const { chunks, key } = collection;
  const chunk = chunks.chunk(chunks.find(begin));
  const points = halves(await keysAndBytes(context, collection, chunk), maxChunkSize(context, collection));
  if (points.length < 2) return;
  const bounds = points.map(({ values }) => key.boundOf(values));
  await splitAt(context, collection, chunk, bounds);
}

/** The points that cut a chunk at every half of the chunk size, by the average of its documents. */
function halves({ keys, bytes }: { keys: PlacedKey[]; bytes: number }, chunkSize: number): PlacedKey[] {
  if (bytes <= chunkSize) return [];
  return everyDocuments(keys, Math.max(1, Math.floor(chunkSize / 2 / (bytes / keys.length))));
}

async function keysAndBytes(
  context: RouterContext,
  collection: ShardedCollection,
  chunk: Chunk,
): Promise<{ keys: PlacedKey[]; bytes: number }> {
  const keys: PlacedKey[] = [];
  let bytes = 0;
  for await (const batch of readChunk(context, collection, chunk)) {
    for (const document of batch) {
      bytes += document.length;
      keys.push(collection.key.extract(document));
    }
  }
  return { keys, bytes };
}
