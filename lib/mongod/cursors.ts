/**
 * Open cursors: plans at rest between two batches.
 *
 * A cursor lives until it is exhausted or killed, until its collection is
 * dropped, or until nobody asked for ten minutes. There is no timer: whoever
 * opens or reads a cursor sweeps out those whose time is over on the
 * environment's clock. A cursor that was opened in a session is read in that
 * session only.
 *
 * A plan at rest holds what it has sorted or grouped, so their number is
 * bounded: beyond it the one that waited longest is closed.
 */
import type { RawValue } from "../bson/index.js";
import { asDocument, BsonType, describeValue, getField } from "../bson/index.js";
import type { Environment } from "../protocol/index.js";
import { checkObjectSize, CommandError, ErrorCode, sessionKey } from "../protocol/index.js";
import type { Interrupt } from "./planner/interrupt.js";

/** Most bytes of documents in one batch: a reply must fit one 16 MiB document and a little more. */
export const MAX_BATCH_BYTES = 16 * 1024 * 1024;
/** Documents in the first batch when nothing else is asked for. */
export const DEFAULT_FIRST_BATCH = 101;

const SWEEP_INTERVAL_MS = 10 * 1000;
/** Open cursors of one server. A real server has no such limit, but more than a process's memory. */
const MOST_CURSORS = 10_000;

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
  /** It stays open at the end of its capped collection. */
  readonly tailable: boolean;
  /** The command that opened it, raw, where it is known. */
  readonly command: Uint8Array | undefined;
  readonly createdAt: number;
  lastUsed: number;
  /** Replies with documents of this cursor so far. */
  batches: number;
  /** Documents given out so far. */
  documents: number;
  /** Milliseconds that its `maxTimeMS` leaves for the getMores to come; Infinity without one. */
  timeLeft: number;
  /** What getMore must answer from now on: its collection went away. */
  failure?: CommandError;
}

/** How a cursor is opened. */
export interface CursorOptions {
  readonly noTimeout?: boolean;
  readonly tailable?: boolean;
  /** The command that opens it, raw: its `lsid` says which session the cursor belongs to. */
  readonly command?: Uint8Array;
  /** Documents in the first batch. */
  readonly documents?: number;
  /** What opened it: a `maxTimeMS` goes on counting in getMore. */
  readonly interrupt?: Interrupt;
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
  /** Cursors that were ever kept for a getMore. */
  opened = 0;
  /** Cursors that nobody asked for in time. */
  timedOut = 0;

  /**
   * @param idleLimit milliseconds after which an unused cursor is closed (`cursorTimeoutMillis`)
   * @param most open cursors at once
   */
  constructor(
    private readonly environment: Environment,
    private readonly idleLimit: () => number,
    private readonly most = MOST_CURSORS,
  ) {}

  /** Number of open cursors. */
  get size(): number {
    return this.cursors.size;
  }

  /** The open cursors, oldest first. */
  all(): readonly ServerCursor[] {
    return [...this.cursors.values()];
  }

  /** Keeps a stream for later batches and returns its cursor. */
  open(namespace: string, stream: BatchStream, options: CursorOptions = {}): ServerCursor {
    this.sweep();
    if (this.cursors.size >= this.most) this.closeOldest();
    this.opened++;
    const now = this.environment.now();
    const cursor: ServerCursor = {
      id: this.newId(),
      namespace,
      stream,
      noTimeout: options.noTimeout ?? false,
      tailable: options.tailable ?? false,
      command: options.command?.slice(),
      createdAt: now,
      lastUsed: now,
      batches: 1,
      documents: options.documents ?? 0,
      timeLeft: options.interrupt?.timeLeft ?? Infinity,
    };
    this.cursors.set(cursor.id, cursor);
    stream.source.rest();
    return cursor;
  }

