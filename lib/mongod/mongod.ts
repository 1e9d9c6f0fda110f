/**
 * The embedded shard: one mongod without a process, answering commands on raw BSON.
 *
 *     request ─▶ command table ─▶ arguments checked ─▶ command ─▶ reply
 *                                                        │
 *                              planner ─▶ stages ◀───────┤  reads
 *                              write/  ─▶ collection ◀───┘  writes
 *                                          records + indexes
 *
 * A command runs from start to end without giving way to another, so that every
 * command sees the data as it was when it began, and a write is all there or
 * not at all. Documents are stored, moved and returned as the bytes that came.
 * Everything is in memory; a mongod that is closed is gone.
 *
 * It knows nothing of sharding: the router sees in it what it sees in a real
 * mongod.
 */
import {
  asNumber,
  asString,
  BsonType,
  double,
  DocumentWriter,
  getField,
  isNumeric,
  validateDocument,
} from "../bson/index.js";
import type { Endpoint, Environment, Reply, Request } from "../protocol/index.js";
import {
  checkRequest,
  codeName,
  CommandError,
  ErrorCode,
  errorReply,
  isOk,
  SERVER_VERSION,
} from "../protocol/index.js";
import type { Server } from "./command.js";
import { Arguments } from "./command.js";
import { findCommand } from "./commands/index.js";
import { CursorRegistry } from "./cursors.js";
import { ObjectIds } from "./objectIds.js";
import { Interrupt } from "./planner/interrupt.js";
import { SessionCatalog } from "./sessions.js";
import { Catalog } from "./storage/catalog.js";
import { DuplicateKeyError } from "./storage/collectionIndex.js";
import { encodeTree } from "./tree.js";

/** How to make a {@link Mongod}. */
export interface MongodOptions {
  readonly environment: Environment;
  /** `host:port` it calls itself by in `hello.me`, `$collStats` and explain. */
  readonly host: string;
  /** Name of the replica set whose only member it is (a shard's id, e.g. `shardA`); absent: standalone. */
  readonly replSet?: string;
  /** What buildInfo reports; {@link SERVER_VERSION} when absent. */
  readonly version?: string;
}

/**
 * An embedded mongod.
 *
 * @example
 * const mongod = new Mongod({ environment: { now: Date.now, random: Math.random }, host: "127.0.0.1:27018" });
 * await mongod.run(request("library", { insert: "loans", documents: [{ _id: 1 }] }));
 */
export class Mongod implements Endpoint {
  private server: Server;
  private closed = false;

  constructor(private readonly options: MongodOptions) {
    this.server = newServer(options);
  }

  /** Answers one command. Failures are replies; the promise never rejects. */
  run(request: Request): Promise<Reply> {
    try {
      return Promise.resolve(this.answer(request));
    } catch (error) {
      if (!(error instanceof Error && "code" in error)) {
        this.options.environment.log?.("warn", "command failed unexpectedly", {
          command: request.command,
          error: error instanceof Error ? error.name : typeof error,
        });
      }
      return Promise.resolve(failureReply(error));
    }
  }

  /** Lets go of all data and cursors; later commands are refused with ShutdownInProgress (91). */
  close(): void {
    this.closed = true;
    this.server.cursors.closeAll();
    this.server = newServer(this.options);
  }

  private answer(request: Request): Reply {
    const { server } = this;
    if (this.closed) throw new CommandError(ErrorCode.ShutdownInProgress, "The server is shutting down");
    const command = findCommand(request.command);
    if (!command) throw new CommandError(ErrorCode.CommandNotFound, `no such command: '${request.command}'`);
    server.counters.set(command.name, (server.counters.get(command.name) ?? 0) + 1);
    validateDocument(request.body);
    for (const documents of request.sequences.values())
      for (const document of documents) validateDocument(document);
    const args = new Arguments(command.name, request.body, command);
    checkRequest(request);
    const interrupt = new Interrupt(() => server.environment.now(), maxTime(args));
    const reply = command.run({ server, request, arguments: args, interrupt });
    return command.writes ? withWriteConcern(reply, args) : reply;
  }
}

function newServer({ environment, host, replSet, version }: MongodOptions): Server {
  return {
    environment,
    catalog: new Catalog(environment),
    cursors: new CursorRegistry(environment),
    sessions: new SessionCatalog(environment),
    objectIds: new ObjectIds(environment),
    host,
    replSet,
    version: version ?? SERVER_VERSION,
    startedAt: environment.now(),
    counters: new Map(),
  };
}

function maxTime(args: Arguments): number {
  const value = args.get("maxTimeMS");
  if (value === undefined) return 0;
  const milliseconds = isNumeric(value) ? asNumber(value) : NaN;
  if (!Number.isInteger(milliseconds) || milliseconds < 0 || milliseconds > 0x7fffffff)
    throw new CommandError(ErrorCode.BadValue, "maxTimeMS must be an integer between 0 and 2147483647");
  return milliseconds;
}

/** A failed command's reply; a duplicate key keeps the types of its values. */
function failureReply(error: unknown): Reply {
  if (!(error instanceof DuplicateKeyError)) return errorReply(error);
  const { message: errmsg, code, codeName, keyPattern, keyValue } = error;
  return { body: encodeTree({ ok: double(0), errmsg, code, codeName, keyPattern, keyValue }) };
}

/** A write concern that one member cannot satisfy is reported beside the reply; the write stays. */
function withWriteConcern(reply: Reply, args: Arguments): Reply {
  const concern = args.document("writeConcern");
  const w = concern && getField(concern, "w");
  if (!w || !isOk(reply)) return reply;
  let code: number;
  let message: string;
  if (isNumeric(w) && asNumber(w) > 1) {
    code = ErrorCode.UnsatisfiableWriteConcern;
    message = "Not enough data-bearing nodes";
  } else if (w.type === BsonType.string && asString(w) !== "majority") {
    code = ErrorCode.UnknownReplWriteConcern;
    message = `No write concern mode named '${asString(w)}' found in replica set configuration`;
  } else {
    return reply;
  }
  const error = new DocumentWriter()
    .int32("code", code)
    .string("codeName", codeName(code))
    .string("errmsg", message)
    .finish();
  return { body: new DocumentWriter().fieldsOf(reply.body).document("writeConcernError", error).finish() };
}
