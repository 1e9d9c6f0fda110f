/**
 * One index of a collection: its specification and its entries, in a {@link BTree}.
 *
 * New entries need not go to their places at once:
 *
 *     insert ─▶ key ─▶ fingerprint unknown? ─▶ pending … ─▶ tree     unique, or not unique
 *                          └ known ─▶ look for it in the tree        a duplicate, or hardly ever not
 *
 * Whoever reads {@link CollectionIndex.ordered} has all entries in it; the
 * collection settles the pending ones when the server is idle. `_id`, whose
 * keys mostly come in ascending order, needs none of this.
 */
import type { SortableKey } from "../../bson/index.js";
import { KeyBytes, keyOfBytes } from "../../bson/index.js";
import { BTree } from "./bTree.js";
import { DuplicateKeyError } from "./duplicateKey.js";
import type { KnownHash } from "./indexKeys.js";
import { IndexKeys } from "./indexKeys.js";
import type { IndexSpec } from "./indexSpec.js";
import { KeyFilter } from "./keyFilter.js";
import { PendingEntries } from "./pendingEntries.js";

export { DuplicateKeyError } from "./duplicateKey.js";

/** A document's key, or its keys where it is multikey, or none where a sparse or partial index leaves it out. */
export type DocumentKeys = SortableKey | readonly SortableKey[];

const NONE: readonly SortableKey[] = [];
/** Removed keys that a filter remembers in vain, from which on it is worth making a new one. */
const STALE = 4096;
/** A key on its way from or to an index's bytes; used for the length of one call only. */
const passing = new KeyBytes();

/** Above every key: no component of one begins with it. */
const ABOVE_ALL = "\u00ff";

/** An open scan that must hear of entries that move while it rests. */
export interface MoveWatcher {
  /** An update took the record from the keys `from` to the keys `to`. */
  moved(id: number, from: DocumentKeys, to: DocumentKeys): void;
}

/** An index's entries, kept in step with the records by the collection. */
export class CollectionIndex {
  readonly keys: IndexKeys;
  /** Whether any document ever had an array on the index's path. Never turns back, as in MongoDB. */
  multikey = false;
  /** For each field, the prefixes of its path that ever led to an array, shortest first: `["a"]` of `a.b`. */
  readonly multikeyPaths: string[][];
  /** Read operations that used the index, for `$indexStats`. */
  accesses = 0;
  /** Set when the index is dropped: cursors over it end. */
  dropped = false;
  /** Open scans over this index that rest between two batches. */
  readonly watchers = new Set<MoveWatcher>();

  private readonly tree = new BTree();
  /** Entries that are not in the tree yet; none for `_id`. */
  private readonly pending: PendingEntries | undefined;
  /** Of a unique index that lets entries wait: what it may have seen. */
  private filter: KeyFilter | undefined;
  private bytes = 0;
  /** The one key of the document being inserted … */
  private readonly preparedKey = new KeyBytes();
  /** … or its keys, where it has several or none. */
  private preparedKeys: DocumentKeys | undefined;
  private preparedFingerprint = 0;

  constructor(
    /** collMod replaces it; key pattern, collation and partial filter never change. */
    public spec: IndexSpec,
    public namespace: string,
    /** When it was built, milliseconds. */
    readonly builtAt: number,
  ) {
    this.keys = new IndexKeys(spec.fields, spec.collation);
    this.multikeyPaths = spec.fields.map(() => []);
    if (spec.name !== "_id_") this.pending = new PendingEntries();
  }

  /** The entries in order. */
  get ordered(): BTree {
    this.settle();
    return this.tree;
  }

  /** Number of entries. */
  get size(): number {
    return this.tree.size + (this.pending?.count ?? 0);
  }

  /** Whether entries wait for {@link settle}. */
  get unsettled(): boolean {
    return this.pending !== undefined && this.pending.count > 0;
  }

  /** Puts all pending entries in their places. */
  settle(): void {
    const { pending, tree } = this;
    if (pending !== undefined && pending.count > 0)
      pending.drain(passing, (key, id) => {
        tree.insertKey(key, id);
      });
  }

  /** Bytes of all keys, with 8 for each record id: what `totalIndexSize` counts. */
  get byteSize(): number {
    return this.bytes;
  }

  /** Whether a key has at most one record, which {@link find} gives. */
  get pointLookup(): boolean {
    return this.spec.unique;
  }

  /** The record with exactly this key, if the index is unique; any one of them otherwise. */
  find(key: SortableKey): number | undefined {
    return this.ordered.find(key);
  }

  /** The record ids under exactly this key. */
  idsOf(key: SortableKey): Iterable<number> {
    return this.ordered.idsOf(key);
  }

  /**
   * The document's keys in this index.
   * @throws CommandError 171, 16766
   */
  keysOf(document: Uint8Array): DocumentKeys {
    const { partialFilter, sparse } = this.spec;
    if (partialFilter && !partialFilter.filter.matches(document)) return NONE;
    return this.keys.of(document, sparse);
  }

