/**
 * `$meta`: what a document carries along beside its fields (../meta.ts).
 *
 * Of MongoDB's metadata there are the values that a sort went by, the record's
 * number and the index entry's key. What only text, vector or geospatial
 * search attaches is asked for in vain: without such a search MongoDB says
 * that it is not available, and so does this engine, which has none of them.
 */
import { BsonType, array, asString, document, int64, type RawValue } from "../../bson/index.js";
import { CommandError } from "../../protocol/index.js";
import { metaOf, type DocumentMeta } from "../meta.js";
import type { OperatorCompiler } from "./arguments.js";

/** An array, also for a sort by one field. */
function sortKey({ sortKey: values }: DocumentMeta): RawValue | undefined {
  return values && array(values);
}

const READERS: ReadonlyMap<string, (meta: DocumentMeta) => RawValue | undefined> = new Map<
  string,
  (meta: DocumentMeta) => RawValue | undefined
>([
  ["sortKey", sortKey],
  ["recordId", ({ recordId }) => (recordId === undefined ? undefined : int64(recordId))],
  ["indexKey", ({ indexKey }) => indexKey && document(indexKey)],
  ["randVal", () => undefined],
]);

/** Metadata of searches, by how error messages call it. */
const UNAVAILABLE: ReadonlyMap<string, string> = new Map([
  ["textScore", "text score"],
  ["geoNearDistance", "$geoNear distance"],
  ["geoNearPoint", "$geoNear point"],
  ["searchScore", "$search score"],
  ["searchHighlights", "$search highlights"],
  ["searchScoreDetails", "$search score details"],
  ["searchSequenceToken", "$search sequence token"],
  ["vectorSearchScore", "$vectorSearch score"],
  ["score", "score"],
  ["scoreDetails", "score details"],
]);

export const meta: OperatorCompiler = (argument) => {
  if (argument.type !== BsonType.string) {
    throw new CommandError(17307, "$meta only supports string arguments");
  }
  const name = asString(argument);
  const unavailable = UNAVAILABLE.get(name);
  if (unavailable !== undefined) {
    throw new CommandError(40218, `query requires ${unavailable} metadata, but it is not available`);
  }
  const read = READERS.get(name);
  if (read === undefined) throw new CommandError(17308, `Unsupported argument to $meta: ${name}`);
  return ({ root }) => {
    const known = metaOf(root);
    return known && read(known);
  };
};
