/**
 * The catalog: which databases and sharded collections exist, and where.
 *
 * The truth is the content of the `config` database; this class is the router's
 * cache of it and the only writer of it. Every change goes to the config server
 * first and into the cache after that, so a failure in between leaves the cache
 * behind, never ahead. When a client writes `config.*` itself, {@link load}
 * reads everything again.
 *
 *     config.shards ──────► ShardRegistry
 *     config.databases ───► Database            name → primary shard
 *     config.collections ─► ShardedCollection   ns → uuid, shard key, unique
 *     config.chunks ──────► ChunkMap            sorted ranges → owners
 *     config.settings ────► balancer mode, chunk size
 *     config.tags ────────► read when asked for, not cached
 *
 * A collection that has no entry here is unsharded and lives whole on its
 * database's primary shard.
 */
import type { RawValue } from "../../bson/index.js";
import { asDocument, asNumber, date, DocumentWriter, getField } from "../../bson/index.js";
import type { Environment, LogicalClock } from "../../protocol/index.js";
import type { ShardKeyPattern } from "../keys/shardKeyPattern.js";
import type { Rules } from "../rules.js";
import type { IdSource } from "../support/ids.js";
import { Changelog } from "./changelog.js";
import type { Chunk, ChunkStart } from "./chunkMap.js";
import { ChunkMap } from "./chunkMap.js";
import type { ChunkWriter } from "./chunkWrites.js";
import { set, writeMove, writeSplit } from "./chunkWrites.js";
import { writeCollection, writeDrop, writeRenaming } from "./collectionWrites.js";
import { ConfigServer } from "./configServer.js";
import {
  chunkDocument,
  collectionDocument,
  databaseDocument,
  placementVersion,
  shardDocument,
} from "./documents.js";
import type { Database, Settings, ShardedCollection, ZoneRange } from "./entries.js";
import { BALANCED } from "./entries.js";
import { readCollections, readDatabases, readSettings, readShards, readZones } from "./reading.js";
import type { ShardRegistry } from "./shards.js";
import type { TrackedCollection, TrackedCollections } from "./tracked.js";
import { readTracked, removeTracked } from "./tracked.js";
import { isUnreachable } from "./unreachable.js";

/** What the catalog is made of. */
export interface CatalogOptions {
  readonly shards: ShardRegistry;
  readonly rules: Rules;
  readonly clock: LogicalClock;
  readonly ids: IdSource;
  readonly environment: Environment;
  /** `host:port` of this router, for config.mongos and config.changelog. */
  readonly host: string;
  /** Chunk size where config.settings has none. */
  readonly chunkSizeBytes?: number | undefined;
}

const CHUNK_INDEXES = [
  { key: { uuid: 1, min: 1 }, name: "uuid_1_min_1", unique: true },
  { key: { uuid: 1, shard: 1, min: 1 }, name: "uuid_1_shard_1_min_1" },
];

/** The router's cache of `config`, and its writer. */
export class Catalog {
  readonly shards: ShardRegistry;
  readonly config: ConfigServer;
  readonly settings: Settings;
  /** Databases that enableSharding was run on; asked only under rules that need it (§1.1). */
  readonly shardingEnabled = new Set<string>();
  /** A change failed and what it has left could not be read: {@link load} has to be tried again before the cache is used. */
  isStale = false;
  readonly #options: CatalogOptions;
  #databases = new Map<string, Database>();
  #collections = new Map<string, ShardedCollection>();
  #tracked: TrackedCollections = new Map();
  /** How often the cache has changed. */
  #changes = 0;
  readonly #changelog: Changelog;

