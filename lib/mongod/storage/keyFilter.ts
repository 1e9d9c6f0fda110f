import type { KeyBytes } from "../../bson/index.js";

const SMALLEST = 64;
/** A place that holds nothing; no fingerprint is 0. */
const FREE = 0;

/**
 * Tells of most keys that an index has never seen them, without looking.
 *
 * A set of 32-bit fingerprints in one array, open addressing, at most half
 * full. A fingerprint that is not there means a key that is not there: a unique
 * index may take it without a search. One that is there means nothing yet — the
 * key, another one with the same fingerprint (one in 4,000 among a million), or
 * one that has been removed, for fingerprints stay.
 */
export class KeyFilter {
  private table = new Int32Array(SMALLEST);
  /** Fingerprints in the table. */
  size = 0;

  /** The fingerprint of a key (FNV-1a). */
  static fingerprint(key: KeyBytes): number {
    const { bytes, length } = key;
    let hash = 0x811c9dc5;
    for (let i = 0; i < length; i++) hash = Math.imul(hash ^ (bytes[i] as number), 0x01000193);
    // The low bits choose the place: let the high ones have a say.
    hash ^= hash >>> 15;
    return hash || 1;
  }

  has(fingerprint: number): boolean {
    const { table } = this;
    const mask = table.length - 1;
    for (let at = fingerprint & mask; ; at = (at + 1) & mask) {
      const other = table[at] as number;
      if (other === fingerprint) return true;
      if (other === FREE) return false;
    }
  }

  add(fingerprint: number): void {
    if (this.size * 2 >= this.table.length) this.grow();
    if (put(this.table, fingerprint)) this.size++;
  }

  private grow(): void {
    const table = new Int32Array(this.table.length * 2);
    for (const fingerprint of this.table) if (fingerprint !== FREE) put(table, fingerprint);
    this.table = table;
  }
}

/** Whether it was not there yet. */
function put(table: Int32Array, fingerprint: number): boolean {
  const mask = table.length - 1;
  let at = fingerprint & mask;
  for (; table[at] !== FREE; at = (at + 1) & mask) if (table[at] === fingerprint) return false;
  table[at] = fingerprint;
  return true;
}
