/**
 * `shardCollection`: gives a collection a shard key and its first chunks
 * (facts-mongos.md §1.2–§1.4).
 *
 *     absent or empty, ranged key    one chunk on the primary shard
 *     absent or empty, hashed first  equal pieces of hash space over all shards
 *     with documents                 one chunk where the documents are (before 6.0: cut at chunk size)
 *
 * An empty collection gets the index for its key; one with documents must have
 * it already.
 */
import type { RawValue } from "../../bson/index.js";
import { asDocument, asString, BsonType, DocumentWriter, getField } from "../../bson/index.js";
import { CommandError, ErrorCode, notSimulated, okReply } from "../../protocol/index.js";
import type { Database, ShardedCollection } from "../catalog/entries.js";
import type { ChunkStart } from "../catalog/chunkMap.js";
import type { Command, RouterContext } from "../context.js";
import { checkSupport, checkUniqueIndexes, indexName } from "../ddl/indexRules.js";
import type { ShardCollection } from "../ddl/shardCollections.js";
import {
  copyDefinition,
  createOn,
  describeOn,
  hasArraysOn,
  indexesOn,
  isCapped,
  isEmptyOn,
} from "../ddl/shardCollections.js";
import type { ShardCollectionOptions } from "../ddl/shardCollectionOptions.js";
import { readShardCollection } from "../ddl/shardCollectionOptions.js";
import { chunkSizePoints } from "../ddl/splitKeys.js";
import { hashedSplitBounds, placeChunks } from "../keys/initialChunks.js";
import { withCollectionAlone } from "../support/collections.js";
import { withDatabase } from "../support/databases.js";
import { detached } from "../support/values.js";

export const shardCollection: Command = {
  name: "shardCollection",
  aliases: ["shardcollection"],
  adminOnly: true,
  fields: [
    "key",
    "unique",
    "numInitialChunks",
    "presplitHashedZones",
    "collation",
    "timeseries",
    "implicitlyCreateIndex",
    "enforceUniquenessCheck",
  ],
  async run(context, request) {
    const options = readShardCollection(request, context.rules);
    await withCollectionAlone(context, options.ns, async (existing) => {
      if (existing) return checkSame(existing, options);
      checkEnabled(context, options.db);
      await withDatabase(context, options.db, (database) => shard(context, options, database));
    });
    return okReply(new DocumentWriter().string("collectionsharded", options.ns).finish());
  },
};

/** Sharding again with the same arguments is fine; with others it is not. */
function checkSame(existing: ShardedCollection, { ns, key, unique }: ShardCollectionOptions): void {
  if (!existing.key.equals(key)) {
    throw new CommandError(
      ErrorCode.AlreadyInitialized,
      `Collection '${ns}' already exists with a different shard key. Requested ${key.text} but found ${existing.key.text}`,
    );
  }
  if (existing.unique !== unique) {
    throw new CommandError(
      ErrorCode.AlreadyInitialized,
      `Collection '${ns}' already exists with a different 'unique' option. Requested '${unique}' but found '${existing.unique}'`,
    );
  }
}

function checkEnabled(context: RouterContext, db: string): void {
  if (!context.rules.enableShardingNeeded || context.catalog.shardingEnabled.has(db)) return;
  const error = new CommandError(ErrorCode.IllegalOperation, `sharding not enabled for db ${db}`);
  error.remedy = `run sh.enableSharding("${db}") first`;
  throw error;
}

async function shard(
  context: RouterContext,
  options: ShardCollectionOptions,
  { primary }: Database,
): Promise<void> {
  const { catalog, ids } = context;
  const { ns, key, unique } = options;
  const description = await describeOn(context, primary, options);
  if (description) checkShardable(description, options);
  const empty = !description || (await isEmptyOn(context, primary, options));
  checkNumInitialChunks(context, options, empty);

  const start = new DocumentWriter()
    .document("shardKey", key.document)
    .string("collection", ns)
    .string("primary", primary)
    .bool("empty", empty)
    .finish();
  await catalog.log("shardCollection.start", ns, start, primary);
  if (!description) await createOn(context, primary, options);
  await ensureIndex(context, options, primary, empty);

  const starts = await firstChunks(context, options, primary, empty);
  for (const owner of new Set(starts.map((chunk) => chunk.shard))) {
    await copyDefinition(context, options, primary, owner);
  }
  const uuid: RawValue = (await describeOn(context, primary, options))?.uuid ?? ids.uuid();
  await catalog.createCollection({ ns, key, unique, uuid: detached(uuid), starts });
  const end = new DocumentWriter()
    .field("uuid", uuid)
    .bool("empty", empty)
    .int32("numChunks", starts.length)
    .finish();
  await catalog.log("shardCollection.end", ns, end, primary);
}