  /**
   * Refuses keys that another record has in a unique index.
   * @param except the record being updated
   * @throws DuplicateKeyError (11000)
   */
  checkUnique(keys: DocumentKeys, document: Uint8Array, except: number): void {
    if (!this.spec.unique && !this.spec.prepareUnique) return;
    if (typeof keys === "string" && this.spec.unique) {
      const other = this.find(keys);
      if (other !== undefined && other !== except) throw this.duplicate(keys, document);
      return;
    }
    for (const key of typeof keys === "string" ? [keys] : keys) {
      for (const other of this.idsOf(key)) if (other !== except) throw this.duplicate(key, document);
    }
  }

  /**
   * Works out the keys of a document that is about to be stored, for {@link addPrepared} to put in.
   * @param known a hash of the document
   * @throws DuplicateKeyError (11000), CommandError 171, 16766
   */
  prepare(document: Uint8Array, known?: KnownHash): void {
    const { partialFilter, sparse, unique, prepareUnique } = this.spec;
    const { preparedKey } = this;
    if (!partialFilter && this.keys.writeKey(document, sparse, preparedKey, known)) {
      this.preparedKeys = undefined;
      if ((unique || prepareUnique) && this.holds(preparedKey))
        throw this.duplicate(keyOfBytes(preparedKey.bytes, 0, preparedKey.length), document);
      return;
    }
    const keys = this.keysOf(document);
    this.checkUnique(keys, document, 0);
    this.preparedKeys = keys;
  }

  /** Whether a record has this key; remembers the key's fingerprint for {@link addPrepared}. */
  private holds(key: KeyBytes): boolean {
    if (!this.pending) return this.tree.findKey(key) !== undefined;
    const filter = (this.filter ??= this.newFilter());
    this.preparedFingerprint = KeyFilter.fingerprint(key);
    return filter.has(this.preparedFingerprint) && this.ordered.findKey(key) !== undefined;
  }

  private newFilter(): KeyFilter {
    const filter = new KeyFilter();
    const scan = this.ordered.scan("", ABOVE_ALL);
    while (scan.next()) filter.add(KeyFilter.fingerprint(passing.load(scan.key)));
    return filter;
  }

  /** Adds the keys of the document that was prepared last. */
  addPrepared(id: number, document: Uint8Array): void {
    if (this.preparedKeys !== undefined) {
      this.add(this.preparedKeys, id, document);
      return;
    }
    const { pending, preparedKey } = this;
    this.bytes += preparedKey.length + 8;
    if (!pending) {
      this.tree.insertKey(preparedKey, id);
      return;
    }
    const { unique, prepareUnique } = this.spec;
    if (unique || prepareUnique) this.filter?.add(this.preparedFingerprint);
    // It would not hear of the keys to come.
    else this.filter = undefined;
    pending.push(preparedKey, id);
    if (pending.full) this.settle();
  }

  /** Adds a record's keys; uniqueness has been checked. */
  add(keys: DocumentKeys, id: number, document: Uint8Array): void {
    if (typeof keys === "string") {
      this.addOne(keys, id);
      return;
    }
    if (keys.length > 0) this.noteArrays(document, keys.length);
    for (const key of keys) this.addOne(key, id);
  }

  /** Removes a record's keys. */
  delete(keys: DocumentKeys, id: number): void {
    if (typeof keys === "string") {
      this.deleteOne(keys, id);
      return;
    }
    for (const key of keys) this.deleteOne(key, id);
  }

  /** Replaces a record's keys where they differ and tells the open scans; `document` is the new one. */
  move(id: number, from: DocumentKeys, to: DocumentKeys, document: Uint8Array): void {
    if (sameKeys(from, to)) return;
    this.delete(from, id);
    this.add(to, id, document);
    for (const watcher of this.watchers) watcher.moved(id, from, to);
  }

  private addOne(key: SortableKey, id: number): void {
    this.filter?.add(KeyFilter.fingerprint(passing.load(key)));
    this.ordered.insert(key, id);
    this.bytes += key.length + 8;
  }

  private deleteOne(key: SortableKey, id: number): void {
    this.ordered.remove(key, id);
    if (this.filter && this.filter.size - this.tree.size > STALE + this.tree.size) this.filter = undefined;
    this.bytes -= key.length + 8;
  }

  /** A position in a path (`a.0`) picks one element: such an array makes no index multikey. */
  private noteArrays(document: Uint8Array, keys: number): void {
    this.keys.arrayPrefixes(document).forEach((prefixes, field) => {
      this.multikey ||= keys > 1 || prefixes.length > 0;
      const known = this.multikeyPaths[field] as string[];
      for (const prefix of prefixes) if (!known.includes(prefix)) known.push(prefix);
      known.sort((a, b) => a.length - b.length);
    });
  }

  private duplicate(key: SortableKey, document: Uint8Array): DuplicateKeyError {
    const tuples = this.keys.tuples(document);
    const values = tuples.find((tuple) => this.keys.encode(tuple) === key) ?? tuples[0] ?? [];
    return DuplicateKeyError.of(this.namespace, this.spec, values);
  }
}

/** Whether two sets of keys are the same. */
export function sameKeys(a: DocumentKeys, b: DocumentKeys): boolean {
  if (typeof a === "string" || typeof b === "string") return a === b;
  return a.length === b.length && a.every((key, i) => key === b[i]);
}
