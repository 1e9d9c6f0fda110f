/**
 * `shardCollection`: gives a collection a shard key and its first chunks (facts-mongos.md §1.2–§1.4).
 *
 *     1 check     the arguments, the collection, its zone ranges, its indexes
 *     2 prepare   an absent collection is created; an empty one gets the index for its key
 *     3 place     where the first chunks go (ddl/firstChunks.ts); every owner gets the collection's definition
 *     4 commit    config.chunks, config.collections
 *
 * One with documents must have an index for its key already.
 */
import type { RawValue } from "../../bson/index.js";
import {
  asDocument,
  asString,
  BsonType,
  describeDocument,
  DocumentWriter,
  getField,
  toDocument,
} from "../../bson/index.js";
import type { Request } from "../../protocol/index.js";
import { bodyField, CommandError, ErrorCode, okReply } from "../../protocol/index.js";
import type { Database, ShardedCollection } from "../catalog/entries.js";
import type { ChunkStart } from "../catalog/chunkMap.js";
import type { Command, RouterContext } from "../context.js";
import { firstChunks } from "../ddl/firstChunks.js";
import { checkSupport, checkUniqueIndexes, indexName, supportingIndexes } from "../ddl/indexRules.js";
import type { ShardCollection } from "../ddl/shardCollections.js";
import {
  copyDefinition,
  createOn,
  describeOn,
  indexesOn,
  isCapped,
  isEmptyOn,
  multikeyOn,
} from "../ddl/shardCollections.js";
import type { ShardCollectionOptions } from "../ddl/shardCollectionOptions.js";
import { checkNumInitialChunks, readShardCollection } from "../ddl/shardCollectionOptions.js";
import { checkPresplit, checkZonesFit } from "../ddl/zoneLayout.js";
import { checkNotResharding } from "../resharding/guard.js";
import { withCollectionAlone } from "../support/collections.js";
import { checkCollectionUuid } from "../support/collectionUuid.js";
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
    "collectionUUID",
  ],
  async run(context, request) {
    const options = readShardCollection(request, context.rules);
    await withCollectionAlone(context, options.ns, async (existing) => {
      checkNotResharding(context, options.ns);
      if (existing) {
        checkCollectionUuid(context, request, existing);
        return checkSame(existing, options);
      }
      checkEnabled(context, options.db);
      await withDatabase(context, options.db, (database) => shard(context, request, options, database));
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
  request: Request,
  options: ShardCollectionOptions,
  database: Database,
): Promise<void> {
  const { catalog, ids, rules, shards } = context;
  const { ns, key, unique } = options;
  // Where the documents are: on the primary shard, unless the collection was moved away.
  const home = catalog.tracked(ns)?.shard ?? database.primary;
  const description = await describeOn(context, home, options);
  await checkUuidOn(context, request, home, options);
  if (description) checkShardable(description, options);
  const empty = !description || (await isEmptyOn(context, home, options));
  checkNumInitialChunks(options, rules, { empty, shards: shards.available.length });
  const zones = await catalog.zonesOf(ns);
  checkZonesFit(zones, key);
  if (options.presplitHashedZones) checkPresplit(zones, key, empty);
  const place = (): Promise<ChunkStart[]> => firstChunks(context, options, { primary: home, empty, zones });
  // Only documents need the index first; without any, what can't be placed fails before something is created.
  const early = empty ? await place() : undefined;

  const start = new DocumentWriter()
    .document("shardKey", key.document)
    .string("collection", ns)
    .string("primary", database.primary)
    .document("options", options.given)
    .finish();
  await catalog.log("shardCollection.start", ns, start, home);
  if (!description) await createOn(context, home, options);
  await ensureIndex(context, options, home, empty);
  const starts = early ?? (await place());
  for (const owner of new Set([database.primary, ...starts.map((chunk) => chunk.shard)])) {
    await copyDefinition(context, options, home, owner);
  }
  const uuid: RawValue = (await describeOn(context, home, options))?.uuid ?? ids.uuid();
  const defaultCollation = defaultCollationOf(description);
  const placementVersion = await catalog.createCollection({
    ns,
    key,
    unique,
    defaultCollation,
    uuid: detached(uuid),
    starts,
  });
  const end = new DocumentWriter()
    .field("uuid", uuid)
    .string("placementVersion", placementVersion)
    .bool("empty", empty)
    .int64("numChunks", BigInt(starts.length))
    .finish();
  await catalog.log("shardCollection.end", ns, end, home);
}

/** The shard compares `collectionUUID` with its own collection. @throws CommandError CollectionUUIDMismatch (361) */
async function checkUuidOn(
  context: RouterContext,
  request: Request,
  primary: string,
  { db, name }: ShardCollectionOptions,
): Promise<void> {
  const collectionUUID = bodyField(request, "collectionUUID");
  if (!collectionUUID) return;
  const command = new DocumentWriter().string("collMod", name).field("collectionUUID", collectionUUID);
  await context.shards.must(primary, db, command.finish());
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
  const collation = defaultCollationOf(description);
  if (!collation) return;
  // The key is in byte order, the collection's queries are not: whoever shards it has to say so.
  if (collationGiven) return;
  throw new CommandError(
    ErrorCode.BadValue,
    `If no collation was specified, the collection collation must be {locale: 'simple'}, but found: ${describeDocument(collation)}`,
  );
}

/** The collection's own collation, which queries without one take; undefined for the simple one. */
function defaultCollationOf(description: ShardCollection | undefined): Uint8Array | undefined {
  const collation = description && getField(description.options, "collation");
  if (collation?.type !== BsonType.object) return undefined;
  const locale = getField(asDocument(collation), "locale");
  if (locale?.type === BsonType.string && asString(locale) === "simple") return undefined;
  return asDocument(collation).slice();
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
  const usable = empty ? [] : supportingIndexes(indexes, key);
  const multikey = await multikeyOn(context, primary, options, usable);
  if (checkSupport(indexes, key, { ...options, empty, multikey })) return;
  if (!options.implicitlyCreateIndex) {
    throw new CommandError(6373200, "Must have an index compatible with the proposed shard key");
  }
  const index = new DocumentWriter().document("key", key.document).string("name", indexName(key));
  // An index without a word on collation would take the collection's.
  if (options.collationGiven) index.document("collation", toDocument({ locale: "simple" }));
  if (unique) index.bool("unique", true);
  const create = new DocumentWriter().string("createIndexes", name).arrayOf("indexes", [index.finish()]);
  await context.shards.must(primary, db, create.finish());
}
