/**
 * The journal: every change of a server's storage as bytes, so that a server that is killed comes back with what it had
 * answered for.
 *
 *     command ─▶ storage ─▶ Journal.stored(…) ─▶ pending bytes ─▶ whoever keeps them (lib/bin/journalFile.ts)
 *                                                                    before the reply goes out
 *
 * It is a list of frames, each a byte that says what it is and then:
 *
 *     1 define    BSON {n, ns, uuid, options, indexes}    collection number n is so from now on
 *     2 drop      BSON {n}
 *     3 view      BSON {ns, options, reads}
 *     4 dropView  BSON {ns}
 *     5 replSet   BSON {config, term}
 *     6 store     n, record id (four bytes each), document
 *     7 delete    n, record id
 *     8 wrote     BSON, what a retryable write has done (writeHistory.ts)
 *
 * Frames state what is, not what to do: reading them in order, each replaces what an earlier one said. The documents of
 * `system.views` are not in it, views bring them back themselves. A snapshot is the same list, without history.
 */
import { array, binary, document, DocumentWriter, string, writeInt32 } from "../../bson/index.js";
import type { Catalog, View } from "./catalog.js";
import { splitNamespace } from "./catalog.js";
import type { Collection } from "./collection.js";
import { describeIndex } from "./indexSpec.js";
import type { StorageListener } from "./storageListener.js";

/** What a frame says. */
export const FRAME = {
  define: 1,
  drop: 2,
  view: 3,
  dropView: 4,
  replSet: 5,
  store: 6,
  delete: 7,
  wrote: 8,
} as const;

/** Bytes of a store or delete frame before the document. */
export const RECORD_HEAD = 9;

/** Bytes of a snapshot that come at a time. */
const PIECE = 4 * 1024 * 1024;

/** Room to begin with; a larger buffer is given back after use. */
const ROOM = 64 * 1024;

/** Number of a collection whose records are not written. */
const UNWRITTEN = 0;

/** Collects changes as bytes. */
export class Journal implements StorageListener {
  private bytes = new Uint8Array(ROOM);
  private used = 0;
  private readonly numbers = new Map<Collection, number>();
  private lastNumber = 0;
  private replSet: Uint8Array | undefined;

  /** Bytes that {@link take} would give. */
  get pending(): number {
    return this.used;
  }

  /** The frames since the last time; they must be kept before anybody hears of what they say. Valid until the next change. */
  take(): Uint8Array {
    const taken = this.bytes.subarray(0, this.used);
    this.used = 0;
    if (this.bytes.length > PIECE) this.bytes = new Uint8Array(ROOM);
    return taken;
  }

  /**
   * Everything that is there now, as frames; what was pending is part of it. Nothing may change meanwhile.
   * @param histories of the retryable writes
   * @returns pieces, each valid until the next is asked for
   */
  *snapshot(catalog: Catalog, histories: Iterable<Uint8Array>): Generator<Uint8Array> {
    this.used = 0;
    this.numbers.clear();
    this.lastNumber = 0;
    if (this.replSet) this.frame(FRAME.replSet, this.replSet);
    for (const db of catalog.databaseNames()) {
      for (const collection of catalog.collectionsOf(db)) {
        this.defined(collection);
        const { records } = collection;
        for (let id = records.after(0); id !== 0; id = records.after(id)) {
          this.stored(collection, id);
          if (this.used > PIECE) yield this.take();
        }
      }
      for (const view of catalog.viewsOf(db)) this.viewDefined(view);
    }
    for (const history of histories) {
      this.wrote(history);
      if (this.used > PIECE) yield this.take();
    }
    yield this.take();
  }

  defined(collection: Collection): void {
    const { namespace, uuid, settings, indexes } = collection;
    if (splitNamespace(namespace).collection === "system.views") {
      this.numbers.set(collection, UNWRITTEN);
      return;
    }
    let number = this.numbers.get(collection);
    if (number === undefined) this.numbers.set(collection, (number = ++this.lastNumber));
    this.frame(
      FRAME.define,
      new DocumentWriter()
        .int32("n", number)
        .string("ns", namespace)
        .field("uuid", binary(uuid, 4))
        .document("options", settings.raw)
        .field("indexes", array(indexes.slice(1).map(({ spec }) => document(describeIndex(spec)))))
        .finish(),
    );
  }

  dropped(collection: Collection): void {
    const number = this.numbers.get(collection);
    if (number) this.frame(FRAME.drop, new DocumentWriter().int32("n", number).finish());
    this.numbers.delete(collection);
  }

  viewDefined({ namespace, options, reads }: View): void {
    const frame = new DocumentWriter().string("ns", namespace).document("options", options.raw);
    this.frame(FRAME.view, frame.field("reads", array(reads.map(string))).finish());
  }

  viewDropped(namespace: string): void {
    this.frame(FRAME.dropView, new DocumentWriter().string("ns", namespace).finish());
  }

  /** The replica set has another configuration, or another term. */
  replicaSet(config: Uint8Array, term: number): void {
    this.replSet = new DocumentWriter().document("config", config).int32("term", term).finish();
    this.frame(FRAME.replSet, this.replSet);
  }

  /** A retryable write has done something. */
  wrote(history: Uint8Array): void {
    this.frame(FRAME.wrote, history);
  }

  stored(collection: Collection, id: number): void {
    const number = this.numbers.get(collection);
    const stored = collection.records.get(id);
    if (!number || !stored) return;
    const at = this.record(FRAME.store, number, id, stored.length);
    this.bytes.set(stored, at);
  }

  deleted(collection: Collection, id: number): void {
    const number = this.numbers.get(collection);
    if (number) this.record(FRAME.delete, number, id, 0);
  }

  private frame(kind: number, body: Uint8Array): void {
    const at = this.grow(1 + body.length);
    this.bytes[at] = kind;
    this.bytes.set(body, at + 1);
  }

  /** Writes the head of a frame about a record; returns where its document goes. */
  private record(kind: number, number: number, id: number, length: number): number {
    const at = this.grow(RECORD_HEAD + length);
    const { bytes } = this;
    bytes[at] = kind;
    writeInt32(bytes, at + 1, number);
    writeInt32(bytes, at + 5, id);
    return at + RECORD_HEAD;
  }

  private grow(more: number): number {
    const at = this.used;
    this.used += more;
    if (this.used > this.bytes.length) {
      const larger = new Uint8Array(Math.max(2 * this.bytes.length, this.used));
      larger.set(this.bytes.subarray(0, at));
      this.bytes = larger;
    }
    return at;
  }
}
