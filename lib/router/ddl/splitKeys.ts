/**
 * Looking at a chunk's documents to find where it can be cut.
 */
import { DocumentWriter } from "../../bson/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import { BALANCED } from "../catalog/entries.js";
import type { Chunk } from "../catalog/chunkMap.js";
import { ChunkMap } from "../catalog/chunkMap.js";
import { FIRST_VERSION } from "../catalog/documents.js";
import type { RouterContext } from "../context.js";
import type { ShardCollectionOptions } from "./shardCollectionOptions.js";
import { readChunk } from "./range.js";
import type { PlacedKey } from "./splitPoints.js";
import { everyDocuments } from "./splitPoints.js";

/** The keys of a chunk's documents, ascending. Only the key's fields travel. */
export async function keysOf(
  context: RouterContext,
  collection: ShardedCollection,
  chunk: Chunk,
): Promise<PlacedKey[]> {
  const projection = new DocumentWriter();
  if (!collection.key.paths.some((path) => path === "_id" || path.startsWith("_id.")))
    projection.int32("_id", 0);
  for (const path of collection.key.paths) projection.int32(path, 1);
  const keys: PlacedKey[] = [];
  for await (const batch of readChunk(context, collection, chunk, projection.finish())) {
    for (const document of batch) keys.push(collection.key.extract(document));
  }
  return keys;
}

/**
 * Where a collection with documents is cut when it is sharded, before 6.0.3: at
 * about half a chunk's size each, as splitVector does (facts-mongos.md §1.4).
 */
export async function chunkSizePoints(
  context: RouterContext,
  options: ShardCollectionOptions,
  primary: string,
): Promise<Uint8Array[]> {
  const { key, ns, db, name, unique } = options;
  // A collection of one chunk that is not in the catalog yet.
  const chunks = ChunkMap.build([{ min: key.minimum, shard: primary }], key.maximum);
  const whole: ShardedCollection = {
    ns,
    db,
    name,
    key,
    unique,
    chunks,
    uuid: context.ids.uuid(),
    version: FIRST_VERSION,
    ...BALANCED,
  };
  let bytes = 0;
  const keys: PlacedKey[] = [];
  for await (const batch of readChunk(context, whole, chunks.chunk(0))) {
    for (const document of batch) {
      bytes += document.length;
      keys.push(key.extract(document));
    }
  }
  const { chunkSizeBytes } = context.catalog.settings;
  if (bytes <= chunkSizeBytes) return [];
  const perChunk = Math.floor(chunkSizeBytes / 2 / (bytes / keys.length));
  return everyDocuments(keys, perChunk).map(({ values }) => key.boundOf(values));
}
