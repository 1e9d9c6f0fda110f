/**
 * The chunk map of one hashed field, as bare numbers.
 *
 * Under `{deviceId: "hashed"}` every bound but the first is an int64, and an
 * insert has its hash as two 32-bit words. Comparing words finds the chunk
 * without building a sortable key for each document first:
 *
 *     bounds   MinKey      -3074457345618258602   3074457345618258602
 *     highs    -           -715827883             715827882            signed
 *     lows     -           1431655766             2863311530           unsigned
 *
 * The answer is always that of ChunkMap.find on the sortable key.
 */
import { BsonType, firstField, readInt32 } from "../../bson/index.js";

/** Lower bounds of chunks 1, 2, … as words; chunk 0 begins at MinKey. */
export class HashLine {
  readonly #highs: Int32Array;
  readonly #lows: Uint32Array;

  private constructor(highs: Int32Array, lows: Uint32Array) {
    this.#highs = highs;
    this.#lows = lows;
  }

  /**
   * The line of a map's lower bounds.
   * @param size how many chunks there are
   * @param boundOf the lower bound of a chunk, `{field: value}`
   * @returns undefined where a bound is no int64: `split` makes none, but a client may have written config.chunks
   */
  static of(size: number, boundOf: (index: number) => Uint8Array): HashLine | undefined {
    const highs = new Int32Array(size - 1);
    const lows = new Uint32Array(size - 1);
    for (let index = 1; index < size; index++) {
      const value = firstField(boundOf(index))?.[1];
      if (value?.type !== BsonType.int64) return undefined;
      lows[index - 1] = readInt32(value.bytes, value.start);
      highs[index - 1] = readInt32(value.bytes, value.start + 4);
    }
    return new HashLine(highs, lows);
  }

  /**
   * The index of the chunk that a hash belongs to.
   * @param high signed upper word
   * @param low lower word; its sign does not matter
   */
  find(high: number, low: number): number {
    const unsigned = low >>> 0;
    let first = 0;
    let last = this.#highs.length;
    // Invariant: bounds of chunks up to `first` are at or below the hash, those after `last` above it.
    while (first < last) {
      const middle = (first + last) >>> 1;
      const bound = this.#highs[middle]!;
      if (bound < high || (bound === high && this.#lows[middle]! <= unsigned)) first = middle + 1;
      else last = middle;
    }
    return first;
  }
}
