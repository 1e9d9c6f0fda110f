/**
 * `_id` is the first field of every stored document.
 *
 * Drivers that make the `_id` themselves append it. It is moved to the front
 * while the document is copied to where it is kept:
 *
 *     length | a b c | _id | d …   →   length | _id | a b c | d …
 *            4       from  end
 */
import { allocate } from "../../bson/bytes.js";

/** Where `_id`, type and name included, lies in a document. */
export interface IdPlace {
  /** 4 where it is the first field. */
  from: number;
  end: number;
}

/** Copies a document to `target[at …]`, its `_id` in front. */
export function copyIdFirst(
  document: Uint8Array,
  { from, end }: IdPlace,
  target: Uint8Array,
  at: number,
): void {
  target.set(document, at);
  if (from === 4) return;
  const length = end - from;
  const front = at + 4;
  target.copyWithin(front + length, front, at + from);
  for (let i = 0; i < length; i++) target[front + i] = document[from + i] as number;
}

/** The document with its `_id` in front: itself, or a copy. */
export function idFirst(document: Uint8Array, id: IdPlace): Uint8Array {
  if (id.from === 4) return document;
  const copy = allocate(document.length);
  copyIdFirst(document, id, copy, 0);
  return copy;
}
