/**
 * Reading a journal: from frames back to collections, indexes and views.
 *
 * Records are put in place as they come; indexes are built once, at the end, over what is left.
 */
import type { RawValue } from "../../bson/index.js";
import {
  asDocument,
  asNumber,
  asString,
  DocumentWriter,
  elements,
  getField,
  readInt32,
  readUint32,
} from "../../bson/index.js";
import type { Environment } from "../../protocol/index.js";
import type { Catalog } from "./catalog.js";
import { Collection } from "./collection.js";
import type { CollectionOptions } from "./collectionOptions.js";
import { parseCollectionOptions } from "./collectionOptions.js";
import { FRAME, RECORD_HEAD } from "./journal.js";
import { parseIndexSpec } from "./parseIndexSpec.js";
import { RecordStore } from "./recordStore.js";

/** A replica set as a journal keeps it. */
export interface StoredReplicaSet {
  readonly config: Uint8Array;
  readonly term: number;
}

/** A journal that can't be understood: it was written by something else. */
export class JournalError extends Error {
  override readonly name = "JournalError";
}

interface StoredCollection {
  definition: Uint8Array;
  readonly records: RecordStore;
}

/**
 * Fills a catalog that is empty.
 * @param frames pieces of a journal; each holds whole frames
 * @param wrote is told what retryable writes have done
 * @returns the replica set that the server was a member of
 * @throws JournalError
 */
export function restore(
  catalog: Catalog,
  frames: Iterable<Uint8Array>,
  environment: Environment,
  wrote: (history: Uint8Array) => void,
): StoredReplicaSet | undefined {
  const stored = new StoredFrames(wrote);
  for (const piece of frames) stored.read(piece);
  for (const { definition, records } of stored.collections.values()) {
    catalog.adopt(collectionOf(definition, records, environment));
  }
  for (const [namespace, view] of stored.views) {
    const reads = elements(asDocument(must(view, "reads"))).map(asString);
    // The first one is what the view is on: the options say it too.
    catalog.createView(namespace, optionsOf(asDocument(must(view, "options")), environment), reads.slice(1));
  }
  const { replSet } = stored;
  return (
    replSet && {
      config: asDocument(must(replSet, "config")).slice(),
      term: asNumber(must(replSet, "term")),
    }
  );
}

/** What the frames say, after all of them. */
class StoredFrames {
  readonly collections = new Map<number, StoredCollection>();
  readonly views = new Map<string, Uint8Array>();
  replSet: Uint8Array | undefined;

  constructor(private readonly wrote: (history: Uint8Array) => void) {}

  read(piece: Uint8Array): void {
    for (let at = 0; at < piece.length; at += this.readFrame(piece, at));
  }

  /** Returns the frame's length. */
  private readFrame(piece: Uint8Array, at: number): number {
    const kind = piece[at];
    if (kind === FRAME.delete) {
      this.recordsOf(piece, at).delete(readUint32(piece, at + 5));
      return RECORD_HEAD;
    }
    if (kind === FRAME.store) {
      const body = bodyAt(piece, at + RECORD_HEAD);
      const records = this.recordsOf(piece, at);
      const id = readUint32(piece, at + 5);
      if (records.get(id)) records.replace(id, body);
      else records.insertAs(id, body);
      return RECORD_HEAD + body.length;
    }
    const body = bodyAt(piece, at + 1);
    this.apply(kind, body);
    return 1 + body.length;
  }

  private apply(kind: number | undefined, body: Uint8Array): void {
    switch (kind) {
      case FRAME.define: {
        const number = asNumber(must(body, "n"));
        const known = this.collections.get(number);
        if (known) known.definition = body.slice();
        else this.collections.set(number, { definition: body.slice(), records: new RecordStore() });
        return;
      }
      case FRAME.drop:
        this.collections.delete(asNumber(must(body, "n")));
        return;
      case FRAME.view:
        this.views.set(asString(must(body, "ns")), body.slice());
        return;
      case FRAME.dropView:
        this.views.delete(asString(must(body, "ns")));
        return;
      case FRAME.replSet:
        this.replSet = body.slice();
        return;
      case FRAME.wrote:
        this.wrote(body);
        return;
      default:
        throw new JournalError(`there is no frame ${kind}`);
    }
  }

  private recordsOf(piece: Uint8Array, at: number): RecordStore {
    const number = readUint32(piece, at + 1);
    const collection = this.collections.get(number);
    if (!collection) throw new JournalError(`a record of collection ${number}, which is not defined`);
    return collection.records;
  }
}

function collectionOf(definition: Uint8Array, records: RecordStore, environment: Environment): Collection {
  const settings = optionsOf(asDocument(must(definition, "options")), environment);
  const uuid = must(definition, "uuid");
  // A binary value: length and subtype before the bytes.
  const bytes = uuid.bytes.slice(uuid.start + 5, uuid.end);
  const collection = new Collection(asString(must(definition, "ns")), bytes, settings, environment, records);
  // An index without a collation has none: what it took from the collection is written in it.
  collection.createIndexes(
    elements(asDocument(must(definition, "indexes"))).map((spec) => parseIndexSpec(asDocument(spec))),
  );
  return collection;
}

function optionsOf(raw: Uint8Array, { now, random }: Environment): CollectionOptions {
  const create = new DocumentWriter().string("create", "").fieldsOf(raw).finish();
  return parseCollectionOptions(create, { now, random });
}

function must(body: Uint8Array, name: string): RawValue {
  const value = getField(body, name);
  if (!value) throw new JournalError(`a frame without ${name}`);
  return value;
}

function bodyAt(piece: Uint8Array, at: number): Uint8Array {
  const length = at + 4 <= piece.length ? readInt32(piece, at) : 0;
  if (length < 5 || at + length > piece.length) throw new JournalError("a frame is cut off");
  return piece.subarray(at, at + length);
}
