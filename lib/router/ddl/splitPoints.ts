/**
 * Where to cut a chunk that has documents: pure policy.
 *
 * The keys of the chunk come in order, one per document, equal ones together:
 *
 *     1 1 1 2 3 3 4 5        every `per` documents, at the next *new* key
 *
 * A cut can only be between different keys: all documents with one key value
 * stay in one chunk forever. That is why a key with few values makes chunks
 * that cannot be divided ("indivisible", in time "jumbo").
 */
import type { RawValue, SortableKey } from "../../bson/index.js";

/** A key of a document, as a point of chunk space. */
export interface PlacedKey {
  readonly key: SortableKey;
  readonly values: readonly RawValue[];
}

/**
 * Cuts after every `per` documents.
 * @param keys ascending
 * @param per documents in each piece, at least; a cut comes at the first new key after them
 */
export function everyDocuments(keys: readonly PlacedKey[], per: number): PlacedKey[] {
  const points: PlacedKey[] = [];
  let previous = keys[0]?.key;
  let since = 0;
  for (const key of keys) {
    since += 1;
    if (since <= per || key.key === previous) continue;
    points.push(key);
    previous = key.key;
    since = 0;
  }
  return points;
}

/**
 * The cut that halves the documents (`split … find`): the key in the middle, or
 * the next one that differs from the chunk's first key.
 * @returns undefined when all documents have one key: the chunk is indivisible
 */
export function median(keys: readonly PlacedKey[]): PlacedKey | undefined {
  return everyDocuments(keys, Math.floor(keys.length / 2))[0];
}