  constructor(options: CatalogOptions) {
    this.#options = options;
    this.shards = options.shards;
    this.config = new ConfigServer(options.shards);
    this.#changelog = new Changelog(this.config, options.environment, options.host);
    this.settings = { balancerMode: "full", autoMerge: true, chunkSizeBytes: this.#defaultChunkSize() };
  }

  /** First use of a config server: writes what must exist, announces this router, reads everything. */
  async start(mongoVersion: string): Promise<void> {
    const { ids, environment, host } = this.#options;
    await this.config.createIndexes("chunks", CHUNK_INDEXES);
    if (!(await this.config.findOne("version", { _id: 1 }))) {
      const version = new DocumentWriter().int32("_id", 1).field("clusterId", ids.objectId()).finish();
      await this.config.insert("version", [version]);
    }
    const now = date(environment.now());
    const announcement = new DocumentWriter()
      .values("advisoryHostFQDNs", [])
      .field("created", now)
      .string("mongoVersion", mongoVersion)
      .field("ping", now)
      .int64("up", 0n)
      .bool("waiting", true)
      .finish();
    const set = new DocumentWriter().document("$set", announcement).finish();
    await this.config.update("mongos", { _id: host }, set, { upsert: true });
    await this.load();
  }

  // Reading

  /** A database by name. */
  database(name: string): Database | undefined {
    return this.#databases.get(name);
  }

  get databases(): Database[] {
    return [...this.#databases.values()];
  }

  /** A sharded collection by namespace; undefined for an unsharded one. */
  collection(ns: string): ShardedCollection | undefined {
    return this.#collections.get(ns);
  }

  /** An unsharded collection whose place the catalog knows; undefined for one on its primary shard. @since MongoDB 8.0 */
  tracked(ns: string): TrackedCollection | undefined {
    return this.#tracked.get(ns);
  }

  /** The tracked collections of a database, or of all. */
  trackedIn(db?: string): TrackedCollection[] {
    return [...this.#tracked.values()].filter((each) => db === undefined || each.db === db);
  }

  /** Forgets a tracked collection. */
  async dropTracked(collection: TrackedCollection): Promise<void> {
    await this.#reloadOnFailure(() => removeTracked(this.config, collection));
    this.#tracked.delete(collection.ns);
  }

  /** All sharded collections, in order of their names. */
  get collections(): ShardedCollection[] {
    return [...this.#collections.values()].sort((a, b) => (a.ns < b.ns ? -1 : 1));
  }

  /**
   * Reads everything from the config server again: all of it, or nothing changes here.
   * @throws CommandError DocumentValidationFailure (121), naming a document that cannot be read
   */
  async load(): Promise<void> {
    const change = this.#changes;
    const shards = await readShards(this.config);
    const databases = await readDatabases(this.config);
    const collections = await readCollections(this.config);
    const tracked = await readTracked(this.config);
    const settings = await readSettings(this.config, this.#defaultChunkSize());
    // Somebody has changed something meanwhile, which may have been read too early, or only in part.
    if (change !== this.#changes) return this.load();
    this.#changes += 1;
    this.shards.replace(shards);
    this.#databases = databases;
    this.#collections = collections;
    this.#tracked = tracked;
    Object.assign(this.settings, settings);
    this.isStale = false;
  }

  /** {@link load} after something else, whose outcome a failure must not hide: that is logged, and {@link isStale}. */
  async tryLoad(): Promise<void> {
    try {
      await this.load();
    } catch (error) {
      // What is there and can't be read is for whoever wrote it; the cache stays as it was.
      this.isStale ||= isUnreachable(error);
      const message = error instanceof Error ? error.message : String(error);
      this.#options.environment.log?.("warn", "the catalog could not be read again", { message });
    }
  }

  #defaultChunkSize(): number {
    return this.#options.chunkSizeBytes ?? this.#options.rules.chunkSizeMB * 1024 * 1024;
  }

  /** The zone ranges of a namespace, sharded or not, ascending: config.tags. */
  zonesOf(ns: string): Promise<ZoneRange[]> {
    return readZones(this.config, ns);
  }

  // Shards and databases

  /** Registers a shard. */
  async addShard(id: string, host: string): Promise<void> {
    const document = shardDocument(id, host, this.#options.clock.tick());
    await this.#reloadOnFailure(() => this.config.insert("shards", [document]));
    this.shards.replace([...this.shards.all, { id, host }]);
  }

  /** Marks a shard as being removed: nothing new is placed on it. */
  async startDraining(id: string): Promise<void> {
    await this.#reloadOnFailure(() =>
      this.config.update("shards", { _id: id }, { $set: { draining: true } }),
    );
    this.shards.get(id).draining = true;
  }

  /** Takes that back. */
  async stopDraining(id: string): Promise<void> {
    await this.#reloadOnFailure(() =>
      this.config.update("shards", { _id: id }, { $unset: { draining: "" } }),
    );
    this.shards.get(id).draining = false;
  }

  /** Forgets a shard; nothing may be on it. */
  async removeShard(id: string): Promise<void> {
    await this.#reloadOnFailure(() => this.config.remove("shards", { _id: id }));
    this.shards.replace(this.shards.all.filter((shard) => shard.id !== id));
  }

  /** Creates a database on a shard. */
  async createDatabase(name: string, primary: string): Promise<Database> {
    const { ids, clock } = this.#options;
    const document = databaseDocument(name, primary, ids.uuid(), clock.tick());
    await this.#reloadOnFailure(() => this.config.insert("databases", [document]));
    const database = { name, primary };
    this.#databases.set(name, database);
    return database;
  }

  /** Gives a database another primary shard; its version's `lastMod` rises. */
  async movePrimary(name: string, primary: string): Promise<void> {
    const stored = await this.config.findOne("databases", { _id: name });
    const version = stored && getField(stored, "version");
    const lastMod = version && getField(asDocument(version), "lastMod");
    const fields = new DocumentWriter().string("primary", primary);
    if (lastMod) fields.int32("version.lastMod", asNumber(lastMod) + 1);
    await this.#reloadOnFailure(() => this.config.update("databases", { _id: name }, set(fields.finish())));
    this.#databases.set(name, { name, primary });
  }

  /** Forgets a database and the zone ranges in it; its collections must be dropped before. */
  async dropDatabase(name: string): Promise<void> {
    await this.config.remove("tags", { ns: { $gte: `${name}.`, $lt: `${name}/` } });
    await this.#reloadOnFailure(() => this.config.remove("databases", { _id: name }));
    this.#databases.delete(name);
  }

  // Collections and chunks

  /**
   * Registers a sharded collection with its first chunks, versions 1|0, 1|1, ….
   * @param fields.starts the chunks' lower bounds in order with their shards
   * @returns the collection's placement version as text, for config.changelog
   */
  async createCollection(fields: {
    ns: string;
    key: ShardKeyPattern;
    unique: boolean;
    defaultCollation?: Uint8Array | undefined;
    uuid: RawValue;
    starts: readonly ChunkStart[];
  }): Promise<string> {
    const { ids, clock, environment } = this.#options;
    const { ns, key, unique, defaultCollation, uuid, starts } = fields;
    const chunks = ChunkMap.build(starts, key.maximum);
    const now = clock.tick();
    const documents: Uint8Array[] = [];
    for (const chunk of chunks.chunks()) {
      const version = { major: 1, minor: chunk.index };
      documents.push(chunkDocument({ ...chunk, id: ids.objectId(), uuid, version, since: now }));
    }
    const epoch = ids.objectId();
    const document = collectionDocument({
      ns,
      epoch,
      lastmodMs: environment.now(),
      timestamp: now,
      uuid,
      key: key.document,
      unique,
      defaultCollation,
    });
    const tracked = this.#tracked.get(ns);
    await this.#reloadOnFailure(() =>
      writeCollection(this.config, { uuid, chunks: documents, document, tracked }),
    );
    const dot = ns.indexOf(".");
    const collection: ShardedCollection = {
      ns,
      db: ns.slice(0, dot),
      name: ns.slice(dot + 1),
      uuid,
      key,
      unique,
      ...(defaultCollation && { defaultCollation }),
      chunks,
      version: { major: 1, minor: chunks.size - 1 },
      ...BALANCED,
    };
    this.#collections.set(ns, collection);
    this.#tracked.delete(ns);
    return placementVersion(collection.version, epoch, now);
  }

  /** Forgets a sharded collection, with its zone ranges. */
  async dropCollection(collection: ShardedCollection): Promise<void> {
    await this.#reloadOnFailure(() => writeDrop(this.config, collection));
    this.#collections.delete(collection.ns);
  }

  /** Forgets the zone ranges of a namespace. */
  async dropZones(ns: string): Promise<void> {
    await this.config.remove("tags", { ns });
  }

  /**
   * Gives a name to another collection of the same database (renameWrites.ts).
   * @param from the collection that is renamed; absent for an unsharded one that the catalog doesn't know
   * @param replaced the collection that has the name now, if the catalog knows it
   * @throws CommandError when nothing has changed
   */
  async renameCollection(
    to: string,
    from: ShardedCollection | TrackedCollection | undefined,
    replaced: ShardedCollection | TrackedCollection | undefined,
  ): Promise<void> {
    const { ids, clock } = this.#options;
    const [epoch, timestamp] = [ids.objectId(), clock.tick()];
    if (from || replaced) {
      const names = { from: from?.ns ?? "", to, hasEntry: from !== undefined, replaced: replaced?.uuid };
      await this.#reloadOnFailure(() => writeRenaming(this.config, { ...names, epoch, timestamp }));
    }
    for (const map of [this.#collections, this.#tracked]) map.delete(to);
    const renamed = { ns: to, name: to.slice(to.indexOf(".") + 1) };
    if (from && "chunks" in from) this.#collections.set(to, { ...from, ...renamed });
    else if (from) this.#tracked.set(to, { ...from, ...renamed });
    if (from) for (const map of [this.#collections, this.#tracked]) map.delete(from.ns);
  }

  /**
   * Cuts a chunk. Every piece gets a new minor version (§3.4).
   * @param points bounds strictly inside the chunk, ascending
   */
  splitChunk(collection: ShardedCollection, chunk: Chunk, points: readonly Uint8Array[]): Promise<void> {
    return this.changeCollection(collection, (writer) => writeSplit(writer, collection, chunk, points));
  }

  /** Gives a chunk to another shard, under the next major version (§3.4). */
  moveChunk(collection: ShardedCollection, chunk: Chunk, to: string): Promise<void> {
    return this.changeCollection(collection, (writer) => writeMove(writer, collection, chunk, to));
  }

  /**
   * Carries out a change of config.* that concerns one collection; the cache follows, also when a {@link load} has put
   * another entry in its place meanwhile.
   * @param write writes to the config server and returns what has changed in the entry
   * @throws CommandError what the config server said; everything has been read again then
   */
  async changeCollection(
    collection: ShardedCollection,
    write: (writer: ChunkWriter) => Promise<Partial<ShardedCollection>>,
  ): Promise<void> {
    Object.assign(collection, await this.#reloadOnFailure(() => write(this.#writer)));
    this.#collections.set(collection.ns, collection);
  }

  /** Writes an entry to config.changelog; see {@link Changelog.log}. */
  log(...entry: Parameters<Changelog["log"]>): Promise<void> {
    return this.#changelog.log(...entry);
  }

  get #writer(): ChunkWriter {
    return { ...this.#options, config: this.config };
  }

  async #reloadOnFailure<T>(change: () => Promise<T>): Promise<T> {
    try {
      return await change();
    } catch (error) {
      this.#changes += 1;
      await this.tryLoad();
      throw error;
    } finally {
      this.#changes += 1;
    }
  }
}
