/**
 * All databases of a mongod.
 *
 * A database exists while it has a collection or view; a collection comes with
 * its first document or index, or by `create`. Collections and views share one
 * space of names. A view is a definition only: reading it runs its pipeline
 * (`views.ts`), writing to it fails. As in MongoDB a database's views are also
 * documents, in its collection `system.views`; the catalog writes them there,
 * nobody else may, and dropping that collection drops the views.
 */
import type { Collation } from "../../bson/index.js";
import { array, document, DocumentWriter } from "../../bson/index.js";
import type { Environment } from "../../protocol/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import { Collection } from "./collection.js";
import type { CollectionOptions } from "./collectionOptions.js";
import { PLAIN_COLLECTION } from "./collectionOptions.js";
import type { StorageListener } from "./storageListener.js";
import { ViewGraph } from "./viewGraph.js";

/** Splits `db.some.collection` at its first dot. */
export function splitNamespace(namespace: string): { db: string; collection: string } {
  const dot = namespace.indexOf(".");
  return { db: namespace.slice(0, dot), collection: namespace.slice(dot + 1) };
}

/** A view: a pipeline over a collection or another view of its database. */
export interface View {
  readonly namespace: string;
  /** The namespace that it reads, with its database. */
  readonly on: string;
  readonly pipeline: readonly Uint8Array[];
  /** All namespaces that it reads: {@link on}, and those that its stages name. */
  readonly reads: readonly string[];
  /** The view's own collation; reads of it can have no other. */
  readonly collation?: Collation;
  readonly options: CollectionOptions;
}

/** A view, and where `system.views` has it. */
interface StoredView extends View {
  readonly record: number;
}

const SYSTEM_VIEWS = "system.views";

/** What a database holds. */
interface Database {
  readonly collections: Map<string, Collection>;
  readonly views: Map<string, StoredView>;
}

/** Databases → collections and views. */
export class Catalog {
  private readonly databases = new Map<string, Database>();
  private readonly viewGraph = new ViewGraph();
  private listener: StorageListener | undefined;

  constructor(private readonly environment: Environment) {}

  /** Tells of every change from now on. */
  listen(listener: StorageListener): void {
    this.listener = listener;
    for (const { collections } of this.databases.values())
      for (const collection of collections.values()) collection.listener = listener;
  }

  /** Names of the databases, sorted. */
  databaseNames(): string[] {
    return [...this.databases.keys()].sort();
  }

  /** The collections of a database, sorted by name; none when it does not exist. */
  collectionsOf(db: string): Collection[] {
    return sorted(this.databases.get(db)?.collections.values() ?? []);
  }

  /** The views of a database, sorted by name. */
  viewsOf(db: string): View[] {
    return sorted(this.databases.get(db)?.views.values() ?? []);
  }

  /** The collection of a namespace, or undefined; views are no collections. */
  find(namespace: string): Collection | undefined {
    const { db, collection } = splitNamespace(namespace);
    return this.databases.get(db)?.collections.get(collection);
  }

  /** The view of a namespace, or undefined. */
  findView(namespace: string): View | undefined {
    const { db, collection } = splitNamespace(namespace);
    return this.databases.get(db)?.views.get(collection);
  }

  /**
   * The collection of a namespace, or undefined where nothing is of that name.
   * @throws CommandError CommandNotSupportedOnView (166) for a view
   */
  findCollection(namespace: string): Collection | undefined {
    const collection = this.find(namespace);
    if (!collection && this.findView(namespace)) {
      throw new CommandError(
        ErrorCode.CommandNotSupportedOnView,
        `Namespace ${namespace} is a view, not a collection`,
      );
    }
    return collection;
  }

  /**
   * The collection of a namespace, created when it does not exist.
   * @throws CommandError CommandNotSupportedOnView (166) for a view
   */
  findOrCreate(namespace: string): Collection {
    return this.findCollection(namespace) ?? this.create(namespace);
  }

  /**
   * Creates a collection.
   * @throws CommandError NamespaceExists (48), DatabaseDifferCase (13297)
   */
  create(namespace: string, settings: CollectionOptions = PLAIN_COLLECTION): Collection {
    this.checkFree(namespace);
    if (!this.databases.has(splitNamespace(namespace).db)) this.checkCase(splitNamespace(namespace).db);
    const collection = new Collection(namespace, randomUuid(this.environment), settings, this.environment);
    this.adopt(collection);
    return collection;
  }

  /** Takes a collection whose name is free. */
  adopt(collection: Collection): void {
    const { db, collection: name } = splitNamespace(collection.namespace);
    let database = this.databases.get(db);
    if (!database) this.databases.set(db, (database = { collections: new Map(), views: new Map() }));
    database.collections.set(name, collection);
    collection.listener = this.listener;
    collection.redefined();
  }

