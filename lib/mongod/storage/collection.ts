/**
 * A collection: records, and indexes that agree with them.
 *
 * Every change goes through here and is all or nothing: the keys of *all*
 * indexes are worked out and checked for uniqueness first, and only then is
 * anything stored. The engine runs a command from start to end without
 * interruption, so no other change can come in between.
 */
import type { Collation } from "../../bson/index.js";
import type { Environment } from "../../protocol/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import { parseCollation } from "../../query/index.js";
import type { DocumentKeys } from "./collectionIndex.js";
import { CollectionIndex, sameKeys } from "./collectionIndex.js";
import type { CollectionOptions } from "./collectionOptions.js";
import type { IdPlace } from "./idFirst.js";
import type { KnownHash } from "./indexKeys.js";
import type { IndexSpec } from "./indexSpec.js";
import { idIndexSpec } from "./indexSpec.js";
import { RecordStore } from "./recordStore.js";
import type { StorageListener } from "./storageListener.js";
import type { WriteCapture } from "./writeCapture.js";

/** The documents of one namespace. */
export class Collection {
  /** In order of creation; the first is `_id_`. */
  indexes: CollectionIndex[];
  /** Set when the collection is dropped: cursors over it end. */
  dropped = false;
  /** Told of every change. */
  listener: StorageListener | undefined;
  /** Remembers which documents change, for somebody who copies them meanwhile. */
  capture: WriteCapture | undefined;
  /** Whether the host was asked for a moment to settle pending index entries. */
  private settling = false;

  /**
   * @param namespace `db.collection`
   * @param uuid 16 bytes
   * @param settings the options of `create`; collMod replaces them, see {@link redefined}
   * @param records what is stored already
   */
  constructor(
    public namespace: string,
    readonly uuid: Uint8Array,
    public settings: CollectionOptions,
    private readonly environment: Environment,
    readonly records = new RecordStore(),
  ) {
    // An object of its own: queries have the collection's.
    const spec = idIndexSpec(parseCollation(settings.collation?.spec));
    this.indexes = [];
    this.createIndexes([spec]);
  }

  /** The collection's own collation, for reads and indexes that name none. */
  get collation(): Collation | undefined {
    return this.settings.collation;
  }

  /** The index on `{_id: 1}`. */
  get idIndex(): CollectionIndex {
    return this.indexes[0] as CollectionIndex;
  }

  /** Bytes of all indexes. */
  get indexSize(): number {
    let size = 0;
    for (const index of this.indexes) size += index.byteSize;
    return size;
  }

  /**
   * Stores a document that has an `_id`. A capped collection that is full lets go of its oldest documents.
   * @param idPlace where the `_id` lies; in front when left out
   * @param known a hash of the document
   * @returns its record id
   * @throws DuplicateKeyError (11000), CommandError 171, 16766, BadValue (2) where it is larger than a capped
   *   collection; nothing is stored then
   */
  insert(document: Uint8Array, idPlace?: IdPlace, known?: KnownHash): number {
    const { indexes } = this;
    const { capped } = this.settings;
    if (capped && document.length > capped.size)
      throw new CommandError(ErrorCode.BadValue, "object to insert exceeds cappedMaxSize");
    for (const index of indexes) index.prepare(document, known);
    const id = this.records.insert(document, idPlace);
    for (const index of indexes) index.addPrepared(id, document);
    if (!this.settling) this.settleWhenIdle();
    this.listener?.stored(this, id);
    this.capture?.note(document);
    if (capped) this.makeRoom(capped, id);
    return id;
  }

  /** Asks the host for a moment in which pending index entries can go to their places; without one they wait to be read. */
  private settleWhenIdle(): void {
    const { setTimer } = this.environment;
    if (!setTimer || !this.indexes.some((index) => index.unsettled)) return;
    this.settling = true;
    setTimer(() => {
      this.settling = false;
      if (!this.dropped) for (const index of this.indexes) index.settle();
    }, 0);
  }

  /** Deletes the oldest documents until the rest is within the limits; never the one just inserted. */
  private makeRoom(
    { size, max = 0 }: { readonly size: number; readonly max?: number },
    newest: number,
  ): void {
    const { records } = this;
    while (records.dataSize > size || (max > 0 && records.count > max)) {
      const oldest = records.after(0);
      if (oldest === newest) return;
      this.delete(oldest);
    }
  }

  /**
   * Replaces a record's document.
   * @param indexes the indexes whose keys may change; see {@link indexesOn}
   * @throws DuplicateKeyError (11000), CommandError 171 or 16766; nothing is changed then
   */
  update(id: number, document: Uint8Array, indexes: readonly CollectionIndex[] = this.indexes): void {
    const old = this.records.get(id);
    if (!old) return;
    const moves: { index: CollectionIndex; from: DocumentKeys; to: DocumentKeys }[] = [];
    for (const index of indexes) {
      const from = index.keysOf(old);
      const to = index.keysOf(document);
      if (sameKeys(from, to)) continue;
      index.checkUnique(to, document, id);
      moves.push({ index, from, to });
    }
    this.records.replace(id, document);
    for (const { index, from, to } of moves) index.move(id, from, to, document);
    this.listener?.stored(this, id);
    this.capture?.note(document);
  }

  /** The indexes that a change at these paths can concern. */
  indexesOn(paths: readonly string[]): CollectionIndex[] {
    const changed = paths.map(withoutPositions);
    return this.indexes.filter(
      ({ spec }) =>
        // The change may make the document enter or leave a partial index.
        spec.partialFilter !== undefined ||
        spec.fields.some((field) => {
          const path = withoutPositions(field.path);
          return changed.some((other) => path.startsWith(other) || other.startsWith(path));
        }),
    );
  }

  /** Gives the collection another name; documents, indexes and UUID stay. */
  rename(namespace: string): void {
    this.namespace = namespace;
    for (const index of this.indexes) index.namespace = namespace;
    this.redefined();
  }

  /** To be called when somebody has changed the settings or an index. */
  redefined(): void {
    this.listener?.defined(this);
  }

  /** Removes a record. */
  delete(id: number): void {
    const document = this.records.delete(id);
    if (!document) return;
    for (const index of this.indexes) index.delete(index.keysOf(document), id);
    this.listener?.deleted(this, id);
    this.capture?.note(document);
  }

  /**
   * Builds indexes over what is stored and adds them, all or none.
   * @throws DuplicateKeyError (11000), CommandError 171 or 16766
   */
  createIndexes(specs: readonly IndexSpec[]): void {
    const built = specs.map((spec) => {
      const index = new CollectionIndex(spec, this.namespace, this.environment.now());
      for (let id = this.records.after(0); id !== 0; id = this.records.after(id)) {
        const document = this.records.get(id) as Uint8Array;
        const keys = index.keysOf(document);
        // An index that only prepares for uniqueness takes what is there.
        if (spec.unique) index.checkUnique(keys, document, 0);
        index.add(keys, id, document);
      }
      return index;
    });
    this.indexes = [...this.indexes, ...built];
    this.redefined();
  }

  /** Removes an index; `_id_` stays. */
  dropIndex(index: CollectionIndex): void {
    if (index === this.idIndex) return;
    index.dropped = true;
    this.indexes = this.indexes.filter((other) => other !== index);
    this.redefined();
  }
}

/**
 * A path without its positions in arrays, closed by a dot: updates name elements
 * (`a.0.b`, `a.$[].b`) that an index on `a.b` covers without naming them.
 */
function withoutPositions(path: string): string {
  const names = path.split(".").filter((part) => !/^(?:\d+|\$.*)$/.test(part));
  return names.map((name) => `${name}.`).join("");
}