function checkShardable(description: ShardCollection, { ns, collationGiven }: ShardCollectionOptions): void {
  if (description.type === "view") {
    throw new CommandError(
      ErrorCode.CommandNotSupportedOnView,
      `Namespace already exists as a view: cannot shard ${ns} because a view exists with that name`,
    );
  }
  if (isCapped(description)) {
    throw new CommandError(ErrorCode.InvalidOptions, `can't shard a capped collection: ${ns}`);
  }
  const collation = getField(description.options, "collation");
  if (collation?.type !== BsonType.object) return;
  const locale = getField(asDocument(collation), "locale");
  if (locale?.type === BsonType.string && asString(locale) === "simple") return;
  // Reads without a collation of their own would take the collection's, which routing and merging don't know.
  if (collationGiven) throw notSimulated("sharding a collection that has a collation of its own");
  throw new CommandError(
    ErrorCode.BadValue,
    "If no collation was specified, the collection collation must be {locale: 'simple'}",
  );
}

function checkNumInitialChunks(
  context: RouterContext,
  options: ShardCollectionOptions,
  empty: boolean,
): void {
  if (options.numInitialChunks === undefined || context.rules.numInitialChunks === "ignored") return;
  if (empty && options.key.isHashed) return;
  throw new CommandError(
    ErrorCode.InvalidOptions,
    "numInitialChunks is only supported when the collection is empty and has a hashed field in the shard key pattern",
  );
}

async function ensureIndex(
  context: RouterContext,
  options: ShardCollectionOptions,
  primary: string,
  empty: boolean,
): Promise<void> {
  const { key, unique, name, db } = options;
  const indexes = await indexesOn(context, primary, options);
  checkUniqueIndexes(indexes, key);
  const hasArrays = !empty && (await hasArraysOn(context, primary, options, key));
  if (checkSupport(indexes, key, { ...options, empty, hasArrays })) return;
  if (!options.implicitlyCreateIndex) {
    throw new CommandError(
      ErrorCode.InvalidOptions,
      "the shard key index is missing and implicitlyCreateIndex is false",
    );
  }
  const index = new DocumentWriter().document("key", key.document).string("name", indexName(key));
  if (unique) index.bool("unique", true);
  const create = new DocumentWriter().string("createIndexes", name).arrayOf("indexes", [index.finish()]);
  await context.shards.must(primary, db, create.finish());
}

async function firstChunks(
  context: RouterContext,
  options: ShardCollectionOptions,
  primary: string,
  empty: boolean,
): Promise<ChunkStart[]> {
  const { key } = options;
  const { rules, shards, ids } = context;
  const begin = (bounds: readonly Uint8Array[], owners: readonly string[]): ChunkStart[] =>
    [key.minimum, ...bounds].map((min, i) => ({ min, shard: owners[i] ?? primary }));
  if (!empty) {
    if (!rules.splitsExistingData) return begin([], []);
    return begin(await chunkSizePoints(context, options, primary), []);
  }
  if (key.hashedField !== 0) return begin([], []);
  const order = rules.initialShardsShuffled ? ids.shuffled(shards.ids, options.ns) : shards.ids;
  const wanted = rules.numInitialChunks === "honoured" ? options.numInitialChunks : undefined;
  const count = wanted ?? order.length * rules.initialChunksPerShard;
  const perShard = Math.max(1, Math.floor(count / order.length));
  const bounds = hashedSplitBounds(key, count).map((values) => key.boundOf(values));
  return begin(bounds, placeChunks(count, order, perShard));
}
