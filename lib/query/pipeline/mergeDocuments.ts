/**
 * What `$merge` does with two documents, wherever they are kept: shard and
 * router find the counterpart in their own ways and then do the same.
 */
import { BsonType, DocumentWriter, fields, NULL, type FieldPath, type RawValue } from "../../bson/index.js";
import { CommandError } from "../../protocol/index.js";

/**
 * The value of a field `on` in a document.
 * @param sparse the supporting index knows nothing of documents without the field
 * @returns undefined for an `_id` that is still to be made
 * @throws CommandError 51185 for an array; 51132 for null or missing where the index is sparse
 */
export function mergeKeyValue(doc: Uint8Array, path: FieldPath, sparse: boolean): RawValue | undefined {
  if (path.meetsArray(doc)) {
    throw new CommandError(51185, `$merge write error: 'on' field '${path.path}' is an array`);
  }
  const value = path.get(doc);
  if (value === undefined && path.path === "_id") return undefined;
  const nullish = value === undefined || value.type === BsonType.null || value.type === BsonType.undefined;
  if (nullish && sparse) {
    throw new CommandError(
      51132,
      `$merge write error: 'on' field '${path.path}' cannot be missing, null or undefined if supporting index is sparse`,
    );
  }
  return value ?? NULL;
}

/** The fields of one document put over those of another, as `$set` of each would do. */
export function mergedFields(existing: Uint8Array, incoming: Uint8Array): Uint8Array {
  const news = new Map(fields(incoming));
  const writer = new DocumentWriter();
  for (const [name, value] of fields(existing)) {
    writer.field(name, news.get(name) ?? value);
    news.delete(name);
  }
  for (const [name, value] of news) writer.field(name, value);
  return writer.finish();
}
