/**
 * `sh`, first part: databases, collections, chunks. Names, arguments and results are mongosh's.
 */
import type { Document } from "mongodb";
import { checkArguments, ShHelpers } from "./shHelpers.js";

/** Helpers that shard collections and place their chunks. */
export class ShCollections extends ShHelpers {
  /**
   * Creates a database in the catalog and chooses its primary shard. Only needed under rules before 6.0: later,
   * shardCollection does it by itself.
   * @param database e.g. `"library"`
   * @param primaryShard the shard that holds what is not sharded; without it, the one with the least data
   * @example await lab.sh.enableSharding("library", "shardB");
   * @since MongoDB 2.0
   */
  async enableSharding(database: string, primaryShard?: string): Promise<Document> {
    checkArguments("enableSharding", [database, primaryShard], ["string", [undefined, "string"]]);
    return this.onRouter({ enableSharding: database, ...(primaryShard !== undefined && { primaryShard }) });
  }

  /**
   * Shards a collection.
   * @param namespace `"<database>.<collection>"`
   * @param key the shard key pattern: `{ memberId: 1 }`, `{ deviceId: "hashed" }`, `{ country: 1, _id: "hashed" }`
   * @param unique make the supporting index unique (not with a hashed field); or the options right away
   * @param options further fields of the command, e.g. `{ collation: { locale: "simple" } }`
   * @returns `collectionsharded`, the namespace
   * @example await lab.sh.shardCollection("library.events", { deviceId: "hashed" });
   * @since MongoDB 2.0
   */
  async shardCollection(
    namespace: string,
    key: Document,
    unique?: boolean | Document,
    options?: Document,
  ): Promise<Document> {
    return this.#withKey("shardCollection", namespace, key, unique, options);
  }

  /**
   * Gives a sharded collection another shard key, moving its documents.
   * @param unique must be false; or the options right away
   * @example await lab.sh.reshardCollection("library.events", { deviceId: 1, at: 1 });
   * @since MongoDB 5.0
   */
  async reshardCollection(
    namespace: string,
    key: Document,
    unique?: boolean | Document,
    options?: Document,
  ): Promise<Document> {
    return this.#withKey("reshardCollection", namespace, key, unique, options);
  }

  /**
   * Shards a collection and spreads its documents over all shards at once, by resharding it to the same key.
   * @example await lab.sh.shardAndDistributeCollection("library.events", { deviceId: 1 });
   * @since MongoDB 8.0 (the helper: mongosh 2.2)
   */
  async shardAndDistributeCollection(
    namespace: string,
    key: Document,
    unique?: boolean | Document,
    options?: Document,
  ): Promise<Document> {
    await this.shardCollection(namespace, key, unique, options);
    const given = typeof unique === "object" ? unique : options;
    const { numInitialChunks, collation } = (given ?? {}) as {
      numInitialChunks?: unknown;
      collation?: unknown;
    };
    return this.reshardCollection(namespace, key, {
      forceRedistribution: true,
      ...(numInitialChunks !== undefined && { numInitialChunks }),
      ...(collation !== undefined && { collation }),
    });
  }

  /**
   * Ends the copying of a resharding that is running and switches to the new key.
   * @example await lab.sh.commitReshardCollection("library.events");
   * @since MongoDB 5.0
   */
  async commitReshardCollection(namespace: string): Promise<Document> {
    checkArguments("commitReshardCollection", [namespace], ["string"]);
    return this.admin({ commitReshardCollection: namespace });
  }

  /**
   * Gives up a resharding that is running; the collection keeps its key.
   * @example await lab.sh.abortReshardCollection("library.events");
   * @since MongoDB 5.0
   */
  async abortReshardCollection(namespace: string): Promise<Document> {
    checkArguments("abortReshardCollection", [namespace], ["string"]);
    return this.admin({ abortReshardCollection: namespace });
  }

  /**
   * Moves an unsharded collection to another shard than its database's primary.
   * @param toShard name of the shard
   * @example await lab.sh.moveCollection("library.members", "shardB");
   * @since MongoDB 8.0
   */
  async moveCollection(namespace: string, toShard: string): Promise<Document> {
    checkArguments("moveCollection", [namespace, toShard], ["string", "string"]);
    return this.admin({ moveCollection: namespace, toShard });
  }

