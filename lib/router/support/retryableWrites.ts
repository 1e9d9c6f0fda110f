/**
 * Retried writes run once, statement by statement.
 *
 * A driver numbers its writes per session (`lsid`, `txnNumber`). When a
 * connection breaks before the reply came, it sends the same write with the
 * same number again, not knowing whether the first one happened. The router
 * keeps what the statements of each session's latest number did:
 *
 *     first    insert #0 #1          ran, ran              n: 2
 *     again    insert #0 #1          known, known          n: 2
 *     more     insert #0 #1 #2       known, known, runs    n: 3
 *
 * A statement that failed did nothing, and its repetition runs. A number below
 * the latest is refused (225), and so is one that another kind of command has
 * used. Commands of one session take turns, so a repetition that overtakes its
 * first sending waits for it.
 *
 * A batch of updates or deletes comes back from the shards with one sum. So
 * what it did is known of the batch as a whole (a {@link Group}): the same
 * batch again, or a longer one, can be answered; a part of it cannot, unless
 * every statement did the same, and is refused. Drivers repeat whole commands.
 */
import type { RawValue } from "../../bson/index.js";
import {
  asDocument,
  asNumber,
  BsonType,
  DocumentWriter,
  elements,
  forEachField,
  getField,
  isTruthy,
} from "../../bson/index.js";
import type { Reply, Request } from "../../protocol/index.js";
import {
  documentsOf,
  incompatibleRetry,
  isOk,
  notSimulated,
  retryableNumber,
  statementIds,
  transactionTooOld,
} from "../../protocol/index.js";
import { WriteReplies } from "../writes/replies.js";

/** Sessions remembered; the longest unused is forgotten first. */
const MAX_SESSIONS = 10_000;
/** Bytes of what is remembered of them, about; beyond it the longest unused are forgotten too. */
const MAX_BYTES = 64 * 1024 * 1024;
/** What one result of a bulkWrite takes, about. */
const RESULT_BYTES = 64;

/** A set of statement ids; of the usual 0, 1, 2, … only the ends are kept. */
interface StatementIds {
  readonly size: number;
  has(id: number): boolean;
}

/** Statements that ran together, and what they did. */
interface Group {
  readonly ids: StatementIds;
  readonly n: number;
  readonly nModified: number;
  /** `_id` values of upserted documents, by statement id. */
  readonly upserted: ReadonlyMap<number, RawValue>;
}

interface Session {
  readonly txnNumber: bigint;
  /** The command that the number was first used for. */
  readonly command: string;
  readonly groups: Group[];
  /** The reply of a findAndModify. */
  reply?: Reply;
  /** What the statements of a bulkWrite did, by number. */
  readonly results: Map<number, unknown>;
  /** Ends when the session's last command so far has; undefined where none is running. */
  turn: Promise<unknown> | undefined;
  /** Bytes of reply and results, about. */
  weight: number;
}

/** What the statements of one command did when they ran before, by position. */
export interface StatementMemory<T> {
  resultOf(index: number): T | undefined;
  /** Notes the result of a statement that succeeded. */
  completed(index: number, result: T): void;
}

const BATCHES = { insert: "documents", update: "updates", delete: "deletes" } as const;
type BatchCommand = keyof typeof BATCHES;

/** What recent retryable writes have done. */
export class RetryableWrites {
  readonly #sessions = new Map<string, Session>();
  #bytes = 0;

  /**
   * Runs a write, or what of it has not run yet.
   * @param command the command's name, whichever spelling the client used
   * @param execute runs a request that has the statements still to run
   * @throws CommandError TransactionTooOld (225), InvalidOptions (72) for a number of another kind of write,
   * NotImplemented (238) for a part of a batch that was updated or deleted together
   */
  async once(
    request: Request,
    command: string,
    execute: (request: Request) => Promise<Reply>,
  ): Promise<Reply> {
    const number = retryableNumber(request.body, command);
    if (!number) return execute(request);
    const session = this.#session(number.session, number.txnNumber, command);
    const run = (): Promise<Reply> =>
      command in BATCHES
        ? runBatch(session, request, command as BatchCommand, execute)
        : runSingle(session, request, execute);
    return this.#inTurn(number.session, session, run);
  }

