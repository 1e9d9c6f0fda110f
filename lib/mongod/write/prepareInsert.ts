/**
 * A document as it is stored.
 *
 * Nearly every driver sends an `_id` and no empty timestamps; then this walks
 * once over the names of the top level and returns the very slice that came.
 * Otherwise `_id` is made, and each `Timestamp(0, 0)` of the top level becomes
 * the present time.
 */
import { BsonType, prependField, topLevelNames } from "../../bson/index.js";
import { closingNul, endOfName, endOfValue } from "../../bson/raw.js";
import { CommandError, ErrorCode, MAX_BSON_OBJECT_BYTES } from "../../protocol/index.js";
import { fillTimestamps } from "../../query/index.js";
import type { Server } from "../command.js";
import type { IdPlace } from "../storage/idFirst.js";
import { checkNesting, MAX_NESTING } from "./nesting.js";

/** What a look at the names of the top level told. */
interface Survey {
  /** How often there is an `_id`. */
  ids: number;
  /** Where the last of them begins and ends, type and name included. */
  idFrom: number;
  idEnd: number;
  emptyTimestamps: boolean;
}

const survey: Survey = { ids: 0, idFrom: 0, idEnd: 0, emptyTimestamps: false };

/**
 * Prepares a document for storage.
 * @param keepEmptyTimestamps they do not become the present time
 * @param id is told where the result's `_id` lies
 * @returns the same slice when nothing is to be done
 * @throws CommandError BadValue (2) for a document over 16 MiB or with several `_id`s, Overflow (15) for one nested
 *   too deeply, InvalidIdField (53) for an `_id` that is an array, a regular expression or undefined,
 *   DollarPrefixedFieldName (52)
 */
export function prepareInsert(
  document: Uint8Array,
  server: Server,
  keepEmptyTimestamps: boolean,
  id: IdPlace,
): Uint8Array {
  if (document.length > MAX_BSON_OBJECT_BYTES) {
    throw new CommandError(
      ErrorCode.BadValue,
      `object to insert too large. size in bytes: ${document.length}, max size: ${MAX_BSON_OBJECT_BYTES}`,
    );
  }
  checkNesting(document, TOO_DEEP);
  look(document);
  const { ids, emptyTimestamps } = survey;
  if (ids > 1) throw new CommandError(ErrorCode.BadValue, "can't have multiple _id fields in one document");
  let filled = document;
  if (emptyTimestamps && !keepEmptyTimestamps) {
    filled = withTimestamps(document, server);
    look(filled);
  }
  if (ids === 0) {
    id.from = 4;
    id.end = 4 + ID_HEAD + OBJECT_ID_BYTES;
    return prependField(filled, "_id", server.objectIds.next());
  }
  id.from = survey.idFrom;
  id.end = survey.idEnd;
  checkId(filled, id);
  return filled;
}

/** Apart, because a closure costs whoever might make it. */
function withTimestamps(document: Uint8Array, server: Server): Uint8Array {
  return fillTimestamps(document, () => server.clock.tick());
}

function look(document: Uint8Array): void {
  survey.ids = 0;
  survey.emptyTimestamps = false;
  const limit = closingNul(document, 0);
  for (let at = 4; at < limit;) {
    const from = at;
    const type = document[at] as BsonType;
    const isOwnId = isId(document, at + 1);
    const start = endOfName(document, at + 1, limit) + 1;
    at = endOfValue(document, type, start, limit);
    if (isOwnId) {
      survey.ids++;
      survey.idFrom = from;
      survey.idEnd = at;
    }
    if (type === BsonType.timestamp && !isOwnId && isZero(document, start, at)) survey.emptyTimestamps = true;
  }
}

function isZero(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (bytes[i] !== 0) return false;
  return true;
}

/** `_id\0` at a position. */
function isId(document: Uint8Array, at: number): boolean {
  return (
    document[at] === 0x5f && document[at + 1] === 0x69 && document[at + 2] === 0x64 && document[at + 3] === 0
  );
}

const TOO_DEEP = `cannot insert document because it exceeds ${MAX_NESTING} levels of nesting`;
/** Type byte and `_id\0`. */
const ID_HEAD = 5;
const OBJECT_ID_BYTES = 12;

const UNFIT: ReadonlyMap<number, string> = new Map([
  [BsonType.array, "array"],
  [BsonType.regex, "regex"],
  [BsonType.undefined, "undefined"],
]);

function checkId(document: Uint8Array, { from, end }: IdPlace): void {
  const type = document[from] as BsonType;
  const unfit = UNFIT.get(type);
  if (unfit !== undefined)
    throw new CommandError(ErrorCode.InvalidIdField, `The '_id' value cannot be of type ${unfit}`);
  if (type !== BsonType.object) return;
  const bad = topLevelNames(document.subarray(from + ID_HEAD, end)).find((name) => name.startsWith("$"));
  if (bad !== undefined) {
    throw new CommandError(
      ErrorCode.DollarPrefixedFieldName,
      `_id fields may not contain '$'-prefixed fields: ${bad} is not valid for storage.`,
    );
  }
}
