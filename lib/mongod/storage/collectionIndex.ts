/**
 * One index of a collection: its specification and its entries.
 *
 * Entries live in a {@link BTree}. The `_id_` index is read by equality nearly
 * always, so it is a hash map from key to record id, and its tree is grown only
 * when somebody first asks for an order or a range of `_id`; from then on both
 * are kept. That halves the cost of an insert.
 */
import type { SortableKey } from "../../bson/index.js";
import { describeDocument, DocumentWriter, NULL } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import { BTree } from "./bTree.js";
import { IndexKeys } from "./indexKeys.js";
import type { IndexSpec } from "./indexSpec.js";
import { isIdIndex } from "./indexSpec.js";

/** A document's key, or its keys where it is multikey, or none where a sparse index leaves it out. */
export type DocumentKeys = SortableKey | readonly SortableKey[];

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
  /** Read operations that used the index, for `$indexStats`. */
  accesses = 0;
  /** Set when the index is dropped: cursors over it end. */
  dropped = false;
  /** Open scans over this index that rest between two batches. */
  readonly watchers = new Set<MoveWatcher>();

  private points: Map<SortableKey, number> | undefined;
  private tree: BTree | undefined;
  private bytes = 0;

  constructor(
    readonly spec: IndexSpec,
    private readonly namespace: string,
    /** When it was built, milliseconds. */
    readonly builtAt: number,
  ) {
    this.keys = new IndexKeys(spec.fields);
    if (isIdIndex(spec.fields)) this.points = new Map();
    else this.tree = new BTree();
  }

  /** Number of entries. */
  get size(): number {
    return this.points ? this.points.size : (this.tree as BTree).size;
  }

  /** Bytes of all keys, with 8 for each record id: what `totalIndexSize` counts. */
  get byteSize(): number {
    return this.bytes;
  }

  /** The entries in order. Grows the tree of `_id_` at its first use. */
  get ordered(): BTree {
    if (!this.tree) {
      this.tree = new BTree();
      const entries = [...(this.points as Map<SortableKey, number>)];
      entries.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
      for (const [key, id] of entries) this.tree.insert(key, id);
    }
    return this.tree;
  }

  /** Whether {@link find} needs no tree: the index is a hash map. */
  get pointLookup(): boolean {
    return this.points !== undefined;
  }

  /** The record with exactly this key, if the index is unique; any one of them otherwise. */
  find(key: SortableKey): number | undefined {
    return this.points ? this.points.get(key) : (this.tree as BTree).find(key);
  }

  /** The record ids under exactly this key. */
  idsOf(key: SortableKey): Iterable<number> {
    if (!this.points) return (this.tree as BTree).idsOf(key);
    const id = this.points.get(key);
    return id === undefined ? [] : [id];
  }

  /**
   * The document's keys in this index.
   * @throws CommandError 171, 16766
   */
  keysOf(document: Uint8Array): DocumentKeys {
    return this.keys.of(document, this.spec.sparse);
  }

  /**
   * Refuses keys that another record has in a unique index.
   * @param except the record being updated
   * @throws DuplicateKeyError (11000)
   */
  checkUnique(keys: DocumentKeys, document: Uint8Array, except: number): void {
    if (!this.spec.unique) return;
    if (typeof keys === "string") {
      const other = this.find(keys);
      if (other !== undefined && other !== except) throw this.duplicate(keys, document);
      return;
    }
    for (const key of keys) {
      for (const other of this.idsOf(key)) if (other !== except) throw this.duplicate(key, document);
    }
  }

  /** Adds a record's keys; uniqueness has been checked. */
  add(keys: DocumentKeys, id: number): void {
    if (typeof keys === "string") {
      this.addOne(keys, id);
      return;
    }
    if (keys.length > 0) this.multikey = true;
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

  /** Replaces a record's keys where they differ and tells the open scans. */
  move(id: number, from: DocumentKeys, to: DocumentKeys): void {
    if (sameKeys(from, to)) return;
    this.delete(from, id);
    this.add(to, id);
    for (const watcher of this.watchers) watcher.moved(id, from, to);
  }

  private addOne(key: SortableKey, id: number): void {
    this.points?.set(key, id);
    this.tree?.insert(key, id);
    this.bytes += key.length + 8;
  }

  private deleteOne(key: SortableKey, id: number): void {
    this.points?.delete(key);
    this.tree?.remove(key, id);
    this.bytes -= key.length + 8;
  }

  private duplicate(key: SortableKey, document: Uint8Array): DuplicateKeyError {
    const tuples = this.keys.tuples(document);
    const tuple = tuples.find((values) => this.keys.encode(values) === key) ?? tuples[0] ?? [];
    const keyValue = new DocumentWriter();
    this.spec.fields.forEach((field, i) => keyValue.field(field.path, tuple[i] ?? NULL));
    return new DuplicateKeyError(this.namespace, this.spec, keyValue.finish());
  }
}

/** Whether two sets of keys are the same. */
export function sameKeys(a: DocumentKeys, b: DocumentKeys): boolean {
  if (typeof a === "string" || typeof b === "string") return a === b;
  return a.length === b.length && a.every((key, i) => key === b[i]);
}

/** E11000: another document has this key in a unique index. */
export class DuplicateKeyError extends CommandError {
  override readonly name = "DuplicateKeyError";
  /** The index's key pattern, raw. */
  readonly keyPattern: Uint8Array;
  /** The offending key, raw: field path → value (null where missing). */
  readonly keyValue: Uint8Array;

  constructor(namespace: string, spec: IndexSpec, keyValue: Uint8Array) {
    super(
      ErrorCode.DuplicateKey,
      `E11000 duplicate key error collection: ${namespace} index: ${spec.name} dup key: ${describeDocument(keyValue)}`,
    );
    this.keyPattern = spec.keyPattern;
    this.keyValue = keyValue;
  }
}
