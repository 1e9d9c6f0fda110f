/**
 * What a document carries along beside its fields: `{ $meta: "sortKey" }` and
 * its like.
 *
 * The values belong to one occurrence of a document in one query — its place
 * in a sort, the index entry that led to it — and are not part of its bytes.
 * They live in a side table keyed by the document's byte array, which costs
 * nothing as long as nobody asks: a plan fills the table only if
 * {@link usesMeta} finds a `$meta` in the query.
 */
import { BsonType, asDocument, asString, forEachField, type RawValue } from "../bson/index.js";

/** Metadata of a document. */
export interface DocumentMeta {
  /** The values by which it was sorted, in the order of the sort's fields. */
  readonly sortKey?: readonly RawValue[];
  /** Its place in the collection. */
  readonly recordId?: number;
  /** The key of the index entry by which it was found. */
  readonly indexKey?: Uint8Array;
}

const table = new WeakMap<Uint8Array, DocumentMeta>();

/** Adds to what is known of a document. */
export function setMeta(doc: Uint8Array, meta: DocumentMeta): void {
  const known = table.get(doc);
  table.set(doc, known === undefined ? meta : { ...known, ...meta });
}

/** What is known of a document; undefined where nothing is. */
export function metaOf(doc: Uint8Array): DocumentMeta | undefined {
  return table.get(doc);
}

/** Hands on what is known of a document to the one that a stage made of it. */
export function carryMeta(from: Uint8Array, to: Uint8Array): void {
  if (from === to) return;
  const meta = table.get(from);
  if (meta !== undefined) table.set(to, meta);
}

/** Whether a projection, a stage or any other document of a query has `$meta` in it, at any depth. */
export function usesMeta(doc: Uint8Array): boolean {
  let found = false;
  forEachMeta(doc, () => {
    found = true;
    return false;
  });
  return found;
}

/** Which metadata a document of a query asks for, at any depth: `sortKey` of `{ $meta: "sortKey" }`. */
export function metaNames(doc: Uint8Array): Set<string> {
  const names = new Set<string>();
  forEachMeta(doc, (value) => {
    if (value.type === BsonType.string) names.add(asString(value));
    return true;
  });
  return names;
}

/** Visits the argument of every `$meta` until one visit gives false. */
function forEachMeta(doc: Uint8Array, visit: (argument: RawValue) => boolean): boolean {
  let goesOn = true;
  forEachField(doc, (name, value) => {
    if (name === "$meta") goesOn = visit(value);
    else if (value.type === BsonType.object || value.type === BsonType.array)
      goesOn = forEachMeta(asDocument(value), visit);
    return goesOn;
  });
  return goesOn;
}
