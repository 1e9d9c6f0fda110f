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
 * as one entry [first, last]: a batch of 1,000 costs as much as one. Only
 * findAndModify has large results; when they grow too many the oldest are
 * forgotten, and a repetition of those is refused rather than run again.
 */
import type { Environment } from "../protocol/index.js";
import {
  CommandError,
  ErrorCode,
  incompatibleRetry,
  retryableNumber,
  sessionKey,
  transactionTooOld,
} from "../protocol/index.js";
import type { Arguments } from "./command.js";

const SESSION_LIFE_MS = 30 * 60 * 1000;
const SWEEP_EVERY = 1024;
/** Sessions that are remembered; beyond it the one used first is forgotten. */
const MAX_SESSIONS = 100_000;
/** Sessions with a retryable write that are kept apart at a time. */
const MAX_RETRYABLE_SESSIONS = 200_000;
/** Bytes of documents in remembered results, over all sessions. */
const MAX_RESULT_BYTES = 64 * 1024 * 1024;
const NONE: ReadonlySet<number> = new Set();

/** What the statements of one `txnNumber` have done so far. */
export class RetryableWrite {
  private readonly runs: { first: number; last: number }[] = [];
  private earlier: ReadonlySet<number> = NONE;
  private results: Map<number, unknown> | undefined;
  private forgotten = false;
  lastUsed = 0;
  /** Bytes of documents in the results. */
  bytes = 0;

  constructor(
    readonly txnNumber: bigint,
    /** The command that the number was first used for. */
    readonly command: string,
  ) {}

  /** Whether no statement has succeeded yet. */
  get isEmpty(): boolean {
    return this.runs.length === 0 && this.results === undefined;
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

  /**
   * What a statement answered when it ran first.
   * @throws CommandError IncompleteTransactionHistory (217) where that has been forgotten
   */
  resultOf<T>(statement: number): T | undefined {
    if (this.forgotten) {
      throw new CommandError(
        ErrorCode.IncompleteTransactionHistory,
        `Incomplete history detected for transaction ${this.txnNumber}: its results were too large to be kept`,
      );
    }
    return this.results?.get(statement) as T | undefined;
  }

  /** Notes the result of a statement. @param bytes of the documents in it */
  completed(statement: number, result: unknown, bytes = 0): void {
    this.results ??= new Map();
    this.results.set(statement, result);
    this.bytes += bytes;
  }

  /** Lets the results go. */
  forget(): void {
    this.results = new Map();
    this.bytes = 0;
    this.forgotten = true;
  }
}

/** A session that a client has used. */
export interface LocalSession {
  /** `{id: UUID}` as the client sent it. */
  readonly lsid: Uint8Array;
  /** Milliseconds since 1970. */
  lastUse: number;
}

/** The sessions in use, and their latest retryable writes. */
export class SessionCatalog {
  private readonly sessions = new Map<string, RetryableWrite>();
  private readonly used = new Map<string, LocalSession>();
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
    if (!current) this.makeRoom(now);
    const write = new RetryableWrite(txnNumber, command);
    write.lastUsed = now;
    // Last in the map is last used.
    this.sessions.delete(key);
    this.sessions.set(key, write);
    if (++this.opened % SWEEP_EVERY === 0) this.sweep(now);
    return write;
  }

  /** Notes that results with documents have come in, and forgets the oldest when there are too many. */
  resultsGrew(): void {
    let total = 0;
    for (const write of this.sessions.values()) total += write.bytes;
    for (const write of this.sessions.values()) {
      if (total <= MAX_RESULT_BYTES) return;
      if (write.bytes === 0) continue;
      total -= write.bytes;
      write.forget();
    }
  }

  /** Notes that a client uses a session. */
  touch(lsid: Uint8Array): void {
    const key = sessionKey(lsid);
    const lastUse = this.environment.now();
    const session = this.used.get(key);
    if (session) {
      session.lastUse = lastUse;
      return;
    }
    if (this.used.size >= MAX_SESSIONS) this.used.delete(this.used.keys().next().value as string);
    this.used.set(key, { lsid: lsid.slice(), lastUse });
  }

  /** The sessions in use. */
  all(): LocalSession[] {
    this.sweep(this.environment.now());
    return [...this.used.values()];
  }

  /** Forgets ended sessions: `endSessions`, `killSessions`. */
  end(lsids: readonly Uint8Array[]): void {
    for (const lsid of lsids) {
      const key = sessionKey(lsid);
      this.sessions.delete(key);
      this.used.delete(key);
    }
  }

  /** Forgets all sessions. */
  endAll(): void {
    this.sessions.clear();
    this.used.clear();
  }

  private makeRoom(now: number): void {
    if (this.sessions.size < MAX_RETRYABLE_SESSIONS) return;
    this.sweep(now);
    if (this.sessions.size >= MAX_RETRYABLE_SESSIONS)
      throw new CommandError(ErrorCode.TooManyLogicalSessions, "cannot add session into the cache");
  }

  private sweep(now: number): void {
    for (const [key, write] of this.sessions)
      if (now - write.lastUsed > SESSION_LIFE_MS) this.sessions.delete(key);
    for (const [key, session] of this.used)
      if (now - session.lastUse > SESSION_LIFE_MS) this.used.delete(key);
  }
}