  /**
   * The cursor that a getMore asks for.
   * @param command the getMore, raw
   * @throws CommandError CursorNotFound (43), Unauthorized (13) for another namespace, 50736–50738 for another
   *   session, or what ended it
   */
  get(id: bigint, namespace: string, command?: Uint8Array): ServerCursor {
    this.sweep();
    const cursor = this.cursors.get(id);
    if (!cursor) throw new CommandError(ErrorCode.CursorNotFound, `cursor id ${id} not found`);
    if (cursor.namespace !== namespace) {
      throw new CommandError(
        ErrorCode.Unauthorized,
        `Requested getMore on namespace '${namespace}', but cursor belongs to a different namespace ${cursor.namespace}`,
      );
    }
    if (command && cursor.command) checkSameSession(id, lsidOf(cursor.command), lsidOf(command));
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

  /** Ends the cursors of a collection that has another name now. */
  collectionRenamed(from: string, to: string): void {
    for (const cursor of this.cursors.values()) {
      if (cursor.namespace !== from || cursor.failure) continue;
      giveUp(cursor);
      const failure = new CommandError(
        ErrorCode.QueryPlanKilled,
        `collection renamed from '${from}' to '${to}'`,
      );
      this.cursors.set(cursor.id, { ...cursor, stream: new BatchStream(NOTHING), failure });
    }
  }

  /** Closes the cursors of a session: `killSessions`. */
  sessionEnded(lsid: Uint8Array): void {
    const key = sessionKey(lsid);
    for (const { id, command } of [...this.cursors.values()]) {
      const own = command && lsidOf(command);
      if (own && sessionKey(asDocument(own)) === key) this.close(id);
    }
  }

  /** Closes everything. */
  closeAll(): void {
    for (const id of [...this.cursors.keys()]) this.close(id);
  }

  private sweep(): void {
    const now = this.environment.now();
    const limit = this.idleLimit();
    if (now - this.lastSweep < Math.min(SWEEP_INTERVAL_MS, limit)) return;
    this.lastSweep = now;
    for (const cursor of [...this.cursors.values()]) {
      if (cursor.noTimeout || now - cursor.lastUsed <= limit) continue;
      this.close(cursor.id);
      this.timedOut++;
    }
  }

  /** Makes room: the cursor that waited longest goes, one that asked to stay only where there is no other. */
  private closeOldest(): void {
    let oldest: ServerCursor | undefined;
    for (const cursor of this.cursors.values()) {
      if (
        !oldest ||
        Number(cursor.noTimeout) - Number(oldest.noTimeout) < 0 ||
        (cursor.noTimeout === oldest.noTimeout && cursor.lastUsed < oldest.lastUsed)
      )
        oldest = cursor;
    }
    if (oldest) this.close(oldest.id);
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

/** The session of a command. */
function lsidOf(command: Uint8Array): RawValue | undefined {
  const lsid = getField(command, "lsid");
  return lsid?.type === BsonType.object ? lsid : undefined;
}

/**
 * @throws CommandError 50736, 50737, 50738
 */
function checkSameSession(id: bigint, opened: RawValue | undefined, now: RawValue | undefined): void {
  if (!opened && !now) return;
  const cannot = `Cannot run getMore on cursor ${id}, which was`;
  if (!opened) {
    throw new CommandError(50736, `${cannot} not created in a session, in session ${sessionText(now)}`);
  }
  if (!now) {
    throw new CommandError(50737, `${cannot} created in session ${sessionText(opened)}, without an lsid`);
  }
  if (sessionKey(asDocument(opened)) === sessionKey(asDocument(now))) return;
  throw new CommandError(
    50738,
    `${cannot} created in session ${sessionText(opened)}, in session ${sessionText(now)}`,
  );
}

function sessionText(lsid: RawValue | undefined): string {
  return describeValue(lsid && getField(asDocument(lsid), "id"));
}

/**
 * Runs what looks at documents; what fails there says in which command.
 * @param what e.g. `Executor error during getMore`
 */
export function executing<T>(what: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof CommandError) error.message = `${what} :: caused by :: ${error.message}`;
    throw error;
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
