/**
 * The documents of one collection: record id → raw BSON, in insertion order.
 *
 * Record ids only grow, so insertion order is id order, and a scan that rests
 * between two batches goes on after the last id it saw, whatever was deleted
 * in between. An update keeps the record's id and with it its place.
 *
 * Records live in pages of 1024, and a page keeps its documents one behind the
 * other in one array:
 *
 *     offsets | 0 | 120 | - | 240 | …          by record, - where there is none
 *     bytes   | document | document | waste | document | … room
 *
 * So a document costs its bytes and four more: no object for each, nothing for
 * the garbage collector to visit, and the message that brought it is free as
 * soon as it is answered. What an update or delete leaves behind is waste;
 * where it outgrows what is left, the survivors move to a fresh array. Bytes
 * in use are never overwritten: a document that was handed out stays as it was.
 * A real server does the same job with blocks on disk and a cache.
 *
 * Documents over 4 KB are kept one by one, beside their page.
 */
import { readInt32 } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import { copyIdFirst, idFirst, type IdPlace } from "./idFirst.js";

const PAGE_BITS = 10;
const PAGE_SIZE = 1 << PAGE_BITS;
/** Bytes up to which a document lies in its page's array. */
const SMALL = 4096;
/** What `offsets` says of a record that is kept beside the page. */
const BESIDE = 0xffffffff;
/** Wasted bytes that are not worth a new array. */
const TOLERATED = 2048;
const LAST_ID = 0xffffffff;
const FIRST: IdPlace = { from: 4, end: 4 };

class Page {
  /** By slot: 0 for no record, {@link BESIDE}, or one more than where its document starts. */
  offsets = new Uint32Array(8);
  bytes: Uint8Array;
  /** Bytes of `bytes` that are taken, in use or not. */
  taken = 0;
  wasted = 0;
  /** Records in this page. */
  live = 0;
  private beside: Map<number, Uint8Array> | undefined;

  /** @param room bytes to begin with */
  constructor(room: number) {
    this.bytes = new Uint8Array(room);
  }

  get(slot: number): Uint8Array | undefined {
    const offset = this.offsets[slot];
    if (!offset) return undefined;
    if (offset === BESIDE) return this.beside?.get(slot);
    const { bytes } = this;
    return new Uint8Array(bytes.buffer, offset - 1, readInt32(bytes, offset - 1));
  }

  put(slot: number, document: Uint8Array, idPlace: IdPlace): void {
    if (slot >= this.offsets.length) this.growOffsets(slot);
    if (document.length > SMALL) {
      // A large document that fills its message need not be copied.
      const alone = document.length * 1.25 >= document.buffer.byteLength;
      const first = idFirst(document, idPlace);
      (this.beside ??= new Map()).set(slot, alone || first !== document ? first : document.slice());
      this.offsets[slot] = BESIDE;
      return;
    }
    const { length } = document;
    if (this.taken + length > this.bytes.length) this.pack(Math.max(length, this.taken - this.wasted, 256));
    copyIdFirst(document, idPlace, this.bytes, this.taken);
    this.offsets[slot] = this.taken + 1;
    this.taken += length;
  }

  /** Forgets a record's document; `length` is its size. */
  remove(slot: number, length: number): void {
    if (this.offsets[slot] === BESIDE) this.beside?.delete(slot);
    else this.wasted += length;
    this.offsets[slot] = 0;
  }

  packIfWasteful(): void {
    if (this.wasted > TOLERATED && this.wasted > this.taken / 2) this.pack(0);
  }

  /** Gives back the room behind the last document. */
  trim(): void {
    if (this.bytes.length - this.taken > this.taken / 8) this.pack(0);
  }

  /** Moves the documents in use to a fresh array with `room` bytes to spare. */
  private pack(room: number): void {
    const bytes = new Uint8Array(this.taken - this.wasted + room);
    if (this.wasted === 0) {
      bytes.set(this.bytes.subarray(0, this.taken));
    } else {
      const { offsets } = this;
      let at = 0;
      for (let slot = 0; slot < offsets.length; slot++) {
        const offset = offsets[slot] as number;
        if (offset === 0 || offset === BESIDE) continue;
        const length = readInt32(this.bytes, offset - 1);
        bytes.set(this.bytes.subarray(offset - 1, offset - 1 + length), at);
        offsets[slot] = at + 1;
        at += length;
      }
      this.taken = at;
      this.wasted = 0;
    }
    this.bytes = bytes;
  }

