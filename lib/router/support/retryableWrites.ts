/**
 * Retried writes get their first reply.
 *
 * A driver numbers its writes per session (`lsid`, `txnNumber`). When a
 * connection breaks before the reply came, it sends the same write with the
 * same number again, not knowing whether the first one happened. The router
 * keeps the reply of each session's latest number and answers a repetition with
 * it; one that is still running is waited for. So the write runs once.
 *
 * A command that failed as a whole (ok: 0) did nothing, and its repetition runs.
 * A number below the latest is refused, as on a server (225).
 */
import { asBigInt, asDocument, BsonType, getField, isNumeric } from "../../bson/index.js";
import type { Reply, Request } from "../../protocol/index.js";
import { bodyField, CommandError, ErrorCode, isOk } from "../../protocol/index.js";

/** Sessions remembered; the longest unused is forgotten first. */
const MAX_SESSIONS = 10_000;

interface Session {
  txnNumber: bigint;
  /** Replies of the number's commands, by their statement ids. */
  readonly replies: Map<string, Promise<Reply>>;
}

/** The replies of recent retryable writes. */
export class RetryableWrites {
  readonly #sessions = new Map<string, Session>();

  /**
   * Runs a write, or answers its repetition.
   * @param execute runs it
   * @throws CommandError TransactionTooOld (225)
   */
  async once(request: Request, execute: () => Promise<Reply>): Promise<Reply> {
    const number = bodyField(request, "txnNumber");
    const session = sessionId(request);
    if (!number || !isNumeric(number) || session === undefined) return execute();
    const txnNumber = asBigInt(number);
    const known = this.#session(session, txnNumber);
    const statements = statementIds(request);
    const first = known.replies.get(statements);
    if (first) return first;
    const running = execute();
    known.replies.set(statements, running);
    const forget = (): void => {
      known.replies.delete(statements);
    };
    try {
      const reply = await running;
      if (!isOk(reply)) forget();
      return reply;
    } catch (error) {
      forget();
      throw error;
    }
  }

  #session(id: string, txnNumber: bigint): Session {
    let session = this.#sessions.get(id);
    if (session && txnNumber < session.txnNumber) {
      throw new CommandError(
        ErrorCode.TransactionTooOld,
        `Retryable write with txnNumber ${txnNumber} is prohibited on session because a newer retryable write ` +
          `with txnNumber ${session.txnNumber} has already started on this session.`,
      );
    }
    this.#sessions.delete(id);
    if (!session || txnNumber > session.txnNumber) session = { txnNumber, replies: new Map() };
    this.#sessions.set(id, session);
    if (this.#sessions.size > MAX_SESSIONS) {
      const [oldest] = this.#sessions.keys();
      if (oldest !== undefined) this.#sessions.delete(oldest);
    }
    return session;
  }
}

/** The session's id as text. */
function sessionId(request: Request): string | undefined {
  const lsid = bodyField(request, "lsid");
  if (lsid?.type !== BsonType.object) return undefined;
  const id = getField(asDocument(lsid), "id");
  return id && bytesText(id.bytes.subarray(id.start, id.end));
}

/** Tells the commands of one transaction number apart. */
function statementIds(request: Request): string {
  const ids = bodyField(request, "stmtIds") ?? bodyField(request, "stmtId");
  return ids ? bytesText(ids.bytes.subarray(ids.start, ids.end)) : "";
}

function bytesText(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}
