/**
 * The sorted entries of one B+tree node, packed.
 *
 * An index over a million documents has a million keys. As JavaScript strings
 * each would cost some fifty bytes beside its own and be a thing for the
 * garbage collector to visit. So a node keeps them as a page of a database on
 * disk does, in two arrays of numbers:
 *
 *     slots   | head start length id | head start length id | …    in order of the keys
 *     data    | d e v - 0 4 | d e v - 0 1 | …                      in order of arrival
 *
 * Neighbours in an index begin alike, so a node knows how many bytes all its
 * keys share (here 5, `dev-0`), and a *head* is the four bytes behind them, as
 * one number. A binary search reads heads, and looks at keys only where two
 * heads are equal.
 *
 * Putting an entry in the middle moves slots and appends the key. What a
 * removed key leaves behind is dropped when the data array is full or mostly
 * waste: then what is left moves to a fresh array. **Bytes in use are never
 * overwritten**, so who holds (array, start, length) of an entry holds that key
 * for good; a resting scan does.
 */
import type { KeyBytes } from "../../bson/index.js";

/** Words of one entry in `slots`, and which is which. */
const WORDS = 5;
const SECOND = 1;
const START = 2;
const LENGTH = 3;
const ID = 4;
/** Bytes of each half of a head. */
const HEAD = 4;
/** Bytes up to which a loop copies faster than a call. */
const SHORT = 48;
/** Wasted bytes that are not worth a new array. */
const TOLERATED = 512;

/** Sorted (key, record id) pairs; ids are whole numbers below 2^32. */
export class EntryList {
  length = 0;
  /** The keys' bytes. */
  data: Uint8Array;
  /** Bytes of keys in use. */
  bytes = 0;
  /** Per entry: its head, where its key starts in {@link data}, the key's length, the record id. */
  private slots: Int32Array;
  /** Bytes that all keys begin with, or fewer. */
  private shared = 0;
  /** Bytes of `data` that are taken, in use or not. */
  private taken = 0;

  /** Room for `entries` keys of `bytes` bytes together. */
  constructor(entries = 4, bytes = 0) {
    this.data = new Uint8Array(bytes);
    this.slots = new Int32Array(entries * WORDS);
  }

  /** The record id of entry `at`. */
  id(at: number): number {
    return (this.slots[at * WORDS + ID] as number) >>> 0;
  }

  /** Where the key of entry `at` starts in {@link data}. */
  start(at: number): number {
    return this.slots[at * WORDS + START] as number;
  }

  /** The length of entry `at`'s key. */
  keyLength(at: number): number {
    return this.slots[at * WORDS + LENGTH] as number;
  }

  /** Negative, 0 or positive: the order of entry `at`'s key and `key`. */
  compareKey(at: number, key: KeyBytes): number {
    return this.compareFrom(0, at, key);
  }

  /** {@link compareKey} where the first `from` bytes are known to be the same. */
  private compareFrom(from: number, at: number, key: KeyBytes): number {
    const { data } = this;
    const start = this.start(at);
    const own = this.keyLength(at);
    const { bytes, length } = key;
    const common = own < length ? own : length;
    for (let i = from; i < common; i++) {
      const difference = (data[start + i] as number) - (bytes[i] as number);
      if (difference !== 0) return difference;
    }
    return own - length;
  }

  /** The number of entries below (key, id). */
  lowerBound(key: KeyBytes, id: number): number {
    return this.search(key, id, 0);
  }

  /** The number of entries not above (key, id). */
  upperBound(key: KeyBytes, id: number): number {
    return this.search(key, id, 1);
  }

