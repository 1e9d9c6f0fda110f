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
import type { Environment } from "../protocol/index.js";
import { incompatibleRetry, retryableNumber, sessionKey, transactionTooOld } from "../protocol/index.js";
import type { Arguments } from "./command.js";

const SESSION_LIFE_MS = 30 * 60 * 1000;
const SWEEP_EVERY = 1024;
const NONE: ReadonlySet<number> = new Set();

/** What the statements of one `txnNumber` have done so far. */
export class RetryableWrite {
  private readonly runs: { first: number; last: number }[] = [];
  private earlier: ReadonlySet<number> = NONE;
  private readonly results = new Map<number, unknown>();
  lastUsed = 0;

  constructor(
    readonly txnNumber: bigint,
    /** The command that the number was first used for. */
    readonly command: string,
  ) {}

  /** Whether no statement has succeeded yet. */
  get isEmpty(): boolean {
    return this.runs.length === 0 && this.results.size === 0;
  }

  /** The command comes again: from now on {@link hasInserted} knows what happened so far. */
  again(): void {
    const earlier = new Set<number>();
    for (const { first, last } of this.runs) for (let id = first; id <= last; id++) earlier.add(id);
    this.earlier = earlier;
  }

  /** Whether an insert statement has been run by an earlier sending of its command. */
  hasInserted(statement: number): boolean {
    return this.earlier.has(statement);
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
   * @throws CommandError TransactionTooOld (225), InvalidOptions (72) for a number used for another kind of write
   */
  retryable({ command, body }: Arguments): RetryableWrite | undefined {
    const number = retryableNumber(body, command);
    if (!number) return undefined;
    const { session: key, txnNumber } = number;
    const current = this.sessions.get(key);
    if (current && current.txnNumber > txnNumber) throw transactionTooOld(txnNumber, current.txnNumber);
    const now = this.environment.now();
    if (current?.txnNumber === txnNumber && !(current.isEmpty && current.command !== command)) {
      if (current.command !== command) throw incompatibleRetry(command, current.command, txnNumber);
      current.lastUsed = now;
      current.again();
      return current;
    }
    const write = new RetryableWrite(txnNumber, command);
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
