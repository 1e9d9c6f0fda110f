/**
 * Is the map of a collection whole? Pure policy over its documents in config.chunks and config.tags.
 *
 *     [MinKey, 0) A   [0, 10) B   [10, MaxKey) A      whole
 *     [MinKey, 0) A   [5, 10) B   [10, MaxKey) A      RoutingTableRangeGap: nobody owns [0, 5)
 *     [MinKey, 7) A   [0, 10) B   [10, MaxKey) A      RoutingTableRangeOverlap: [0, 7) has two owners
 *     [0, 10) B   [10, MaxKey) A                      RoutingTableMissingMinKey
 *
 * The router's own map knows only where chunks begin, so it can neither have a gap nor an overlap: it would answer, and
 * a shard would be asked for what it does not have.
 */
import type { RawValue } from "../../bson/index.js";
import {
  asDocument,
  asString,
  BsonType,
  compareDocuments,
  compareValues,
  DocumentWriter,
  elements,
  getField,
  int32,
  toDocument,
} from "../../bson/index.js";
import type { ShardKeyPattern } from "../keys/shardKeyPattern.js";
import type { CatalogEntry } from "./catalogEntry.js";
import { detailsOf } from "./catalogEntry.js";
import { inconsistency } from "./inconsistency.js";

/** What a walk over the chunks has found. */
export interface ChunkFindings {
  readonly found: readonly Uint8Array[];
  /** Shards that own a chunk, whether they exist or not. */
  readonly owners: ReadonlySet<string>;
}

/**
 * Walks over a collection's chunks.
 * @param chunks its documents of config.chunks, ascending by `min`
 * @param isShard whether there is a shard of this name
 */
export async function checkChunks(
  entry: CatalogEntry,
  chunks: AsyncIterable<Uint8Array>,
  isShard: (id: string) => boolean,
): Promise<ChunkFindings> {
  const { key } = entry;
  const found: Uint8Array[] = [];
  const owners = new Set<string>();
  let count = 0;
  let firstMin: Uint8Array | undefined;
  let previous: Uint8Array | undefined;
  for await (const chunk of chunks) {
    count++;
    const shard = text(chunk, "shard");
    owners.add(shard);
    if (!isShard(shard)) found.push(inconsistency("ChunkOnUnknownShard", withChunk(entry, chunk)));
    for (const message of historyErrors(chunk, shard)) {
      const details = withChunk(entry, chunk).string("errMsg", message);
      found.push(inconsistency("CorruptedChunkHistory", details));
    }
    if (!hasKeyBounds(chunk, key)) {
      const details = withChunk(entry, chunk).document("shardKeyPattern", key.document);
      found.push(inconsistency("CorruptedChunkShardKey", details));
    }
    firstMin ??= bound(chunk, "min");
    const between = previous && compareDocuments(bound(previous, "max"), bound(chunk, "min"));
    if (previous && between) {
      const details = detailsOf(entry).document("chunkA", previous).document("chunkB", chunk);
      const type = between < 0 ? "RoutingTableRangeGap" : "RoutingTableRangeOverlap";
      found.push(inconsistency(type, details));
    }
    previous = chunk;
  }
  if (entry.unsplittable && count > 1) {
    const details = new DocumentWriter().string("namespace", entry.ns).field("uuid", entry.uuid);
    details.field("numChunks", int32(count));
    found.push(inconsistency("TrackedUnshardedCollectionHasMultipleChunks", details));
  }
  if (!firstMin || !previous) {
    found.push(inconsistency("MissingRoutingTable", detailsOf(entry)));
    return { found, owners };
  }
  if (compareDocuments(firstMin, key.minimum) !== 0) {
    const details = detailsOf(entry).document("minKeyObj", firstMin).document("globalMin", key.minimum);
    found.push(inconsistency("RoutingTableMissingMinKey", details));
  }
  const lastMax = bound(previous, "max");
  if (compareDocuments(lastMax, key.maximum) !== 0) {
    const details = detailsOf(entry).document("maxKeyObj", lastMax).document("globalMax", key.maximum);
    found.push(inconsistency("RoutingTableMissingMaxKey", details));
  }
  return { found, owners };
}

