/**
 * The shards that a router can talk to.
 *
 * A shard is an id and an endpoint. Whether the endpoint is a function call or
 * a socket away, nobody here can tell. The config server takes part under the
 * reserved id `config`: it holds the databases `config` and `admin`, but no
 * chunk and no user's data.
 */
import { getField, NameSet, withoutFields } from "../../bson/index.js";
import type { Endpoint, Reply, Request } from "../../protocol/index.js";
import {
  CommandError,
  EndpointUnreachableError,
  ErrorCode,
  failureOf,
  isOk,
  request,
} from "../../protocol/index.js";
import { isRepeatable, unreachable } from "./unreachable.js";

/** How often a read is sent at most, as in MongoDB. */
const ATTEMPTS = 3;

/** The id under which the config server is asked. */
export const CONFIG_SHARD = "config";

/** The lock of the list of shards: its namespace, which clients who write it themselves take too. */
export const SHARD_LIST = "config.shards";

/** What a shard that did not answer has to be told first. Gets a registry that does not wait for debts itself. */
type Debt = (direct: ShardRegistry) => Promise<void>;

/** One shard. */
export interface Shard {
  /** e.g. `shardA` */
  readonly id: string;
  /** Its connection string, as in `config.shards`: `shardA/127.0.0.1:27018`. */
  readonly host: string;
  readonly endpoint: Endpoint;
  /** It is being removed: nothing new is placed on it. */
  draining: boolean;
  /** Its zones, `tags` in config.shards. */
  zones: readonly string[];
  /** Its endpoint's {@link Endpoint.breaks} when it was last known to have its collections. */
  knownBreaks?: number;
  /** Set while it is being given its collections again. */
  returning?: Promise<void> | undefined;
  /** See {@link ShardRegistry.owe}. */
  readonly owed: Debt[];
  /** Set while it is being sent what it is owed. */
  paying?: Promise<void> | undefined;
}

/** A shard's document in config.shards, as far as the router reads it. */
export type ShardEntry = Pick<Shard, "id" | "host"> & Partial<Pick<Shard, "draining" | "zones">>;

/** The set of shards, by id. */
export class ShardRegistry {
  readonly #config: Shard;
  readonly #connect: (connectionString: string) => Endpoint;
  #shards = new Map<string, Shard>();
  #onReturn: ((id: string, direct: ShardRegistry) => Promise<void>) | undefined;
  #waitsForDebts = true;

  constructor(config: ShardEntry & Pick<Shard, "endpoint">, connect: (connectionString: string) => Endpoint) {
    this.#config = { draining: false, zones: [], owed: [], ...config };
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

  /** Ids of the shards that may be given something new, ascending: those that are not draining. */
  get available(): string[] {
    return this.all.filter(({ draining }) => !draining).map(({ id }) => id);
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

  /**
   * Says what a shard needs whose connections broke, before anything else is sent to it.
   * @param work gets a registry that does not wait for this work itself
   */
  onReturn(work: (id: string, direct: ShardRegistry) => Promise<void>): void {
    this.#onReturn = work;
  }

  /** An endpoint for a server that is not (yet) a shard. */
  connect(connectionString: string): Endpoint {
    return this.#connect(connectionString);
  }

  /** Takes over the list as `config.shards` has it now; known endpoints are kept. */
  replace(shards: readonly ShardEntry[]): void {
    const next = new Map<string, Shard>();
    for (const { id, host, draining = false, zones = [] } of [...shards].sort((a, b) =>
      a.id < b.id ? -1 : 1,
    )) {
      const known = this.#shards.get(id);
      const same = known?.host === host ? known : undefined;
      if (same) Object.assign(same, { draining, zones });
      next.set(id, same ?? { id, host, endpoint: this.#connect(host), draining, zones, owed: [] });
    }
    this.#shards = next;
  }

  /**
   * Sends a command to a shard. A read whose connection breaks is sent again.
   * @returns the shard's reply, which may be a failure
   * @throws CommandError when no reply came, see {@link unreachable}
   */
  run(id: string, command: Request): Promise<Reply> {
    const shard = this.#shards.get(id);
    // A server in this process is never gone, and tells only its own clients the time.
    if (shard?.endpoint.breaks === undefined && shard?.owed.length === 0) return shard.endpoint.run(command);
    return this.#runRemote(id, command);
  }

  async #runRemote(id: string, command: Request): Promise<Reply> {
    const shard = this.get(id);
    const { endpoint } = shard;
    if (this.#onReturn && endpoint.breaks !== shard.knownBreaks) {
      await (shard.returning ??= this.#returned(shard, this.#onReturn).finally(
        () => (shard.returning = undefined),
      ));
    }
    if (shard.owed.length > 0 && this.#waitsForDebts) {
      await (shard.paying ??= this.#pay(shard).finally(() => (shard.paying = undefined)));
    }
    for (let attempt = 1; ; attempt++) {
      try {
        const reply = await endpoint.run(command);
        return withoutTimes(reply);
      } catch (error) {
        if (!(error instanceof EndpointUnreachableError)) throw error;
        if (error.mayHaveRun && attempt < ATTEMPTS && isRepeatable(command)) continue;
        throw unreachable(id, shard.host, error);
      }
    }
  }

  /**
   * Keeps a command for a shard that did not answer. It is sent before anything else is, and again until there is an
   * answer: a command that does the same when it runs twice.
   * @param nothingToDo code of the answer that says so, where that is a failure
   * @param paid called when the answer has come; must not fail
   */
  owe(id: string, command: Request, nothingToDo?: number, paid?: () => Promise<void>): void {
    this.oweWork(id, async (direct) => {
      const reply = await direct.run(id, command);
      const failure = isOk(reply) ? undefined : failureOf(reply);
      if (failure && failure.code !== nothingToDo) throw failure;
      await paid?.();
    });
  }

  /**
   * {@link owe} for more than one command.
   * @param work is done again until it succeeds; it gets a registry that does not wait for it
   */
  oweWork(id: string, work: (direct: ShardRegistry) => Promise<void>): void {
    this.get(id).owed.push(work);
  }

  /** @throws CommandError when there is still no answer */
  async #pay({ owed }: Shard): Promise<void> {
    const direct = this.#direct();
    direct.#waitsForDebts = false;
    for (let debt = owed[0]; debt; debt = owed[0]) {
      await debt(direct);
      owed.shift();
    }
  }

  /** Connections to the shard have broken: it may have been started anew. */
  async #returned(shard: Shard, work: (id: string, direct: ShardRegistry) => Promise<void>): Promise<void> {
    const { breaks } = shard.endpoint;
    if (shard !== this.#config && shard.knownBreaks !== undefined) await work(shard.id, this.#direct());
    shard.knownBreaks = breaks ?? 0;
  }

  /** The same servers, which are not asked what they need when they return. */
  #direct(): ShardRegistry {
    const direct = new ShardRegistry(this.#config, this.#connect);
    direct.#shards = this.#shards;
    return direct;
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

/** What a member of a replica set says of the time; the router says it itself. */
const TIMES = new NameSet([
  "$clusterTime",
  "operationTime",
  "$configTime",
  "$topologyTime",
  "$gleStats",
  "lastCommittedOpTime",
]);

function withoutTimes(reply: Reply): Reply {
  const { body } = reply;
  return getField(body, "$clusterTime") || getField(body, "operationTime")
    ? { body: withoutFields(body, TIMES) }
    : reply;
}