  /** The number of entries whose order to (key, id) is below `bound`. */
  private search(key: KeyBytes, id: number, bound: 0 | 1): number {
    const { slots, shared, data, length } = this;
    if (length === 0) return 0;
    const { bytes } = key;
    const end = key.length;
    const first = slots[START] as number;
    for (let i = 0; i < shared; i++) {
      if (i === end) return 0;
      const difference = (data[first + i] as number) - (bytes[i] as number);
      if (difference !== 0) return difference < 0 ? length : 0;
    }
    const head = headOf(bytes, shared, end);
    const second = headOf(bytes, shared + HEAD, end);
    let low = 0;
    let high = length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const slot = middle * WORDS;
      const other = slots[slot] as number;
      if (other < head) low = middle + 1;
      else if (other > head) high = middle;
      else {
        const otherSecond = slots[slot + SECOND] as number;
        if (otherSecond < second) low = middle + 1;
        else if (otherSecond > second) high = middle;
        else if (this.compare(shared + 2 * HEAD, middle, key, id) < bound) low = middle + 1;
        else high = middle;
      }
    }
    return low;
  }

  private compare(from: number, at: number, key: KeyBytes, id: number): number {
    return this.compareFrom(from, at, key) || this.id(at) - id;
  }

  /** Puts an entry at position `at`. */
  insert(at: number, key: KeyBytes, id: number): void {
    this.insertBytes(at, key.bytes, 0, key.length, id);
  }

  /** Puts an entry of another list at position `at`. */
  insertFrom(at: number, other: EntryList, entry: number): void {
    this.insertBytes(at, other.data, other.start(entry), other.keyLength(entry), other.id(entry));
  }

  private insertBytes(at: number, bytes: Uint8Array, start: number, length: number, id: number): void {
    if ((this.length + 1) * WORDS > this.slots.length)
      this.resize(this.length + Math.max(4, this.length >> 1));
    if (this.taken + length > this.data.length) this.pack(Math.max(length, (this.bytes + length) >> 1));
    const { slots, data, taken } = this;
    copy(bytes, start, length, data, taken);
    const slot = at * WORDS;
    if (at < this.length) slots.copyWithin(slot + WORDS, slot, this.length * WORDS);
    slots[slot + START] = taken;
    slots[slot + LENGTH] = length;
    slots[slot + ID] = id;
    this.length++;
    this.taken = taken + length;
    this.bytes += length;
    if (this.sharesPrefix(at)) this.setHead(slot, taken, taken + length);
    else this.setHeads();
  }

  remove(at: number): void {
    const { slots } = this;
    const slot = at * WORDS;
    this.bytes -= slots[slot + LENGTH] as number;
    slots.copyWithin(slot, slot + WORDS, this.length * WORDS);
    this.length--;
    if (this.taken > TOLERATED && this.bytes < this.taken / 2) this.pack(0);
  }

  /**
   * Keeps the entries before `at` and returns the others.
   * @param capacity both get room for so many entries, without more growing
   * @param full leave no room behind here: nothing will come between these entries any more
   */
  splitAt(at: number, capacity: number, full: boolean): EntryList {
    const average = Math.ceil(this.bytes / this.length);
    const rest = new EntryList(capacity, capacity * average);
    rest.takeFrom(this, at);
    this.length = at;
    this.bytes -= rest.bytes;
    if (full) this.resize(at);
    this.pack(full ? 0 : (capacity - at) * average);
    this.setHeads();
    return rest;
  }

  /** Adds entries that are all above those here. */
  append(other: EntryList): void {
    this.resize(this.length + other.length);
    this.takeFrom(other, 0);
  }

  /** Appends the entries of another list from `from` on; there is room for them in `slots`. */
  private takeFrom(other: EntryList, from: number): void {
    let bytes = 0;
    for (let i = from; i < other.length; i++) bytes += other.keyLength(i);
    if (this.data.length < this.taken + bytes) this.pack(bytes);
    const { slots, data } = this;
    for (let i = from; i < other.length; i++) {
      const length = other.keyLength(i);
      const slot = this.length * WORDS;
      copy(other.data, other.start(i), length, data, this.taken);
      slots[slot + START] = this.taken;
      slots[slot + LENGTH] = length;
      slots[slot + ID] = other.id(i);
      this.length++;
      this.taken += length;
    }
    this.bytes += bytes;
    this.setHeads();
  }

  /** Moves the slots to an array for so many entries. */
  private resize(entries: number): void {
    const slots = new Int32Array(entries * WORDS);
    slots.set(this.slots.subarray(0, this.length * WORDS));
    this.slots = slots;
  }

  /** Moves the keys in use to a fresh array with `spare` bytes to spare. */
  private pack(spare: number): void {
    const data = new Uint8Array(this.bytes + spare);
    const { slots } = this;
    let at = 0;
    if (this.bytes === this.taken) {
      data.set(this.data.subarray(0, this.taken));
      at = this.taken;
    } else {
      for (let slot = 0; slot < this.length * WORDS; slot += WORDS) {
        const length = slots[slot + LENGTH] as number;
        copy(this.data, slots[slot + START] as number, length, data, at);
        slots[slot + START] = at;
        at += length;
      }
    }
    this.data = data;
    this.taken = at;
  }

  /** Whether entry `at` begins with the bytes that all others share; between two that do, it does. */
  private sharesPrefix(at: number): boolean {
    const { data, shared } = this;
    if (at > 0 && at < this.length - 1) return true;
    if (this.keyLength(at) < shared) return false;
    const start = this.start(at);
    const other = this.start(at === 0 ? this.length - 1 : 0);
    for (let i = 0; i < shared; i++) if (data[start + i] !== data[other + i]) return false;
    return true;
  }

  /** Works out anew what all keys share, which is what the first and the last share, and the heads. */
  private setHeads(): void {
    if (this.length === 0) return;
    const { data } = this;
    const first = this.start(0);
    const last = this.start(this.length - 1);
    const common = Math.min(this.keyLength(0), this.keyLength(this.length - 1));
    let shared = 0;
    while (shared < common && data[first + shared] === data[last + shared]) shared++;
    this.shared = shared;
    for (let i = 0; i < this.length; i++) {
      const start = this.start(i);
      this.setHead(i * WORDS, start, start + this.keyLength(i));
    }
  }

  private setHead(slot: number, start: number, end: number): void {
    const { slots, data, shared } = this;
    slots[slot] = headOf(data, start + shared, end);
    slots[slot + SECOND] = headOf(data, start + shared + HEAD, end);
  }
}

function copy(from: Uint8Array, start: number, length: number, to: Uint8Array, at: number): void {
  if (length > SHORT) to.set(from.subarray(start, start + length), at);
  else for (let i = 0; i < length; i++) to[at + i] = from[start + i] as number;
}

/**
 * Four bytes from `at` on as a whole number whose order is theirs; a key that ends before counts as filled up with zeros.
 * It is a signed one, the first bit turned around, for that is what a machine compares at once.
 */
function headOf(bytes: Uint8Array, at: number, end: number): number {
  let head = 0;
  if (at + 4 <= end) {
    head =
      ((bytes[at] as number) << 24) |
      ((bytes[at + 1] as number) << 16) |
      ((bytes[at + 2] as number) << 8) |
      (bytes[at + 3] as number);
  } else {
    if (at < end) head = (bytes[at] as number) << 24;
    if (at + 1 < end) head |= (bytes[at + 1] as number) << 16;
    if (at + 2 < end) head |= (bytes[at + 2] as number) << 8;
  }
  return head ^ 0x80000000;
}
