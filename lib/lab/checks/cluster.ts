/**
 * The student's cluster as a check sees it: through a connection of the checker's own,
 * with the questions checks ask most. Nothing here trusts what the notebook says about
 * its cluster.
 */
import { MongoClient } from "mongodb";
import type { Db, Document } from "mongodb";
import type { ClusterInfo } from "../../cluster/index.js";
import { readDistribution } from "../plot/distribution.js";
import type { Distribution } from "../plot/distribution.js";
import { AnswerError } from "./values.js";

/** One chunk of a sharded collection. */
export interface ChunkRow {
  min: Document;
  max: Document;
  shard: string;
}

/** How the router carries out a query. */
export interface Routing {
  /** `SINGLE_SHARD`, `SHARD_MERGE` or `SHARD_MERGE_SORT`. */
  stage: string;
  /** Names of the shards asked, sorted. */
  shards: string[];
}

/** A cluster under examination. */
export interface CheckCluster {
  /** What the lab was started with. */
  readonly info: ClusterInfo;
  /** The official driver, connected to the router. */
  readonly client: MongoClient;
  db(name: string): Db;
  /** Documents and chunks per shard. */
  distribution(ns: string): Promise<Distribution>;
  /** The shard key of a collection, or undefined when it isn't sharded. */
  shardKey(ns: string): Promise<Document | undefined>;
  /** Chunks in key order; empty when the collection isn't sharded. */
  chunks(ns: string): Promise<ChunkRow[]>;
  /** Where a query goes. */
  routing(ns: string, filter: Document): Promise<Routing>;
}

/**
 * Connects to a lab on first use.
 *
 * Without a lab every access fails with a sentence for the student.
 */
export class LabCluster implements CheckCluster {
  readonly #info: ClusterInfo | undefined;
  #client: MongoClient | undefined;

  constructor(info: ClusterInfo | undefined) {
    this.#info = info;
  }

  get info(): ClusterInfo {
    if (!this.#info) {
      throw new AnswerError(
        "this question looks at your cluster, and no lab is open; run the cell with startLab first",
      );
    }
    return this.#info;
  }

  get client(): MongoClient {
    this.#client ??= new MongoClient(this.info.uri, { serverSelectionTimeoutMS: 5000 });
    return this.#client;
  }

  db(name: string): Db {
    return this.client.db(name);
  }

  distribution(ns: string): Promise<Distribution> {
    return readDistribution(this.client, ns);
  }

  async shardKey(ns: string): Promise<Document | undefined> {
    return (await this.#catalogEntry(ns))?.["key"] as Document | undefined;
  }

  async chunks(ns: string): Promise<ChunkRow[]> {
    const entry = await this.#catalogEntry(ns);
    if (!entry) return [];
    const chunks = this.db("config").collection<ChunkRow>("chunks");
    return chunks.find({ uuid: entry["uuid"] }, { promoteLongs: false }).sort({ min: 1 }).toArray();
  }

  async routing(ns: string, filter: Document): Promise<Routing> {
    const dot = ns.indexOf(".");
    const explained = await this.db(ns.slice(0, dot))
      .collection(ns.slice(dot + 1))
      .find(filter)
      .explain("queryPlanner");
    const plan = (explained["queryPlanner"] as Document)["winningPlan"] as Document;
    const shards = (plan["shards"] ?? []) as { shardName: string }[];
    return { stage: String(plan["stage"]), shards: shards.map((shard) => shard.shardName).sort() };
  }

  async close(): Promise<void> {
    await this.#client?.close();
    this.#client = undefined;
  }

  async #catalogEntry(ns: string): Promise<Document | null> {
    const entry = await this.db("config")
      .collection<Document & { _id: string }>("collections")
      .findOne({ _id: ns });
    return entry && entry["unsplittable"] !== true ? entry : null;
  }
}
