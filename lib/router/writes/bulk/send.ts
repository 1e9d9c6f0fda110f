/** What goes to one shard goes there as a bulkWrite too: its reply says of each operation what it did. */
import { bool, DocumentWriter, getField } from "../../../bson/index.js";
import type { BulkOperation, Reply, Request } from "../../../protocol/index.js";
import {
  CommandError,
  failureOf,
  isOk,
  readCursorReply,
  request as makeRequest,
} from "../../../protocol/index.js";
import { asWriteFailure } from "../../catalog/unreachable.js";
import type { RouterContext } from "../../context.js";
import { forwardedBody } from "../../support/forward.js";
import type { ShardBatch } from "../batches.js";
import type { ConcernErrors } from "../concernErrors.js";
import type { BulkOutcomes } from "./outcomes.js";
import type { Places } from "./places.js";

/** Collection of a bulkWrite's cursor, in the database `admin`. */
export const BULK_CURSOR = "$cmd.bulkWrite";

/** Fields of the command that are not for the shards: the router keeps the cursor, and needs every reply. */
const DROPPED = { ops: undefined, nsInfo: undefined, cursor: undefined, errorsOnly: undefined };

/** Sends batches of a bulk's operations to shards and notes what they did. */
export class BulkSender {
  readonly #context: RouterContext;
  readonly #request: Request;
  readonly #nsInfo: readonly Uint8Array[];
  readonly #outcomes: BulkOutcomes;
  readonly #concernErrors: ConcernErrors;

  constructor(
    context: RouterContext,
    request: Request,
    operations: readonly BulkOperation[],
    places: Places,
    outcomes: BulkOutcomes,
    concernErrors: ConcernErrors,
  ) {
    this.#context = context;
    this.#request = request;
    this.#nsInfo = namespacesFor(operations, places);
    this.#outcomes = outcomes;
    this.#concernErrors = concernErrors;
  }

  /** Sends batches: one after the other up to the first failure, or all at once. */
  async send(batches: readonly ShardBatch[], ordered: boolean): Promise<void> {
    const body = forwardedBody(this.#request.body, { ...DROPPED, ordered: bool(ordered) });
    if (!ordered) {
      await Promise.all(batches.map((batch) => this.#sendOne(batch, body, false)));
      return;
    }
    for (const batch of batches) {
      await this.#sendOne(batch, body, true);
      if (this.#outcomes.failed) return;
    }
  }

  async #sendOne(
    { shard, documents, indexes }: ShardBatch,
    body: Uint8Array,
    ordered: boolean,
  ): Promise<void> {
    try {
      const command = makeRequest("admin", body, { ops: documents, nsInfo: this.#nsInfo });
      const reply = await this.#context.shards.run(shard, command);
      this.#concernErrors.add(getField(reply.body, "writeConcernError"), shard);
      await this.#addReplies(shard, reply, indexes);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      const failure = asWriteFailure(error, shard);
      const count = ordered ? Math.min(1, indexes.length) : indexes.length;
      for (let i = 0; i < count; i++) this.#outcomes.fail(indexes[i]!, failure);
    }
  }

  async #addReplies(shard: string, first: Reply, indexes: ArrayLike<number>): Promise<void> {
    for (let reply = first; ;) {
      if (!isOk(reply)) throw failureOf(reply);
      const { id, batch } = readCursorReply(reply);
      for (const each of batch) this.#outcomes.addReply(each, indexes);
      if (id === 0n) return;
      const more = makeRequest("admin", { getMore: id, collection: BULK_CURSOR });
      reply = await this.#context.shards.run(shard, more);
    }
  }
}

/** `nsInfo` for the shards, same positions. The router has checked the UUIDs of sharded collections. */
function namespacesFor(operations: readonly BulkOperation[], places: Places): Uint8Array[] {
  const used: (Uint8Array | undefined)[] = [];
  for (const { target } of operations) {
    if (used[target.index]) continue;
    const writer = new DocumentWriter().string("ns", target.namespace);
    const uuid = target.args.get("collectionUUID");
    if (uuid && !places.get(target.namespace)?.collection) writer.field("collectionUUID", uuid);
    used[target.index] = writer.finish();
  }
  const unused = used.find((entry) => entry !== undefined)!;
  return Array.from(used, (entry) => entry ?? unused);
}
