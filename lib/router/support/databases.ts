/**
 * Databases come into being when something is first written to them, on the
 * shard with the least data (facts-mongos.md §1.1).
 */
import { asDocument, asNumber, asString, elements, getField } from "../../bson/index.js";
import { CommandError, ErrorCode, readCursorReply, request } from "../../protocol/index.js";
import type { Database } from "../catalog/entries.js";
import { CONFIG_SHARD } from "../catalog/shards.js";
import type { RouterContext } from "../context.js";
import { isConfigDatabase } from "../context.js";
import { isUnsettled, settle } from "./collections.js";
import { ShardCursor } from "../merging/shardCursor.js";

/**
 * Runs `work` while a database exists and cannot be dropped; creates it first
 * where needed.
 *
 * Locks are always taken in the order namespace, then database, so this may be
 * called while a namespace is held.
 *
 * @param primary the wanted primary shard of a new database; else the shard with the least data
 */
export async function withDatabase<T>(
  context: RouterContext,
  name: string,
  work: (database: Database) => Promise<T>,
  primary?: string,
): Promise<T> {
  if (isConfigDatabase(name)) return work({ name, primary: CONFIG_SHARD });
  for (;;) {
    const wait = context.locks.shared(name);
    if (wait) await wait;
    try {
      if (isUnsettled(context)) await settle(context, name);
      const database = context.catalog.database(name);
      if (database) return await work(database);
    } finally {
      context.locks.release(name);
    }
    await context.locks.whileExclusive(name, () => createDatabase(context, name, primary));
  }
}

/** Creates a database unless it is there by now. The caller holds its lock alone. */
async function createDatabase(context: RouterContext, name: string, primary?: string): Promise<void> {
  if (context.catalog.database(name)) return;
  checkDatabaseName(context, name);
  const shard = primary ?? (await leastLoadedShard(context));
  if (context.shards.get(shard).draining) {
    throw new CommandError(ErrorCode.ShardNotFound, `Shard ${shard} is draining`);
  }
  await context.catalog.createDatabase(name, shard);
}

/**
 * @throws CommandError InvalidNamespace (73) for a bad name, DatabaseDifferCase
 * (13297) for one that differs from an existing name only by case
 */
export function checkDatabaseName(context: RouterContext, name: string): void {
  if (name === "" || name.length > 63 || /[/\\. "$\0]/.test(name)) {
    throw new CommandError(ErrorCode.InvalidNamespace, `Invalid database name specified '${name}'`);
  }
  const twin = context.catalog.databases.find(
    (database) => database.name !== name && database.name.toLowerCase() === name.toLowerCase(),
  );
  if (twin) {
    throw new CommandError(
      ErrorCode.DatabaseDifferCase,
      `db already exists with different case already have: [${twin.name}] trying to create [${name}]`,
    );
  }
}

/**
 * The shard with the least data; of several, the first by id. A draining one is out of the question.
 * @throws CommandError ShardNotFound (70) where there is none
 */
export async function leastLoadedShard(context: RouterContext): Promise<string> {
  const ids = context.shards.available;
  if (ids.length === 0) throw new CommandError(ErrorCode.ShardNotFound, "No shards found");
  const sizes = await Promise.all(ids.map((id) => dataSize(context, id)));
  const least = Math.min(...sizes);
  return ids[sizes.indexOf(least)]!;
}

/** Bytes in the databases of users on one shard. */
async function dataSize(context: RouterContext, shard: string): Promise<number> {
  const reply = await context.shards.must(shard, "admin", { listDatabases: 1 });
  const databases = getField(reply, "databases");
  if (!databases) return 0;
  let size = 0;
  for (const entry of elements(asDocument(databases))) {
    const name = getField(asDocument(entry), "name");
    const bytes = getField(asDocument(entry), "sizeOnDisk");
    if (name && bytes && !isConfigDatabase(asString(name))) size += asNumber(bytes);
  }
  return size;
}

/** What runs on a whole database. */
export type OnDatabase<T> = (database: Database) => Promise<T>;

/**
 * Runs `work` while nobody else touches a database or any of its collections.
 * @returns undefined when there is no such database
 */
export async function withDatabaseAlone<T>(
  context: RouterContext,
  db: string,
  work: OnDatabase<T>,
): Promise<T | undefined> {
  const { catalog, locks } = context;
  for (;;) {
    if (isUnsettled(context)) await settle(context, db);
    const database = catalog.database(db);
    if (!database) return undefined;
    const namespaces = await namespacesOf(context, database);
    // Namespaces before the database: the order in which everybody takes them.
    const outcome = await locks.whileAllExclusive(namespaces, () =>
      locks.whileExclusive(db, async () => {
        if (catalog.database(db) !== database) return undefined;
        // One was created while this waited: it has to be held too.
        const now = await namespacesOf(context, database);
        if (now.some((ns) => !namespaces.includes(ns))) return undefined;
        return { value: await work(database) };
      }),
    );
    if (outcome) return outcome.value;
  }
}

async function namespacesOf(context: RouterContext, { name: db, primary }: Database): Promise<string[]> {
  const sharded = [
    ...context.catalog.collections.filter((collection) => collection.db === db),
    ...context.catalog.trackedIn(db),
  ];
  const names = (await collectionsOn(context, primary, db)).map((entry) =>
    asString(getField(entry, "name")!),
  );
  return [...new Set([...sharded.map(({ ns }) => ns), ...names.map((name) => `${db}.${name}`)])];
}

/** The documents of `listCollections` on a shard. */
export async function collectionsOn(
  context: RouterContext,
  shard: string,
  db: string,
): Promise<Uint8Array[]> {
  const reply = await context.shards.run(shard, request(db, { listCollections: 1, cursor: {} }));
  const cursor = new ShardCursor(context.shards, shard, readCursorReply(reply));
  await cursor.drain();
  const found: Uint8Array[] = [];
  for (let entry = cursor.take(); entry; entry = cursor.take()) found.push(entry);
  return found;
}
