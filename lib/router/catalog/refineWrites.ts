/**
 * Writing a longer shard key: nothing moves, every bound gets longer (facts-mongos.md §8.1).
 *
 *     {a: 1} → {a: 1, b: 1}
 *     [MinKey, 5)      →  [{MinKey, MinKey}, {5, MinKey})
 *     [5, MaxKey)      →  [{5, MinKey}, {MaxKey, MaxKey})       only the very end gets MaxKey
 *
 * One command writes all of it, so a server that is killed has the old key or the new one.
 */
import type { RawValue } from "../../bson/index.js";
import { date, document, DocumentWriter, fields, MIN_KEY, string } from "../../bson/index.js";
import type { ShardKeyPattern } from "../keys/shardKeyPattern.js";
import { ChunkMap } from "./chunkMap.js";
import type { ChunkWriter } from "./chunkWrites.js";
import { ofCollection, set } from "./chunkWrites.js";
import type { ShardedCollection } from "./entries.js";

/** What tells the collection with its new key from the one before. */
export interface Incarnation {
  readonly epoch: RawValue;
  readonly timestamp: RawValue;
  readonly lastmodMs: number;
}

/**
 * Gives a collection a key that extends its own.
 * @throws CommandError after which the catalog has to be read again
 */
export async function writeRefine(
  { config }: ChunkWriter,
  collection: ShardedCollection,
  key: ShardKeyPattern,
  { epoch, timestamp, lastmodMs }: Incarnation,
): Promise<Partial<ShardedCollection>> {
  const { ns, uuid } = collection;
  const entry = new DocumentWriter()
    .field("lastmodEpoch", epoch)
    .field("lastmod", date(lastmodMs))
    .field("timestamp", timestamp)
    .document("key", key.document)
    .finish();
  const longer = longerBounds(collection.key, key);
  const noJumbo = new DocumentWriter().string("$unset", "jumbo").finish();
  await config.bulk([
    { update: "collections", filter: new DocumentWriter().string("_id", ns).finish(), change: set(entry) },
    { update: "chunks", filter: ofCollection(uuid).finish(), pipeline: [longer, noJumbo] },
    { update: "tags", filter: new DocumentWriter().string("ns", ns).finish(), pipeline: [longer] },
  ]);
  return { key, chunks: refinedMap(collection, key), jumbo: new Set() };
}

/** The map with longer bounds. */
function refinedMap({ chunks }: ShardedCollection, key: ShardKeyPattern): ChunkMap {
  const starts = function* (): Generator<{ min: Uint8Array; shard: string }> {
    for (const { min, shard } of chunks.chunks()) {
      const values = fields(min).map(([, value]) => value);
      yield { min: key.boundOf(key.paths.map((_, i) => values[i] ?? MIN_KEY)), shard };
    }
  };
  return ChunkMap.build(starts(), key.maximum);
}

/** `{$set: {min: …, max: …}}` as a stage of an update. */
function longerBounds(old: ShardKeyPattern, key: ShardKeyPattern): Uint8Array {
  const added = new DocumentWriter();
  for (const path of key.paths.slice(old.paths.length)) added.field(path, MIN_KEY);
  const suffix = literal(added.finish());
  const bounds = new DocumentWriter()
    .document("min", extended("$min", suffix))
    .document(
      "max",
      new DocumentWriter()
        .document(
          "$cond",
          new DocumentWriter()
            .document("if", equals("$max", literal(old.maximum)))
            .document("then", literal(key.maximum))
            .document("else", extended("$max", suffix))
            .finish(),
        )
        .finish(),
    )
    .finish();
  return set(bounds);
}

function literal(value: Uint8Array): Uint8Array {
  return new DocumentWriter().document("$literal", value).finish();
}

function extended(path: string, suffix: Uint8Array): Uint8Array {
  return pair("$mergeObjects", path, suffix);
}

function equals(path: string, value: Uint8Array): Uint8Array {
  return pair("$eq", path, value);
}

/** `{operator: [path, value]}` */
function pair(operator: string, path: string, value: Uint8Array): Uint8Array {
  return new DocumentWriter().values(operator, [string(path), document(value)]).finish();
}

/** Whether a key begins with all of another one, kinds and order included, and is longer. */
export function extendsKey(key: ShardKeyPattern, old: ShardKeyPattern): boolean {
  if (key.fields.length <= old.fields.length) return false;
  return old.fields.every(
    ({ path, kind }, i) => key.fields[i]!.path === path && key.fields[i]!.kind === kind,
  );
}
