/**
 * How much has been written into each chunk since it was last looked at: before 6.0.3 chunks split by themselves as they
 * grow (facts-mongos.md §3.1).
 *
 * A router does not know how large a chunk is. It counts what it writes, and when that is a fifth of the chunk size it
 * has a look (splitGrown.ts). What is only written past it, it does not see; as in MongoDB.
 */
import type { SortableKey } from "../../bson/index.js";
import type { ChunkMap } from "../catalog/chunkMap.js";
import type { ShardedCollection } from "../catalog/entries.js";

/** The part of the chunk size that has to be written before a look is worth it. */
const WORTH_A_LOOK = 5;

/** A chunk that may be too large by now: the one that has this key. */
export interface GrownChunk {
  readonly ns: string;
  readonly begin: SortableKey;
}

/** Bytes written, by collection and chunk. */
export class ChunkGrowth {
  /** By chunk map: what is counted of chunks that are no more, or of a dropped collection, goes with its map. */
  readonly #written = new WeakMap<ChunkMap, Map<SortableKey, number>>();
  #due: GrownChunk[] = [];

  /** Whether a chunk is worth a look. */
  get isDue(): boolean {
    return this.#due.length > 0;
  }

  /**
   * Counts a write.
   * @param index the chunk
   * @param bytes of the documents or statements
   * @param chunkSizeBytes the most that the chunk should hold
   */
  wrote({ ns, chunks }: ShardedCollection, index: number, bytes: number, chunkSizeBytes: number): void {
    let written = this.#written.get(chunks);
    if (!written) this.#written.set(chunks, (written = new Map()));
    const begin = chunks.beginOf(index);
    const sum = (written.get(begin) ?? 0) + bytes;
    if (sum < chunkSizeBytes / WORTH_A_LOOK) {
      written.set(begin, sum);
      return;
    }
    written.delete(begin);
    this.#due.push({ ns, begin });
  }

  /** The chunks that are worth a look; they are not due any more. */
  take(): GrownChunk[] {
    const due = this.#due;
    this.#due = [];
    return due;
  }
}
