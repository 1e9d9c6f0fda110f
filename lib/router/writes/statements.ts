/**
 * The statements of `update` and `delete`, read but not decoded.
 *
 *     update  {q: {memberId: 7}, u: {$set: {name: "Ann"}}, multi: false, upsert: false}
 *     delete  {q: {memberId: 7}, limit: 1}
 */
import type { RawValue } from "../../bson/index.js";
import {
  asDocument,
  asNumber,
  BsonType,
  elements,
  getField,
  isNumeric,
  isTruthy,
  topLevelNames,
} from "../../bson/index.js";
import { checkObjectSize, CommandError, ErrorCode, wrongFieldType } from "../../protocol/index.js";

/** What both have. */
interface Statement {
  /** The statement as it came. */
  readonly raw: Uint8Array;
  readonly q: Uint8Array;
  readonly hint: RawValue | undefined;
  readonly collation: Uint8Array | undefined;
}

/** One statement of an update command. */
export interface UpdateStatement extends Statement {
  /** Operators or replacement (object), or a pipeline (array). */
  readonly u: RawValue;
  readonly multi: boolean;
  readonly upsert: boolean;
  readonly arrayFilters: Uint8Array[] | undefined;
  /** Which of several matches a single update takes (8.0+). */
  readonly sort: Uint8Array | undefined;
  /** Constants of a pipeline update. */
  readonly constants: Uint8Array | undefined;
  /** An upsert inserts the document `new` of the constants. */
  readonly upsertSupplied: boolean;
}

/** One statement of a delete command. */
export interface DeleteStatement extends Statement {
  /** limit: 1 */
  readonly single: boolean;
}

/**
 * Reads an update statement.
 * @throws CommandError BSONObjectTooLarge (10334), Location40414 without `q` or `u`, Location40415 for an unknown field, FailedToParse (9) for a wrong type
 */
export function readUpdate(raw: Uint8Array): UpdateStatement {
  checkObjectSize(raw);
  refuseUnknown(raw, UPDATE_FIELDS, "update.updates");
  const u = getField(raw, "u");
  if (!u) throw missing("update.updates.u");
  if (u.type !== BsonType.object && u.type !== BsonType.array) {
    throw new CommandError(ErrorCode.FailedToParse, "Update argument must be either an object or an array");
  }
  return {
    ...readCommon(raw, "update.updates"),
    u,
    multi: isTruthy(getField(raw, "multi")),
    upsert: isTruthy(getField(raw, "upsert")),
    arrayFilters: readArrayFilters(getField(raw, "arrayFilters"), "update.updates.arrayFilters"),
    sort: documentIn(raw, "update.updates", "sort"),
    constants: documentIn(raw, "update.updates", "c"),
    upsertSupplied: isTruthy(getField(raw, "upsertSupplied")),
  };
}

/**
 * An `arrayFilters` field.
 * @param where its full name, for the message
 * @throws CommandError TypeMismatch (14)
 */
export function readArrayFilters(value: RawValue | undefined, where: string): Uint8Array[] | undefined {
  if (!value || value.type === BsonType.null) return undefined;
  const filters = value.type === BsonType.array ? elements(asDocument(value)) : [value];
  if (value.type === BsonType.array && filters.every(({ type }) => type === BsonType.object))
    return filters.map(asDocument);
  throw new CommandError(
    ErrorCode.TypeMismatch,
    `BSON field '${where}' is the wrong type, expected an array of objects`,
  );
}

/**
 * Reads a delete statement.
 * @throws CommandError BSONObjectTooLarge (10334), Location40414 without `q` or `limit`, Location40415 for an unknown field, FailedToParse (9) for a limit other than 0 and 1
 */
export function readDelete(raw: Uint8Array): DeleteStatement {
  checkObjectSize(raw);
  refuseUnknown(raw, DELETE_FIELDS, "delete.deletes");
  const limit = getField(raw, "limit");
  if (!limit) throw missing("delete.deletes.limit");
  const n = isNumeric(limit) ? asNumber(limit) : NaN;
  if (n !== 0 && n !== 1) {
    throw new CommandError(ErrorCode.FailedToParse, "The limit field in delete objects must be 0 or 1");
  }
  return { ...readCommon(raw, "delete.deletes"), single: n === 1 };
}

const COMMON_FIELDS: readonly string[] = ["q", "collation", "hint", "sampleId"];
const UPDATE_FIELDS = [
  ...COMMON_FIELDS,
  "u",
  "c",
  "multi",
  "upsert",
  "upsertSupplied",
  "arrayFilters",
  "sort",
  "$_allowShardKeyUpdatesWithoutFullShardKeyInQuery",
];
const DELETE_FIELDS = [...COMMON_FIELDS, "limit"];

/** @throws CommandError IDLUnknownField (40415) */
function refuseUnknown(raw: Uint8Array, known: readonly string[], where: string): void {
  const unknown = topLevelNames(raw).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new CommandError(ErrorCode.IDLUnknownField, `BSON field '${where}.${unknown}' is an unknown field.`);
}

function readCommon(raw: Uint8Array, where: string): Statement {
  const q = documentIn(raw, where, "q");
  if (!q) throw missing(`${where}.q`);
  return { raw, q, hint: getField(raw, "hint"), collation: documentIn(raw, where, "collation") };
}

function documentIn(raw: Uint8Array, where: string, name: string): Uint8Array | undefined {
  const value = getField(raw, name);
  if (!value || value.type === BsonType.null || value.type === BsonType.undefined) return undefined;
  if (value.type !== BsonType.object) throw wrongFieldType(`${where}.${name}`, "object", value);
  return asDocument(value);
}

function missing(field: string): CommandError {
  return new CommandError(
    ErrorCode.IDLFailedToParse,
    `BSON field '${field}' is missing but a required field`,
  );
}