  /**
   * Runs a bulkWrite, whose replies say of each statement what it did: each is remembered by itself.
   * @param execute gets the memory of earlier sendings; undefined where the command is not to be remembered
   * @throws CommandError TransactionTooOld (225), InvalidOptions (72) for a number of another kind of write
   */
  async byStatement<T>(
    request: Request,
    command: string,
    count: number,
    execute: (memory: StatementMemory<T> | undefined) => Promise<Reply>,
  ): Promise<Reply> {
    const number = retryableNumber(request.body, command);
    if (!number) return execute(undefined);
    const idOf = statementIds(request.body, command, count);
    const session = this.#session(number.session, number.txnNumber, command);
    const { results } = session;
    const memory: StatementMemory<T> = {
      resultOf: (index) => results.get(idOf(index)) as T | undefined,
      completed: (index, result) => void results.set(idOf(index), result),
    };
    return this.#inTurn(number.session, session, () => execute(memory));
  }

  async #inTurn(id: string, session: Session, run: () => Promise<Reply>): Promise<Reply> {
    const result = session.turn ? session.turn.then(run, run) : run();
    session.turn = result;
    let reply: Reply;
    try {
      reply = await result;
    } finally {
      if (session.turn === result) session.turn = undefined;
    }
    // A newer number may have taken the session's place meanwhile.
    if (this.#sessions.get(id) === session) this.#weigh(session);
    return reply;
  }

  /** Forgets the longest unused sessions while all of them remember too much. */
  #weigh(session: Session): void {
    const weight = (session.reply?.body.length ?? 0) + session.results.size * RESULT_BYTES;
    this.#bytes += weight - session.weight;
    session.weight = weight;
    for (const [id, other] of this.#sessions) {
      if (this.#bytes <= MAX_BYTES) return;
      if (other !== session) this.#forget(id, other);
    }
  }

  #forget(id: string, session: Session): void {
    this.#sessions.delete(id);
    this.#bytes -= session.weight;
    session.weight = 0;
  }

  #session(id: string, txnNumber: bigint, command: string): Session {
    const known = this.#sessions.get(id);
    if (known && txnNumber < known.txnNumber) throw transactionTooOld(txnNumber, known.txnNumber);
    let session = known;
    const unused =
      session?.groups.length === 0 &&
      session.reply === undefined &&
      session.results.size === 0 &&
      session.command !== command;
    if (!session || txnNumber > session.txnNumber || unused) {
      if (known) this.#forget(id, known);
      session = { txnNumber, command, groups: [], results: new Map(), turn: known?.turn, weight: 0 };
    } else if (session.command !== command) {
      throw incompatibleRetry(command, session.command, txnNumber);
    }
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
    if (this.#sessions.size > MAX_SESSIONS) {
      const [oldest] = this.#sessions;
      if (oldest) this.#forget(...oldest);
    }
    return session;
  }
}

async function runSingle(
  session: Session,
  request: Request,
  execute: (request: Request) => Promise<Reply>,
): Promise<Reply> {
  statementIds(request.body, session.command, 1);
  if (session.reply) return session.reply;
  const reply = await execute(request);
  if (isOk(reply)) session.reply = reply;
  return reply;
}

/** Which statements ran before, by the group that they ran in, and which have not. */
function sortOut(
  groups: readonly Group[],
  count: number,
  idOf: (index: number) => number,
): { known: Map<Group, number[]>; fresh: readonly number[] } {
  const known = new Map<Group, number[]>();
  // Nearly every write comes once.
  if (groups.length === 0) return { known, fresh: firstNumbers(count) };
  const fresh: number[] = [];
  for (let index = 0; index < count; index++) {
    const group = groupOf(groups, idOf(index));
    const indexes = group && known.get(group);
    if (indexes) indexes.push(index);
    else if (group) known.set(group, [index]);
    else fresh.push(index);
  }
  return { known, fresh };
}

/** The numbers 0, 1, 2, … that {@link firstNumbers} gave out last. */
let numbers: readonly number[] = [];

/** The first numbers from 0 on: clients that load data send batches of one size. */
function firstNumbers(count: number): readonly number[] {
  if (numbers.length !== count) numbers = Array.from({ length: count }, (_, index) => index);
  return numbers;
}

function groupOf(groups: readonly Group[], id: number): Group | undefined {
  return groups.find(({ ids }) => ids.has(id));
}

