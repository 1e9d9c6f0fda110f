/**
 * config.changelog: what happened to the cluster, one document an event
 * (facts-mongos.md §3.4). Events come in pairs where something can fail between
 * them: `shardCollection.start` and `shardCollection.end`.
 *
 *     what                               details
 *     shardCollection.start              shardKey, collection, primary, options
 *     shardCollection.end                uuid, placementVersion, empty, numChunks
 *     split                              before, left, right, owningShard
 *     moveChunk.start .commit .from .to  min, max, from, to, (note)
 *     dropCollection.start, dropCollection, dropDatabase.start, dropDatabase
 *     renameCollection.start .end        source, destination
 *     movePrimary.start .end .error      from, to, (error)
 *     addShard                           name, host
 *     removeShard.start, removeShard     shard
 */
import { DocumentWriter, EMPTY_DOCUMENT, toDocument } from "../../bson/index.js";
import type { Environment } from "../../protocol/index.js";
import type { ConfigServer, DocumentLike } from "./configServer.js";

/** Writes config.changelog. */
export class Changelog {
  readonly #config: ConfigServer;
  readonly #environment: Environment;
  readonly #host: string;
  #changes = 0;

  /** @param host `host:port` of this router */
  constructor(config: ConfigServer, environment: Environment, host: string) {
    this.#config = config;
    this.#environment = environment;
    this.#host = host;
  }

  /**
   * Writes an entry.
   * @param what e.g. `moveChunk.commit`
   * @param ns namespace or database that it happened to; empty for the cluster
   * @param shard where it happened; the config server when absent
   * @param log the collection: what happened to the cluster, or what the balancer did
   */
  async log(
    what: string,
    ns: string,
    details: DocumentLike = EMPTY_DOCUMENT,
    shard = "config",
    log: "changelog" | "actionlog" = "changelog",
  ): Promise<void> {
    const now = this.#environment.now();
    const entry = new DocumentWriter()
      .string("_id", `${this.#host}-${new Date(now).toISOString()}-${++this.#changes}`)
      .string("server", this.#host)
      .string("shard", shard)
      .string("clientAddr", "")
      .date("time", now)
      .string("what", what)
      .string("ns", ns)
      .document("details", details instanceof Uint8Array ? details : toDocument(details))
      .finish();
    await this.#config.insert(log, [entry]);
  }
}
