/**
 * A document as it is stored.
 *
 * Nearly every driver sends `_id` as the first field and no empty timestamps;
 * then this walks once over the names of the top level and returns the very
 * slice that came. Otherwise `_id` is made or moved to the front, and each
 * `Timestamp(0, 0)` of the top level becomes the present time.
 */
import type { RawValue } from "../../bson/index.js";
import {
  asDocument,
  BsonType,
  DocumentWriter,
  forEachField,
  prependField,
  topLevelNames,
} from "../../bson/index.js";
import { allocate } from "../../bson/bytes.js";
import { closingNul, endOfName, endOfValue } from "../../bson/raw.js";
import { CommandError, ErrorCode, MAX_BSON_OBJECT_BYTES } from "../../protocol/index.js";
import { isEmptyTimestamp } from "../../query/index.js";
import type { ObjectIds } from "../objectIds.js";
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
 * @param nextTimestamp what empty timestamps become; undefined: they stay
 * @param lend the result may lie in memory that the next call uses again
 * @returns the same slice when nothing is to be done
 * @throws CommandError BadValue (2) for a document over 16 MiB or with several `_id`s, Overflow (15) for one nested
 *   too deeply, InvalidIdField (53) for an `_id` that is an array, a regular expression or undefined,
 *   DollarPrefixedFieldName (52)
 */
export function prepareInsert(
  document: Uint8Array,
  objectIds: ObjectIds,
  nextTimestamp?: () => RawValue,
  lend = false,
): Uint8Array {
  if (document.length > MAX_BSON_OBJECT_BYTES) {
    throw new CommandError(
      ErrorCode.BadValue,
      `object to insert too large. size in bytes: ${document.length}, max size: ${MAX_BSON_OBJECT_BYTES}`,
    );
  }
  checkNesting(document, `cannot insert document because it exceeds ${MAX_NESTING} levels of nesting`);
  look(document);
  const { ids, emptyTimestamps } = survey;
  if (ids > 1) throw new CommandError(ErrorCode.BadValue, "can't have multiple _id fields in one document");
  let filled = document;
  if (nextTimestamp && emptyTimestamps) {
    filled = withTimestamps(document, nextTimestamp);
    look(filled);
  }
  if (ids === 0) return prependField(filled, "_id", objectIds.next());
  const { idFrom, idEnd } = survey;
  const type = filled[idFrom] as BsonType;
  if (type !== BsonType.objectId && type !== BsonType.int32 && type !== BsonType.string)
    checkId({ type, bytes: filled, start: idFrom + ID_HEAD, end: idEnd });
  return idFrom === 4 ? filled : withIdFirst(filled, idFrom, idEnd, lend);
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
    if (
      type === BsonType.timestamp &&
      !isOwnId &&
      isEmptyTimestamp({ type, bytes: document, start, end: at })
    )
      survey.emptyTimestamps = true;
  }
}

/** `_id\0` at a position. */
function isId(document: Uint8Array, at: number): boolean {
  return (
    document[at] === 0x5f && document[at + 1] === 0x69 && document[at + 2] === 0x64 && document[at + 3] === 0
  );
}

function withTimestamps(document: Uint8Array, next: () => RawValue): Uint8Array {
  const writer = new DocumentWriter();
  forEachField(document, (name, value) => {
    writer.field(name, name !== "_id" && isEmptyTimestamp(value) ? next() : value);
  });
  return writer.finish();
}

/** Moves the `_id` that stands from `from` to `end` to the front; drivers that make it themselves append it. */
function withIdFirst(document: Uint8Array, from: number, end: number, lend: boolean): Uint8Array {
  const length = end - from;
  const size = document.length;
  const moved = lend && size <= lent.length ? (lentViews[size] ??= lent.subarray(0, size)) : allocate(size);
  moved.set(document);
  moved.copyWithin(4 + length, 4, from);
  for (let i = 0; i < length; i++) moved[4 + i] = document[from + i] as number;
  return moved;
}

/** What is lent to callers that copy the document at once: most inserts of most drivers come by here. */
const lent = new Uint8Array(1024);
/** Its first n bytes, by n: documents of one collection are often of one size. */
const lentViews: (Uint8Array | undefined)[] = Array.from({ length: lent.length + 1 });
/** Type byte and `_id\0`. */
const ID_HEAD = 5;

const UNFIT: ReadonlyMap<number, string> = new Map([
  [BsonType.array, "array"],
  [BsonType.regex, "regex"],
  [BsonType.undefined, "undefined"],
]);

function checkId(id: RawValue): void {
  const unfit = UNFIT.get(id.type);
  if (unfit !== undefined)
    throw new CommandError(ErrorCode.InvalidIdField, `The '_id' value cannot be of type ${unfit}`);
  if (id.type !== BsonType.object) return;
  const bad = topLevelNames(asDocument(id)).find((name) => name.startsWith("$"));
  if (bad !== undefined) {
    throw new CommandError(
      ErrorCode.DollarPrefixedFieldName,
      `_id fields may not contain '$'-prefixed fields: ${bad} is not valid for storage.`,
    );
  }
}
