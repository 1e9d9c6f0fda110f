/**
 * Merging: many shards' answers become one.
 *
 * Each shard answers its part of a query with a cursor. The router gives the
 * client a cursor of its own and produces its batches from the shards' batches:
 *
 *     shardA  ─ 1 4 7 ─┐
 *     shardB  ─ 2 3 9 ─┼─► concatenate (round robin)  1 2 4 3 7 9       find without sort
 *                      └─► merge sort by sort key     1 2 3 4 7 9       find with sort
 *                              │
 *                              ▼
 *                        skip, limit ─► projection ─► client's batch
 *
 * Who does what (facts-mongos.md §6):
 *
 * | | shards | router |
 * |---|---|---|
 * | filter | yes | — |
 * | sort | each sorts its part | merges by comparing heads |
 * | limit | limit + skip, so that enough arrives wherever the matches are | limit again |
 * | skip | never: a shard cannot know whose documents come first | yes |
 *
 * Example: `sort({x: 1}).skip(2).limit(3)` over the shards above. Each shard is
 * asked for 5 sorted documents; the merge yields 1 2 3 4 7 9; skip drops 1 and
 * 2; limit keeps 3, 4, 7.
 *
 * Equal sort keys come in the order of shard ids: MongoDB promises no order
 * there, a fixed one keeps lessons repeatable.
 *
 * A stream gives documents synchronously while it can ({@link DocumentStream.take})
 * and is asked to {@link DocumentStream.more} when it cannot. Documents pass
 * through as raw slices of the shard's reply.
 */
import type { SortableKey } from "../../bson/index.js";
import type { ShardCursor } from "./shardCursor.js";
import { fillAll } from "./shardCursor.js";

/** A sequence of documents that arrives in pieces. */
export interface DocumentStream {
  /** The next document, or undefined when it has to be fetched first or when the stream has ended. */
  take(): Uint8Array | undefined;
  /** No document will come any more. */
  readonly ended: boolean;
  /** Fetches until {@link take} gives a document or the stream has ended. */
  more(): Promise<void>;
}

/** Documents that are all here. */
export class BufferStream implements DocumentStream {
  readonly #documents: readonly Uint8Array[];
  #position = 0;

  constructor(documents: readonly Uint8Array[]) {
    this.#documents = documents;
  }

  get ended(): boolean {
    return this.#position >= this.#documents.length;
  }

  take(): Uint8Array | undefined {
    return this.#documents[this.#position++];
  }

  async more(): Promise<void> {
    // Nothing to fetch.
  }
}

/** Takes from the shards in turn, skipping those that have nothing buffered. */
export class RoundRobinStream implements DocumentStream {
  readonly #cursors: readonly ShardCursor[];
  #turn = 0;

  constructor(cursors: readonly ShardCursor[]) {
    this.#cursors = cursors;
  }

  get ended(): boolean {
    return this.#cursors.every((cursor) => cursor.ended);
  }

  take(): Uint8Array | undefined {
    for (let tried = 0; tried < this.#cursors.length; tried++) {
      const cursor = this.#cursors[this.#turn]!;
      this.#turn = (this.#turn + 1) % this.#cursors.length;
      if (cursor.buffered > 0) return cursor.take();
    }
    return undefined;
  }

  async more(): Promise<void> {
    while (!this.ended && this.#cursors.every((cursor) => cursor.buffered === 0)) {
      await fillAll(this.#cursors);
    }
  }
}

/**
 * Takes the smallest head of sorted cursors.
 *
 * Every cursor must have its head here before one can be called the smallest,
 * so the stream waits for the slowest shard. There are at most a few dozen
 * shards; looking at all heads beats a heap's bookkeeping.
 */
export class SortMergeStream implements DocumentStream {
  readonly #cursors: readonly ShardCursor[];
  readonly #keyOf: (document: Uint8Array) => SortableKey;
  /** Sort keys of the heads, where computed. */
  readonly #heads: (SortableKey | undefined)[];

  /** @param keyOf a string whose order is the sort's order */
  constructor(cursors: readonly ShardCursor[], keyOf: (document: Uint8Array) => SortableKey) {
    this.#cursors = cursors;
    this.#keyOf = keyOf;
    this.#heads = cursors.map(() => undefined);
  }

  get ended(): boolean {
    return this.#cursors.every((cursor) => cursor.ended);
  }

  take(): Uint8Array | undefined {
    let smallest = -1;
    let smallestKey: SortableKey = "";
    for (let i = 0; i < this.#cursors.length; i++) {
      const cursor = this.#cursors[i]!;
      const document = cursor.peek();
      if (!document) {
        if (cursor.ended) continue;
        return undefined;
      }
      const key = (this.#heads[i] ??= this.#keyOf(document));
      if (smallest < 0 || key < smallestKey) {
        smallest = i;
        smallestKey = key;
      }
    }
    if (smallest < 0) return undefined;
    this.#heads[smallest] = undefined;
    return this.#cursors[smallest]!.take();
  }

  async more(): Promise<void> {
    while (this.#cursors.some((cursor) => cursor.buffered === 0 && !cursor.ended)) {
      await fillAll(this.#cursors);
    }
  }
}

/** Drops the first documents and stops after a number. */
export class WindowStream implements DocumentStream {
  readonly #source: DocumentStream;
  #skip: number;
  #left: number;

  /** @param limit Infinity for no limit */
  constructor(source: DocumentStream, skip: number, limit: number) {
    this.#source = source;
    this.#skip = skip;
    this.#left = limit;
  }

  get ended(): boolean {
    return this.#left === 0 || this.#source.ended;
  }

  take(): Uint8Array | undefined {
    if (this.#left === 0) return undefined;
    for (;;) {
      const document = this.#source.take();
      if (!document) return undefined;
      if (this.#skip > 0) {
        this.#skip -= 1;
        continue;
      }
      this.#left -= 1;
      return document;
    }
  }

  async more(): Promise<void> {
    if (this.#left === 0) return;
    await this.#source.more();
    // Whole batches may fall to the skip.
    while (this.#skip > 0 && !this.#source.ended) {
      if (!this.#source.take()) await this.#source.more();
      else this.#skip -= 1;
    }
    await this.#source.more();
  }
}

/** Changes every document on its way. */
export class MapStream implements DocumentStream {
  readonly #source: DocumentStream;
  readonly #change: (document: Uint8Array) => Uint8Array;

  constructor(source: DocumentStream, change: (document: Uint8Array) => Uint8Array) {
    this.#source = source;
    this.#change = change;
  }

  get ended(): boolean {
    return this.#source.ended;
  }

  take(): Uint8Array | undefined {
    const document = this.#source.take();
    return document && this.#change(document);
  }

  more(): Promise<void> {
    return this.#source.more();
  }
}
