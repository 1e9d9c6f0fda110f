/**
 * Putting the shards' answers to a batch of writes together.
 *
 * A shard numbers its write errors and upserts by the positions in *its* batch;
 * the client knows only its own. So every number is mapped back, and lists are
 * sorted by it:
 *
 *     client   #0 #1 #2 #3 #4          shardB got #2 and #4
 *     shardB   {n: 1, writeErrors: [{index: 1, code: 11000}]}
 *     client   {n: 4, writeErrors: [{index: 4, code: 11000}]}
 */
import type { RawValue } from "../../bson/index.js";
import {
  asDocument,
  asNumber,
  BsonType,
  DocumentWriter,
  elements,
  forEachField,
  getField,
  int32,
  toDocument,
} from "../../bson/index.js";
import type { Reply } from "../../protocol/index.js";
import { CommandError, ErrorCode, failureOf, isOk } from "../../protocol/index.js";

interface Numbered {
  readonly index: number;
  readonly document: Uint8Array;
}

/** Collects the outcome of one client batch. */
export class WriteReplies {
  n = 0;
  nModified = 0;
  readonly #kind: "insert" | "update" | "delete";
  readonly #errors: Numbered[] = [];
  readonly #upserted: Numbered[] = [];
  #writeConcernError: Uint8Array | undefined;

  constructor(kind: "insert" | "update" | "delete") {
    this.#kind = kind;
  }

  /** Whether any write has failed. */
  get failed(): boolean {
    return this.#errors.length > 0;
  }

  /**
   * Adds a shard's reply.
   * @param indexes the client's position of each write the shard got
   */
  add(reply: Reply, indexes: readonly number[], ordered: boolean): void {
    if (!isOk(reply)) {
      this.addFailure(indexes, failureOf(reply), ordered);
      return;
    }
    forEachField(reply.body, (name, value) => {
      if (name === "n") this.n += asNumber(value);
      else if (name === "nModified") this.nModified += asNumber(value);
      else if (name === "writeErrors") renumber(value, indexes, this.#errors);
      else if (name === "upserted") renumber(value, indexes, this.#upserted);
      else if (name === "writeConcernError") this.#writeConcernError ??= asDocument(value);
    });
  }

  /** A shard failed as a whole: so did each of its writes; of an ordered batch the first, and nothing follows. */
  addFailure(indexes: readonly number[], failure: CommandError, ordered: boolean): void {
    for (const index of ordered ? indexes.slice(0, 1) : indexes) this.addError(index, failure);
  }

  /** Adds a write that failed before it reached a shard. */
  addError(index: number, { code, message, extra }: CommandError): void {
    this.#errors.push({ index, document: toDocument({ index, code, errmsg: message, ...extra }) });
  }

  /** Adds a document that the router updated itself. */
  addUpdated(modified: boolean): void {
    this.n += 1;
    if (modified) this.nModified += 1;
  }

  /** Adds a document that the router upserted itself. */
  addUpserted(index: number, id: RawValue): void {
    this.n += 1;
    this.#upserted.push({
      index,
      document: new DocumentWriter().int32("index", index).field("_id", id).finish(),
    });
  }

  /** The client's reply. */
  finish(): Reply {
    const writer = new DocumentWriter().int32("n", this.n);
    if (this.#kind === "update") writer.int32("nModified", this.nModified);
    if (this.#upserted.length > 0) writer.arrayOf("upserted", sorted(this.#upserted));
    if (this.#errors.length > 0) writer.arrayOf("writeErrors", sorted(this.#errors));
    if (this.#writeConcernError) writer.document("writeConcernError", this.#writeConcernError);
    return { body: writer.double("ok", 1).finish() };
  }
}

/** In the client's order; a statement that failed on several shards is named once. */
function sorted(entries: readonly Numbered[]): Uint8Array[] {
  const first = new Map<number, Numbered>();
  for (const entry of entries) if (!first.has(entry.index)) first.set(entry.index, entry);
  return [...first.values()].sort((a, b) => a.index - b.index).map(({ document }) => document);
}

/** Adds a shard's list of numbered entries to `all`, under the client's numbers. */
function renumber(list: RawValue, indexes: readonly number[], all: Numbered[]): void {
  if (list.type !== BsonType.array)
    throw new CommandError(ErrorCode.TypeMismatch, "a shard's reply has a bad list");
  for (const value of elements(asDocument(list))) {
    const entry = asDocument(value);
    const own = getField(entry, "index");
    const index = indexes[own ? asNumber(own) : 0] ?? -1;
    const writer = new DocumentWriter().field("index", int32(index));
    forEachField(entry, (name, field) => {
      if (name !== "index") writer.field(name, field);
    });
    all.push({ index, document: writer.finish() });
  }
}
