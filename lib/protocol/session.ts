/**
 * The session fields of a command, read alike by shard and router.
 *
 *     lsid       {id: UUID}   which session
 *     txnNumber  long         which write of the session; the same again means "in case you missed it"
 *     stmtId     int          number of the command's first statement, 0 when absent
 *     stmtIds    [int]        instead: the number of each
 *
 * A server keeps results by (session, txnNumber, statement number). So a
 * command that comes again is answered from what its statements did, statement
 * by statement: those that ran count with their first result, others run now.
 * A repetition of another kind (a delete after an insert) fits no result and is
 * refused.
 */
import type { RawValue } from "../bson/index.js";
import {
  asBigInt,
  asDocument,
  asNumber,
  BsonType,
  elements,
  getField,
  isNumeric,
  isTruthy,
  sortableValue,
} from "../bson/index.js";
import { documentsOf } from "./command.js";
import type { Request } from "./endpoint.js";
import { CommandError, ErrorCode, notSimulated, wrongFieldType } from "./errors.js";

/** Commands that may carry a `txnNumber`. */
const RETRYABLE: ReadonlySet<string> = new Set([
  "insert",
  "update",
  "delete",
  "findAndModify",
  "findandmodify",
  "bulkWrite",
]);

/** Which retryable write a command belongs to. */
export interface RetryableNumber {
  /** The session, as a key for maps. */
  readonly session: string;
  readonly txnNumber: bigint;
}

/**
 * Checks the session fields of any command.
 * @throws CommandError TypeMismatch (14) for a field of a wrong type, InvalidOptions (72) for a number
 * without a session, a negative one, or one on a write to many documents, NotARetryableWriteCommand (50768),
 * NotImplemented (238) for multi-document transactions
 */
export function checkSession(request: Request): void {
  const { body, command } = request;
  refuseTransactions(body);
  const number = retryableNumber(body, command);
  if (!number) return;
  if (!RETRYABLE.has(command)) {
    throw new CommandError(
      ErrorCode.NotARetryableWriteCommand,
      "txnNumber may only be provided for multi-document transactions and retryable write commands. " +
        `autocommit:false was not provided, and ${command} is not a retryable write command.`,
    );
  }
  if (command === "update")
    refuseMany(request, "updates", "multi=true", (raw) => isTruthy(getField(raw, "multi")));
  if (command === "delete")
    refuseMany(request, "deletes", "limit=0", (raw) => isZero(getField(raw, "limit")));
}

/**
 * The retryable write that a command belongs to; undefined for a command without `txnNumber`.
 * @param body the raw command
 * @param command its name, for messages
 * @throws CommandError as {@link checkSession}
 */
export function retryableNumber(body: Uint8Array, command: string): RetryableNumber | undefined {
  const session = sessionOf(body, command);
  const number = present(getField(body, "txnNumber"));
  if (!number) return undefined;
  if (number.type !== BsonType.int64) throw wrongFieldType(`${command}.txnNumber`, "long", number);
  if (session === undefined) {
    throw new CommandError(
      ErrorCode.InvalidOptions,
      "Transaction number requires a session ID to also be specified",
    );
  }
  const txnNumber = asBigInt(number);
  if (txnNumber < 0n) {
    throw new CommandError(ErrorCode.InvalidOptions, "Transaction number cannot be negative");
  }
  return { session: sortableValue(session), txnNumber };
}

/**
 * The statement numbers of a write command.
 * @param count how many statements it has
 * @returns the number of the i-th statement
 * @throws CommandError TypeMismatch (14), InvalidOptions (72) for both fields at once, InvalidLength (16)
 * for another number of ids than statements
 */
export function statementIds(body: Uint8Array, command: string, count: number): (index: number) => number {
  const list = present(getField(body, "stmtIds"));
  const single = present(getField(body, "stmtId"));
  if (single && single.type !== BsonType.int32) throw wrongFieldType(`${command}.stmtId`, "int", single);
  const first = single ? asNumber(single) : 0;
  if (!list) return (index) => first + index;
  if (single) {
    throw new CommandError(
      ErrorCode.InvalidOptions,
      "May not specify both stmtId and stmtIds in write command",
    );
  }
  if (list.type !== BsonType.array) throw wrongFieldType(`${command}.stmtIds`, "array", list);
  const values = elements(asDocument(list));
  if (values.some(({ type }) => type !== BsonType.int32))
    throw wrongFieldType(`${command}.stmtIds`, "array of int");
  if (values.length !== count) {
    throw new CommandError(
      ErrorCode.InvalidLength,
      `Number of statement ids must match the number of batch entries. Got ${values.length} statement ids but ` +
        `operation size is ${count}`,
    );
  }
  const ids = values.map(asNumber);
  return (index) => ids[index]!;
}

/** A transaction number below the session's latest. */
export function transactionTooOld(txnNumber: bigint, latest: bigint): CommandError {
  return new CommandError(
    ErrorCode.TransactionTooOld,
    `Retryable write with txnNumber ${txnNumber} is prohibited on session because a newer retryable write ` +
      `with txnNumber ${latest} has already started on this session.`,
  );
}

/**
 * A transaction number that was used for another kind of write.
 * @param command what came now
 * @param before what the number was used for
 */
export function incompatibleRetry(command: string, before: string, txnNumber: bigint): CommandError {
  const error = new CommandError(
    ErrorCode.InvalidOptions,
    `${command} retry request is not compatible with previous write of type ${before} with txnNumber ${txnNumber}`,
  );
  error.remedy = "use a new txnNumber for a new write";
  return error;
}

/** The key of a session given as `{id: UUID}`. @throws CommandError TypeMismatch (14) */
export function sessionKey(lsid: Uint8Array): string {
  return sortableValue(sessionId(lsid));
}

function sessionId(lsid: Uint8Array): RawValue {
  const id = getField(lsid, "id");
  if (!id) {
    throw new CommandError(
      ErrorCode.IDLFailedToParse,
      "BSON field 'lsid.id' is missing but a required field",
    );
  }
  if (id.type !== BsonType.binary) throw wrongFieldType("lsid.id", "binData", id);
  return id;
}

/** The id of a command's session. */
function sessionOf(body: Uint8Array, command: string): RawValue | undefined {
  const lsid = present(getField(body, "lsid"));
  if (!lsid) return undefined;
  if (lsid.type !== BsonType.object) throw wrongFieldType(`${command}.lsid`, "object", lsid);
  return sessionId(asDocument(lsid));
}

/** Multi-document transactions are not simulated; nothing may be written as if it could be rolled back. */
function refuseTransactions(body: Uint8Array): void {
  if (present(getField(body, "startTransaction")) ?? present(getField(body, "autocommit")))
    throw notSimulated("multi-document transactions");
}

/** What a repeated write to many documents would have to count anew, nobody knows. */
function refuseMany(
  request: Request,
  sequence: string,
  how: string,
  many: (statement: Uint8Array) => boolean,
): void {
  if (!documentsOf(request, sequence).some(many)) return;
  throw new CommandError(ErrorCode.InvalidOptions, `Cannot use (or request) retryable writes with ${how}`);
}

function isZero(value: RawValue | undefined): boolean {
  return value !== undefined && isNumeric(value) && asNumber(value) === 0;
}

function present(value: RawValue | undefined): RawValue | undefined {
  return value?.type === BsonType.null || value?.type === BsonType.undefined ? undefined : value;
}