const ID_KEY = toDocument({ _id: 1 });

/** An unsharded collection is registered as if its key were `_id`. */
export function checkTrackedKey(entry: CatalogEntry): Uint8Array[] {
  if (!entry.unsplittable || compareDocuments(entry.key.document, ID_KEY) === 0) return [];
  const details = new DocumentWriter()
    .string("namespace", entry.ns)
    .field("uuid", entry.uuid)
    .document("shardKey", entry.key.document);
  return [inconsistency("TrackedUnshardedCollectionHasInvalidKey", details)];
}

/**
 * Walks over a collection's zone ranges.
 * @param zones its documents of config.tags, ascending by `min`
 */
export async function checkZones(
  entry: CatalogEntry,
  zones: AsyncIterable<Uint8Array>,
): Promise<Uint8Array[]> {
  const found: Uint8Array[] = [];
  let previous: Uint8Array | undefined;
  for await (const zone of zones) {
    // An unsharded collection may have ranges of a key that it will be sharded by.
    if (!entry.unsplittable && !hasKeyBounds(zone, entry.key)) {
      const details = detailsOf(entry)
        .document("zone", zoneOf(zone))
        .document("shardKeyPattern", entry.key.document);
      found.push(inconsistency("CorruptedZoneShardKey", details));
    }
    if (previous && compareDocuments(bound(previous, "max"), bound(zone, "min")) > 0) {
      const details = detailsOf(entry).document("zoneA", zoneOf(previous)).document("zoneB", zoneOf(zone));
      found.push(inconsistency("ZonesRangeOverlap", details));
    }
    previous = zone;
  }
  return found;
}

/** A zone range without its `_id`, which may be of any kind. */
function zoneOf(zone: Uint8Array): Uint8Array {
  const writer = new DocumentWriter();
  for (const name of ["ns", "tag", "min", "max"]) {
    const value = getField(zone, name);
    if (value) writer.field(name, value);
  }
  return writer.finish();
}

/** A chunk remembers its owners, the present one first, with when it came there. */
function* historyErrors(chunk: Uint8Array, shard: string): Generator<string> {
  const history = getField(chunk, "history");
  const first = history?.type === BsonType.array ? elements(asDocument(history))[0] : undefined;
  if (first?.type !== BsonType.object) {
    yield "The history field is empty";
    return;
  }
  const latest = text(asDocument(first), "shard");
  if (latest !== shard) {
    yield `The first element in the history for this chunk must be the owning shard ${shard} but it is ${latest}`;
  }
  const since = getField(chunk, "onCurrentShardSince");
  const validAfter = getField(asDocument(first), "validAfter");
  if (!since) yield "The onCurrentShardSince field is missing";
  else if (!validAfter || !isSame(since, validAfter)) {
    yield "The validAfter for the first element in the history must match the value of onCurrentShardSince";
  }
}

function isSame(a: RawValue, b: RawValue): boolean {
  return a.type === b.type && compareValues(a, b) === 0;
}

function hasKeyBounds(range: Uint8Array, key: ShardKeyPattern): boolean {
  return [bound(range, "min"), bound(range, "max")].every((each) => key.isBound(each));
}

/** A bound of a chunk or zone; an empty document for what is none. */
function bound(range: Uint8Array, name: "min" | "max"): Uint8Array {
  const value = getField(range, name);
  return value?.type === BsonType.object ? asDocument(value) : new DocumentWriter().finish();
}

function text(document: Uint8Array, name: string): string {
  const value = getField(document, name);
  return value?.type === BsonType.string ? asString(value) : "";
}

function withChunk(entry: CatalogEntry, chunk: Uint8Array): DocumentWriter {
  return detailsOf(entry).document("chunk", chunk);
}
