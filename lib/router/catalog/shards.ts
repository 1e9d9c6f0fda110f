/**
 * The shards that a router can talk to.
 *
 * A shard is an id and an endpoint. Whether the endpoint is a function call or
 * a socket away, nobody here can tell. The config server takes part under the
 * reserved id `config`: it holds the databases `config` and `admin`, but no
 * chunk and no user's data.
 */
import type { Endpoint, Reply, Request } from "../../protocol/index.js";
import {
  CommandError,
  EndpointUnreachableError,
  ErrorCode,
  failureOf,
  isOk,
  request,
} from "../../protocol/index.js";

/** The id under which the config server is asked. */
export const CONFIG_SHARD = "config";

/** One shard. */
export interface Shard {
  /** e.g. `shardA` */
  readonly id: string;
  /** Its connection string, as in `config.shards`: `shardA/127.0.0.1:27018`. */
  readonly host: string;
  readonly endpoint: Endpoint;
}

/** The set of shards, by id. */
export class ShardRegistry {
  readonly #config: Shard;
  readonly #connect: (connectionString: string) => Endpoint;
  #shards = new Map<string, Shard>();

  constructor(config: Shard, connect: (connectionString: string) => Endpoint) {
    this.#config = config;
    this.#connect = connect;
  }

  /** Ids in ascending order, without the config server. */
  get ids(): string[] {
    return [...this.#shards.keys()];
  }

  /** All shards in ascending order of their ids. */
  get all(): Shard[] {
    return [...this.#shards.values()];
  }

  has(id: string): boolean {
    return this.#shards.has(id);
  }

  /**
   * A shard by its id, or the config server.
   * @throws CommandError ShardNotFound (70)
   */
  get(id: string): Shard {
    const shard = id === CONFIG_SHARD ? this.#config : this.#shards.get(id);
    if (!shard) throw new CommandError(ErrorCode.ShardNotFound, `Shard ${id} not found`);
    return shard;
  }

  /** An endpoint for a server that is not (yet) a shard. */
  connect(connectionString: string): Endpoint {
    return this.#connect(connectionString);
  }

  /** Takes over the list as `config.shards` has it now; known endpoints are kept. */
  replace(shards: readonly { id: string; host: string }[]): void {
    const next = new Map<string, Shard>();
    for (const { id, host } of [...shards].sort((a, b) => (a.id < b.id ? -1 : 1))) {
      const known = this.#shards.get(id);
      next.set(id, known?.host === host ? known : { id, host, endpoint: this.#connect(host) });
    }
    this.#shards = next;
  }

  /**
   * Sends a command to a shard.
   * @returns the shard's reply, which may be a failure
   * @throws CommandError HostUnreachable (6), naming the shard, when no reply came
   */
  async run(id: string, command: Request): Promise<Reply> {
    const { endpoint, host } = this.get(id);
    try {
      return await endpoint.run(command);
    } catch (error) {
      if (!(error instanceof EndpointUnreachableError)) throw error;
      const failure = new CommandError(
        ErrorCode.HostUnreachable,
        `Could not reach shard ${id} at ${host}: ${error.message}`,
        { shard: id },
      );
      failure.remedy = `start shard ${id} again, or leave out what needs it`;
      throw failure;
    }
  }

  /**
   * Sends a command that must succeed.
   * @throws CommandError with the shard's own code and message
   */
  async must(id: string, db: string, command: object | Uint8Array): Promise<Uint8Array> {
    const reply = await this.run(id, request(db, command));
    if (!isOk(reply)) throw failureOf(reply);
    return reply.body;
  }
}
