/**
 * The statements of `update` and `delete`, read but not decoded.
 *
 *     update  {q: {memberId: 7}, u: {$set: {name: "Ann"}}, multi: false, upsert: false}
 *     delete  {q: {memberId: 7}, limit: 1}
 */
import type { RawValue } from "../../bson/index.js";
import { asDocument, asNumber, BsonType, elements, getField, isNumeric, isTruthy } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";

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
  readonly constants: RawValue | undefined;
}

/** One statement of a delete command. */
export interface DeleteStatement extends Statement {
  /** limit: 1 */
  readonly single: boolean;
}

/**
 * Reads an update statement.
 * @throws CommandError Location40414 without `q` or `u`, FailedToParse (9) for a wrong type
 */
export function readUpdate(raw: Uint8Array): UpdateStatement {
  const u = getField(raw, "u");
  if (!u) throw missing("update.updates.u");
  if (u.type !== BsonType.object && u.type !== BsonType.array) {
    throw new CommandError(ErrorCode.FailedToParse, "Update argument must be either an object or an array");
  }
  const filters = getField(raw, "arrayFilters");
  return {
    ...readCommon(raw, "update.updates"),
    u,
    multi: isTruthy(getField(raw, "multi")),
    upsert: isTruthy(getField(raw, "upsert")),
    arrayFilters:
      filters?.type === BsonType.array ? elements(asDocument(filters)).map(asDocument) : undefined,
    sort: documentIn(raw, "sort"),
    constants: getField(raw, "c"),
  };
}

/**
 * Reads a delete statement.
 * @throws CommandError Location40414 without `q` or `limit`, FailedToParse (9) for a limit other than 0 and 1
 */
export function readDelete(raw: Uint8Array): DeleteStatement {
  const limit = getField(raw, "limit");
  if (!limit) throw missing("delete.deletes.limit");
  const n = isNumeric(limit) ? asNumber(limit) : NaN;
  if (n !== 0 && n !== 1) {
    throw new CommandError(ErrorCode.FailedToParse, "The limit field in delete objects must be 0 or 1");
  }
  return { ...readCommon(raw, "delete.deletes"), single: n === 1 };
}

function readCommon(raw: Uint8Array, where: string): Statement {
  const q = documentIn(raw, "q");
  if (!q) throw missing(`${where}.q`);
  return { raw, q, hint: getField(raw, "hint"), collation: documentIn(raw, "collation") };
}

function documentIn(raw: Uint8Array, name: string): Uint8Array | undefined {
  const value = getField(raw, name);
  return value?.type === BsonType.object ? asDocument(value) : undefined;
}

function missing(field: string): CommandError {
  return new CommandError(
    ErrorCode.IDLFailedToParse,
    `BSON field '${field}' is missing but a required field`,
  );
}