  /**
   * Gives up a moveCollection that is running.
   * @example await lab.sh.abortMoveCollection("library.members");
   * @since MongoDB 8.0
   */
  async abortMoveCollection(namespace: string): Promise<Document> {
    checkArguments("abortMoveCollection", [namespace], ["string"]);
    return this.admin({ abortMoveCollection: namespace });
  }

  /**
   * Brings a sharded collection together on one shard; it is unsharded afterwards.
   * @param toShard name of the shard
   * @example await lab.sh.unshardCollection("library.events", "shardA");
   * @since MongoDB 8.0
   */
  async unshardCollection(namespace: string, toShard: string): Promise<Document> {
    checkArguments("unshardCollection", [namespace, toShard], ["string", "string"]);
    return this.admin({ unshardCollection: namespace, toShard });
  }

  /**
   * Gives up an unshardCollection that is running.
   * @example await lab.sh.abortUnshardCollection("library.events");
   * @since MongoDB 8.0
   */
  async abortUnshardCollection(namespace: string): Promise<Document> {
    checkArguments("abortUnshardCollection", [namespace], ["string"]);
    return this.admin({ abortUnshardCollection: namespace });
  }

  /**
   * Splits a chunk at a key value that you choose.
   * @param middle the full shard key of the first document of the new, upper chunk
   * @example await lab.sh.splitAt("library.loans", { memberId: 500 });
   * @since MongoDB 2.0
   */
  async splitAt(namespace: string, middle: Document): Promise<Document> {
    checkArguments("splitAt", [namespace, middle], ["string", "object"]);
    return this.admin({ split: namespace, middle });
  }

  /**
   * Splits the chunk that a query falls in at its median.
   * @param query the shard key of some document in the chunk
   * @example await lab.sh.splitFind("library.loans", { memberId: 7 });
   * @since MongoDB 2.0
   */
  async splitFind(namespace: string, query: Document): Promise<Document> {
    checkArguments("splitFind", [namespace, query], ["string", "object"]);
    return this.admin({ split: namespace, find: query });
  }

  /**
   * Moves the chunk that a query falls in to another shard.
   * @param query the shard key of some document in the chunk
   * @param destination name of the shard
   * @returns `millis` that it took
   * @example await lab.sh.moveChunk("library.loans", { memberId: 7 }, "shardB");
   * @since MongoDB 2.0
   */
  async moveChunk(namespace: string, query: Document, destination: string): Promise<Document> {
    checkArguments("moveChunk", [namespace, query, destination], ["string", "object", "string"]);
    return this.admin({ moveChunk: namespace, find: query, to: destination });
  }

  /**
   * Moves a range of keys to another shard, splitting chunks where it begins and ends inside one.
   * @param toShard name of the shard
   * @param min where the range begins; at least one of the two bounds must be given
   * @param max where it ends, itself not included
   * @example await lab.sh.moveRange("library.loans", "shardB", { memberId: 100 }, { memberId: 200 });
   * @since MongoDB 6.0
   */
  async moveRange(namespace: string, toShard: string, min?: Document, max?: Document): Promise<Document> {
    const bound = ["object", undefined];
    checkArguments("moveRange", [namespace, toShard, min, max], ["string", "string", bound, bound]);
    return this.admin({ moveRange: namespace, toShard, ...(min && { min }), ...(max && { max }) });
  }

  #withKey(
    command: "shardCollection" | "reshardCollection",
    namespace: string,
    key: Document,
    unique: boolean | Document | undefined,
    options: Document | undefined,
  ): Promise<Document> {
    checkArguments(
      command,
      [namespace, key, unique, options],
      ["string", "object", [undefined, "boolean", "object"], [undefined, "object"]],
    );
    // As in mongosh, the options may stand in the place of `unique`.
    const more = typeof unique === "object" ? unique : options;
    return this.onRouter({
      [command]: namespace,
      key,
      ...(typeof unique === "boolean" && { unique }),
      ...more,
    });
  }
}
