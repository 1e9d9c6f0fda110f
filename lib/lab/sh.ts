/**
 * mongosh's `sh` in a notebook: the same names, arguments and results, so that
 * what a student learns here works in the shell.
 *
 * Every helper is one admin command or one query on `config`, as in mongosh;
 * the reply is handed on as it is.
 */
import type { Document, MongoClient } from "mongodb";
import type { ShardingStatus } from "./shardingStatus.js";
import { readShardingStatus } from "./shardingStatus.js";

export class Sh {
  readonly #open: () => MongoClient;

  /** @param open gives the router's client, or throws where the lab is closed */
  constructor(open: () => MongoClient) {
    this.#open = open;
  }

  /**
   * Creates a database in the catalog and chooses its primary shard. Only needed under rules before
   * 6.0: later, shardCollection does it by itself.
   * @param database e.g. `"library"`
   * @param primaryShard the shard that holds what is not sharded; without it, the one with the least data
   * @example await lab.sh.enableSharding("library", "shardB");
   * @since MongoDB 2.0
   */
  enableSharding(database: string, primaryShard?: string): Promise<Document> {
    required("enableSharding", { database });
    return this.#admin({ enableSharding: database, ...(primaryShard !== undefined && { primaryShard }) });
  }

  /**
   * Shards a collection.
   * @param namespace `"<database>.<collection>"`
   * @param key the shard key pattern: `{ memberId: 1 }`, `{ deviceId: "hashed" }`, `{ country: 1, _id: "hashed" }`
   * @param unique make the supporting index unique (not with a hashed field); or the options right away
   * @param options further fields of the command, e.g. `{ collation: { locale: "simple" } }`
   * @example await lab.sh.shardCollection("library.events", { deviceId: "hashed" });
   * @since MongoDB 2.0
   */
  shardCollection(
    namespace: string,
    key: Document,
    unique?: boolean | Document,
    options?: Document,
  ): Promise<Document> {
    required("shardCollection", { namespace, key });
    const more = typeof unique === "object" ? { ...unique, ...options } : { ...options };
    return this.#admin({
      shardCollection: namespace,
      key,
      ...(typeof unique === "boolean" && { unique }),
      ...more,
    });
  }

  /**
   * Splits a chunk at a key value that you choose.
   * @param middle the full shard key of the first document of the new, upper chunk
   * @example await lab.sh.splitAt("library.loans", { memberId: 500 });
   * @since MongoDB 2.0
   */
  splitAt(namespace: string, middle: Document): Promise<Document> {
    required("splitAt", { namespace, middle });
    return this.#admin({ split: namespace, middle });
  }

  /**
   * Splits the chunk that a query falls in at its median.
   * @param query the shard key of some document in the chunk
   * @example await lab.sh.splitFind("library.loans", { memberId: 7 });
   * @since MongoDB 2.0
   */
  splitFind(namespace: string, query: Document): Promise<Document> {
    required("splitFind", { namespace, query });
    return this.#admin({ split: namespace, find: query });
  }

  /**
   * Moves the chunk that a query falls in to another shard.
   * @param query the shard key of some document in the chunk
   * @param destination name of the shard
   * @example await lab.sh.moveChunk("library.loans", { memberId: 7 }, "shardB");
   * @since MongoDB 2.0
   */
  moveChunk(namespace: string, query: Document, destination: string): Promise<Document> {
    required("moveChunk", { namespace, query, destination });
    return this.#admin({ moveChunk: namespace, find: query, to: destination });
  }

  /**
   * The shards of the cluster.
   * @returns one document a shard: `_id`, `host`, `state`
   * @example (await lab.sh.listShards()).map((shard) => shard._id);   // [ "shardA", "shardB" ]
   * @since MongoDB 2.0 (the helper: mongosh 2.0)
   */
  async listShards(): Promise<Document[]> {
    return (await this.#admin({ listShards: 1 }))["shards"] as Document[];
  }

  /**
   * Whether the balancer is switched on.
   * @example await lab.sh.getBalancerState();   // true
   * @since MongoDB 2.2
   */
  async getBalancerState(): Promise<boolean> {
    const settings = this.#open().db("config").collection<{ _id: string; stopped?: boolean }>("settings");
    return (await settings.findOne({ _id: "balancer" }))?.stopped !== true;
  }

  /**
   * What the balancer is doing.
   * @returns `mode` (`"full"` or `"off"`), `inBalancerRound`, `numBalancerRounds`
   * @example (await lab.sh.isBalancerRunning()).inBalancerRound;   // false
   * @since MongoDB 2.2
   */
  isBalancerRunning(): Promise<Document> {
    return this.#admin({ balancerStatus: 1 });
  }

  /**
   * The whole cluster at a glance: shards, balancer, databases, sharded collections and their chunks.
   * @param verbose list every chunk also where a collection has twenty or more
   * @returns the sections that mongosh prints, as data; shown, it reads as in mongosh
   * @example (await lab.sh.status()).databases;
   * @since MongoDB 2.0
   */
  async status(verbose = false): Promise<ShardingStatus> {
    return readShardingStatus(this.#open(), verbose);
  }

  async #admin(command: Document): Promise<Document> {
    return this.#open().db("admin").command(command);
  }
}

/** mongosh refuses a helper's missing argument before it sends anything. */
function required(helper: string, args: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(args)) {
    if (value === undefined || value === null)
      throw new TypeError(`sh.${helper}: the argument ${name} is missing`);
  }
}
