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
 * Everything is in memory, and a mongod that is closed is gone, unless its host
 * keeps the journal (`MongodOptions.storage`).
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
  forgetNames,
  getField,
  isNumeric,
  surveyNames,
  validateDocument,
} from "../bson/index.js";
import type { Endpoint, Reply, Request } from "../protocol/index.js";
import {
  checkRequest,
  codeName,
  CommandError,
  ErrorCode,
  errorReply,
  isOk,
  LogicalClock,
  SERVER_VERSION,
} from "../protocol/index.js";
import type { Server } from "./command.js";
import { Arguments, isWrite } from "./command.js";
import { checkAvailable } from "./availability.js";
import { findCommand } from "./commands/index.js";
import { unknownCommand } from "./commands/unsupported.js";
import { CursorRegistry } from "./cursors.js";
import { FsyncLock } from "./fsyncLock.js";
import { ObjectIds } from "./objectIds.js";
import type { MongodOptions, ServerStorage, ShutdownRequest } from "./options.js";
import { ServerParameters } from "./parameters.js";
import { Interrupt } from "./planner/interrupt.js";
import { memberOf } from "./replication/member.js";
import { ReplicaSet } from "./replication/replicaSet.js";
import { newServerLogs } from "./serverLogs.js";
import { ServerSettings } from "./serverSettings.js";
import { SessionCatalog } from "./sessions.js";
import { ServerStatistics } from "../protocol/index.js";
import { Catalog } from "./storage/catalog.js";
import { DuplicateKeyError } from "./storage/collectionIndex.js";
import { Journal } from "./storage/journal.js";
import { restore } from "./storage/restore.js";
import { encodeTree } from "./tree.js";
import { TtlMonitor } from "./ttl.js";

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
  private readonly ttlMonitor: TtlMonitor;

  constructor(private readonly options: MongodOptions) {
    this.server = this.newServer();
    if (options.storage) keep(this.server, options.storage);
    this.ttlMonitor = newTtlMonitor(this.server);
    this.ttlMonitor.start();
  }

  /**
   * The same server as clients on a port of its own see it: a member of a replica set tells them the time in each reply,
   * and drivers send it back. A router in this process has a clock of its own and asks {@link run}.
   */
  readonly member: Endpoint = {
    // What a client on a port sees, times in the replies included; see Endpoint.breaks.
    breaks: 0,
    run: async (request) => {
      const reply = await this.run(request);
      const { replication, clock } = this.server;
      return replication?.initiated ? clock.stamp(reply) : reply;
    },
  };

  /** Answers one command. Failures are replies; the promise never rejects. */
  run(request: Request): Promise<Reply> {
    const { fsyncLock } = this.server;
    const command = fsyncLock.count > 0 ? findCommand(request.command) : undefined;
    if (command && isWrite(command, request))
      return new Promise((resolve) => fsyncLock.wait(() => resolve(this.reply(request))));
    return Promise.resolve(this.reply(request));
  }

  /** The set's configuration in force, its members and its term; undefined where there is none. */
  get replicaSet():
    { members: readonly string[]; primary: string; config: Uint8Array; term: number } | undefined {
    const set = this.server.replication;
    if (!set?.initiated) return undefined;
    const { members, primary, document } = set.config;
    return { members: members.map(({ host }) => host), primary, config: document, term: set.term };
  }

  /** What this member calls itself in its set. */
  get host(): string {
    const set = this.server.replication;
    return set?.initiated ? set.config.host : this.options.host;
  }

  /**
   * Takes the configuration of the member that is primary.
   * @throws CommandError NoReplicationEnabled (76), InvalidReplicaSetConfig (93) …
   */
  follow(config: Uint8Array, term: number): void {
    memberOf(this.server).follow(config, term);
  }

  /** Lets go of all data and cursors; later commands are refused with ShutdownInProgress (91). */
  close(): void {
    this.closed = true;
    this.ttlMonitor.stop();
    const { cursors, fsyncLock } = this.server;
    cursors.closeAll();
    this.server = this.newServer();
    fsyncLock.release();
  }

  private reply(request: Request): Reply {
    const { server } = this;
    const { now } = this.options.environment;
    const started = now();
    server.statistics.operationNumber++;
    let reply: Reply;
    try {
      reply = this.answer(request);
    } catch (error) {
      if (!(error instanceof Error && "code" in error)) {
        this.options.environment.log?.("warn", "command failed unexpectedly", {
          command: request.command,
          error: error instanceof Error ? error.name : typeof error,
        });
      }
      reply = failureReply(error);
    }
    forgetNames();
    const command = findCommand(request.command);
    if (command) server.statistics.record(command.name, request, reply, now() - started);
    else server.statistics.unknownCommands++;
    return reply;
  }

  private answer(request: Request): Reply {
    const { server } = this;
    if (this.closed) throw new CommandError(ErrorCode.ShutdownInProgress, "The server is shutting down");
    this.ttlMonitor.tick();
    const command = findCommand(request.command);
    if (!command) throw unknownCommand(request.command);
    if (!request.checked) {
      validateDocument(request.body);
      for (const documents of request.sequences.values())
        for (const document of documents) validateDocument(document);
    }
    surveyNames(request.body);
    const args = new Arguments(command.name, request.body, command);
    if (command.adminOnly && request.db !== "admin") {
      throw new CommandError(
        ErrorCode.Unauthorized,
        `${command.name} may only be run against the admin database.`,
      );
    }
    checkRequest(request, true);
    const lsid = args.document("lsid");
    if (lsid) server.sessions.touch(lsid);
    checkAvailable(command, request, server.replication);
    const interrupt = new Interrupt(() => server.environment.now(), maxTime(args));
    let reply: Reply;
    try {
      reply = command.run({ server, request, arguments: args, interrupt });
    } finally {
      server.sessions.commandEnded();
    }
    if (!isWrite(command, request)) return reply;
    server.clock.advance();
    return withWriteConcern(
      reply,
      args,
      server.replication?.initiated ? server.replication.config.members.length : 1,
    );
  }

  private newServer(): Server {
    const { options } = this;
    const { environment, host, replSet, version, logs, initiated = true } = options;
    const isConfigServer = options.clusterRole === "configsvr";
    const parameters = new ServerParameters();
    for (const [name, text] of Object.entries(options.parameters ?? {})) parameters.setFromText(name, text);
    return {
      environment,
      clock: new LogicalClock(environment),
      catalog: new Catalog(environment),
      cursors: new CursorRegistry(environment, () => parameters.number("cursorTimeoutMillis")),
      sessions: new SessionCatalog(environment),
      objectIds: new ObjectIds(environment),
      host,
      replSet,
      replication:
        replSet === undefined
          ? undefined
          : new ReplicaSet(replSet, host, environment, initiated, isConfigServer, options.severalMembers),
      version: version ?? SERVER_VERSION,
      startedAt: environment.now(),
      options,
      parameters,
      settings: new ServerSettings(environment, host),
      logs: logs ?? newServerLogs(),
      statistics: new ServerStatistics(),
      fsyncLock: new FsyncLock(),
      shutdown: (request) => this.shutdown(request),
    };
  }

  private shutdown(request: ShutdownRequest): void {
    if (this.options.onShutdown) this.options.onShutdown(request);
    else this.close();
  }
}

