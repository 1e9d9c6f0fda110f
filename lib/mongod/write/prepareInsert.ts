import type { RawValue } from "../../bson/index.js";
import {
  asDocument,
  BsonType,
  DocumentWriter,
  forEachField,
  getField,
  prependField,
  topLevelNames,
} from "../../bson/index.js";
import { CommandError, ErrorCode, MAX_BSON_OBJECT_BYTES } from "../../protocol/index.js";
import type { ObjectIds } from "../objectIds.js";

/**
 * A document as it is stored: with its `_id` first.
 *
 * Nearly every driver sends `_id` as the first field; then this looks at five
 * bytes and returns the very slice that came.
 *
 * @returns the same slice when it begins with `_id`
 * @throws CommandError BadValue (2) for a document over 16 MiB or an `_id` that is an array, a regex or undefined; DollarPrefixedFieldName (52)
 */
export function prepareInsert(document: Uint8Array, objectIds: ObjectIds): Uint8Array {
  if (document.length > MAX_BSON_OBJECT_BYTES) {
    throw new CommandError(
      ErrorCode.BadValue,
      `object to insert too large. size in bytes: ${document.length}, max size: ${MAX_BSON_OBJECT_BYTES}`,
    );
  }
  if (beginsWithId(document)) {
    const type = document[4] as number;
    if (type === BsonType.objectId || type === BsonType.int32 || type === BsonType.string) return document;
    checkId(getField(document, "_id") as RawValue);
    return document;
  }
  const id = getField(document, "_id");
  if (!id) return prependField(document, "_id", objectIds.next());
  checkId(id);
  return withIdFirst(document, id);
}

/** `_id\0` right after the first type byte. */
function beginsWithId(document: Uint8Array): boolean {
  return document[5] === 0x5f && document[6] === 0x69 && document[7] === 0x64 && document[8] === 0;
}

function withIdFirst(document: Uint8Array, id: RawValue): Uint8Array {
  const writer = new DocumentWriter().field("_id", id);
  forEachField(document, (name, value) => {
    if (name !== "_id") writer.field(name, value);
  });
  return writer.finish();
}

function checkId(id: RawValue): void {
  if (id.type === BsonType.array) throw new CommandError(ErrorCode.BadValue, "can't use an array for _id");
  if (id.type === BsonType.regex) throw new CommandError(ErrorCode.BadValue, "can't use a regex for _id");
  if (id.type === BsonType.undefined)
    throw new CommandError(ErrorCode.BadValue, "can't use a undefined for _id");
  if (id.type !== BsonType.object) return;
  const bad = topLevelNames(asDocument(id)).find((name) => name.startsWith("$"));
  if (bad !== undefined) {
    throw new CommandError(
      ErrorCode.DollarPrefixedFieldName,
      `_id fields may not contain '$'-prefixed fields: ${bad} is not valid for storage.`,
    );
  }
}
