/**
 * Updates that put one document in the place of another: a replacement, and
 * what a pipeline computes.
 *
 *     { a: 1, n: 2 }   on { _id: 7, x: 0 }   →   { _id: 7, a: 1, n: 2 }
 *
 * `_id` stays and stays in front. MongoDB compares the new document with the
 * old one as the client sent it: a replacement that leaves `_id` out always
 * counts as a modification, even when it changes nothing.
 */
import {
  BsonType,
  DocumentWriter,
  compareValues,
  describeValue,
  fields,
  forEachField,
  getField,
  timestamp,
  type RawValue,
} from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import { milliseconds, type UpdateContext } from "./context.js";
import { checkTopLevelDollars } from "./dollarFields.js";

/**
 * The new document under the old `_id`; the very same bytes where the two are alike.
 * @throws CommandError ImmutableField (66) for another `_id`, NotSingleValueField (54) for an array as `_id`
 */
export function replace(doc: Uint8Array, replacement: Uint8Array): Uint8Array {
  if (sameBytes(doc, replacement)) return doc;
  const id = getField(doc, "_id");
  const newId = getField(replacement, "_id");
  checkId(doc, id, newId);
  const kept = newId ?? id;
  const writer = new DocumentWriter();
  if (kept !== undefined) writer.field("_id", kept);
  forEachField(replacement, (name, value) => {
    if (name !== "_id") writer.field(name, value);
  });
  return writer.finish();
}

function checkId(doc: Uint8Array, id: RawValue | undefined, newId: RawValue | undefined): void {
  if (newId?.type === BsonType.array) {
    throw new CommandError(
      ErrorCode.NotSingleValueField,
      "After applying the update to the document, the (immutable) field '_id' was found to be an array or array descendant.",
    );
  }
  if (id === undefined || newId === undefined || compareValues(id, newId) === 0) return;
  throw new CommandError(
    ErrorCode.ImmutableField,
    `After applying the update, the (immutable) field '_id' was found to have been altered to _id: ${describeValue(newId)}`,
  );
}

/** Whether two documents have the same bytes. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/**
 * Checks a replacement document.
 * @throws CommandError DollarPrefixedFieldName (52) for a field that begins with `$`, InvalidDBRef (55)
 */
export function checkReplacement(replacement: Uint8Array): void {
  checkTopLevelDollars(fields(replacement).map(([name, value]) => ({ name, value })));
}

/** Whether a top-level field other than `_id` is `Timestamp(0, 0)`, which stands for "now". */
export function hasEmptyTimestamp(doc: Uint8Array): boolean {
  let found = false;
  forEachField(doc, (name, value) => {
    found = isEmptyTimestamp(value) && name !== "_id";
    return !found;
  });
  return found;
}

/** True for `Timestamp(0, 0)`, which a server replaces with its own time. */
export function isEmptyTimestamp({ type, bytes, start }: RawValue): boolean {
  if (type !== BsonType.timestamp) return false;
  for (let i = start; i < start + 8; i++) if (bytes[i] !== 0) return false;
  return true;
}

/** A copy with the empty timestamps of the top level filled in. */
export function fillTimestamps(doc: Uint8Array, next: () => RawValue): Uint8Array {
  const writer = new DocumentWriter();
  forEachField(doc, (name, value) => {
    writer.field(name, isEmptyTimestamp(value) && name !== "_id" ? next() : value);
  });
  return writer.finish();
}

/** The next timestamp of an update: the server's, else the clock's second. */
export function nextTimestamp({ nextTimestamp: next, now }: UpdateContext): RawValue {
  return next ? next() : timestamp(Math.floor(milliseconds(now) / 1000), 1);
}
