/**
 * Writing config.chunks when a chunk is cut or moves, and what versions its
 * pieces get (facts-mongos.md §3.4).
 *
 *     split   [MinKey, 10) 1|0  ──►  [MinKey, 5) 1|1   [5, 10) 1|2     every piece a new minor version
 *     move    [5, 10) A 1|2     ──►  [5, 10) B 2|0                     the next major version
 *             [MinKey, 5) A 1|1 ──►  [MinKey, 5) A 2|1                 and one chunk that stays, so that the donor learns
 */
import type { RawValue, SortableKey } from "../../bson/index.js";
import { asDocument, DocumentWriter, elements, getField } from "../../bson/index.js";
import type { LogicalClock } from "../../protocol/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { IdSource } from "../support/ids.js";
import type { Chunk, ChunkMap } from "./chunkMap.js";
import type { BulkWrite, ConfigServer } from "./configServer.js";
import type { ChunkVersion } from "./documents.js";
import { chunkDocument, historyEntry, lastmodOf } from "./documents.js";
import type { ShardedCollection } from "./entries.js";

/** What the writes need. */
export interface ChunkWriter {
  readonly config: ConfigServer;
  readonly clock: LogicalClock;
  readonly ids: IdSource;
}

/** The collection's map after the change, its highest version, and its chunks that are too large to move. */
export interface ChangedChunks {
  readonly chunks: ChunkMap;
  readonly version: ChunkVersion;
  readonly jumbo: ReadonlySet<SortableKey>;
}

/**
 * Cuts a chunk.
 * @param points bounds strictly inside the chunk, ascending
 * @throws CommandError after which config.chunks has to be read again: some pieces may be written
 */
export async function writeSplit(
  { config, clock, ids }: ChunkWriter,
  collection: ShardedCollection,
  chunk: Chunk,
  points: readonly Uint8Array[],
): Promise<ChangedChunks> {
  const stored = await storedChunk(config, collection, chunk);
  const history = arrayOfDocuments(stored, "history");
  const since = getField(stored, "onCurrentShardSince") ?? clock.now();
  let { version } = collection;
  const next = (): ChunkVersion => (version = { major: version.major, minor: version.minor + 1 });
  const head = new DocumentWriter().document("max", points[0]!).field("lastmod", lastmodOf(next())).finish();
  const pieces = points.map((min, i) =>
    chunkDocument({
      id: ids.objectId(),
      uuid: collection.uuid,
      min,
      max: points[i + 1] ?? chunk.max,
      shard: chunk.shard,
      version: next(),
      since,
      history,
    }),
  );
  await config.bulk([
    { update: "chunks", filter: idOf(stored), change: set(head, "jumbo") },
    ...pieces.map((document) => ({ insert: "chunks", document })),
  ]);
  const jumbo = withoutChunk(collection, chunk);
  return { chunks: collection.chunks.withSplit(chunk.index, points), version, jumbo };
}

/**
 * Gives a chunk to another shard.
 * @throws CommandError after which config.chunks has to be read again
 */
export async function writeMove(
  { config, clock }: ChunkWriter,
  collection: ShardedCollection,
  chunk: Chunk,
  to: string,
): Promise<ChangedChunks> {
  const stored = await storedChunk(config, collection, chunk);
  const now = clock.tick();
  const major = collection.version.major + 1;
  const moved = new DocumentWriter()
    .string("shard", to)
    .field("lastmod", lastmodOf({ major, minor: 0 }))
    .field("onCurrentShardSince", now)
    .arrayOf("history", [historyEntry(now, to), ...arrayOfDocuments(stored, "history")])
    .finish();
  const chunks = collection.chunks.withOwner(chunk.index, to);
  const remaining = firstChunkOf(chunks, chunk.shard);
  const writes: BulkWrite[] = [{ update: "chunks", filter: idOf(stored), change: set(moved, "jumbo") }];
  if (remaining) {
    const bump = new DocumentWriter().field("lastmod", lastmodOf({ major, minor: 1 })).finish();
    const filter = idOf(await storedChunk(config, collection, remaining));
    writes.push({ update: "chunks", filter, change: set(bump) });
  }
  await config.bulk(writes);
  const jumbo = withoutChunk(collection, chunk);
  return { chunks, version: { major, minor: remaining ? 1 : 0 }, jumbo };
}

/** The chunks that are too large to move, but for one that is another now. */
function withoutChunk({ jumbo, chunks }: ShardedCollection, chunk: Chunk): ReadonlySet<SortableKey> {
  const begin = chunks.beginOf(chunk.index);
  return jumbo.has(begin) ? new Set([...jumbo].filter((key) => key !== begin)) : jumbo;
}

/**
 * Says of a chunk that it is too large to move, or that it is not.
 * @throws CommandError after which config.chunks has to be read again
 */
export async function writeJumbo(
  { config }: ChunkWriter,
  collection: ShardedCollection,
  chunk: Chunk,
  isJumbo: boolean,
): Promise<Pick<ShardedCollection, "jumbo">> {
  const stored = await storedChunk(config, collection, chunk);
  const flag = new DocumentWriter().bool("jumbo", true).finish();
  await config.update("chunks", idOf(stored), isJumbo ? set(flag) : unset("jumbo"));
  const others = withoutChunk(collection, chunk);
  return { jumbo: isJumbo ? new Set([...others, collection.chunks.beginOf(chunk.index)]) : others };
}

/** The document of a chunk. @throws CommandError ConflictingOperationInProgress (117) when it is gone */
export async function storedChunk(
  config: ConfigServer,
  collection: ShardedCollection,
  chunk: Chunk,
): Promise<Uint8Array> {
  const stored = await config.findOne(
    "chunks",
    ofCollection(collection.uuid).document("min", chunk.min).finish(),
  );
  if (stored) return stored;
  throw new CommandError(
    ErrorCode.ConflictingOperationInProgress,
    `the chunk is no longer in config.chunks of ${collection.ns}`,
  );
}

/** The start of a filter on config.chunks. */
export function ofCollection(uuid: RawValue): DocumentWriter {
  return new DocumentWriter().field("uuid", uuid);
}

/** `{$set: fields}`, and without another field. */
export function set(fields: Uint8Array, without?: string): Uint8Array {
  const update = new DocumentWriter().document("$set", fields);
  return (without === undefined ? update : update.fieldsOf(unset(without))).finish();
}

/** `{$unset: {field: ""}}` */
export function unset(name: string): Uint8Array {
  return new DocumentWriter().document("$unset", new DocumentWriter().string(name, "").finish()).finish();
}

/** The first chunk in order that a shard owns. */
export function firstChunkOf(chunks: ChunkMap, shard: string): Chunk | undefined {
  for (let index = 0; index < chunks.size; index++) {
    if (chunks.ownerOf(index) === shard) return chunks.chunk(index);
  }
  return undefined;
}

/** `{_id: …}` of a document. */
export function idOf(document: Uint8Array): Uint8Array {
  return new DocumentWriter().field("_id", getField(document, "_id")!).finish();
}

/** The elements of an array of documents; none where it is absent. */
export function arrayOfDocuments(document: Uint8Array, name: string): Uint8Array[] {
  const value = getField(document, name);
  return value ? elements(asDocument(value)).map(asDocument) : [];
}