  /**
   * Creates a view.
   * @param reads namespaces that its stages name, beside the one that it is on
   * @throws CommandError NamespaceExists (48), DatabaseDifferCase (13297), GraphContainsCycle (5) and the other
   * failures of {@link ViewGraph.put}
   */
  createView(namespace: string, options: CollectionOptions, reads: readonly string[]): void {
    const { db } = splitNamespace(namespace);
    const view = viewOf(namespace, options, reads);
    this.checkFree(namespace);
    if (!this.databases.has(db)) this.checkCase(db);
    this.viewGraph.put(view);
    this.store(view);
  }

  /**
   * Gives an existing view another definition.
   * @throws CommandError as {@link createView}; nothing is changed then
   */
  replaceView(namespace: string, options: CollectionOptions, reads: readonly string[]): void {
    const view = viewOf(namespace, options, reads);
    this.viewGraph.put(view);
    this.unstore(namespace);
    this.store(view);
  }

  /** Drops a collection; returns it, or undefined when there was none. */
  drop(namespace: string): Collection | undefined {
    const { db, collection: name } = splitNamespace(namespace);
    const database = this.databases.get(db);
    const collection = database?.collections.get(name);
    if (!database || !collection) return undefined;
    collection.dropped = true;
    database.collections.delete(name);
    this.listener?.dropped(collection);
    if (name === SYSTEM_VIEWS) this.forgetViews(database);
    this.forgetIfEmpty(db, database);
    return collection;
  }

  /**
   * Gives a collection another name in its database; whatever had that name before must be gone.
   * @throws CommandError NamespaceExists (48)
   */
  rename(collection: Collection, to: string): void {
    const from = splitNamespace(collection.namespace);
    this.checkFree(to);
    const database = this.databases.get(from.db) as Database;
    database.collections.delete(from.collection);
    collection.rename(to);
    database.collections.set(splitNamespace(to).collection, collection);
  }

  /** Drops a view; returns whether there was one. */
  dropView(namespace: string): boolean {
    if (!this.findView(namespace)) return false;
    this.viewGraph.delete(namespace);
    this.unstore(namespace);
    return true;
  }

  /** Drops a database with everything in it; returns whether it existed. */
  dropDatabase(db: string): boolean {
    const database = this.databases.get(db);
    if (!database) return false;
    for (const collection of database.collections.values()) {
      collection.dropped = true;
      this.listener?.dropped(collection);
    }
    this.forgetViews(database);
    return this.databases.delete(db);
  }

  /** @throws CommandError NamespaceExists (48) */
  private checkFree(namespace: string): void {
    if (this.findView(namespace))
      throw new CommandError(ErrorCode.NamespaceExists, `A view already exists. NS: ${namespace}`);
    if (this.find(namespace))
      throw new CommandError(ErrorCode.NamespaceExists, `Collection ${namespace} already exists.`);
  }

  private store(view: View): void {
    const { db, collection: name } = splitNamespace(view.namespace);
    const record = this.findOrCreate(`${db}.${SYSTEM_VIEWS}`).insert(viewDocument(view));
    (this.databases.get(db) as Database).views.set(name, { ...view, record });
    this.listener?.viewDefined(view);
  }

  private unstore(namespace: string): void {
    const { db, collection: name } = splitNamespace(namespace);
    const database = this.databases.get(db);
    const view = database?.views.get(name);
    if (!database || !view) return;
    database.views.delete(name);
    database.collections.get(SYSTEM_VIEWS)?.delete(view.record);
    this.listener?.viewDropped(namespace);
  }

  private forgetViews({ views }: Database): void {
    for (const { namespace } of views.values()) {
      this.viewGraph.delete(namespace);
      this.listener?.viewDropped(namespace);
    }
    views.clear();
  }

  private forgetIfEmpty(db: string, { collections }: Database): void {
    if (collections.size === 0) this.databases.delete(db);
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

function viewOf(namespace: string, options: CollectionOptions, reads: readonly string[]): View {
  const { db } = splitNamespace(namespace);
  const { view, collation } = options;
  const on = `${db}.${view?.on ?? ""}`;
  return {
    namespace,
    on,
    pipeline: view?.pipeline ?? [],
    reads: [on, ...reads],
    ...(collation && { collation }),
    options,
  };
}

function viewDocument({ namespace, pipeline, options, collation }: View): Uint8Array {
  const writer = new DocumentWriter()
    .string("_id", namespace)
    .string("viewOn", options.view?.on ?? "")
    .field("pipeline", array(pipeline.map(document)));
  if (collation) writer.document("collation", collation.spec);
  return writer.finish();
}

function sorted<T extends { readonly namespace: string }>(items: Iterable<T>): T[] {
  return [...items].sort((a, b) => (a.namespace < b.namespace ? -1 : 1));
}

/** A version 4 UUID from the environment's random source. */
export function randomUuid(environment: Environment): Uint8Array {
  const bytes = new Uint8Array(16);
  for (let i = 0; i < 16; i++) bytes[i] = Math.floor(environment.random() * 256);
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  return bytes;
}
