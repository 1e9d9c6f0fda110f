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
import { asDocument, DocumentWriter, getField } from "../bson/index.js";
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
import { decodeHistory, encodeHistory } from "./writeHistory.js";

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
  /** What {@link news} has not told yet; undefined where nobody asks for it. */
  private freshRuns: { first: number; last: number }[] | undefined;
  private freshResults: number[] = [];
  lastUsed = 0;
  /** Bytes of documents in the results. */
  bytes = 0;

  constructor(
    readonly txnNumber: bigint,
    /** The command that the number was first used for. */
    readonly command: string,
    /** The session, `{id: UUID}`. */
    private readonly lsid: Uint8Array,
    isKept: boolean,
  ) {
    if (isKept) this.freshRuns = [];
  }

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
    extend(this.runs, statement);
    if (this.freshRuns) extend(this.freshRuns, statement);
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
    if (this.freshRuns) this.freshResults.push(statement);
  }

  /** What has been done since the last time, as the journal keeps it; undefined for nothing. */
  news(): Uint8Array | undefined {
    const { freshRuns, freshResults } = this;
    if (!freshRuns || freshRuns.length + freshResults.length === 0) return undefined;
    this.freshRuns = [];
    this.freshResults = [];
    return this.encode(freshRuns, freshResults);
  }

  /** All that it has done, as the journal keeps it. */
  history(): Uint8Array {
    return this.encode(this.runs, [...(this.results?.keys() ?? [])]);
  }

  private encode(
    runs: readonly { first: number; last: number }[],
    statements: readonly number[],
  ): Uint8Array {
    const { lsid, txnNumber, command, results, forgotten: isForgotten } = this;
    return encodeHistory({
      lsid,
      txnNumber,
      command,
      runs: runs.flatMap(({ first, last }) => [first, last]),
      results: statements.filter((id) => results?.has(id)).map((id) => [id, results?.get(id)]),
      isForgotten,
    });
  }

  /** Lets the results go. */
  forget(): void {
    this.results = new Map();
    this.bytes = 0;
    this.forgotten = true;
  }
}

/** Adds a statement to the last run, or as a new one. */
function extend(runs: { first: number; last: number }[], statement: number): void {
  const last = runs[runs.length - 1];
  if (last?.last === statement - 1) last.last = statement;
  else runs.push({ first: statement, last: statement });
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
  private current: RetryableWrite | undefined;
  private keeper: ((history: Uint8Array) => void) | undefined;

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
    const write = this.find(key, txnNumber, command, body);
    this.current = write;
    return write;
  }

  /** From now on `keeper` is told what retryable writes have done, as documents (writeHistory.ts). */
  keep(keeper: (history: Uint8Array) => void): void {
    this.keeper = keeper;
  }

  /** A command is at its end, well or not: what it has done as a retryable write is kept. */
  commandEnded(): void {
    const news = this.current?.news();
    this.current = undefined;
    if (news) this.keeper?.(news);
  }

  /** The histories of all retryable writes. */
  *histories(): Generator<Uint8Array> {
    for (const write of this.sessions.values()) if (!write.isEmpty) yield write.history();
  }

  /** Takes over what an earlier server has kept. @param body see {@link keep} */
  restore(body: Uint8Array): void {
    const { lsid, txnNumber, command, runs, results, isForgotten } = decodeHistory(body);
    const key = sessionKey(lsid);
    let write = this.sessions.get(key);
    if (write?.txnNumber !== txnNumber || write.command !== command)
      write = new RetryableWrite(txnNumber, command, lsid, true);
    // Last in the map is last used.
    this.sessions.delete(key);
    this.sessions.set(key, write);
    write.lastUsed = this.environment.now();
    for (let i = 0; i < runs.length; i += 2)
      for (let id = runs[i]!; id <= runs[i + 1]!; id++) write.inserted(id);
    for (const [id, result] of results) write.completed(id, result, bytesOf(result));
    if (isForgotten) write.forget();
    write.news();
    const { value: oldest } = this.sessions.keys().next();
    if (this.sessions.size > MAX_RETRYABLE_SESSIONS && oldest !== undefined) this.sessions.delete(oldest);
  }

  private find(key: string, txnNumber: bigint, command: string, body: Uint8Array): RetryableWrite {
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
    const id = getField(asDocument(getField(body, "lsid")!), "id")!;
    const lsid = new DocumentWriter().field("id", id).finish();
    const write = new RetryableWrite(txnNumber, command, lsid, this.keeper !== undefined);
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

/** Bytes of the document in a result. */
function bytesOf(result: unknown): number {
  const value = typeof result === "object" && result !== null && "value" in result ? result.value : undefined;
  return value instanceof Uint8Array ? value.length : 0;
}
