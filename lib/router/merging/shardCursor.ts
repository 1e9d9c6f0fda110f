/**
 * One shard's part of a result: a cursor on the shard and the documents that
 * have arrived from it and were not yet taken.
 *
 * Taking is synchronous and fetching is not, so that a merge over thousands of
 * buffered documents never waits.
 */
import type { CursorBatch } from "../../protocol/index.js";
import { CommandError, ErrorCode, readCursorReply, request } from "../../protocol/index.js";
import type { ShardRegistry } from "../catalog/shards.js";
import { isUnreachable } from "../catalog/unreachable.js";

/** How a cursor on a shard goes on after its first batch. */
export interface ShardCursorOptions {
  /** Documents that a getMore asks for; the shard's own measure when absent. */
  readonly batchSize?: number | undefined;
  /** A shard that is gone ends the cursor early instead of failing it (`allowPartialResults`). */
  readonly partial?: boolean | undefined;
}

/**
 * Whether `allowPartialResults` passes over a failure: the shard did not answer, or not in time.
 */
export function isPassedOver(error: unknown): boolean {
  return isUnreachable(error) || (error instanceof CommandError && error.code === ErrorCode.MaxTimeMSExpired);
}

/** A cursor on one shard with its buffer. */
export class ShardCursor {
  readonly shard: string;
  readonly #shards: ShardRegistry;
  readonly #db: string;
  readonly #collection: string;
  readonly #options: ShardCursorOptions;
  #id: bigint;
  #batch: readonly Uint8Array[];
  #position = 0;
  #drained = false;
  #closed = false;
  #failure: CommandError | undefined;
  #lost = false;

  /**
   * @param first the shard's answer to find, aggregate, …; its batch is what is buffered
   */
  constructor(
    shards: ShardRegistry,
    shard: string,
    { id, ns, batch }: CursorBatch,
    options: ShardCursorOptions = {},
  ) {
    const dot = ns.indexOf(".");
    this.shard = shard;
    this.#shards = shards;
    this.#db = ns.slice(0, dot);
    this.#collection = ns.slice(dot + 1);
    this.#options = options;
    this.#id = id;
    this.#batch = batch;
  }

  /** In place of the cursor of a shard that could not be asked, where the client takes what the others have. */
  static lost(shards: ShardRegistry, shard: string, ns: string): ShardCursor {
    const cursor = new ShardCursor(shards, shard, { id: 0n, ns, batch: [] });
    cursor.#lost = true;
    return cursor;
  }

  /** Documents of the shard are missing: it was gone when it was to give them. */
  get lost(): boolean {
    return this.#lost;
  }

  /** The collection that it reads on the shard: not the client's name for it where that is a view. */
  get ns(): string {
    return `${this.#db}.${this.#collection}`;
  }

  /** The cursor's number on the shard; 0n when all its documents have arrived. */
  get id(): bigint {
    return this.#id;
  }

  /** Documents that have arrived and were not taken. */
  get buffered(): number {
    return this.#batch.length - this.#position;
  }

  /** Nothing buffered and nothing left on the shard. */
  get ended(): boolean {
    return this.#id === 0n && this.buffered === 0 && !this.#failure;
  }

  /** The next buffered document without taking it. */
  peek(): Uint8Array | undefined {
    return this.#batch[this.#position];
  }

  /** Takes the next buffered document. */
  take(): Uint8Array | undefined {
    const document = this.#batch[this.#position];
    if (document) this.#position += 1;
    return document;
  }

  /**
   * Fetches the next batch, unless documents are buffered or none are left.
   * @throws CommandError QueryPlanKilled (175) when the collection was dropped
   */
  async fill(): Promise<void> {
    if (this.#failure) throw this.#failure;
    if (this.buffered > 0 || this.#id === 0n) return;
    let more;
    try {
      more = await this.#getMore(this.#options.batchSize);
    } catch (error) {
      if (!this.#options.partial || !isPassedOver(error)) throw error;
      this.#lost = true;
      more = { id: 0n, batch: [] };
    }
    this.#id = more.id;
    this.#batch = more.batch;
    this.#position = 0;
  }

  /** Reads everything that is left on the shard into memory. */
  async drain(): Promise<void> {
    if (this.#id === 0n) return;
    this.#drained = true;
    const documents = this.#batch.slice(this.#position);
    while (this.#id !== 0n) {
      let more;
      try {
        more = await this.#getMore();
      } catch (error) {
        if (this.#closed) return;
        throw error;
      }
      // A client may kill its cursor meanwhile: that takes no lock, and must not fail a migration.
      if (this.#closed) return;
      const { id, batch } = more;
      this.#id = id;
      // One by one: a batch of small documents has more of them than a call may have arguments.
      for (const document of batch) documents.push(document);
    }
    this.#batch = documents;
    this.#position = 0;
  }

  /**
   * The collection was dropped. A shard says so when it is next asked; what was drained has no
   * shard to say it, must not outlive the collection, and fails alike.
   */
  collectionDropped(): void {
    if (!this.#drained || this.ended) return;
    this.#batch = [];
    this.#position = 0;
    this.#failure = new CommandError(ErrorCode.QueryPlanKilled, "collection dropped");
  }

  /** Ends the cursor on the shard, if it is still open there. A shard that is gone has no cursor either. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#id === 0n) return;
    const command = { killCursors: this.#collection, cursors: [this.#id] };
    this.#id = 0n;
    this.#batch = [];
    await this.#shards.run(this.shard, request(this.#db, command)).catch(() => undefined);
  }

  /** The shard answered a forwarded getMore: remembers what it said about the cursor. */
  advanceTo(id: bigint): void {
    this.#id = id;
  }

  async #getMore(batchSize?: number): Promise<{ id: bigint; batch: Uint8Array[] }> {
    const command = { getMore: this.#id, collection: this.#collection, ...(batchSize && { batchSize }) };
    return readCursorReply(await this.#shards.run(this.shard, request(this.#db, command)));
  }
}

/** Fetches for all cursors that need it, at the same time. */
export async function fillAll(cursors: readonly ShardCursor[]): Promise<void> {
  await Promise.all(cursors.map((cursor) => cursor.fill()));
}
