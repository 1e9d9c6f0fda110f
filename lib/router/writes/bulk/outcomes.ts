/** What the operations of one bulkWrite have done so far. */
import type { RawValue } from "../../../bson/index.js";
import { asDocument, asNumber, getField } from "../../../bson/index.js";
import type { BulkOperation, CommandError, OperationResult } from "../../../protocol/index.js";
import { BulkReplies } from "../../../protocol/index.js";
import { detached } from "../../support/values.js";
import { errorOf } from "../replies.js";

/** What one operation did, on all its shards together. */
interface Outcome {
  n: number;
  nModified: number;
  upsertedId: RawValue | undefined;
  error: CommandError | undefined;
}

/** Fields of a shard's reply to one operation that are no details of its error. */
const REPLY_FIELDS = ["ok", "idx", "n", "nModified", "upserted"];

/** The outcomes, by position of the operation. */
export class BulkOutcomes {
  readonly #operations: readonly BulkOperation[];
  readonly #outcomes: (Outcome | undefined)[];
  #failed = false;

  constructor(operations: readonly BulkOperation[]) {
    this.#operations = operations;
    this.#outcomes = new Array<undefined>(operations.length).fill(undefined);
  }

  /** Whether any operation has failed. */
  get failed(): boolean {
    return this.#failed;
  }

  /** Whether an operation is done, or known to be. */
  has(index: number): boolean {
    return this.#outcomes[index] !== undefined;
  }

  /** Adds what an operation did, here or on one of its shards. */
  add(index: number, { n, nModified = 0, upsertedId }: Omit<OperationResult, "kind">): void {
    const outcome = this.#at(index);
    outcome.n += n;
    outcome.nModified += nModified;
    outcome.upsertedId ??= upsertedId;
  }

  /** Notes that an operation failed, here or on one of its shards; the first error counts. */
  fail(index: number, error: CommandError): void {
    this.#failed = true;
    this.#at(index).error ??= error;
  }

  /**
   * Adds a document of a shard's reply.
   * @param indexes the client's position of each operation the shard got
   */
  addReply(reply: Uint8Array, indexes: ArrayLike<number>): void {
    const index = indexes[numberIn(reply, "idx")];
    if (index === undefined) return;
    const upserted = getField(reply, "upserted");
    const id = upserted && getField(asDocument(upserted), "_id");
    this.add(index, {
      n: numberIn(reply, "n"),
      nModified: numberIn(reply, "nModified"),
      upsertedId: id && detached(id),
    });
    if (numberIn(reply, "ok") !== 1) this.fail(index, errorOf(reply, REPLY_FIELDS));
  }

  /** The result of an operation that succeeded. */
  resultOf(index: number): OperationResult | undefined {
    const outcome = this.#outcomes[index];
    if (!outcome || outcome.error) return undefined;
    const { kind } = this.#operations[index]!;
    const { n, nModified, upsertedId } = outcome;
    return kind === "update" ? { kind, n, nModified, upsertedId } : { kind, n };
  }

  /**
   * The client's reply.
   * @param errorsOnly leave out the documents of operations that succeeded
   */
  replies(ordered: boolean, errorsOnly: boolean): BulkReplies {
    const replies = new BulkReplies(errorsOnly);
    for (const [index, outcome] of this.#outcomes.entries()) {
      if (!outcome || replies.isFull(index)) break;
      const result = this.resultOf(index);
      if (result) replies.succeeded(index, result);
      else if (outcome.error) {
        replies.failed(index, this.#operations[index]!.kind, outcome.error, outcome);
        if (ordered) break;
      }
    }
    return replies;
  }

  #at(index: number): Outcome {
    return (this.#outcomes[index] ??= { n: 0, nModified: 0, upsertedId: undefined, error: undefined });
  }
}

function numberIn(reply: Uint8Array, name: string): number {
  const value = getField(reply, name);
  return value ? asNumber(value) : 0;
}
