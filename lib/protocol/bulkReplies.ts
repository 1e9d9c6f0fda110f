/** What bulkWrite answers: a document for each operation, and sums over all. */
import type { RawValue } from "../bson/index.js";
import { DocumentWriter } from "../bson/index.js";
import { CommandError, ErrorCode } from "./errors.js";
import { writeErrorFields } from "./writeErrors.js";

/** What an operation of bulkWrite does. */
export type OperationKind = "insert" | "update" | "delete";

/** What one operation did. */
export interface OperationResult {
  readonly kind: OperationKind;
  /** Documents inserted, matched (or upserted), or deleted. */
  readonly n: number;
  /** Of an update. */
  readonly nModified?: number;
  readonly upsertedId?: RawValue | undefined;
}

/** All documents of the replies together, in bytes; MongoDB's `bulkWriteMaxRepliesSize`. */
const MAX_BYTES = 32 * 1024 * 1024;

/** Collects what operations did, in their order. */
export class BulkReplies {
  readonly documents: Uint8Array[] = [];
  readonly sums = { nErrors: 0, nInserted: 0, nMatched: 0, nModified: 0, nUpserted: 0, nDeleted: 0 };
  #bytes = 0;

  /** @param errorsOnly leave out the documents of operations that succeeded */
  constructor(readonly errorsOnly: boolean) {}

  /** Whether there is no room for the reply of one more operation; then that is reported as its error. */
  isFull(index: number): boolean {
    if (this.#bytes < MAX_BYTES) return false;
    const message = `BulkWrite response size exceeded limit (${MAX_BYTES} bytes)`;
    this.failed(index, "insert", new CommandError(ErrorCode.ExceededMemoryLimit, message));
    return true;
  }

  succeeded(index: number, { kind, n, nModified, upsertedId }: OperationResult): void {
    const { sums } = this;
    if (kind === "insert") sums.nInserted += n;
    else if (kind === "delete") sums.nDeleted += n;
    else if (upsertedId) sums.nUpserted++;
    else sums.nMatched += n;
    sums.nModified += nModified ?? 0;
    if (this.errorsOnly) return;
    const writer = start(1, index).int32("n", n);
    if (nModified !== undefined) writer.int32("nModified", nModified);
    if (upsertedId) writer.document("upserted", new DocumentWriter().field("_id", upsertedId).finish());
    this.#add(writer.finish());
  }

  /**
   * @param done what a write to several shards did before it failed on one
   * @param details of the error, where they are not its `extra`
   */
  failed(
    index: number,
    kind: OperationKind,
    error: CommandError,
    done: { readonly n: number; readonly nModified?: number | undefined } = { n: 0 },
    details: Readonly<Record<string, unknown>> = error.extra,
  ): void {
    const { sums } = this;
    if (kind === "update") sums.nMatched += done.n;
    else if (kind === "delete") sums.nDeleted += done.n;
    sums.nModified += done.nModified ?? 0;
    const writer = writeErrorFields(start(0, index), error, sums.nErrors++, details).int32("n", done.n);
    this.#add((kind === "update" ? writer.int32("nModified", done.nModified ?? 0) : writer).finish());
  }

  #add(document: Uint8Array): void {
    this.documents.push(document);
    this.#bytes += document.length;
  }
}

function start(ok: number, index: number): DocumentWriter {
  return new DocumentWriter().double("ok", ok).int32("idx", index);
}
