import type { KeyBytes } from "../../bson/index.js";

/** Entries that may wait, and bytes of their keys. */
const MOST_ENTRIES = 4096;
const MOST_BYTES = 131_072;

/**
 * Entries that an index has taken and not yet put in order.
 *
 * Finding the place of a random key in a tree costs more than all the rest of
 * an insert. So an index writes new entries down here, one behind the other,
 * and puts them in their places when it is next read, when there are too many,
 * or when the server has nothing else to do: usually while the client is busy
 * with its next batch.
 */
export class PendingEntries {
  count = 0;
  private bytes = new Uint8Array(1024);
  private taken = 0;
  /** Per entry: where its key ends in {@link bytes}, and its record id. */
  private entries = new Uint32Array(64);

  /** Whether the entries should go to their places before another one comes. */
  get full(): boolean {
    return this.count >= MOST_ENTRIES || this.taken >= MOST_BYTES;
  }

  push(key: KeyBytes, id: number): void {
    const { length } = key;
    const end = this.taken + length;
    if (end > this.bytes.length) {
      const bytes = new Uint8Array(Math.max(end, this.bytes.length * 2));
      bytes.set(this.bytes.subarray(0, this.taken));
      this.bytes = bytes;
    }
    if (this.count * 2 === this.entries.length) {
      const entries = new Uint32Array(this.entries.length * 2);
      entries.set(this.entries);
      this.entries = entries;
    }
    const { bytes, taken } = this;
    const source = key.bytes;
    for (let i = 0; i < length; i++) bytes[taken + i] = source[i] as number;
    this.entries[this.count * 2] = end;
    this.entries[this.count * 2 + 1] = id;
    this.taken = end;
    this.count++;
  }

  /**
   * Gives out all entries, in the order in which they came, and forgets them.
   * @param key where each key is put for the call
   */
  drain(key: KeyBytes, take: (key: KeyBytes, id: number) => void): void {
    const { bytes, entries, count } = this;
    let start = 0;
    for (let i = 0; i < count; i++) {
      const end = entries[i * 2] as number;
      const target = key.make(end - start);
      for (let at = start; at < end; at++) target[at - start] = bytes[at] as number;
      take(key, entries[i * 2 + 1] as number);
      start = end;
    }
    this.count = 0;
    this.taken = 0;
    // One huge key must not keep its buffer for ever.
    if (bytes.length > 2 * MOST_BYTES) this.bytes = new Uint8Array(1024);
  }
}
