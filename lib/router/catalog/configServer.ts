/**
 * Reading and writing the `config` database.
 *
 * The catalog is ordinary documents in ordinary collections on the config
 * server. This file speaks to it with ordinary commands, so that any MongoDB
 * server can hold it and any client can read it.
 */
import {
  asDocument,
  asNumber,
  asString,
  DocumentWriter,
  elements,
  getField,
  toDocument,
} from "../../bson/index.js";
import type { Request } from "../../protocol/index.js";
import { CommandError, ErrorCode, failureOf, isOk, readCursorReply, request } from "../../protocol/index.js";
import type { ShardRegistry } from "./shards.js";
import { CONFIG_SHARD } from "./shards.js";

const DB = "config";
const BATCH = 10_000;

/** A document given as plain values or as raw BSON. */
export type DocumentLike = object | Uint8Array;

/** A write of {@link ConfigServer.bulk}. */
export type BulkWrite =
  | { readonly insert: string; readonly document: Uint8Array }
  | { readonly update: string; readonly filter: Uint8Array; readonly change: Uint8Array }
  | { readonly update: string; readonly filter: Uint8Array; readonly pipeline: readonly Uint8Array[] }
  | { readonly remove: string; readonly filter: Uint8Array };

/** Commands on collections of `config`. Every method throws the server's error as a CommandError. */
export class ConfigServer {
  readonly #shards: ShardRegistry;

  constructor(shards: ShardRegistry) {
    this.#shards = shards;
  }

  /** All documents that match, raw, in the sort's order. */
  async *find(
    collection: string,
    filter: DocumentLike = {},
    options: { sort?: object; limit?: number } = {},
  ): AsyncGenerator<Uint8Array> {
    const find = new DocumentWriter().string("find", collection).document("filter", raw(filter));
    if (options.sort) find.document("sort", raw(options.sort));
    if (options.limit) find.int32("limit", options.limit);
    let reply = await this.#run(find.int32("batchSize", BATCH).finish());
    for (;;) {
      const { id, batch } = readCursorReply(reply);
      yield* batch;
      if (id === 0n) return;
      reply = await this.#run({ getMore: id, collection, batchSize: BATCH });
    }
  }

  /** The first document that matches. */
  async findOne(collection: string, filter: DocumentLike): Promise<Uint8Array | undefined> {
    for await (const document of this.find(collection, filter, { limit: 1 })) return document;
    return undefined;
  }

  /** Inserts documents in order. */
  async insert(collection: string, documents: readonly Uint8Array[]): Promise<void> {
    for (let from = 0; from < documents.length; from += BATCH) {
      const batch = documents.slice(from, from + BATCH);
      await this.#write(request(DB, { insert: collection, ordered: true }, { documents: batch }));
    }
  }

  /** Updates (with `upsert` perhaps inserts) one document. @returns how many matched or were inserted */
  update(
    collection: string,
    q: DocumentLike,
    u: DocumentLike,
    options: { upsert?: boolean } = {},
  ): Promise<number> {
    const update = new DocumentWriter().document("q", raw(q)).document("u", raw(u));
    if (options.upsert) update.bool("upsert", true);
    return this.#write(request(DB, { update: collection }, { updates: [update.finish()] }));
  }

  /** Updates every match. @returns how many */
  updateAll(collection: string, q: DocumentLike, u: DocumentLike): Promise<number> {
    const update = new DocumentWriter().document("q", raw(q)).document("u", raw(u)).bool("multi", true);
    return this.#write(request(DB, { update: collection }, { updates: [update.finish()] }));
  }

  /** Deletes every match. @returns how many */
  remove(collection: string, q: DocumentLike): Promise<number> {
    const remove = new DocumentWriter().document("q", raw(q)).int32("limit", 0).finish();
    return this.#write(request(DB, { delete: collection }, { deletes: [remove] }));
  }

  /**
   * Several writes in one command: a server that is killed has all of them or none. An update by
   * operators changes one document, one by a pipeline every match; removals delete every match.
   */
  async bulk(writes: readonly BulkWrite[]): Promise<void> {
    const namespaces = [...new Set(writes.map(collectionOf))];
    const nsInfo = namespaces.map((name) => new DocumentWriter().string("ns", `${DB}.${name}`).finish());
    const ops = writes.map((write) => operationOf(write, namespaces.indexOf(collectionOf(write))));
    const command = request("admin", { bulkWrite: 1, ordered: true, errorsOnly: true }, { ops, nsInfo });
    const reply = await this.#shards.run(CONFIG_SHARD, command);
    if (!isOk(reply)) throw failureOf(reply);
    const { batch } = readCursorReply(reply);
    if (batch[0]) throw writeError(batch[0]);
  }

  /** Creates indexes; existing ones are left. */
  async createIndexes(collection: string, indexes: readonly object[]): Promise<void> {
    const reply = await this.#run({ createIndexes: collection, indexes });
    if (!isOk(reply)) throw failureOf(reply);
  }

  #run(command: DocumentLike): Promise<{ body: Uint8Array }> {
    return this.#shards.run(CONFIG_SHARD, request(DB, command));
  }

  async #write(command: Request): Promise<number> {
    const reply = await this.#shards.run(CONFIG_SHARD, command);
    if (!isOk(reply)) throw failureOf(reply);
    const errors = getField(reply.body, "writeErrors");
    const first = errors && elements(asDocument(errors))[0];
    if (first) throw writeError(asDocument(first));
    const n = getField(reply.body, "n");
    return n ? asNumber(n) : 0;
  }
}

function collectionOf(write: BulkWrite): string {
  if ("insert" in write) return write.insert;
  return "update" in write ? write.update : write.remove;
}

/** An operation of the command bulkWrite. */
function operationOf(write: BulkWrite, ns: number): Uint8Array {
  const writer = new DocumentWriter();
  if ("insert" in write) return writer.int32("insert", ns).document("document", write.document).finish();
  if ("update" in write) {
    writer.int32("update", ns).document("filter", write.filter);
    if ("change" in write) return writer.document("updateMods", write.change).bool("multi", false).finish();
    return writer.arrayOf("updateMods", write.pipeline).bool("multi", true).finish();
  }
  return writer.int32("delete", ns).document("filter", write.filter).bool("multi", true).finish();
}

function writeError(error: Uint8Array): CommandError {
  const code = getField(error, "code");
  const message = getField(error, "errmsg");
  return new CommandError(
    code ? asNumber(code) : ErrorCode.UnknownError,
    message ? asString(message) : "the config server refused a write",
  );
}

function raw(document: DocumentLike): Uint8Array {
  return document instanceof Uint8Array ? document : toDocument(document);
}
