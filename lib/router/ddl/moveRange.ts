/**
 * Which range `moveRange` moves (facts-mongos.md §3.2), and moving it.
 *
 *     min and max     exactly that range, cut out of its chunk: one chunk becomes up to three
 *     only min        from there to the chunk's end, at most a chunk size of it
 *     only max        from the chunk's begin, or a chunk size before, to there
 *
 * Sizes are those of the documents, in the order of the key; documents with one key value stay together.
 */
import { compareDocuments, describeDocument, documentSortableKey } from "../../bson/index.js";
import type { SortableKey } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { Chunk } from "../catalog/chunkMap.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { RouterContext } from "../context.js";
import { maxChunkSize } from "./chunkSize.js";
import type { ChunkRange, Migration, MigrationOptions } from "./migration.js";
import { migrateRange } from "./migration.js";
import { readChunk } from "./range.js";

/** Bounds of a range, each a full shard key; at least one is there. */
export interface Bounds {
  readonly min?: Uint8Array | undefined;
  readonly max?: Uint8Array | undefined;
}

/**
 * Moves a range. The caller holds the collection alone.
 * @param to id of a shard
 * @returns what moved; nothing where it is there already
 * @throws CommandError InvalidOptions (72) for bounds that are no range, Location11089203 for one that lies in several
 * chunks, and as {@link migrateRange}
 */
export async function moveRange(
  context: RouterContext,
  collection: ShardedCollection,
  bounds: Bounds,
  to: string,
  options: MigrationOptions = {},
): Promise<Migration> {
  const chunk = chunkOf(collection, bounds);
  if (chunk.shard === to) return { documents: 0, bytes: 0 };
  return migrateRange(context, collection, await rangeOf(context, collection, chunk, bounds), to, options);
}

/** The chunk that a range lies in. @throws CommandError InvalidOptions (72), Location11089203 */
function chunkOf({ key, chunks }: ShardedCollection, { min, max }: Bounds): Chunk {
  if (!min && !max) {
    throw new CommandError(
      ErrorCode.InvalidOptions,
      "Need to specify at least one bound of the range to move",
    );
  }
  if (min && max && compareDocuments(min, max) >= 0) {
    throw new CommandError(
      ErrorCode.InvalidOptions,
      `min ${describeDocument(min)} must be less than max ${describeDocument(max)}`,
    );
  }
  if (min && compareDocuments(min, key.maximum) >= 0) {
    throw new CommandError(ErrorCode.InvalidOptions, `no chunk begins at or after ${describeDocument(min)}`);
  }
  if (!min) return chunkEndingAt(chunks, key, max!);
  const chunk = chunks.chunk(chunks.find(documentSortableKey(min)));
  if (!max || compareDocuments(max, chunk.max) <= 0) return chunk;
  throw new CommandError(
    11089203,
    `the range [${describeDocument(min)}, ${describeDocument(max)}) spans more than one chunk`,
  );
}

/** The chunk in which the keys right before a bound are. */
function chunkEndingAt(
  chunks: ShardedCollection["chunks"],
  key: ShardedCollection["key"],
  max: Uint8Array,
): Chunk {
  if (compareDocuments(max, key.minimum) <= 0) {
    throw new CommandError(ErrorCode.InvalidOptions, `no chunk ends at or before ${describeDocument(max)}`);
  }
  if (compareDocuments(max, key.maximum) >= 0) return chunks.chunk(chunks.size - 1);
  const at = documentSortableKey(max);
  const index = chunks.find(at);
  return chunks.chunk(chunks.beginOf(index) === at ? index - 1 : index);
}

async function rangeOf(
  context: RouterContext,
  collection: ShardedCollection,
  { min: begin, max: end, shard }: Chunk,
  { min, max }: Bounds,
): Promise<ChunkRange> {
  if (min && max) return { min, max, shard };
  if (min) {
    const cut = await cutAfter(context, collection, { min, max: end, shard });
    return { min, max: cut ?? end, shard };
  }
  const cut = await cutBefore(context, collection, { min: begin, max: max!, shard });
  return { min: cut ?? begin, max: max!, shard };
}

/** Where the first chunk size of a range ends; undefined where there is no more than that. */
export async function cutAfter(
  context: RouterContext,
  collection: ShardedCollection,
  range: ChunkRange,
): Promise<Uint8Array | undefined> {
  const most = maxChunkSize(context, collection);
  let bytes = 0;
  let first: SortableKey | undefined;
  for await (const batch of readChunk(context, collection, { index: -1, ...range })) {
    for (const document of batch) {
      const { key, values } = collection.key.extract(document);
      first ??= key;
      bytes += document.length;
      // All documents with one key value go together, however many they are.
      if (bytes > most && key !== first) return collection.key.boundOf(values);
    }
  }
  return undefined;
}

/** Where the last chunk size of a range begins; undefined where there is no more than that. */
async function cutBefore(
  context: RouterContext,
  collection: ShardedCollection,
  range: ChunkRange,
): Promise<Uint8Array | undefined> {
  const most = maxChunkSize(context, collection);
  // Documents with one key value, in order; those before `from` don't fit.
  const groups: { key: SortableKey; bound: Uint8Array; bytes: number }[] = [];
  let from = 0;
  let bytes = 0;
  for await (const batch of readChunk(context, collection, { index: -1, ...range })) {
    for (const document of batch) {
      const { key, values } = collection.key.extract(document);
      let group = groups.at(-1);
      if (group?.key !== key) groups.push((group = { key, bound: collection.key.boundOf(values), bytes: 0 }));
      group.bytes += document.length;
      bytes += document.length;
      while (bytes > most && from < groups.length - 1) bytes -= groups[from++]!.bytes;
    }
  }
  return from === 0 ? undefined : groups[from]!.bound;
}
