/**
 * Retryable writes: a repeated statement gets its first answer and is not run twice.
 *
 * A driver that lost the connection while it waited for a reply sends the same
 * command again, with the same session (`lsid`), the same `txnNumber` and so
 * the same statement numbers (`stmtId`, counting from 0 in a batch). The server
 * keeps, for the session's latest `txnNumber`, which statements succeeded and
 * with what result. Statements that failed left nothing and run again.
 *
 * Inserts succeed in long runs and all have the same result, so a run is kept
 * as one entry [first, last]: a batch of 1,000 costs as much as one.
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
import type { Environment } from "../protocol/index.js";
import { CommandError, ErrorCode, notSimulated } from "../protocol/index.js";
import type { Arguments } from "./command.js";

const SESSION_LIFE_MS = 30 * 60 * 1000;
const SWEEP_EVERY = 1024;

/** What the statements of one `txnNumber` have done so far. */
export class RetryableWrite {
  private readonly runs: { first: number; last: number }[] = [];
  private readonly results = new Map<number, unknown>();
  lastUsed = 0;

  constructor(readonly txnNumber: bigint) {}

  /** Whether an insert statement has been run. */
  hasInserted(statement: number): boolean {
    return this.runs.some((run) => run.first <= statement && statement <= run.last);
  }

  /** Notes a successful insert statement. */
  inserted(statement: number): void {
    const last = this.runs[this.runs.length - 1];
    if (last?.last === statement - 1) last.last = statement;
    else this.runs.push({ first: statement, last: statement });
  }

  /** What a statement answered when it ran first. */
  resultOf<T>(statement: number): T | undefined {
    return this.results.get(statement) as T | undefined;
  }

  /** Notes the result of a statement. */
  completed(statement: number, result: unknown): void {
    this.results.set(statement, result);
  }
}

/** The sessions' latest retryable writes. */
export class SessionCatalog {
  private readonly sessions = new Map<string, RetryableWrite>();
  private opened = 0;

  constructor(private readonly environment: Environment) {}

  /** Number of sessions with a retryable write. */
  get size(): number {
    return this.sessions.size;
  }

  /**
   * The retryable write that a command belongs to; undefined for a command without `txnNumber`.
   * @throws CommandError NotImplemented (238) for a multi-document transaction, TransactionTooOld (225)
   */
  retryable(command: Arguments): RetryableWrite | undefined {
    refuseTransactions(command);
    const number = command.get("txnNumber");
    if (!number) return undefined;
    if (!isNumeric(number)) throw command.wrongType("txnNumber", number, "long");
    const lsid = command.document("lsid");
    if (!lsid)
      throw new CommandError(
        ErrorCode.FailedToParse,
        "Transaction number requires a session ID to also be specified",
      );
    const txnNumber = asBigInt(number);
    const key = sessionKey(lsid);
    const current = this.sessions.get(key);
    if (current && current.txnNumber > txnNumber) {
      throw new CommandError(
        ErrorCode.TransactionTooOld,
        `Cannot start transaction ${txnNumber} on the session because a newer transaction ${current.txnNumber} has already started on it.`,
      );
    }
    const now = this.environment.now();
    if (current?.txnNumber === txnNumber) {
      current.lastUsed = now;
      return current;
    }
    const write = new RetryableWrite(txnNumber);
    write.lastUsed = now;
    this.sessions.set(key, write);
    if (++this.opened % SWEEP_EVERY === 0) this.sweep(now);
    return write;
  }

  /** Forgets ended sessions: `endSessions`, `killSessions`. */
  end(lsids: readonly Uint8Array[]): void {
    for (const lsid of lsids) this.sessions.delete(sessionKey(lsid));
  }

  private sweep(now: number): void {
    for (const [key, write] of this.sessions)
      if (now - write.lastUsed > SESSION_LIFE_MS) this.sessions.delete(key);
  }
}

/**
 * The statement numbers of a batch of writes.
 * @returns the number of the i-th statement: from `stmtIds`, else counted on from `stmtId` or 0
 */
export function statementIds(command: Arguments): (index: number) => number {
  const list = command.get("stmtIds");
  if (list?.type === BsonType.array) {
    const numbers = elements(asDocument(list)).map(asNumber);
    return (index) => numbers[index] ?? index;
  }
  const first = command.number("stmtId") ?? 0;
  return (index) => first + index;
}

/** Multi-document transactions are not simulated; nothing may be written as if it could be rolled back. */
export function refuseTransactions(command: Arguments): void {
  const autocommit = command.get("autocommit");
  if (command.boolean("startTransaction") || (autocommit && !isTruthy(autocommit)))
    throw notSimulated("multi-document transactions");
}

function sessionKey(lsid: Uint8Array): string {
  const id: RawValue | undefined = getField(lsid, "id");
  if (id?.type !== BsonType.binary)
    throw new CommandError(
      ErrorCode.TypeMismatch,
      "BSON field 'lsid.id' is the wrong type, expected type 'binData'",
    );
  return sortableValue(id);
}
