/**
 * `$listClusterCatalog`: the collections and views of the cluster, with where they are.
 *
 *     {ns, db, type, idIndex?, options, info, sharded,
 *      shardKey?                                            of a sharded collection
 *      shards?                                              with {shards: true}
 *      balancingEnabled?, balancingEnabledReason?, …}       with {balancingConfiguration: true}, of a sharded one
 *
 * What a collection is its database's primary shard tells; where its chunks are
 * the catalog knows. Fields: MongoDB's manual, page `$listClusterCatalog`.
 */
import { asNumber, asString, DocumentWriter, getField, isTruthy, string } from "../../bson/index.js";
import { failureOf, isOk, readCursorReply, request } from "../../protocol/index.js";
import type { Database, ShardedCollection } from "../catalog/entries.js";
import type { RouterContext } from "../context.js";
import { ShardCursor } from "./shardCursor.js";

const MB = 1024 * 1024;

/** What the stage is asked to show. */
export interface ClusterCatalogOptions {
  readonly shards: boolean;
  readonly balancing: boolean;
}

/**
 * The rows, in order of namespaces.
 * @param db one database, or undefined for all
 */
export async function clusterCatalog(
  context: RouterContext,
  db: string | undefined,
  options: ClusterCatalogOptions,
): Promise<Uint8Array[]> {
  const { catalog } = context;
  const databases = db === undefined ? catalog.databases : [catalog.database(db)].filter((each) => !!each);
  const rows = new Map<string, Uint8Array>();
  for (const database of databases) {
    const { name, primary } = database;
    const tracked = catalog.trackedIn(name);
    for (const shard of new Set([primary, ...tracked.map((each) => each.shard)])) {
      for (const entry of await listOf(context, name, shard)) {
        const ns = `${name}.${asString(getField(entry, "name")!)}`;
        // Beside the primary, a shard tells of what was moved to it.
        if ((catalog.tracked(ns)?.shard ?? primary) !== shard) continue;
        rows.set(ns, await rowOf(context, database, ns, entry, options));
      }
    }
  }
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}

async function listOf(context: RouterContext, name: string, shard: string): Promise<Uint8Array[]> {
  const reply = await context.shards.run(shard, request(name, { listCollections: 1, cursor: {} }));
  if (!isOk(reply)) throw failureOf(reply);
  const cursor = new ShardCursor(context.shards, shard, readCursorReply(reply));
  await cursor.drain();
  const entries: Uint8Array[] = [];
  for (let entry = cursor.take(); entry; entry = cursor.take()) entries.push(entry);
  return entries;
}

async function rowOf(
  context: RouterContext,
  { name: db, primary }: Database,
  ns: string,
  entry: Uint8Array,
  options: ClusterCatalogOptions,
): Promise<Uint8Array> {
  const collection = context.catalog.collection(ns);
  const row = new DocumentWriter().string("ns", ns).string("db", db);
  for (const name of ["type", "idIndex", "options", "info"]) {
    const value = getField(entry, name);
    if (value) row.field(name, value);
  }
  row.bool("sharded", collection !== undefined);
  if (collection) row.document("shardKey", collection.key.document);
  if (options.shards) {
    const shard = context.catalog.tracked(ns)?.shard ?? primary;
    const shards = collection ? collection.chunks.owningShards() : [shard];
    row.values("shards", shards.map(string));
  }
  if (options.balancing && collection) await addBalancing(context, collection, row);
  return row.finish();
}

/** What config.collections says of a collection; what it does not say is as the cluster has it. */
async function addBalancing(
  { catalog }: RouterContext,
  { ns }: ShardedCollection,
  row: DocumentWriter,
): Promise<void> {
  const stored = await catalog.config.findOne("collections", { _id: ns });
  const said = (name: string): boolean | undefined => {
    const value = stored && getField(stored, name);
    return value && isTruthy(value);
  };
  const enabled = said("noBalance") !== true;
  const allowed = said("permitMigrations") !== false;
  const size = stored && getField(stored, "maxChunkSizeBytes");
  const bytes = size ? asNumber(size) : catalog.settings.chunkSizeBytes;
  row
    .bool("balancingEnabled", enabled && allowed)
    .document(
      "balancingEnabledReason",
      new DocumentWriter().bool("enableBalancing", enabled).bool("allowMigrations", allowed).finish(),
    )
    .bool("autoMergingEnabled", said("enableAutoMerge") !== false);
  // Scaled clusters have chunks below one megabyte: the figure says so.
  if (bytes % MB === 0) row.int32("chunkSize", bytes / MB);
  else row.double("chunkSize", bytes / MB);
}
