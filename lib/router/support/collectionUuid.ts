/** The guard `collectionUUID` of several commands: only if the name still means that collection. */
import type { RawValue } from "../../bson/index.js";
import { BsonType, decodeValue, valuesIdentical } from "../../bson/index.js";
import type { Request } from "../../protocol/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { RouterContext } from "../context.js";
import { optionalField, wrongType } from "../context.js";

/**
 * Compares a command's `collectionUUID` with that of a sharded collection; shards check unsharded ones.
 * @throws CommandError CollectionUUIDMismatch (361), TypeMismatch (14)
 * @since MongoDB 6.0
 */
export function checkCollectionUuid(
  context: RouterContext,
  request: Request,
  collection: ShardedCollection,
): void {
  const expected = optionalField(request, "collectionUUID");
  if (expected)
    checkSameUuid(context, expected, collection, () => wrongType(request, "collectionUUID", "binData"));
}

/**
 * The same for a UUID that stands elsewhere.
 * @param wrong the error of a value that is no UUID
 * @throws CommandError CollectionUUIDMismatch (361), with the collection's name and that of the sharded one with this
 * UUID
 */
export function checkSameUuid(
  context: RouterContext,
  expected: RawValue,
  { uuid, db, name }: ShardedCollection,
  wrong: () => CommandError,
): void {
  if (expected.type !== BsonType.binary || expected.bytes[expected.start + 4] !== 4) throw wrong();
  if (valuesIdentical(uuid, expected)) return;
  const actual = context.catalog.collections.find(
    (other) => other.db === db && valuesIdentical(other.uuid, expected),
  );
  throw new CommandError(ErrorCode.CollectionUUIDMismatch, "Collection UUID does not match that specified", {
    db,
    collectionUUID: decodeValue(expected),
    expectedCollection: name,
    actualCollection: actual ? actual.name : null,
  });
}
