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
import type { Endpoint, Environment, Reply, Request } from "../protocol/index.js";
import { checkRequest, CommandError, ErrorCode, errorReply, notSimulated } from "../protocol/index.js";
import { Catalog } from "./catalog/catalog.js";
import { CONFIG_SHARD, ShardRegistry } from "./catalog/shards.js";
import { COMMANDS_BY_NAME, NOT_SIMULATED } from "./commands/table.js";
import type { Command, RouterContext } from "./context.js";
import { checkFields } from "./context.js";
import { CursorStore } from "./merging/cursorStore.js";
import type { RulesVersion } from "./rules.js";
import { rulesFor } from "./rules.js";
import { LogicalClock } from "./support/clock.js";
import { IdSource } from "./support/ids.js";
import { NamespaceLocks } from "./support/locks.js";
import { RetryableWrites } from "./support/retryableWrites.js";
import { TraceLog } from "./trace.js";
import { SERVER_VERSION } from "./version.js";

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
  /** Connection string of the config server, for messages. */
  readonly configHost?: string;
}

/** A simulated mongos. Call {@link start} before the first request. */
export class Router implements Endpoint {
  readonly #context: RouterContext;
  readonly #retryable = new RetryableWrites();

  /** @throws CommandError BadValue (2) for unknown rules */
  constructor(options: RouterOptions) {
    const { environment, host } = options;
    const rules = rulesFor(options.rules);
    const config = { id: CONFIG_SHARD, host: options.configHost ?? "config", endpoint: options.config };
    const shards = new ShardRegistry(config, options.connect);
    const clock = new LogicalClock(environment);
    const ids = new IdSource(environment);
    const { chunkSizeBytes } = options;
    this.#context = {
      environment,
      rules,
      catalog: new Catalog({ shards, rules, clock, ids, environment, host, chunkSizeBytes }),
      shards,
      locks: new NamespaceLocks(),
      trace: new TraceLog(),
      cursors: new CursorStore(ids, environment.now),
      clock,
      ids,
      host,
      startedAt: environment.now(),
    };
  }

  /**
   * Reads the catalog, writing what a new config server lacks.
   * @throws CommandError when the config server cannot be reached or refuses
   */
  async start(): Promise<void> {
    await this.#context.catalog.start(SERVER_VERSION);
  }

  /** Answers one command. Never rejects: failures are replies with `ok: 0`. */
  async run(request: Request): Promise<Reply> {
    let reply: Reply;
    try {
      reply = await this.#dispatch(request);
    } catch (error) {
      if (!(error instanceof CommandError)) {
        const message = error instanceof Error ? error.message : String(error);
        this.#context.environment.log?.("warn", `${request.command} failed unexpectedly`, { message });
      }
      reply = errorReply(error);
    }
    return { body: this.#context.clock.stamp(reply.body) };
  }

  /** Closes what is open on the shards. */
  close(): void {
    void this.#context.cursors.closeAll();
  }

  async #dispatch(request: Request): Promise<Reply> {
    const command = COMMANDS_BY_NAME.get(request.command);
    if (!command) throw unknownCommand(request.command);
    if (command.adminOnly && request.db !== "admin") {
      throw new CommandError(
        ErrorCode.Unauthorized,
        `${command.name} may only be run against the admin database.`,
      );
    }
    if (command.fields) checkFields(request, command.fields);
    checkRequest(request);
    if (!command.retryable) return command.run(this.#context, request);
    return this.#retryable.once(request, command.name, (part) => this.#write(command, part));
  }

  async #write(command: Command, request: Request): Promise<Reply> {
    this.#context.clock.tick();
    return command.run(this.#context, request);
  }
}

function unknownCommand(name: string): CommandError {
  if (NOT_SIMULATED.has(name)) return notSimulated(`the command ${name}`);
  return new CommandError(ErrorCode.CommandNotFound, `no such command: '${name}'`);
}
