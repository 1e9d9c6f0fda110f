/** What an index is, apart from its entries, and how `listIndexes` shows it. */
import type { Collation } from "../../bson/index.js";
import { DocumentWriter, sameCollation, toDocument } from "../../bson/index.js";
import type { KeyField } from "../../query/index.js";
import { samePattern } from "./keyPattern.js";
import type { PartialFilter } from "./partialFilter.js";
import { samePartialFilter } from "./partialFilter.js";

export { parseKeyPattern } from "./keyPattern.js";

/** What an index is, apart from its entries. collMod replaces it by another one. */
export interface IndexSpec {
  readonly name: string;
  /** The key pattern as it was given, e.g. `{region: 1, device: "hashed"}`. */
  readonly keyPattern: Uint8Array;
  readonly fields: readonly KeyField[];
  readonly unique: boolean;
  readonly sparse: boolean;
  /** Kept up to date and unique, but invisible to the planner. @since MongoDB 4.4 */
  readonly hidden: boolean;
  /** No write may add a duplicate, those that are there may stay. @since MongoDB 6.0 */
  readonly prepareUnique?: boolean;
  /** Which documents it holds; all when absent. */
  readonly partialFilter?: PartialFilter;
  /** A TTL index: how long after the date in its field a document lives. */
  readonly expireAfterSeconds?: number;
  /** How its strings are ordered. The index owns the object: its keys compare with no others. */
  readonly collation?: Collation;
  /** Index version, 2 when absent. Version 1 differs in nothing here. */
  readonly version?: number;
  /** Shown as it was given; it says nothing since MongoDB 4.2. */
  readonly background?: boolean;
  /** Shown as it was given. */
  readonly storageEngine?: Uint8Array;
}

/**
 * The index that every collection has.
 * @param collation the collection's; the index gets it as it is, for there is no other index to mix keys with
 */
export function idIndexSpec(collation?: Collation): IndexSpec {
  return {
    name: "_id_",
    keyPattern: toDocument({ _id: 1 }),
    fields: [{ path: "_id", kind: 1 }],
    unique: true,
    sparse: false,
    hidden: false,
    ...(collation && { collation }),
  };
}

/** Whether these are the fields of `_id_`. */
export function isIdIndex(keyFields: readonly KeyField[]): boolean {
  return keyFields.length === 1 && keyFields[0]?.path === "_id" && keyFields[0].kind === 1;
}

/** The specification as `listIndexes` shows it: `{v: 2, key: {x: 1}, name: "x_1", unique: true}`. */
export function describeIndex(spec: IndexSpec): Uint8Array {
  const writer = new DocumentWriter()
    .int32("v", spec.version ?? 2)
    .document("key", spec.keyPattern)
    .string("name", spec.name);
  if (spec.background !== undefined) writer.bool("background", spec.background);
  // The _id index is unique by nature; MongoDB does not say so in its specification.
  if (spec.unique && !isIdIndex(spec.fields)) writer.bool("unique", true);
  if (spec.hidden) writer.bool("hidden", true);
  describeRest(spec, writer);
  if (spec.prepareUnique) writer.bool("prepareUnique", true);
  return writer.finish();
}

/** The specification as messages print it, in the order of the catalog: `{v: 2, unique: true, key: {x: 1}, …}`. */
export function describeInCatalog(spec: IndexSpec): Uint8Array {
  const writer = new DocumentWriter().int32("v", spec.version ?? 2);
  if (spec.unique && !isIdIndex(spec.fields)) writer.bool("unique", true);
  if (spec.hidden) writer.bool("hidden", true);
  if (spec.prepareUnique) writer.bool("prepareUnique", true);
  writer.document("key", spec.keyPattern).string("name", spec.name);
  if (spec.background !== undefined) writer.bool("background", spec.background);
  describeRest(spec, writer);
  return writer.finish();
}

function describeRest(spec: IndexSpec, writer: DocumentWriter): void {
  if (spec.partialFilter) writer.document("partialFilterExpression", spec.partialFilter.document);
  if (spec.sparse) writer.bool("sparse", true);
  if (spec.expireAfterSeconds !== undefined) writer.int32("expireAfterSeconds", spec.expireAfterSeconds);
  if (spec.storageEngine) writer.document("storageEngine", spec.storageEngine);
  if (spec.collation) writer.document("collation", spec.collation.spec);
}

/** Whether two lists of fields are the same kinds of the same fields in the same order. */
export function sameKey(a: readonly KeyField[], b: readonly KeyField[]): boolean {
  return (
    a.length === b.length && a.every((field, i) => field.path === b[i]?.path && field.kind === b[i]?.kind)
  );
}

/**
 * How two specifications compare, names aside. A collection can have `different` ones side by side: other keys, or
 * another `unique`, `sparse`, collation or partial filter. `equivalent` ones differ in less: `hidden`,
 * `expireAfterSeconds`, …
 */
export function compareSpecs(a: IndexSpec, b: IndexSpec): "different" | "equivalent" | "identical" {
  if (
    !samePattern(a.keyPattern, b.keyPattern) ||
    a.unique !== b.unique ||
    a.sparse !== b.sparse ||
    !sameCollation(a.collation, b.collation) ||
    !samePartialFilter(a.partialFilter, b.partialFilter)
  )
    return "different";
  return a.hidden === b.hidden &&
    a.expireAfterSeconds === b.expireAfterSeconds &&
    (a.prepareUnique ?? false) === (b.prepareUnique ?? false) &&
    sameBytes(a.storageEngine, b.storageEngine)
    ? "identical"
    : "equivalent";
}

function sameBytes(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
