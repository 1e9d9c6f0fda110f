/**
 * The router: a simulated mongos.
 *
 * It is an endpoint like any other and holds endpoints: one for the config
 * server, one for each shard. A command comes in as raw BSON and takes this way:
 *
 *     request ─► find the command ─► admin only? transaction? retried?
 *             ─► the command's own file: lock the namespace, target, ask shards, merge
 *             ─► reply, stamped with $clusterTime and operationTime
 *
 * Whatever a command throws becomes a failure reply here, in one place.
 */
import { forgetNames, surveyNames } from "../bson/index.js";
import type { Endpoint, Environment, Reply, Request } from "../protocol/index.js";
import {
  checkRequest,
  CommandError,
  ErrorCode,
  errorReply,
  LogicalClock,
  notSimulated,
} from "../protocol/index.js";
import { Balancer } from "./balancer/balancer.js";
import { observe } from "./analyze/observe.js";
import { QuerySampler } from "./analyze/sampler.js";
import { ChunkGrowth } from "./autoSplit/growth.js";
import { splitGrown } from "./autoSplit/splitGrown.js";
import { Catalog } from "./catalog/catalog.js";
import { CONFIG_SHARD, ShardRegistry } from "./catalog/shards.js";
import { asQueryFailure, isUnreachable } from "./catalog/unreachable.js";
import { COMMANDS_BY_NAME, NOT_SIMULATED } from "./commands/table.js";
import type { Command, RouterContext } from "./context.js";
import { checkFields } from "./context.js";
import { CursorStore } from "./merging/cursorStore.js";
import { RunningReshardings } from "./resharding/running.js";
import type { RulesVersion } from "./rules.js";
import { rulesFor } from "./rules.js";
import type { RouterProcess } from "./server/state.js";
import { ServerState } from "./server/state.js";
import { recover } from "./recovery.js";
import { restoreShard } from "./ddl/restoreShard.js";
import { IdSource } from "./support/ids.js";
import { NamespaceLocks } from "./support/locks.js";
import { RetryableWrites } from "./support/retryableWrites.js";
import { UnfinishedWork } from "./support/unfinished.js";
import type { ClockKind } from "./support/waiting.js";
import { Waiting } from "./support/waiting.js";
import { TraceLog } from "./trace.js";
import { SERVER_VERSION } from "./version.js";
import { ViewCatalog } from "./views/viewCatalog.js";

/** What a router needs. */
export interface RouterOptions {
  /** Clock, random source, log. */
  readonly environment: Environment;
  /** The config server: holds the `config` database. */
  readonly config: Endpoint;
  /** Makes an endpoint from a shard's connection string, e.g. `shardA/127.0.0.1:27018`. */
  readonly connect: (connectionString: string) => Endpoint;
  /** Whose behaviour to show. */
  readonly rules: RulesVersion;
  /** `host:port` of this router. */
  readonly host: string;
  /** Chunk size in bytes, where config.settings has none; else the rules' default. */
  readonly chunkSizeBytes?: number;
  /** Whether time that has to pass is waited for; default: virtual, it is skipped. */
  readonly clock?: ClockKind;
  /** Connection string of the config server, for messages. */
  readonly configHost?: string;
  /** Server parameters by name, as `--setParameter` has them. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** The process it runs in, for serverStatus and the like. */
  readonly process?: RouterProcess;
}

/** A simulated mongos. Call {@link start} before the first request. */
export class Router implements Endpoint {
  readonly #context: RouterContext;

  /** @throws CommandError BadValue (2) for unknown rules, InvalidOptions (72) for unknown parameters */
  constructor(options: RouterOptions) {
    const { environment, host } = options;
    const rules = rulesFor(options.rules);
    const config = { id: CONFIG_SHARD, host: options.configHost ?? "config", endpoint: options.config };
    const shards = new ShardRegistry(config, options.connect);
    const clock = new LogicalClock(environment);
    const ids = new IdSource(environment);
    const server = new ServerState(options.process, options.parameters);
    const { chunkSizeBytes } = options;
    const catalog = new Catalog({ shards, rules, clock, ids, environment, host, chunkSizeBytes });
    this.#context = {
      environment,
      rules,
      catalog,
      views: new ViewCatalog(catalog, shards),
      shards,
      locks: new NamespaceLocks(),
      trace: new TraceLog(undefined, (record) => server.targeting.add(record)),
      server,
      cursors: new CursorStore(ids, environment.now),
      clock,
      ids,
      retryable: new RetryableWrites(),
      unfinished: new UnfinishedWork(),
      sampler: new QuerySampler(environment.now),
      resharding: new RunningReshardings(),
      growth: new ChunkGrowth(),
      waiting: new Waiting(environment, options.clock ?? "virtual"),
      balancer: new Balancer(),
      host,
      startedAt: environment.now(),
    };
    shards.onReturn((id, direct) => this.#restore(id, { ...this.#context, shards: direct }));
  }

