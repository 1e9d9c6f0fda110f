/**
 * The sorted entries of one B+tree node, kept for fast searching.
 *
 * Comparing strings means following a pointer to each of them. So beside every
 * key stands its *head*: its first six characters as one number,
 *
 *     "dev-42…"  →  0x6465762d3432
 *
 * A binary search reads the heads, which lie next to each other, and looks at
 * a string only where two heads are equal. Where one head is below another, so
 * is its key (shorter keys count as filled up with zeros).
 */
import type { SortableKey } from "../../bson/index.js";

const HEAD = 6;

/** The first six characters of a key (each at most 255) as a number. */
export function headOf(key: SortableKey): number {
  if (key.length >= HEAD) {
    const high = (key.charCodeAt(0) << 16) | (key.charCodeAt(1) << 8) | key.charCodeAt(2);
    const low = (key.charCodeAt(3) << 16) | (key.charCodeAt(4) << 8) | key.charCodeAt(5);
    return high * 0x1000000 + low;
  }
  let head = 0;
  for (let i = 0; i < HEAD; i++) head = head * 256 + (i < key.length ? key.charCodeAt(i) : 0);
  return head;
}

/** Sorted (key, record id) pairs in parallel arrays. */
export class EntryList {
  readonly keys: SortableKey[] = [];
  readonly ids: number[] = [];
  private readonly heads: number[] = [];

  get length(): number {
    return this.keys.length;
  }

  /** The number of entries below (key, id). */
  lowerBound(head: number, key: SortableKey, id: number): number {
    const { heads, keys, ids } = this;
    let low = 0;
    let high = heads.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = heads[middle] as number;
      if (
        other < head ||
        (other === head && isBelow(keys[middle] as SortableKey, ids[middle] as number, key, id))
      )
        low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The number of entries not above (key, id). */
  upperBound(head: number, key: SortableKey, id: number): number {
    const { heads, keys, ids } = this;
    let low = 0;
    let high = heads.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = heads[middle] as number;
      if (
        other < head ||
        (other === head && !isBelow(key, id, keys[middle] as SortableKey, ids[middle] as number))
      )
        low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Puts an entry at position `at`: `splice` without its allocation. */
  insert(at: number, key: SortableKey, id: number, head: number = headOf(key)): void {
    const { keys, ids, heads } = this;
    keys.push(key);
    ids.push(id);
    heads.push(head);
    for (let i = keys.length - 1; i > at; i--) {
      keys[i] = keys[i - 1] as SortableKey;
      ids[i] = ids[i - 1] as number;
      heads[i] = heads[i - 1] as number;
    }
    keys[at] = key;
    ids[at] = id;
    heads[at] = head;
  }

  remove(at: number): void {
    this.keys.splice(at, 1);
    this.ids.splice(at, 1);
    this.heads.splice(at, 1);
  }

  /** Keeps the entries before `at` and returns the others. */
  splitAt(at: number): EntryList {
    const rest = new EntryList();
    rest.keys.push(...this.keys.splice(at));
    rest.ids.push(...this.ids.splice(at));
    rest.heads.push(...this.heads.splice(at));
    return rest;
  }

  /** Adds entries that are all above those here. */
  append(other: EntryList): void {
    this.keys.push(...other.keys);
    this.ids.push(...other.ids);
    this.heads.push(...other.heads);
  }
}

function isBelow(key: SortableKey, id: number, otherKey: SortableKey, otherId: number): boolean {
  return key < otherKey || (key === otherKey && id < otherId);
}
