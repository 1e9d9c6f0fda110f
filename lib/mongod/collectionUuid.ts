/** The guard `collectionUUID` of several commands: only if the name still means that collection. */
import { BsonType, decodeValue, uuid, valuesIdentical } from "../bson/index.js";
import { CommandError, ErrorCode } from "../protocol/index.js";
import type { Arguments } from "./command.js";
import type { Catalog } from "./storage/catalog.js";
import { splitNamespace } from "./storage/catalog.js";

/**
 * Compares a command's `collectionUUID` with the collection's.
 * @throws CommandError CollectionUUIDMismatch (361), with the collection's name and that of the one with this UUID;
 * TypeMismatch (14)
 * @since MongoDB 6.0
 */
export function checkCollectionUuid(catalog: Catalog, namespace: string, args: Arguments): void {
  const expected = args.get("collectionUUID");
  if (!expected) return;
  if (expected.type !== BsonType.binary || expected.bytes[expected.start + 4] !== 4)
    throw args.wrongType("collectionUUID", expected, "binData");
  const collection = catalog.find(namespace);
  if (collection && valuesIdentical(uuid(collection.uuid), expected)) return;
  const { db, collection: name } = splitNamespace(namespace);
  const actual = catalog.collectionsOf(db).find((other) => valuesIdentical(uuid(other.uuid), expected));
  throw new CommandError(ErrorCode.CollectionUUIDMismatch, "Collection UUID does not match that specified", {
    db,
    collectionUUID: decodeValue(expected),
    expectedCollection: name,
    actualCollection: actual ? splitNamespace(actual.namespace).collection : null,
  });
}
