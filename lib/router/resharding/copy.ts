/**
 * Copying documents to where the new key puts them, while clients go on writing.
 *
 *     clone    donors: every document, in any order                 ──►  recipients: insert
 *     apply    donors: the documents that have changed, as they are  ──►  recipients: delete by _id, insert
 *
 * The clone may see a document before or after a change, or, when its key value changes and it moves from one donor to
 * another, twice. It does not matter: whatever changes meanwhile is looked at again by `apply`, which makes the copy of
 * a document, by `_id`, what it is on all donors now. So does what could not be inserted because its `_id`, or a value
 * that must be unique, was still there in another document's old state: it is tried again with the next changes, and
 * only what fails when nobody writes any more is a real duplicate.
 */
import type { RawValue } from "../../bson/index.js";
import {
  asDocument,
  asNumber,
  asString,
  bool,
  DocumentWriter,
  elements,
  getField,
  sortableValue,
} from "../../bson/index.js";
import { CommandError, ErrorCode, failureOf, isOk, MAX_WRITE_BATCH, request } from "../../protocol/index.js";
import { ChunkMap } from "../catalog/chunkMap.js";
import type { RouterContext } from "../context.js";
import { batchesFrom } from "../ddl/range.js";
import { deleteByIds } from "../support/collections.js";
import { detached } from "../support/values.js";
import type { Captures } from "./captures.js";
import type { ReshardingOperation } from "./operations.js";
import type { RunningResharding } from "./running.js";

/** `_id`s that one find names. */
const IDS_AT_ONCE = 1000;

/** Copies the documents of one resharding. */
export class Copier {
  readonly #chunks: ChunkMap;
  /** Documents that could not be inserted yet, by sortable `_id`. */
  #retry = new Map<string, RawValue>();

  constructor(
    private readonly context: RouterContext,
    private readonly operation: ReshardingOperation,
    private readonly running: RunningResharding,
  ) {
    const { starts, key } = running.plan;
    this.#chunks = ChunkMap.build(starts, key.maximum);
  }

  /** The new chunk map. */
  get chunks(): ChunkMap {
    return this.#chunks;
  }

  /**
   * Copies all documents of all donors.
   * @throws CommandError what a shard says; ShardKeyNotFound (61) for an array in the new key; ReshardCollectionAborted
   */
  async clone(): Promise<void> {
    const { db, name, donors } = this.operation;
    const find = new DocumentWriter().string("find", name).finish();
    const failures: unknown[] = [];
    const cloneFrom = async (donor: string): Promise<void> => {
      const progress = this.running.donors.get(donor);
      for await (const batch of batchesFrom(this.context, donor, request(db, find))) {
        this.running.checkNotAborted();
        // Nothing goes on behind the back of a failure.
        if (failures.length > 0) return;
        const documents = this.#ownedBy(donor, batch);
        await this.#distribute(documents);
        if (!progress) continue;
        progress.documentsCopied += documents.length;
        for (const document of documents) progress.bytesCopied += document.length;
      }
    };
    await Promise.all(
      donors.map((donor) => cloneFrom(donor).catch((error: unknown) => failures.push(error))),
    );
    if (failures.length > 0) throw failures[0];
  }

  /**
   * Copies again what has changed since the last time.
   * @param isLast nobody writes any more: what can't be inserted now is a duplicate
   * @returns how many documents had changed
   * @throws CommandError DuplicateKey (11000), and as {@link clone}
   */
  async apply(captures: Captures | undefined, isLast: boolean): Promise<number> {
    const changed = this.#retry;
    this.#retry = new Map();
    if (captures) {
      for (const donor of this.operation.donors) {
        const progress = this.running.donors.get(donor);
        for await (const ids of captures.changesOn(donor)) {
          if (!isLast) this.running.checkNotAborted();
          for (const id of ids) changed.set(sortableValue(id), id);
          if (progress) progress.writesFetched += ids.length;
        }
      }
    }
    if (changed.size > 0) await this.#copyAgain([...changed.values()]);
    if (isLast && this.#retry.size > 0) throw await this.#duplicate();
    return changed.size;
  }

  /** How many documents the donors have, and how many the copy has. Nobody may write meanwhile. */
  async counts(): Promise<{ donors: number; recipients: number }> {
    const { name, temporary, donors, recipients } = this.operation;
    return {
      donors: await this.#count(donors, name),
      recipients: await this.#count(recipients, temporary),
    };
  }

  async #count(shards: readonly string[], name: string): Promise<number> {
    const { db } = this.operation;
    const counts = await Promise.all(
      shards.map(async (shard) => {
        const n = getField(await this.context.shards.must(shard, db, { count: name, query: {} }), "n");
        return n ? asNumber(n) : 0;
      }),
    );
    return counts.reduce((sum, n) => sum + n, 0);
  }

