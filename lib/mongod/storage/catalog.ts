/**
 * All databases of a mongod. A database exists while it has a collection;
 * a collection comes with its first document or index, or by `create`.
 */
import { EMPTY_DOCUMENT } from "../../bson/index.js";
import type { Environment } from "../../protocol/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import { Collection } from "./collection.js";

/** Splits `db.some.collection` at its first dot. */
export function splitNamespace(namespace: string): { db: string; collection: string } {
  const dot = namespace.indexOf(".");
  return { db: namespace.slice(0, dot), collection: namespace.slice(dot + 1) };
}

/** Databases → collections. */
export class Catalog {
  private readonly databases = new Map<string, Map<string, Collection>>();

  constructor(private readonly environment: Environment) {}

  /** Names of the databases, sorted. */
  databaseNames(): string[] {
    return [...this.databases.keys()].sort();
  }

  /** The collections of a database, sorted by name; none when it does not exist. */
  collectionsOf(db: string): Collection[] {
    const collections = this.databases.get(db);
    if (!collections) return [];
    return [...collections.values()].sort((a, b) => (a.namespace < b.namespace ? -1 : 1));
  }

  /** The collection of a namespace, or undefined. */
  find(namespace: string): Collection | undefined {
    const { db, collection } = splitNamespace(namespace);
    return this.databases.get(db)?.get(collection);
  }

  /** The collection of a namespace, created when it does not exist. */
  findOrCreate(namespace: string): Collection {
    return this.find(namespace) ?? this.create(namespace);
  }

  /**
   * Creates a collection.
   * @param options raw options as `listCollections` shows them
   * @throws CommandError NamespaceExists (48), DatabaseDifferCase (13297)
   */
  create(namespace: string, options: Uint8Array = EMPTY_DOCUMENT): Collection {
    const { db, collection: name } = splitNamespace(namespace);
    let collections = this.databases.get(db);
    if (!collections) {
      this.checkCase(db);
      collections = new Map();
      this.databases.set(db, collections);
    }
    if (collections.has(name))
      throw new CommandError(ErrorCode.NamespaceExists, `Collection ${namespace} already exists.`);
    const collection = new Collection(namespace, randomUuid(this.environment), options, this.environment);
    collections.set(name, collection);
    return collection;
  }

  /** Drops a collection; returns it, or undefined when there was none. */
  drop(namespace: string): Collection | undefined {
    const { db, collection: name } = splitNamespace(namespace);
    const collections = this.databases.get(db);
    const collection = collections?.get(name);
    if (!collections || !collection) return undefined;
    collection.dropped = true;
    collections.delete(name);
    if (collections.size === 0) this.databases.delete(db);
    return collection;
  }

  /** Drops a database with everything in it; returns whether it existed. */
  dropDatabase(db: string): boolean {
    for (const collection of this.collectionsOf(db)) collection.dropped = true;
    return this.databases.delete(db);
  }

  /** Two databases whose names differ in case only cannot coexist. */
  private checkCase(db: string): void {
    const lower = db.toLowerCase();
    for (const other of this.databases.keys()) {
      if (other.toLowerCase() === lower) {
        throw new CommandError(
          ErrorCode.DatabaseDifferCase,
          `db already exists with different case already have: [${other}] trying to create [${db}]`,
        );
      }
    }
  }
}

/** A version 4 UUID from the environment's random source. */
export function randomUuid(environment: Environment): Uint8Array {
  const bytes = new Uint8Array(16);
  for (let i = 0; i < 16; i++) bytes[i] = Math.floor(environment.random() * 256);
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  return bytes;
}
