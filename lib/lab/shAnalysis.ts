/**
 * `sh`, third part: what mongosh has as methods of a collection, `db.<collection>.analyzeShardKey(…)`, and as questions
 * to the whole cluster. In the notebook the collection is named by its namespace.
 */
import type { Document, RunCommandCursor } from "mongodb";
import type { ShardDistribution } from "./shardDistribution.js";
import { readShardDistribution } from "./shardDistribution.js";
import { ShBalancing } from "./shBalancing.js";
import { checkArguments } from "./shHelpers.js";

/** Where the shards of a collection are, as `getShardLocation` has it. */
export interface ShardLocation {
  shards: string[];
  sharded: boolean;
}

/** Helpers that measure and look. */
export class ShAnalysis extends ShBalancing {
  /**
   * How a collection's documents, bytes and chunks are spread: mongosh's `db.<collection>.getShardDistribution()`.
   * @param namespace `"<database>.<collection>"`
   * @returns one entry a shard and the totals, as data; shown, it reads as in mongosh
   * @example (await lab.sh.getShardDistribution("library.events")).Totals;
   * @since MongoDB 2.2
   */
  async getShardDistribution(namespace: string): Promise<ShardDistribution> {
    checkArguments("getShardDistribution", [namespace], ["string"]);
    return readShardDistribution(this.client, namespace);
  }

  /**
   * The shards that a collection is on, sharded or not: mongosh's `db.<collection>.getShardLocation()`.
   * @param namespace `"<database>.<collection>"`
   * @throws Error when there is no such collection
   * @example (await lab.sh.getShardLocation("library.members")).shards; // [ "shardA" ]
   * @since MongoDB 8.0 (the helper: mongosh 2.3)
   */
  async getShardLocation(namespace: string): Promise<ShardLocation> {
    checkArguments("getShardLocation", [namespace], ["string"]);
    const [found] = await this.client
      .db(namespace.slice(0, namespace.indexOf(".")))
      .aggregate<ShardLocation>([
        { $listClusterCatalog: { shards: true } },
        { $match: { ns: namespace } },
        { $project: { _id: 0, shards: 1, sharded: 1 } },
      ])
      .toArray();
    if (!found) throw new Error(`Error finding location information for ${namespace}`);
    return found;
  }

  /**
   * Measures a shard key before a collection is sharded on it: how many values, how often the most common ones, whether
   * it only grows; and where the sampled queries would go. mongosh's `db.<collection>.analyzeShardKey()`.
   * @param namespace `"<database>.<collection>"`
   * @param key the candidate, e.g. `{ memberId: 1 }`; an index on it must exist
   * @param options `keyCharacteristics`, `readWriteDistribution` (both true if absent), `sampleRate` or `sampleSize`
   * @returns `keyCharacteristics`, `readDistribution`, `writeDistribution`
   * @example await lab.sh.analyzeShardKey("library.loans", { ts: 1 }, { readWriteDistribution: false });
   * @since MongoDB 7.0
   */
  async analyzeShardKey(namespace: string, key: Document, options: Document = {}): Promise<Document> {
    checkArguments("analyzeShardKey", [namespace, key], ["string", "object"]);
    return this.admin({ analyzeShardKey: namespace, key, ...options });
  }

  /**
   * Starts or stops sampling the queries of a collection, for analyzeShardKey. mongosh's
   * `db.<collection>.configureQueryAnalyzer()`.
   * @param namespace `"<database>.<collection>"`
   * @param options `mode`: `"full"` or `"off"`; `samplesPerSecond`, up to 50
   * @example await lab.sh.configureQueryAnalyzer("library.loans", { mode: "full", samplesPerSecond: 5 });
   * @since MongoDB 7.0
   */
  async configureQueryAnalyzer(namespace: string, options: Document): Promise<Document> {
    checkArguments("configureQueryAnalyzer", [namespace, options], ["string", "object"]);
    return this.admin({ configureQueryAnalyzer: namespace, ...options });
  }

  /**
   * Looks for metadata that contradicts itself.
   * @returns a cursor of the inconsistencies found
   * @example await (await lab.sh.checkMetadataConsistency()).toArray(); // []
   * @since MongoDB 7.0
   */
  async checkMetadataConsistency(): Promise<RunCommandCursor> {
    return Promise.resolve(this.client.db("admin").runCursorCommand({ checkMetadataConsistency: 1 }));
  }

  /**
   * How far the draining of a shard has come.
   * @param shardId its name; without it, all shards that are draining
   * @example await lab.sh.shardDrainingStatus("shardC");
   * @since MongoDB 8.3
   */
  async shardDrainingStatus(shardId?: string): Promise<Document> {
    checkArguments("shardDrainingStatus", [shardId], [[undefined, "string"]]);
    return this.admin({ shardDrainingStatus: shardId ?? 1 });
  }

  /**
   * How far the config server's data has come on its way to the shards, where it is to be a config server only.
   * @example await lab.sh.getTransitionToDedicatedConfigServerStatus();
   * @since MongoDB 8.3
   */
  async getTransitionToDedicatedConfigServerStatus(): Promise<Document> {
    return this.admin({ getTransitionToDedicatedConfigServerStatus: 1 });
  }
}
