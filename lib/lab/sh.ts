/**
 * mongosh's `sh` in a notebook: the same names, arguments and results, so that what a student learns here works in the
 * shell. Every helper is one admin command or one query on `config`, as in mongosh.
 *
 *     shCollections.ts   enableSharding, shardCollection, splitAt, moveChunk, …
 *     shBalancing.ts     startBalancer, addShardToZone, updateZoneKeyRange, …
 *     shAnalysis.ts      analyzeShardKey, getShardDistribution, …: methods of collections in mongosh
 *     here               the cluster as a whole: its shards, its state, where its data is
 */
import type { AggregationCursor, Document } from "mongodb";
import type { ShardingStatus } from "./shardingStatus.js";
import { readShardingStatus } from "./shardingStatus.js";
import { ShAnalysis } from "./shAnalysis.js";
import { checkArguments } from "./shHelpers.js";

export class Sh extends ShAnalysis {
  /**
   * Adds a server, usually a replica set, to the cluster as a shard.
   * @param url its connection string: `"<set name>/<host>:<port>"`
   * @returns `shardAdded`, the name it got
   * @example await lab.sh.addShard("shardC/127.0.0.1:27020");
   * @since MongoDB 2.0
   */
  async addShard(url: string): Promise<Document> {
    checkArguments("addShard", [url], ["string"]);
    return this.admin({ addShard: url });
  }

  /**
   * The shards of the cluster.
   * @param filter only those that match, e.g. `{ draining: true }`
   * @returns one document a shard: `_id`, `host`, `state`
   * @example (await lab.sh.listShards()).map((shard) => shard._id); // [ "shardA", "shardB" ]
   * @since MongoDB 2.0 (the helper: mongosh 2.0)
   */
  async listShards(filter?: Document): Promise<Document[]> {
    checkArguments("listShards", [filter], [[undefined, "object"]]);
    const { shards } = await this.admin({ listShards: 1, ...(filter && { filter }) });
    return shards as Document[];
  }

  /**
   * Whether the config server is a shard too.
   * @returns `enabled`, and if so `host` and `tags`
   * @example await lab.sh.isConfigShardEnabled(); // { enabled: false }
   * @since MongoDB 8.0
   */
  async isConfigShardEnabled(): Promise<Document> {
    const shard = (await this.listShards()).find(({ _id }) => _id === "config");
    if (!shard) return { enabled: false };
    const { host, tags } = shard as { host?: string; tags?: string[] };
    return { enabled: true, host, ...(tags && { tags }) };
  }

  /**
   * The whole cluster at a glance: shards, balancer, databases, sharded collections and their chunks.
   * @param verbose list every chunk also where a collection has twenty or more
   * @returns the sections that mongosh prints, as data; shown, it reads as in mongosh
   * @example (await lab.sh.status()).databases;
   * @since MongoDB 2.0
   */
  async status(verbose = false): Promise<ShardingStatus> {
    return readShardingStatus(this.client, verbose);
  }

  /**
   * Where the documents of sharded collections are, in numbers and bytes.
   * @returns a cursor of documents `{ ns, shards: [{ shardName, numOwnedDocuments, ownedSizeBytes, … }] }`
   * @example await (await lab.sh.getShardedDataDistribution()).toArray();
   * @since MongoDB 6.0
   */
  async getShardedDataDistribution(options: Document = {}): Promise<AggregationCursor<Document>> {
    const cursor = this.client.db("admin").aggregate([{ $shardedDataDistribution: options }]);
    try {
      await cursor.hasNext();
    } catch (error) {
      if (error instanceof Error && (error as { code?: unknown }).code === 40324) {
        error.message =
          "sh.getShardedDataDistribution only works on mongos and MongoDB server versions greater than 6.0.3 " +
          `[Original Error: ${error.message}]`;
      }
      throw error;
    }
    return cursor;
  }
}
