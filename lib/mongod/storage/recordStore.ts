/**
 * The documents of one collection: record id → raw BSON, in insertion order.
 *
 * Record ids only grow, so insertion order is id order, and a scan that rests
 * between two batches goes on after the last id it saw, whatever was deleted
 * in between. An update keeps the record's id and with it its place.
 *
 * A stored document is the slice that arrived: it is part of the message that
 * brought it (copying would cost a third of the insert rate), so one surviving
 * document keeps its whole message in memory. Records therefore live in pages
 * of 1024. A page counts the slices it has let go; once they outnumber what is
 * left, it copies its survivors together, and the messages become garbage.
 * A real server does the same job with blocks on disk and a cache.
 */

const PAGE_BITS = 10;
const PAGE_SIZE = 1 << PAGE_BITS;

class Page {
  readonly slots: (Uint8Array | undefined)[] = [];
  /** Records in this page. */
  live = 0;
  /** Slices deleted or replaced since the page was last packed. */
  released = 0;

  /** Copies what is left into one buffer of its own when most of the page is gone. */
  packIfSparse(): void {
    if (this.released < PAGE_SIZE / 4 || this.released < this.live) return;
    this.released = 0;
    let total = 0;
    for (const document of this.slots) total += document?.length ?? 0;
    const buffer = new Uint8Array(total);
    let at = 0;
    for (let i = 0; i < this.slots.length; i++) {
      const document = this.slots[i];
      if (!document) continue;
      buffer.set(document, at);
      this.slots[i] = buffer.subarray(at, at + document.length);
      at += document.length;
    }
  }
}

/** Raw documents by record id, in insertion order. */
export class RecordStore {
  private pages: (Page | undefined)[] = [];
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

  /** Appends a record and returns its id (ids start at 1). */
  insert(document: Uint8Array): number {
    const id = ++this.lastId;
    const number = id >>> PAGE_BITS;
    let page = this.pages[number];
    if (!page) {
      page = new Page();
      if (number === 0) page.slots.push(undefined); // there is no record 0
      while (this.pages.length < number) this.pages.push(undefined);
      this.pages[number] = page;
    }
    const slot = id & (PAGE_SIZE - 1);
    while (page.slots.length < slot) page.slots.push(undefined);
    page.slots[slot] = document;
    page.live++;
    this.records++;
    this.bytes += document.length;
    return id;
  }

  /** The record's document, or undefined when there is none of that id. */
  get(id: number): Uint8Array | undefined {
    return this.pages[id >>> PAGE_BITS]?.slots[id & (PAGE_SIZE - 1)];
  }

  /** Replaces the document of an existing record. */
  replace(id: number, document: Uint8Array): void {
    const page = this.pages[id >>> PAGE_BITS];
    const slot = id & (PAGE_SIZE - 1);
    const old = page?.slots[slot];
    if (!page || !old) return;
    page.slots[slot] = document;
    page.released++;
    this.bytes += document.length - old.length;
    page.packIfSparse();
  }

  /** Removes a record and returns its document, or undefined when there was none. */
  delete(id: number): Uint8Array | undefined {
    const number = id >>> PAGE_BITS;
    const page = this.pages[number];
    const slot = id & (PAGE_SIZE - 1);
    const old = page?.slots[slot];
    if (!page || !old) return undefined;
    page.slots[slot] = undefined;
    page.live--;
    page.released++;
    this.records--;
    this.bytes -= old.length;
    if (page.live === 0) this.pages[number] = undefined;
    else page.packIfSparse();
    return old;
  }

  /** The id of the first record after `id`, or 0 when there is none. Start with 0. */
  after(id: number): number {
    let next = id + 1;
    while (next <= this.lastId) {
      const page = this.pages[next >>> PAGE_BITS];
      if (!page) {
        next = ((next >>> PAGE_BITS) + 1) << PAGE_BITS;
        continue;
      }
      const { slots } = page;
      for (let slot = next & (PAGE_SIZE - 1); slot < slots.length; slot++, next++)
        if (slots[slot]) return next;
      next = ((next >>> PAGE_BITS) + (next & (PAGE_SIZE - 1) ? 1 : 0)) << PAGE_BITS;
    }
    return 0;
  }

  /** The id of the last record before `id`, or 0 when there is none. Start with `Infinity`. */
  before(id: number): number {
    let next = Math.min(id - 1, this.lastId);
    while (next > 0) {
      const page = this.pages[next >>> PAGE_BITS];
      if (page) {
        for (let slot = next & (PAGE_SIZE - 1); slot >= 0; slot--, next--) if (page.slots[slot]) return next;
      } else {
        next = ((next >>> PAGE_BITS) << PAGE_BITS) - 1;
      }
    }
    return 0;
  }
}
