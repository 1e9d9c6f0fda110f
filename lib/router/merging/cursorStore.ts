/**
 * The router's open cursors.
 *
 * A cursor holds a stream and the shard cursors beneath it. Where one shard
 * answers the whole query there is nothing to merge: `getMore` is then passed
 * on as it came, and only the cursor's number is exchanged
 * ({@link RouterCursor.passThrough}).
 *
 * A migration moves documents under the feet of open cursors: one on the donor
 * would miss them, one on the recipient would see them a second time. So before
 * it copies anything, a migration reads what these cursors have left into
 * memory ({@link CursorStore.drain}); in a real cluster the donor keeps the
 * moved documents until the last cursor on them is gone.
 */
import type { Reply } from "../../protocol/index.js";
import { checkObjectSize, CommandError, cursorReply, ErrorCode } from "../../protocol/index.js";
import type { IdSource } from "../support/ids.js";
import type { ShardCursor } from "./shardCursor.js";
import type { DocumentStream } from "./streams.js";

/** Documents in a first batch where the client names no size. */
const FIRST_BATCH = 101;
/** Bytes of documents in one batch at most. */
const MAX_BATCH_BYTES = 16 * 1024 * 1024;
/** An idle cursor is closed after so long, as on a server. */
const IDLE_MS = 10 * 60 * 1000;
/** Idle cursors are looked for no more often than this. */
const SWEEP_INTERVAL_MS = 10 * 1000;

/** What the opening command says about its cursor. */
export interface CursorOrigin {
  /** The command, raw: its `lsid` says whose session the cursor belongs to. */
  readonly command?: Uint8Array;
  /** Never closed for being idle (`noCursorTimeout`). */
  readonly noTimeout?: boolean;
  /** A shard that is gone ends the cursor instead of failing it (`allowPartialResults`). */
  readonly partial?: boolean;
  /** Other collections that the shard reads for it: joined ones, those behind a view. */
  readonly reads?: ReadonlySet<string>;
}

/** One open cursor of a client. */
export class RouterCursor {
  readonly id: bigint;
  readonly ns: string;
  readonly cursors: readonly ShardCursor[];
  /** Set while one shard's cursor answers everything. */
  passThrough: ShardCursor | undefined;
  /** A batch is being made right now. */
  busy = false;
  /** A client killed it while it was busy: whoever uses it closes it. */
  killed = false;
  lastUsed = 0;
  readonly origin: CursorOrigin;
  readonly #stream: DocumentStream;
  /** A document that was taken and did not fit into the last batch. */
  #carried: Uint8Array | undefined;

  constructor(
    id: bigint,
    ns: string,
    stream: DocumentStream,
    cursors: readonly ShardCursor[],
    origin: CursorOrigin = {},
  ) {
    this.id = id;
    this.ns = ns;
    this.cursors = cursors;
    this.origin = origin;
    this.#stream = stream;
  }

  /** Documents of some shard are missing, and the client allowed that. */
  get partial(): boolean {
    return this.cursors.some((cursor) => cursor.lost);
  }

