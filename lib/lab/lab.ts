/** One open lab: a cluster in the lab host and the official driver connected to it. */
import { inspect } from "node:util";
import type { Db } from "mongodb";
import { MongoClient } from "mongodb";
import type { ClusterInfo } from "../cluster/index.js";
import { banner } from "../cluster/index.js";
import type { RoutingTraceEntry } from "../router/index.js";
import { LabBalancer } from "./balancer.js";
import { Sh } from "./sh.js";
import { readTrace } from "./trace.js";

/** How long the driver looks for a server before it gives up, in milliseconds. */
const SERVER_SELECTION_MS = 5_000;

/** One server of the cluster, to look inside. */
export class LabServer {
  /** Its name in the catalog: `shardA`, `shardB`, …; `config` for the config server. */
  readonly id: string;
  /** Connection string of this server alone. */
  readonly uri: string;
  #client: MongoClient | undefined;

  constructor(id: string, uri: string) {
    this.id = id;
    this.uri = uri;
  }

  /**
   * The official driver on this server alone, past the router; connects when it is first used.
   * @example await lab.shards[0].client.db("library").collection("loans").countDocuments();
   */
  get client(): MongoClient {
    return (this.#client ??= newClient(this.uri));
  }

  /** Drops the connection, if there ever was one. */
  async disconnect(): Promise<void> {
    await this.#client?.close();
    this.#client = undefined;
  }

  [inspect.custom](): string {
    return `${this.id} ${this.uri}`;
  }
}

/**
 * A sharded cluster to experiment with; made by `startLab`.
 *
 * Ends with `close()`, at the end of the block after `await using lab = await startLab()`, or with
 * this process.
 */
export class Lab {
  /** Number of the lab in its host. */
  readonly id: string;
  /** Shards, engine, rules, seed, and what the engine can do. */
  readonly info: ClusterInfo;
  /** The official driver, connected to the router. */
  readonly client: MongoClient;
  /** mongosh's sharding helpers: the same names, arguments and results. */
  readonly sh: Sh;
  /** The balancer, one round at a time. */
  readonly balancer: LabBalancer;
  /** The shards, in the order of their names. */
  readonly shards: readonly LabServer[];
  /** The config server; its `config` database is the cluster's catalog. */
  readonly config: LabServer;
  readonly #end: () => Promise<void>;
  readonly #ask: (method: "killShard" | "restartShard", shard: string) => Promise<void>;
  #closing: Promise<void> | undefined;

  /**
   * @param id number of the lab in its host
   * @param info how to reach the cluster
   * @param end ends the cluster in the host
   * @param ask asks the host for something about one shard
   */
  constructor(
    id: string,
    info: ClusterInfo,
    end: () => Promise<void>,
    ask: (method: "killShard" | "restartShard", shard: string) => Promise<void>,
  ) {
    this.id = id;
    this.info = info;
    this.client = newClient(info.uri);
    this.sh = new Sh(() => this.#openClient());
    this.balancer = new LabBalancer(() => this.#openClient());
    this.shards = info.shards.map((shard) => new LabServer(shard.id, shard.uri));
    this.config = new LabServer("config", info.config.uri);
    this.#end = end;
    this.#ask = ask;
  }

  /** Connection string of the router, for any MongoDB client. */
  get uri(): string {
    return this.info.uri;
  }

  /** What this lab's engine can do. */
  get capabilities(): ClusterInfo["capabilities"] {
    return this.info.capabilities;
  }

  /**
   * A database, through the router.
   * @example await lab.db("library").collection("loans").insertOne({ memberId: 7 });
   * @since Shardlab 0.1
   */
  db(name: string): Db {
    return this.#openClient().db(name);
  }

  /**
   * What the router did: for each operation the key or bounds it found, the ranges they fall in, the
   * shards it asked and how it merged their answers.
   * @param since only entries from this number on (`entry.n`)
   * @returns oldest first; the router keeps the latest entries only
   * @throws MongoServerError when the engine has no trace (`lab.capabilities.trace`)
   * @since Shardlab 0.1
   */
  async trace(since?: number): Promise<RoutingTraceEntry[]> {
    return (await readTrace(this.#openClient(), since)).entries;
  }

  /**
   * Ends a shard at once, as a power cut does: what needs it fails until {@link restartShard}.
   * @param id its name
   * @throws ClusterError `engine-unavailable` where shards are no processes (`lab.capabilities.killShard`)
   * @example
   * const lab = await startLab({ engine: "process" });
   * await lab.killShard("shardB");
   * @since Shardlab 0.1
   */
  async killShard(id: string): Promise<void> {
    this.#openClient();
    await this.#ask("killShard", id);
  }

  /**
   * Starts a killed shard again on its old address, with the documents that it had.
   * @param id its name
   * @example await lab.restartShard("shardB");
   * @since Shardlab 0.1
   */
  async restartShard(id: string): Promise<void> {
    this.#openClient();
    await this.#ask("restartShard", id);
  }

  /** The client, as long as there is a cluster behind it. */
  #openClient(): MongoClient {
    if (this.#closing) throw new Error("this lab is closed; open another one with startLab()");
    return this.client;
  }

  /**
   * Ends the cluster and drops every connection. Calling it twice does no harm.
   * @since Shardlab 0.1
   */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    const servers = [...this.shards, this.config];
    await Promise.allSettled([this.client.close(), ...servers.map((server) => server.disconnect())]);
    await this.#end();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  [inspect.custom](): string {
    return `${banner(this.info)}\n${this.uri}`;
  }
}

function newClient(uri: string): MongoClient {
  return new MongoClient(uri, { appName: "shardlab", serverSelectionTimeoutMS: SERVER_SELECTION_MS });
}