async function runBatch(
  session: Session,
  request: Request,
  command: BatchCommand,
  execute: (request: Request) => Promise<Reply>,
): Promise<Reply> {
  const statements = documentsOf(request, BATCHES[command]);
  const idOf = statementIds(request.body, command, statements.length);
  const { known, fresh } = sortOut(session.groups, statements.length, idOf);
  for (const [group, indexes] of known) refuseUnknowable(group, indexes.length, command);
  if (known.size === 0) {
    const reply = await execute(request);
    remember(session, request, reply, fresh, idOf);
    return reply;
  }

  const replies = new WriteReplies(command);
  let end = statements.length;
  if (fresh.length > 0) {
    const rest = fresh.map((index) => statements[index]!);
    const reply = await execute(withStatements(request, BATCHES[command], rest));
    remember(session, request, reply, fresh, idOf);
    if (!isOk(reply)) return reply;
    const ordered = isOrdered(request);
    replies.add(reply, fresh, ordered);
    // What stands behind the failure of an ordered batch is not reached, whether it ran before or not.
    if (ordered) end = fresh[failedIn(reply)[0] ?? Infinity] ?? end;
  }
  for (const [group, indexes] of known) {
    const reached = indexes.filter((index) => index < end);
    refuseUnknowable(group, reached.length, command);
    const share = reached.length / group.ids.size;
    const upserted = reached.filter((index) => group.upserted.has(idOf(index)));
    for (const index of upserted) replies.addUpserted(index, group.upserted.get(idOf(index))!);
    replies.n += group.n * share - upserted.length;
    replies.nModified += group.nModified * share;
  }
  return replies.finish();
}

/** A part of a group counts only where every statement of it did the same. */
function refuseUnknowable({ ids, n, nModified }: Group, wanted: number, command: string): void {
  const uniform = n % ids.size === 0 && nModified % ids.size === 0;
  if (wanted === 0 || wanted === ids.size || uniform) return;
  throw notSimulated(`retrying a part of a batch of ${command} statements`);
}

/** Notes the statements of a command that succeeded. */
function remember(
  session: Session,
  request: Request,
  reply: Reply,
  indexes: readonly number[],
  idOf: (index: number) => number,
): void {
  if (!isOk(reply)) return;
  const failed = failedIn(reply);
  let ran = indexes;
  if (failed.length > 0) {
    const errors = new Set(failed);
    const end = isOrdered(request) ? failed[0]! : indexes.length;
    ran = indexes.filter((_, i) => i < end && !errors.has(i));
  }
  if (ran.length === 0) return;
  const upserted = new Map<number, RawValue>();
  forEachEntry(reply, "upserted", (index, entry) =>
    upserted.set(idOf(indexes[index]!), getField(entry, "_id")!),
  );
  const n = count(reply, "n");
  session.groups.push({ ids: idsOf(ran, idOf), n, nModified: count(reply, "nModified"), upserted });
}

function idsOf(indexes: readonly number[], idOf: (index: number) => number): StatementIds {
  const first = idOf(indexes[0]!);
  const size = indexes.length;
  if (indexes.every((index, i) => idOf(index) === first + i)) {
    return { size, has: (id) => id >= first && id < first + size };
  }
  return new Set(indexes.map(idOf));
}

/** Positions of the statements that failed, ascending. */
function failedIn(reply: Reply): number[] {
  const failed: number[] = [];
  forEachEntry(reply, "writeErrors", (index) => void failed.push(index));
  return failed.sort((a, b) => a - b);
}

function forEachEntry(reply: Reply, name: string, visit: (index: number, entry: Uint8Array) => void): void {
  const list = getField(reply.body, name);
  if (list?.type !== BsonType.array) return;
  for (const value of elements(asDocument(list))) {
    const entry = asDocument(value);
    const index = getField(entry, "index");
    visit(index ? asNumber(index) : 0, entry);
  }
}

function count(reply: Reply, name: string): number {
  const value = getField(reply.body, name);
  return value ? asNumber(value) : 0;
}

function isOrdered(request: Request): boolean {
  const ordered = getField(request.body, "ordered");
  return ordered === undefined || isTruthy(ordered);
}

/** The same command with other statements; their ids have done their work. */
function withStatements(request: Request, sequence: string, statements: readonly Uint8Array[]): Request {
  const writer = new DocumentWriter();
  forEachField(request.body, (name, value) => {
    if (name !== sequence && name !== "stmtId" && name !== "stmtIds") writer.field(name, value);
  });
  return { ...request, body: writer.finish(), sequences: new Map([[sequence, statements]]) };
}
