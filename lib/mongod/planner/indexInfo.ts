/** What the planner wants to know of an index beside its entries. */
import type { Collation } from "../../bson/index.js";
import type { KeyField } from "../../query/index.js";
import type { CollectionIndex } from "../storage/collectionIndex.js";
import { FieldCodec } from "./bounds/keyIntervals.js";

const codecs = new WeakMap<CollectionIndex, readonly FieldCodec[]>();

/** One codec for each field of an index. */
export function fieldCodecs(index: CollectionIndex): readonly FieldCodec[] {
  let made = codecs.get(index);
  if (!made) {
    made = index.spec.fields.map((field) => new FieldCodec(field, index.spec.collation));
    codecs.set(index, made);
  }
  return made;
}

/** The collation that the index's keys are made with. */
export function indexCollation(index: CollectionIndex): Collation | undefined {
  return index.spec.collation;
}

/**
 * The prefixes of an index field's path that have ever led to an array, shortest first: `["a"]` of `a.b` where
 * some document has an array at `a`.
 */
export function multikeyPrefixes(index: CollectionIndex, field: number): readonly string[] {
  if (!index.multikey) return NONE;
  return index.multikeyPaths[field] ?? NONE;
}

const NONE: readonly string[] = [];

/** Whether documents may have several keys in this field. */
export function isMultikeyField(index: CollectionIndex, field: number): boolean {
  return multikeyPrefixes(index, field).length > 0;
}

/** The position of a path in an index; -1 where it has none. */
export function fieldPosition(fields: readonly KeyField[], path: string): number {
  return fields.findIndex((field) => field.path === path);
}