/**
 * Puts what an earlier server left into a new one, and what happens to it into a journal.
 * @throws JournalError, or CommandError where the replica set's configuration is not of this server
 */
function keep({ catalog, environment, replication, sessions }: Server, storage: ServerStorage): void {
  const journal = new Journal();
  const replicaSet = restore(catalog, storage.frames, environment, (history) => sessions.restore(history));
  sessions.resultsGrew();
  sessions.keep((history) => journal.wrote(history));
  if (replicaSet) {
    journal.replicaSet(replicaSet.config, replicaSet.term);
    replication?.resume(replicaSet.config, replicaSet.term);
  }
  if (replication) {
    replication.onChange = (config, term) => journal.replicaSet(config, term);
    if (replication.initiated) journal.replicaSet(replication.config.document, replication.term);
  }
  catalog.listen(journal);
  storage.start(journal, () => journal.snapshot(catalog, sessions.histories()));
}

function newTtlMonitor({
  environment,
  catalog,
  parameters,
  statistics,
  fsyncLock,
  replication,
}: Server): TtlMonitor {
  return new TtlMonitor({
    environment,
    catalog,
    parameters,
    metrics: statistics.ttl,
    mayWrite: () => fsyncLock.count === 0 && (!replication || replication.state === "primary"),
  });
}

const MAX_INT32 = 0x7fffffff;

function maxTime(args: Arguments): number {
  const value = args.get("maxTimeMS");
  if (value === undefined) return 0;
  if (!isNumeric(value)) throw new CommandError(ErrorCode.BadValue, "maxTimeMS must be a number");
  const milliseconds = asNumber(value) || 0;
  const whole = Math.trunc(milliseconds);
  if (whole < 0 || whole > MAX_INT32) {
    const shown = whole < 2 ** 63 ? BigInt(Math.max(whole, -(2 ** 63))) : 2n ** 63n - 1n;
    throw new CommandError(
      ErrorCode.BadValue,
      `${shown} value for maxTimeMS is out of range [0, ${MAX_INT32}]`,
    );
  }
  if (whole !== milliseconds) throw new CommandError(ErrorCode.BadValue, "maxTimeMS has non-integral value");
  return milliseconds;
}

/** A failed command's reply; a duplicate key keeps the types of its values. */
function failureReply(error: unknown): Reply {
  if (!(error instanceof DuplicateKeyError)) return errorReply(error);
  const { message: errmsg, code, codeName } = error;
  return { body: encodeTree({ ok: double(0), errmsg, code, codeName, ...error.details }) };
}

/** A write concern that the members cannot satisfy is reported beside the reply; the write stays. */
function withWriteConcern(reply: Reply, args: Arguments, members: number): Reply {
  const concern = args.document("writeConcern");
  const w = concern && getField(concern, "w");
  if (!w || !isOk(reply)) return reply;
  let code: number;
  let message: string;
  if (isNumeric(w) && asNumber(w) > members) {
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