  /**
   * Reads the catalog, writing what a new config server lacks, and brings to an end what an earlier router left.
   * @throws CommandError when the config server cannot be reached or refuses
   */
  async start(): Promise<void> {
    await this.#context.catalog.start(SERVER_VERSION);
    await recover(this.#context);
    await this.#context.sampler.load(this.#context.catalog.config);
    this.#context.balancer.start(this.#context);
  }

  /** Answers one command. Never rejects: failures are replies with `ok: 0`. */
  async run(request: Request): Promise<Reply> {
    const { server, environment, rules, clock } = this.#context;
    const { statistics, running } = server;
    const isAbsent = rules.absentCommands.has(request.command);
    const command = isAbsent ? undefined : COMMANDS_BY_NAME.get(request.command);
    const opid = ++statistics.operationNumber;
    const since = environment.now();
    running.set(opid, { request, since });
    let reply: Reply;
    try {
      surveyNames(request.body);
      if (!command) throw unknownCommand(request.command, isAbsent);
      reply = await this.#dispatch(request, command);
    } catch (error) {
      if (!(error instanceof CommandError)) {
        const message = error instanceof Error ? error.message : String(error);
        environment.log?.("warn", `${request.command} failed unexpectedly`, { message });
      }
      reply = errorReply(request.command === "find" ? asQueryFailure(error) : error);
    }
    running.delete(opid);
    forgetNames();
    if (command) statistics.record(command.name, request, reply, environment.now() - since);
    else statistics.unknownCommands += 1;
    return clock.stamp(reply);
  }

  /**
   * Makes a shard that was started again know its sharded collections. What is sent to it would do that too.
   * @throws CommandError when it can't be reached
   */
  async welcomeBack(shard: string): Promise<void> {
    await this.#context.shards.must(shard, "admin", { ping: 1 });
  }

  /** Closes what is open on the shards. */
  close(): void {
    this.#context.balancer.close();
    this.#context.waiting.close();
    void this.#context.cursors.closeAll();
  }

  #dispatch(request: Request, command: Command): Promise<Reply> | Reply {
    if (command.adminOnly && request.db !== "admin") {
      throw new CommandError(
        ErrorCode.Unauthorized,
        `${command.name} may only be run against the admin database.`,
      );
    }
    if (command.fields) checkFields(request, command.fields);
    checkRequest(request);
    if (this.#context.sampler.isIdle) return this.#carryOut(request, command);
    const find = COMMANDS_BY_NAME.get("find")!;
    return observe(
      this.#context,
      request,
      () => this.#carryOut(request, command),
      (look) => find.run(this.#context, look),
    );
  }

  #carryOut(request: Request, command: Command): Promise<Reply> | Reply {
    if (!command.retryable) return command.run(this.#context, request);
    return this.#context.retryable.once(request, command.name, (part) => this.#write(command, part));
  }

  /** A refusal must not keep the shard from everything else; that it does not answer is the caller's to know. */
  async #restore(shard: string, context: RouterContext): Promise<void> {
    try {
      await restoreShard(context, shard);
    } catch (error) {
      if (!(error instanceof CommandError) || isUnreachable(error)) throw error;
      const { code, message } = error;
      context.environment.log?.("warn", "a shard did not get its collections again", {
        shard,
        code,
        message,
      });
    }
  }

  async #write(command: Command, request: Request): Promise<Reply> {
    this.#context.clock.tick();
    const reply = await command.run(this.#context, request);
    if (this.#context.growth.isDue) await splitGrown(this.#context);
    return reply;
  }
}

/** @param isAbsent the command came with a later release than the rules' */
function unknownCommand(name: string, isAbsent: boolean): CommandError {
  if (!isAbsent && NOT_SIMULATED.has(name)) return notSimulated(`the command ${name}`);
  return new CommandError(ErrorCode.CommandNotFound, `no such command: '${name}'`);
}