  /** The next documents: at most `count` of them and 16 MB, at least one unless the cursor has ended. */
  async nextBatch(count: number): Promise<{ batch: Uint8Array[]; ended: boolean }> {
    const batch: Uint8Array[] = [];
    let bytes = 0;
    while (batch.length < count) {
      const document = this.#carried ?? this.#stream.take();
      this.#carried = undefined;
      if (!document) {
        if (this.#stream.ended) break;
        await this.#stream.more();
        continue;
      }
      checkObjectSize(document);
      if (batch.length > 0 && bytes + document.length > MAX_BATCH_BYTES) {
        this.#carried = document;
        break;
      }
      batch.push(document);
      bytes += document.length;
    }
    return { batch, ended: !this.#carried && this.#stream.ended };
  }

  /** Ends the cursors on the shards. */
  async close(): Promise<void> {
    await Promise.all(this.cursors.map((cursor) => cursor.close()));
  }
}

/** All open cursors, by number. */
export class CursorStore {
  readonly #ids: IdSource;
  readonly #now: () => number;
  readonly #open = new Map<bigint, RouterCursor>();
  #lastSweep = 0;

  constructor(ids: IdSource, now: () => number) {
    this.#ids = ids;
    this.#now = now;
  }

  /** Number of open cursors. */
  get size(): number {
    return this.#open.size;
  }

  /**
   * Answers a query with the first batch of a stream; the rest stays open.
   * @param batchSize the client's, or undefined for 101 documents
   * @param single close after this batch, whatever is left
   * @param origin the opening command's say
   */
  async firstReply(
    ns: string,
    stream: DocumentStream,
    cursors: readonly ShardCursor[],
    batchSize: number | undefined,
    single = false,
    origin: CursorOrigin = {},
  ): Promise<Reply> {
    const cursor = new RouterCursor(this.#newId(), ns, stream, cursors, origin);
    try {
      const { batch, ended } = await cursor.nextBatch(batchSize ?? FIRST_BATCH);
      if (ended || single) {
        await cursor.close();
        return cursorReply(ns, 0n, batch, "firstBatch", undefined, cursor.partial);
      }
      this.#keep(cursor);
      return cursorReply(ns, cursor.id, batch, "firstBatch", undefined, cursor.partial);
    } catch (error) {
      await cursor.close();
      throw error;
    }
  }

  /** Keeps a cursor that one shard answers; returns its number here. */
  keepPassThrough(
    ns: string,
    shardCursor: ShardCursor,
    stream: DocumentStream,
    origin: CursorOrigin = {},
  ): bigint {
    const cursor = new RouterCursor(this.#newId(), ns, stream, [shardCursor], origin);
    cursor.passThrough = shardCursor;
    this.#keep(cursor);
    return cursor.id;
  }

  /**
   * An open cursor.
   * @throws CommandError CursorNotFound (43), or CursorInUse (143) while another getMore uses it
   */
  get(id: bigint): RouterCursor {
    this.#sweep();
    const cursor = this.#open.get(id);
    if (!cursor) throw new CommandError(ErrorCode.CursorNotFound, `Cursor not found (id: ${id}).`);
    if (cursor.busy) throw new CommandError(ErrorCode.CursorInUse, `Cursor already in use (id: ${id}).`);
    cursor.lastUsed = this.#now();
    return cursor;
  }

  /** The collections that an open cursor reads beside its own: nothing may move away from under a getMore. */
  readBy(id: bigint): ReadonlySet<string> | undefined {
    return this.#open.get(id)?.origin.reads;
  }

  /** Ends a cursor for a client, at once or after the batch that is being made; false when there is none. */
  async kill(id: bigint): Promise<boolean> {
    const cursor = this.#open.get(id);
    if (!cursor) return false;
    this.#open.delete(id);
    if (cursor.busy) cursor.killed = true;
    else await cursor.close();
    return true;
  }

  /** Closes one cursor. */
  async close(cursor: RouterCursor): Promise<void> {
    this.#open.delete(cursor.id);
    await cursor.close();
  }

  /** Closes all of them. */
  async closeAll(): Promise<void> {
    await Promise.all([...this.#open.values()].map((cursor) => this.close(cursor)));
  }

  /**
   * Reads what the open cursors of a collection have left on some shards into
   * memory. The caller holds the collection alone.
   */
  async drain(ns: string, shards: readonly string[]): Promise<void> {
    for (const cursor of this.#open.values()) {
      // A cursor on a view has the view's name; what it reads the cursors beneath it say, or whoever opened it.
      const all = cursor.origin.reads?.has(ns) === true;
      const reading = cursor.cursors.filter((each) => all || each.ns === ns);
      if (reading.length === 0) continue;
      for (const shardCursor of reading) {
        if (shards.includes(shardCursor.shard)) await shardCursor.drain();
      }
      cursor.passThrough = undefined;
    }
  }

  /** Lets go what cursors of a dropped collection have drained. The caller holds the collection alone. */
  collectionDropped(ns: string): void {
    for (const cursor of this.#open.values()) {
      for (const shardCursor of cursor.cursors) if (shardCursor.ns === ns) shardCursor.collectionDropped();
    }
  }

  #keep(cursor: RouterCursor): void {
    this.#sweep();
    cursor.lastUsed = this.#now();
    this.#open.set(cursor.id, cursor);
  }

  /** Closes idle cursors. There is no timer: whoever opens or reads a cursor sweeps. */
  #sweep(): void {
    const now = this.#now();
    if (now - this.#lastSweep < SWEEP_INTERVAL_MS) return;
    this.#lastSweep = now;
    for (const other of [...this.#open.values()]) {
      if (other.busy || other.origin.noTimeout) continue;
      if (now - other.lastUsed > IDLE_MS) void this.close(other);
    }
  }

  #newId(): bigint {
    for (;;) {
      const id = this.#ids.cursorId();
      if (!this.#open.has(id)) return id;
    }
  }
}