  private growOffsets(slot: number): void {
    let size = this.offsets.length;
    while (size <= slot) size *= 4;
    const offsets = new Uint32Array(Math.min(size, PAGE_SIZE));
    offsets.set(this.offsets);
    this.offsets = offsets;
  }
}

/** Raw documents by record id, in insertion order. */
export class RecordStore {
  private pages: (Page | undefined)[] = [];
  /** No page before this one has records. */
  private firstPage = 0;
  private lastId = 0;
  private records = 0;
  private bytes = 0;

  /** Number of records. */
  get count(): number {
    return this.records;
  }

  /** Sum of the documents' BSON lengths in bytes. */
  get dataSize(): number {
    return this.bytes;
  }

  /**
   * Appends a copy of a document and returns its record id (ids start at 1).
   * @param idPlace where its `_id` lies, to be moved to the front; there already when left out
   * @throws CommandError ExceededMemoryLimit (146) for the 2^32nd insert
   */
  insert(document: Uint8Array, idPlace = FIRST): number {
    if (this.lastId === LAST_ID)
      throw new CommandError(ErrorCode.ExceededMemoryLimit, "a collection takes 4294967295 inserts");
    const id = ++this.lastId;
    const number = id >>> PAGE_BITS;
    const page = this.pages[number] ?? this.addPage(number);
    page.put(id & (PAGE_SIZE - 1), document, idPlace);
    page.live++;
    this.records++;
    this.bytes += document.length;
    return id;
  }

  /** Appends a document under an id of its own, larger than all before: a journal is read. */
  insertAs(id: number, document: Uint8Array): void {
    this.lastId = Math.max(this.lastId, id - 1);
    this.insert(document);
  }

  /** The record's document, or undefined when there is none of that id. Nobody may write to it. */
  get(id: number): Uint8Array | undefined {
    return this.pages[id >>> PAGE_BITS]?.get(id & (PAGE_SIZE - 1));
  }

  /** Replaces the document of an existing record. */
  replace(id: number, document: Uint8Array): void {
    const page = this.pages[id >>> PAGE_BITS];
    const slot = id & (PAGE_SIZE - 1);
    const old = page?.get(slot);
    if (!page || !old) return;
    page.remove(slot, old.length);
    page.put(slot, document, FIRST);
    page.packIfWasteful();
    this.bytes += document.length - old.length;
  }

  /** Removes a record and returns its document, or undefined when there was none. */
  delete(id: number): Uint8Array | undefined {
    const number = id >>> PAGE_BITS;
    const page = this.pages[number];
    const slot = id & (PAGE_SIZE - 1);
    const old = page?.get(slot);
    if (!page || !old) return undefined;
    page.remove(slot, old.length);
    page.live--;
    this.records--;
    this.bytes -= old.length;
    if (page.live > 0) page.packIfWasteful();
    else this.pages[number] = undefined;
    while (this.firstPage < this.pages.length && !this.pages[this.firstPage]) this.firstPage++;
    return old;
  }

  /** The id of the first record after `id`, or 0 when there is none. Start with 0. */
  after(id: number): number {
    const next = id + 1;
    let number = Math.floor(next / PAGE_SIZE);
    let slot = next % PAGE_SIZE;
    if (number < this.firstPage) {
      number = this.firstPage;
      slot = 0;
    }
    for (; number < this.pages.length; number++, slot = 0) {
      const offsets = this.pages[number]?.offsets;
      if (!offsets) continue;
      for (; slot < offsets.length; slot++) if (offsets[slot] !== 0) return number * PAGE_SIZE + slot;
    }
    return 0;
  }

  /** The id of the last record before `id`, or 0 when there is none. Start with `Infinity`. */
  before(id: number): number {
    const last = Math.min(id - 1, this.lastId);
    let slot = last % PAGE_SIZE;
    for (
      let number = Math.floor(last / PAGE_SIZE);
      number >= this.firstPage;
      number--, slot = PAGE_SIZE - 1
    ) {
      const offsets = this.pages[number]?.offsets;
      if (!offsets) continue;
      for (slot = Math.min(slot, offsets.length - 1); slot >= 0; slot--)
        if (offsets[slot] !== 0) return number * PAGE_SIZE + slot;
    }
    return 0;
  }

  /** The next page: a little larger than its predecessor, which gives back what it did not need. */
  private addPage(number: number): Page {
    const previous = this.pages[number - 1];
    previous?.trim();
    const page = new Page(previous ? previous.taken + (previous.taken >> 4) : 0);
    while (this.pages.length < number) this.pages.push(undefined);
    this.pages[number] = page;
    this.firstPage = Math.min(this.firstPage, number);
    return page;
  }
}
