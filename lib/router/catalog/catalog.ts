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
 *
 * A collection that has no entry here is unsharded and lives whole on its
 * database's primary shard.
 */
import type { RawValue } from "../../bson/index.js";
import {
  asDocument,
  date,
  DocumentWriter,
  elements,
  EMPTY_DOCUMENT,
  getField,
  toDocument,
} from "../../bson/index.js";
import type { Environment } from "../../protocol/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { ShardKeyPattern } from "../keys/shardKeyPattern.js";
import type { Rules } from "../rules.js";
import type { LogicalClock } from "../support/clock.js";
import type { IdSource } from "../support/ids.js";
import type { Chunk, ChunkStart } from "./chunkMap.js";
import { ChunkMap } from "./chunkMap.js";
import { ConfigServer } from "./configServer.js";
import type { ChunkVersion } from "./documents.js";
import {
  chunkDocument,
  collectionDocument,
  databaseDocument,
  historyEntry,
  lastmodOf,
  shardDocument,
} from "./documents.js";
import type { Database, Settings, ShardedCollection } from "./entries.js";
import { readCollections, readDatabases, readSettings, readShards } from "./reading.js";
import type { ShardRegistry } from "./shards.js";

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
  readonly #options: CatalogOptions;
  #databases = new Map<string, Database>();
  #collections = new Map<string, ShardedCollection>();
  #changes = 0;

  constructor(options: CatalogOptions) {
    this.#options = options;
    this.shards = options.shards;
    this.config = new ConfigServer(options.shards);
    this.settings = { balancerStopped: false, chunkSizeBytes: this.#defaultChunkSize() };
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

  /** All sharded collections, in order of their names. */
  get collections(): ShardedCollection[] {
    return [...this.#collections.values()].sort((a, b) => (a.ns < b.ns ? -1 : 1));
  }

  /**
   * Reads everything from the config server again: all of it, or nothing changes here.
   * @throws CommandError DocumentValidationFailure (121), naming a document that cannot be read
   */
  async load(): Promise<void> {
    const shards = await readShards(this.config);
    const databases = await readDatabases(this.config);
    const collections = await readCollections(this.config);
    const settings = await readSettings(this.config, this.#defaultChunkSize());
    this.shards.replace(shards);
    for (const [ns, collection] of collections) {
      collection.pendingDeletions = this.#collections.get(ns)?.pendingDeletions ?? [];
    }
    this.#databases = databases;
    this.#collections = collections;
    Object.assign(this.settings, settings);
  }

  /** {@link load} after something else, whose outcome a failure must not hide: that is only logged. */
  async tryLoad(): Promise<void> {
    try {
      await this.load();
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.#options.environment.log?.("warn", "the catalog could not be read again", { message });
    }
  }

  #defaultChunkSize(): number {
    return this.#options.chunkSizeBytes ?? this.#options.rules.chunkSizeMB * 1024 * 1024;
  }

  // Shards and databases

  /** Registers a shard. */
  async addShard(id: string, host: string): Promise<void> {
    await this.config.insert("shards", [shardDocument(id, host, this.#options.clock.tick())]);
    this.shards.replace([...this.shards.all, { id, host }]);
  }

  /** Creates a database on a shard. */
  async createDatabase(name: string, primary: string): Promise<Database> {
    const { ids, clock } = this.#options;
    await this.config.insert("databases", [databaseDocument(name, primary, ids.uuid(), clock.tick())]);
    const database = { name, primary };
    this.#databases.set(name, database);
    return database;
  }

  /** Forgets a database; its collections must be dropped before. */
  async dropDatabase(name: string): Promise<void> {
    await this.config.remove("databases", { _id: name });
    this.#databases.delete(name);
  }

  // Collections and chunks

  /**
   * Registers a sharded collection with its first chunks, versions 1|0, 1|1, ….
   * @param starts the chunks' lower bounds in order with their shards
   */
  async createCollection(fields: {
    ns: string;
    key: ShardKeyPattern;
    unique: boolean;
    uuid: RawValue;
    starts: readonly ChunkStart[];
  }): Promise<ShardedCollection> {
    const { ids, clock, environment } = this.#options;
    const { ns, key, unique, uuid, starts } = fields;
    const chunks = ChunkMap.build(starts, key.maximum);
    const now = clock.tick();
    const documents: Uint8Array[] = [];
    for (const chunk of chunks.chunks()) {
      const version = { major: 1, minor: chunk.index };
      documents.push(chunkDocument({ ...chunk, id: ids.objectId(), uuid, version, since: now }));
    }
    await this.config.insert("chunks", documents);
    const document = collectionDocument({
      ns,
      epoch: ids.objectId(),
      lastmodMs: environment.now(),
      timestamp: now,
      uuid,
      key: key.document,
      unique,
    });
    await this.config.insert("collections", [document]);
    const dot = ns.indexOf(".");
    const collection: ShardedCollection = {
      ns,
      db: ns.slice(0, dot),
      name: ns.slice(dot + 1),
      uuid,
      key,
      unique,
      chunks,
      version: { major: 1, minor: chunks.size - 1 },
      pendingDeletions: [],
    };
    this.#collections.set(ns, collection);
    return collection;
  }

  /** Forgets a sharded collection. */
  async dropCollection(collection: ShardedCollection): Promise<void> {
    await this.config.remove("collections", { _id: collection.ns });
    await this.config.remove("chunks", new DocumentWriter().field("uuid", collection.uuid).finish());
    await this.config.remove("tags", { ns: collection.ns });
    this.#collections.delete(collection.ns);
  }

  /**
   * Cuts a chunk. Every piece gets a new minor version (§3.4).
   * @param points bounds strictly inside the chunk, ascending
   */
  async splitChunk(
    collection: ShardedCollection,
    chunk: Chunk,
    points: readonly Uint8Array[],
  ): Promise<void> {
    const { ids } = this.#options;
    const stored = await this.#storedChunk(collection, chunk);
    const history = arrayOfDocuments(stored, "history");
    const since = getField(stored, "onCurrentShardSince") ?? this.#options.clock.now();
    let version = collection.version;
    const next = (): ChunkVersion => (version = { major: version.major, minor: version.minor + 1 });
    const head = new DocumentWriter()
      .document("max", points[0]!)
      .field("lastmod", lastmodOf(next()))
      .finish();
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
    await this.#reloadOnFailure(async () => {
      await this.config.update("chunks", idOf(stored), new DocumentWriter().document("$set", head).finish());
      await this.config.insert("chunks", pieces);
    });
    this.#changed(collection, collection.chunks.withSplit(chunk.index, points), version);
  }

  /**
   * Gives a chunk to another shard. The moved chunk gets the next major version;
   * where the donor keeps chunks, one of them gets it too (minor 1), so that the
   * donor learns of the change (§3.4).
   */
  async moveChunk(collection: ShardedCollection, chunk: Chunk, to: string): Promise<void> {
    const stored = await this.#storedChunk(collection, chunk);
    const now = this.#options.clock.tick();
    const major = collection.version.major + 1;
    const moved = new DocumentWriter()
      .string("shard", to)
      .field("lastmod", lastmodOf({ major, minor: 0 }))
      .field("onCurrentShardSince", now)
      .arrayOf("history", [historyEntry(now, to), ...arrayOfDocuments(stored, "history")])
      .finish();
    const chunks = collection.chunks.withOwner(chunk.index, to);
    const remaining = firstChunkOf(chunks, chunk.shard);
    await this.#reloadOnFailure(async () => {
      await this.config.update("chunks", idOf(stored), new DocumentWriter().document("$set", moved).finish());
      if (!remaining) return;
      const bump = new DocumentWriter().field("lastmod", lastmodOf({ major, minor: 1 })).finish();
      await this.config.update(
        "chunks",
        idOf(await this.#storedChunk(collection, remaining)),
        new DocumentWriter().document("$set", bump).finish(),
      );
    });
    this.#changed(collection, chunks, { major, minor: remaining ? 1 : 0 });
  }

  /**
   * Writes an entry to config.changelog (§3.4).
   * @param what e.g. `moveChunk.commit`
   */
  async log(
    what: string,
    ns: string,
    details: object | Uint8Array = EMPTY_DOCUMENT,
    shard?: string,
  ): Promise<void> {
    const { host, environment } = this.#options;
    const now = environment.now();
    const entry = new DocumentWriter()
      .string("_id", `${host}-${new Date(now).toISOString()}-${++this.#changes}`)
      .string("server", host)
      .string("shard", shard ?? "config")
      .string("clientAddr", "")
      .date("time", now)
      .string("what", what)
      .string("ns", ns)
      .document("details", details instanceof Uint8Array ? details : toDocument(details))
      .finish();
    await this.config.insert("changelog", [entry]);
  }

  /** The cache follows; also when a {@link load} has put another entry in its place meanwhile. */
  #changed(collection: ShardedCollection, chunks: ChunkMap, version: ChunkVersion): void {
    collection.chunks = chunks;
    collection.version = version;
    this.#collections.set(collection.ns, collection);
  }

  async #storedChunk(collection: ShardedCollection, chunk: Chunk): Promise<Uint8Array> {
    const filter = new DocumentWriter().field("uuid", collection.uuid).document("min", chunk.min).finish();
    const stored = await this.config.findOne("chunks", filter);
    if (!stored) {
      throw new CommandError(
        ErrorCode.ConflictingOperationInProgress,
        `the chunk is no longer in config.chunks of ${collection.ns}`,
      );
    }
    return stored;
  }

  async #reloadOnFailure(change: () => Promise<void>): Promise<void> {
    try {
      await change();
    } catch (error) {
      await this.tryLoad();
      throw error;
    }
  }
}

function firstChunkOf(chunks: ChunkMap, shard: string): Chunk | undefined {
  for (let index = 0; index < chunks.size; index++) {
    if (chunks.ownerOf(index) === shard) return chunks.chunk(index);
  }
  return undefined;
}

function idOf(document: Uint8Array): Uint8Array {
  return new DocumentWriter().field("_id", getField(document, "_id")!).finish();
}

function arrayOfDocuments(document: Uint8Array, name: string): Uint8Array[] {
  const value = getField(document, name);
  return value ? elements(asDocument(value)).map(asDocument) : [];
}
