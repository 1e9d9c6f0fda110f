/**
 * How large chunks may be, and how much data a shard has (facts-mongos.md §3.1, §3.3).
 *
 * The chunk size bounds what is moved at once. Before a migration the donor counts: a range with 1.3 times as many
 * documents as fit into a chunk, by the collection's average, is too large to be moved.
 */
import { asNumber, describeDocument, DocumentWriter, getField, isNumeric } from "../../bson/index.js";
import { CommandError, ErrorCode, failureOf, isOk, request } from "../../protocol/index.js";
import type { Chunk } from "../catalog/chunkMap.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { RouterContext } from "../context.js";
import { readChunk } from "./range.js";

/** The most that a chunk of the collection should hold, in bytes. */
export function maxChunkSize({ catalog }: RouterContext, { maxChunkSizeBytes }: ShardedCollection): number {
  return maxChunkSizeBytes ?? catalog.settings.chunkSizeBytes;
}

/** What a shard says of its part of a collection. */
export interface PartSize {
  readonly documents: number;
  readonly bytes: number;
}

/**
 * The size of a shard's part of a collection; nothing where it has none.
 * @throws CommandError when the shard does not answer
 */
export async function partOnShard(
  { shards }: RouterContext,
  { db, name }: Pick<ShardedCollection, "db" | "name">,
  shard: string,
): Promise<PartSize> {
  const reply = await shards.run(shard, request(db, { collStats: name }));
  if (!isOk(reply)) {
    const failure = failureOf(reply);
    if (failure.code === ErrorCode.NamespaceNotFound) return { documents: 0, bytes: 0 };
    throw failure;
  }
  const number = (field: string): number => {
    const value = getField(reply.body, field);
    return value && isNumeric(value) ? asNumber(value) : 0;
  };
  return { documents: number("count"), bytes: number("size") };
}

/** Documents of average size that a chunk of this size may have and still be moved. */
export function maxDocuments(chunkSizeBytes: number, { documents, bytes }: PartSize): number {
  if (documents === 0 || bytes === 0) return Infinity;
  return Math.max(1, Math.floor((13 * (chunkSizeBytes / (bytes / documents))) / 10));
}

/**
 * Refuses a range with more documents than may be moved at once. They are counted where there can be as many at all.
 * @param chunkSize in bytes
 * @throws CommandError ChunkTooBig (153)
 */
export async function checkNotTooBig(
  context: RouterContext,
  collection: ShardedCollection,
  range: Pick<Chunk, "min" | "max" | "shard">,
  chunkSize = maxChunkSize(context, collection),
): Promise<void> {
  const part = await partOnShard(context, collection, range.shard);
  const most = maxDocuments(chunkSize, part);
  if (part.documents <= most) return;
  let found = 0;
  const idOnly = new DocumentWriter().int32("_id", 1).finish();
  for await (const batch of readChunk(context, collection, { index: -1, ...range }, idOnly)) {
    found += batch.length;
  }
  if (found <= most) return;
  throw new CommandError(
    ErrorCode.ChunkTooBig,
    `Cannot move chunk: the maximum number of documents for a chunk is ${most}, the maximum chunk size is ` +
      `${chunkSize}, average document size is ${Math.floor(part.bytes / part.documents)}. Found ${found} documents in ` +
      `chunk  ns: ${collection.ns} ${describeDocument(range.min)} -> ${describeDocument(range.max)}`,
  );
}
