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
  asString,
  BsonType,
  DocumentWriter,
  elements,
  forEachField,
  getField,
  int32,
} from "../../bson/index.js";
import type { Reply } from "../../protocol/index.js";
import { CommandError, ErrorCode, failureOf, isOk, writeErrorFields } from "../../protocol/index.js";
import { ConcernErrors } from "./concernErrors.js";

interface Numbered {
  readonly index: number;
  readonly document: Uint8Array;
}

/** Errors of so many bytes together fill a reply: of further ones the text is left out. */
const MAX_REPORT = 8 * 1024 * 1024;

/** Collects the outcome of one client batch. */
export class WriteReplies {
  n = 0;
  nModified = 0;
  /** What shards say about the write concern. */
  readonly concernErrors = new ConcernErrors();
  readonly #kind: "insert" | "update" | "delete";
  readonly #errors: Numbered[] = [];
  readonly #upserted: Numbered[] = [];

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
   * @param shard who replied; undefined for a reply that the router made
   */
  add(reply: Reply, indexes: ArrayLike<number>, ordered: boolean, shard?: string): void {
    if (!isOk(reply)) {
      this.addFailure(indexes, failureOf(reply), ordered);
      return;
    }
    forEachField(reply.body, (name, value) => {
      if (name === "n") this.n += asNumber(value);
      else if (name === "nModified") this.nModified += asNumber(value);
      else if (name === "writeErrors") renumber(value, indexes, this.#errors);
      else if (name === "upserted") renumber(value, indexes, this.#upserted);
      else if (name === "writeConcernError") this.concernErrors.add(value, shard);
    });
  }

  /** A shard failed as a whole: so did each of its writes; of an ordered batch the first, and nothing follows. */
  addFailure(indexes: ArrayLike<number>, failure: CommandError, ordered: boolean): void {
    const count = ordered ? Math.min(1, indexes.length) : indexes.length;
    for (let i = 0; i < count; i++) this.addError(indexes[i]!, failure);
  }

  /** Adds a write that failed before it reached a shard. */
  addError(index: number, error: CommandError): void {
    const writer = new DocumentWriter().int32("index", index);
    this.#errors.push({ index, document: writeErrorFields(writer, error, this.#errors.length).finish() });
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
    if (this.#errors.length > 0) writer.arrayOf("writeErrors", shortened(sorted(this.#errors)));
    this.concernErrors.writeTo(writer);
    return { body: writer.double("ok", 1).finish() };
  }
}

/** In the client's order; a statement that failed on several shards is named once. */
function sorted(entries: readonly Numbered[]): Uint8Array[] {
  const first = new Map<number, Numbered>();
  for (const entry of entries) if (!first.has(entry.index)) first.set(entry.index, entry);
  return [...first.values()].sort((a, b) => a.index - b.index).map(({ document }) => document);
}

/** Each shard keeps its list of errors small; all of them together must be small too. */
function shortened(errors: readonly Uint8Array[]): readonly Uint8Array[] {
  let bytes = 0;
  return errors.map((error) => {
    if ((bytes += error.length) <= MAX_REPORT) return error;
    const writer = new DocumentWriter();
    for (const name of ["index", "code"]) {
      const value = getField(error, name);
      if (value) writer.field(name, value);
    }
    return writer.string("errmsg", "").finish();
  });
}

/** Adds a shard's list of numbered entries to `all`, under the client's numbers. */
function renumber(list: RawValue, indexes: ArrayLike<number>, all: Numbered[]): void {
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

/**
 * The error that an entry of a shard's `writeErrors` stands for; its details stay raw.
 * @param leaveOut fields that belong to the entry and not to the error
 */
export function errorOf(entry: Uint8Array, leaveOut: readonly string[] = ["index"]): CommandError {
  let code: number = ErrorCode.UnknownError;
  let message = "the shard refused the write";
  const extra: Record<string, RawValue> = {};
  forEachField(entry, (name, value) => {
    if (name === "code") code = asNumber(value);
    else if (name === "errmsg") message = asString(value);
    else if (!leaveOut.includes(name)) extra[name] = value;
  });
  return new CommandError(code, message, extra);
}

/**
 * Fails where a shard's reply to a single write does.
 * @throws CommandError the command's failure, or its first write error
 */
export function throwWriteError(reply: Reply): void {
  if (!isOk(reply)) throw failureOf(reply);
  const errors = getField(reply.body, "writeErrors");
  const first = errors && elements(asDocument(errors))[0];
  if (first) throw errorOf(asDocument(first));
}
