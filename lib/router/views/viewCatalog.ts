/**
 * Which names of a database are views.
 *
 * A view lives in the catalog of its database's primary shard, like an unsharded
 * collection, and every shard can read its own views. But a shard sees only its
 * own documents: over a sharded collection the router must take the view apart
 * and run the pipeline itself. A mongos learns of it from the shard, which
 * answers with an error that carries the resolved view. Our shards are ordinary
 * servers that would rather answer, so the router asks beforehand: one
 * `listCollections {type: "view"}` when a database's unsharded names are first
 * used, and again when a definition may have changed ({@link ViewCatalog.forget}).
 * A sharded collection needs no look: its name is taken.
 */
import type { RawValue } from "../../bson/index.js";
import { asDocument, asString, BsonType, elements, getField } from "../../bson/index.js";
import { failureOf, isOk, readCursorReply, request } from "../../protocol/index.js";
import type { Catalog } from "../catalog/catalog.js";
import type { Database } from "../catalog/entries.js";
import type { ShardRegistry } from "../catalog/shards.js";
import { ShardCursor } from "../merging/shardCursor.js";

/** A view as it was defined. */
export interface ViewDefinition {
  /** The collection or view that it reads, in the same database. */
  readonly on: string;
  readonly pipeline: readonly Uint8Array[];
  /** The collation of all reads of the view; absent for the simple one. */
  readonly collation?: Uint8Array;
}

/** Views of one database by name. */
type Views = ReadonlyMap<string, ViewDefinition>;

const NONE: Views = new Map();

/** The router's memory of views. */
export class ViewCatalog {
  readonly #catalog: Catalog;
  readonly #shards: ShardRegistry;
  /** By the database's entry: one that was dropped, moved or read again has another. */
  readonly #known = new WeakMap<Database, Views>();
  /** Counts {@link forget}: what was asked for before is not remembered after. */
  #changes = 0;

  constructor(catalog: Catalog, shards: ShardRegistry) {
    this.#catalog = catalog;
    this.#shards = shards;
  }

  /**
   * A view's definition.
   * @returns undefined for what is no view; a promise only where the primary shard has to be asked
   * @throws CommandError HostUnreachable (6) when the primary shard does not answer
   */
  find(db: string, name: string): ViewDefinition | undefined | Promise<ViewDefinition | undefined> {
    const database = this.#catalog.database(db);
    if (!database) return undefined;
    if (this.#catalog.collection(`${db}.${name}`)) return undefined;
    const known = this.#known.get(database);
    if (known) return known.get(name);
    return this.#read(database).then((views) => views.get(name));
  }

  /** Definitions of a database may have changed: create, collMod, drop. */
  forget(db: string): void {
    this.#changes += 1;
    const database = this.#catalog.database(db);
    if (database) this.#known.delete(database);
  }

  async #read(database: Database): Promise<Views> {
    const changes = this.#changes;
    const command = { listCollections: 1, filter: { type: "view" }, cursor: {} };
    const reply = await this.#shards.run(database.primary, request(database.name, command));
    if (!isOk(reply)) throw failureOf(reply);
    const cursor = new ShardCursor(this.#shards, database.primary, readCursorReply(reply));
    await cursor.drain();
    const views = new Map<string, ViewDefinition>();
    for (let entry = cursor.take(); entry; entry = cursor.take()) {
      const definition = definitionOf(entry);
      if (definition) views.set(asString(getField(entry, "name")!), definition);
    }
    const result = views.size === 0 ? NONE : views;
    if (changes === this.#changes) this.#known.set(database, result);
    return result;
  }
}

function definitionOf(entry: Uint8Array): ViewDefinition | undefined {
  const options = documentOf(getField(entry, "options"));
  const on = options && getField(options, "viewOn");
  if (on?.type !== BsonType.string) return undefined;
  const pipeline = getField(options!, "pipeline");
  const collation = documentOf(getField(options!, "collation"));
  return {
    on: asString(on),
    pipeline: pipeline?.type === BsonType.array ? elements(asDocument(pipeline)).map(asDocument) : [],
    ...(collation && { collation }),
  };
}

function documentOf(value: RawValue | undefined): Uint8Array | undefined {
  return value?.type === BsonType.object ? asDocument(value) : undefined;
}