  /** All old states go before any new one comes: two documents may have exchanged values that are unique. */
  async #copyAgain(ids: readonly RawValue[]): Promise<void> {
    const { db, name, temporary, donors, recipients } = this.operation;
    await Promise.all(
      recipients.map((shard) => deleteByIds(this.context, shard, { db, name: temporary }, ids)),
    );
    for (let from = 0; from < ids.length; from += IDS_AT_ONCE) {
      const among = new DocumentWriter().values("$in", ids.slice(from, from + IDS_AT_ONCE)).finish();
      const filter = new DocumentWriter().document("_id", among).finish();
      const find = new DocumentWriter().string("find", name).document("filter", filter).finish();
      for (const donor of donors) {
        for await (const batch of batchesFrom(this.context, donor, request(db, find))) {
          await this.#distribute(this.#ownedBy(donor, batch), true);
        }
      }
    }
  }

  /** Without documents that somebody has put on the wrong shard, past the router: nobody sees them, and they end here. */
  #ownedBy(donor: string, documents: readonly Uint8Array[]): readonly Uint8Array[] {
    const { catalog } = this.context;
    const collection = catalog.collection(this.operation.ns);
    if (!collection) return documents;
    const { key, chunks } = collection;
    return documents.filter((document) => chunks.ownerOf(key.chunkOf(document, chunks)) === donor);
  }

  async #distribute(documents: readonly Uint8Array[], again = false): Promise<void> {
    const { key } = this.running.plan;
    const byShard = new Map<string, Uint8Array[]>();
    for (const document of documents) {
      const shard = this.#chunks.ownerOf(key.chunkOf(document, this.#chunks));
      const batch = byShard.get(shard);
      if (batch) batch.push(document);
      else byShard.set(shard, [document]);
    }
    await Promise.all([...byShard].map(([shard, batch]) => this.#insert(shard, batch, again)));
  }

  async #insert(shard: string, documents: readonly Uint8Array[], again: boolean): Promise<void> {
    const { db, temporary } = this.operation;
    const progress = this.running.recipients.get(shard);
    for (let from = 0; from < documents.length; from += MAX_WRITE_BATCH) {
      const batch = documents.slice(from, from + MAX_WRITE_BATCH);
      const insert = new DocumentWriter()
        .string("insert", temporary)
        .field("ordered", bool(false))
        .field("bypassDocumentValidation", bool(true))
        .finish();
      const reply = await this.context.shards.run(shard, request(db, insert, { documents: batch }));
      if (!isOk(reply)) throw failureOf(reply);
      const failed = this.#noteFailures(reply.body, batch);
      if (!progress) continue;
      if (again) progress.writesApplied += batch.length - failed;
      else {
        progress.documentsCopied += batch.length - failed;
        for (const document of batch) progress.bytesCopied += document.length;
      }
    }
  }

  /** @throws CommandError for a failure that another try would not mend */
  #noteFailures(reply: Uint8Array, batch: readonly Uint8Array[]): number {
    const errors = getField(reply, "writeErrors");
    if (!errors) return 0;
    const list = elements(asDocument(errors)).map(asDocument);
    for (const error of list) {
      const code = asNumber(getField(error, "code")!);
      if (code !== Number(ErrorCode.DuplicateKey)) {
        const message = getField(error, "errmsg");
        throw new CommandError(code, message ? asString(message) : "a document could not be copied");
      }
      const id = getField(batch[asNumber(getField(error, "index")!)]!, "_id")!;
      this.#retry.set(sortableValue(id), detached(id));
    }
    return list.length;
  }

  /** The error of the first document that has a twin: as its recipient puts it. */
  async #duplicate(): Promise<CommandError> {
    const { ns, db, name, temporary, donors } = this.operation;
    const [id] = this.#retry.values();
    const filter = new DocumentWriter().field("_id", id!).finish();
    const find = new DocumentWriter().string("find", name).document("filter", filter).finish();
    for (const donor of donors) {
      for await (const batch of batchesFrom(this.context, donor, request(db, find))) {
        for (const document of this.#ownedBy(donor, batch)) {
          const shard = this.#chunks.ownerOf(this.running.plan.key.chunkOf(document, this.#chunks));
          const insert = { insert: temporary };
          const reply = await this.context.shards.run(shard, request(db, insert, { documents: [document] }));
          const errors = getField(reply.body, "writeErrors");
          const message = errors && getField(asDocument(elements(asDocument(errors))[0]!), "errmsg");
          if (message) {
            const text = asString(message).replace(`${db}.${temporary}`, ns);
            return new CommandError(ErrorCode.DuplicateKey, text);
          }
        }
      }
    }
    return new CommandError(ErrorCode.DuplicateKey, `E11000 duplicate key error collection: ${ns}`);
  }
}
