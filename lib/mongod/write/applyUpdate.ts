/** One update of one record, or the document that an upsert makes instead. */
import type { RawValue } from "../../bson/index.js";
import { compareValues, describeValue, getField, prependField } from "../../bson/index.js";
import { CommandError, ErrorCode, MAX_BSON_OBJECT_BYTES } from "../../protocol/index.js";
import type { FilterNode, Update } from "../../query/index.js";
import { upsertDocument } from "../../query/index.js";
import type { Server } from "../command.js";
import type { Collection } from "../storage/collection.js";
import type { CollectionIndex } from "../storage/collectionIndex.js";
import { prepareInsert } from "./prepareInsert.js";

/**
 * Updates one record.
 * @param indexes the indexes that the update can concern; all when absent
 * @returns the new document; the very same one when nothing changed
 * @throws CommandError ImmutableField (66) for a changed `_id`, 17419 for a result over 16 MiB, 11000, and what the operators throw
 */
export function applyUpdate(
  server: Server,
  collection: Collection,
  recordId: number,
  update: Update,
  filter: FilterNode,
  indexes?: readonly CollectionIndex[],
): Uint8Array {
  const before = collection.records.get(recordId) as Uint8Array;
  const after = update.apply(before, { now: server.environment.now(), filter });
  if (after === before) return before;
  const id = getField(before, "_id") as RawValue;
  const document = keepId(after, id);
  if (document.length > MAX_BSON_OBJECT_BYTES) {
    throw new CommandError(17419, `Resulting document after update is larger than ${MAX_BSON_OBJECT_BYTES}`);
  }
  if (sameBytes(before, document)) return before;
  collection.update(recordId, document, indexes);
  return document;
}

/**
 * The document that an upsert would insert.
 * @throws CommandError what the operators throw, or what forbids to insert the result
 */
export function makeUpsert(server: Server, update: Update, filter: FilterNode): Uint8Array {
  const document = upsertDocument(filter, update, {
    now: server.environment.now(),
    newId: () => server.objectIds.next(),
  });
  return prepareInsert(document, server.objectIds);
}

/** A replacement without `_id` keeps the old one; another `_id` is refused. */
function keepId(document: Uint8Array, id: RawValue): Uint8Array {
  const after = getField(document, "_id");
  if (!after) return prependField(document, "_id", id);
  if (compareValues(after, id) !== 0) {
    throw new CommandError(
      ErrorCode.ImmutableField,
      `After applying the update, the (immutable) field '_id' was found to have been altered to _id: ${describeValue(after)}`,
    );
  }
  return document;
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
