/**
 * Open cursors: plans at rest between two batches.
 *
 * A cursor lives until it is exhausted or killed, until its collection is
 * dropped, or until nobody asked for ten minutes. There is no timer: whoever
 * opens or reads a cursor sweeps out those whose time is over on the
 * environment's clock.
 */
import type { Environment } from "../protocol/index.js";
import { checkObjectSize, CommandError, ErrorCode } from "../protocol/index.js";
import type { Interrupt } from "./planner/interrupt.js";

/** Most bytes of documents in one batch: a reply must fit one 16 MiB document and a little more. */
export const MAX_BATCH_BYTES = 16 * 1024 * 1024;
/** Documents in the first batch when nothing else is asked for. */
export const DEFAULT_FIRST_BATCH = 101;

const IDLE_LIMIT_MS = 10 * 60 * 1000;
const SWEEP_INTERVAL_MS = 10 * 1000;

/** Where a cursor's documents come from: a query plan or a running pipeline. */
export interface DocumentSource {
  /** The next document, or undefined at the end. */
  next(): Uint8Array | undefined;
  /** Whether it is known, without looking, that nothing more comes. */
  readonly done: boolean;
  rest(): void;
  /** Goes on, or (without an interrupt) is given up. */
  resume(interrupt?: Interrupt): void;
}

/** Documents for one reply. */
export interface Batch {
  readonly documents: Uint8Array[];
  /** Nothing more comes. */
  readonly exhausted: boolean;
}

/** An open cursor. */
export interface ServerCursor {
  readonly id: bigint;
  readonly namespace: string;
  readonly stream: BatchStream;
  readonly noTimeout: boolean;
  lastUsed: number;
  /** What getMore must answer from now on: its collection went away. */
  failure?: CommandError;
}

/** Cuts a source into batches; holds the one document that did not fit. */
export class BatchStream {
  private carried: Uint8Array | undefined;

  constructor(readonly source: DocumentSource) {}

  /**
   * Up to `count` documents and about 16 MiB, at least one document where there is one.
   * @throws CommandError BSONObjectTooLarge (10334) for a result that no client could read
   */
  take(count: number): Batch {
    const documents: Uint8Array[] = [];
    let bytes = 0;
    while (documents.length < count) {
      const document = this.carried ?? this.source.next();
      this.carried = undefined;
      if (!document) return { documents, exhausted: true };
      checkObjectSize(document);
      if (documents.length > 0 && bytes + document.length > MAX_BATCH_BYTES) {
        this.carried = document;
        return { documents, exhausted: false };
      }
      bytes += document.length;
      documents.push(document);
    }
    return { documents, exhausted: this.carried === undefined && count > 0 && this.source.done };
  }
}

/** The cursors of one server. */
export class CursorRegistry {
  private readonly cursors = new Map<bigint, ServerCursor>();
  private lastSweep = 0;

  constructor(private readonly environment: Environment) {}

  /** Number of open cursors. */
  get size(): number {
    return this.cursors.size;
  }

  /** Keeps a stream for later batches and returns its cursor. */
  open(namespace: string, stream: BatchStream, noTimeout = false): ServerCursor {
    this.sweep();
    const cursor: ServerCursor = {
      id: this.newId(),
      namespace,
      stream,
      noTimeout,
      lastUsed: this.environment.now(),
    };
    this.cursors.set(cursor.id, cursor);
    stream.source.rest();
    return cursor;
  }

  /**
   * The cursor that a getMore asks for.
   * @throws CommandError CursorNotFound (43), Unauthorized (13) for another namespace, or what ended it
   */
  get(id: bigint, namespace: string): ServerCursor {
    this.sweep();
    const cursor = this.cursors.get(id);
    if (!cursor) throw new CommandError(ErrorCode.CursorNotFound, `cursor id ${id} not found`);
    if (cursor.namespace !== namespace) {
      throw new CommandError(
        ErrorCode.Unauthorized,
        `Requested getMore on namespace '${namespace}', but cursor belongs to a different namespace ${cursor.namespace}`,
      );
    }
    cursor.lastUsed = this.environment.now();
    if (cursor.failure) {
      this.cursors.delete(id);
      throw cursor.failure;
    }
    return cursor;
  }

  /** Closes a cursor; false when there is none of that id, or not in that namespace. */
  close(id: bigint, namespace?: string): boolean {
    const cursor = this.cursors.get(id);
    if (!cursor || (namespace !== undefined && cursor.namespace !== namespace)) return false;
    this.cursors.delete(id);
    if (!cursor.failure) giveUp(cursor);
    return true;
  }

  /** Ends the cursors of a dropped collection; they answer with the reason once and hold nothing any more. */
  collectionDropped(namespace: string): void {
    for (const cursor of this.cursors.values()) {
      if (cursor.namespace !== namespace || cursor.failure) continue;
      const reason = giveUp(cursor);
      if (!reason) continue;
      // A fresh error: a thrown one keeps, in its stack, the stages it passed through and so the collection.
      const failure = new CommandError(reason.code, reason.message);
      this.cursors.set(cursor.id, { ...cursor, stream: new BatchStream(NOTHING), failure });
    }
  }

  /** Closes everything. */
  closeAll(): void {
    for (const id of [...this.cursors.keys()]) this.close(id);
  }

  private sweep(): void {
    const now = this.environment.now();
    if (now - this.lastSweep < SWEEP_INTERVAL_MS) return;
    this.lastSweep = now;
    for (const cursor of [...this.cursors.values()])
      if (!cursor.noTimeout && now - cursor.lastUsed > IDLE_LIMIT_MS) this.close(cursor.id);
  }

  /** A positive number that clients can only guess. */
  private newId(): bigint {
    for (;;) {
      const high = BigInt(Math.floor(this.environment.random() * 0x7fffffff));
      const low = BigInt(Math.floor(this.environment.random() * 0x100000000));
      const id = (high << 32n) | low;
      if (id !== 0n && !this.cursors.has(id)) return id;
    }
  }
}

const NOTHING: DocumentSource = { next: () => undefined, done: true, rest: () => {}, resume: () => {} };

/** Lets a cursor's plan go; returns why it could not have gone on, if so. */
function giveUp(cursor: ServerCursor): CommandError | undefined {
  try {
    cursor.stream.source.resume();
    return undefined;
  } catch (error) {
    if (error instanceof CommandError) return error;
    throw error;
  }
}
