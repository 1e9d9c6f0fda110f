/**
 * Explaining a bulkWrite of one operation: as the update or delete that it is (8.0+).
 *
 *     {bulkWrite: 1, ops: [{delete: 0, filter: {a: 1}, multi: true}], nsInfo: [{ns: "test.c"}]}
 *     {delete: "c", deletes: [{q: {a: 1}, limit: 0}]}                              on database test
 *
 * So `command` in the reply shows the update or delete, as on a real cluster.
 */
import type { RawValue } from "../../bson/index.js";
import { array, bool, document, DocumentWriter, getField, int32, isTruthy } from "../../bson/index.js";
import type { BulkOperation, Request } from "../../protocol/index.js";
import { CommandError, ErrorCode, readBulkOperations } from "../../protocol/index.js";

/** Fields of an operation that are called the same in a statement. */
const UPDATE_OPTIONS = ["arrayFilters", "collation", "hint", "sort"] as const;

/**
 * The update or delete that a bulkWrite of one operation stands for.
 * @throws CommandError Unauthorized (13) outside of admin, InvalidLength (16), IllegalOperation (20) for an
 *   insert, and what reading the operations throws
 */
export function writeOfBulk(bulk: Request): Request {
  if (bulk.db !== "admin") {
    throw new CommandError(ErrorCode.Unauthorized, "bulkWrite may only be run against the admin database.");
  }
  const [operation, ...others] = readBulkOperations(bulk);
  if (!operation || others.length > 0) {
    throw new CommandError(ErrorCode.InvalidLength, "explained bulkWrite must be of size 1");
  }
  if (operation.kind === "insert") {
    throw new CommandError(ErrorCode.IllegalOperation, "Cannot explain cmd: insert");
  }
  const { db, collection } = operation.target;
  const isUpdate = operation.kind === "update";
  const statement = isUpdate ? updateStatement(operation.raw) : deleteStatement(operation.raw);
  const body = new DocumentWriter()
    .string(operation.kind, collection)
    .field(isUpdate ? "updates" : "deletes", array([document(statement)]));
  for (const name of ["let", "bypassDocumentValidation"]) {
    const value = getField(bulk.body, name);
    if (value) body.field(name, value);
  }
  return { command: operation.kind, db, body: body.finish(), sequences: new Map() };
}

function updateStatement(raw: BulkOperation["raw"]): Uint8Array {
  const statement = new DocumentWriter()
    .field("q", required(raw, "filter"))
    .field("u", required(raw, "updateMods"))
    .field("multi", bool(isTruthy(getField(raw, "multi"))))
    .field("upsert", bool(isTruthy(getField(raw, "upsert"))));
  copy(raw, statement, UPDATE_OPTIONS);
  const constants = getField(raw, "constants");
  if (constants) statement.field("c", constants);
  return statement.finish();
}

function deleteStatement(raw: BulkOperation["raw"]): Uint8Array {
  const statement = new DocumentWriter()
    .field("q", required(raw, "filter"))
    .field("limit", int32(isTruthy(getField(raw, "multi")) ? 0 : 1));
  copy(raw, statement, ["collation", "hint"]);
  return statement.finish();
}

function copy(raw: Uint8Array, to: DocumentWriter, names: readonly string[]): void {
  for (const name of names) {
    const value = getField(raw, name);
    if (value) to.field(name, value);
  }
}

/** A field that reading the operation has found there. */
function required(raw: Uint8Array, name: string): RawValue {
  return getField(raw, name)!;
}
