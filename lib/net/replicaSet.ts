/**
 * Makes a replica set an endpoint: whatever is asked goes to its primary.
 *
 *     shardA/host1:27018,host2:27018 ──hello──► host1  secondary, primary is host2
 *                                    ──hello──► host2  primary ◄── every request from now on
 *
 * The primary is looked for when it is first needed, and again once it can't be reached or says that it is the primary
 * no longer. A request that a member refused for not being primary has not run, and is sent to the primary; one whose
 * connection broke is not repeated, as in {@link TcpEndpoint}.
 */
import { asNumber, asString, BsonType, getField, isTruthy } from "../bson/index.js";
import type { Endpoint, PoolStatistics, Reply, Request } from "../protocol/index.js";
import { EndpointUnreachableError, ErrorCode, isOk, request as requestTo } from "../protocol/index.js";
import type { TcpEndpointOptions } from "./client.js";
import { TcpEndpoint } from "./client.js";

/** A member that answers so has not run the request. */
const NOT_PRIMARY: ReadonlySet<number> = new Set<number>([
  ErrorCode.NotWritablePrimary,
  ErrorCode.NotPrimaryNoSecondaryOk,
]);

/** Members that others may name, beyond those of the connection string: a set has at most 50. */
const MOST_MEMBERS = 50;

/**
 * Makes an endpoint from a connection string as config.shards has it.
 * @param connectionString `<set>/<host>:<port>,…` for a replica set, `<host>:<port>` for one server
 * @throws TypeError for anything else
 * @example const shard = connectTo("shardA/127.0.0.1:27018");
 */
export function connectTo(
  connectionString: string,
  options: TcpEndpointOptions = {},
): TcpEndpoint | ReplicaSetEndpoint {
  return connectionString.includes("/")
    ? new ReplicaSetEndpoint(connectionString, options)
    : new TcpEndpoint(connectionString, options);
}

/** A replica set somewhere on the network. */
export class ReplicaSetEndpoint implements Endpoint {
  /** As it was given: `<set>/<host>:<port>,…` */
  readonly address: string;
  readonly #name: string;
  readonly #options: TcpEndpointOptions;
  readonly #members = new Map<string, TcpEndpoint>();
  #primary: TcpEndpoint | undefined;
  #search: Promise<TcpEndpoint> | undefined;

  /** @throws TypeError where it is not `<set>/<host>:<port>,…` */
  constructor(connectionString: string, options: TcpEndpointOptions = {}) {
    const slash = connectionString.indexOf("/");
    if (slash <= 0)
      throw new TypeError(`'${connectionString}' names no replica set; write <set>/<host>:<port>`);
    this.address = connectionString;
    this.#name = connectionString.slice(0, slash);
    this.#options = options;
    for (const host of connectionString.slice(slash + 1).split(",")) {
      this.#members.set(host, new TcpEndpoint(host, options));
    }
  }

  get breaks(): number {
    return this.#sum((member) => member.breaks);
  }

  get pool(): PoolStatistics {
    return {
      inUse: this.#sum(({ pool }) => pool.inUse),
      available: this.#sum(({ pool }) => pool.available),
      created: this.#sum(({ pool }) => pool.created),
    };
  }

  async run(request: Request): Promise<Reply> {
    const reply = await this.#runOn(this.#primary ?? (await this.#find()), request);
    if (isOk(reply) || !isNotPrimary(reply)) return reply;
    this.#primary = undefined;
    return this.#runOn(await this.#find(), request);
  }

  /** Drops every connection; requests under way, and later ones, fail. */
  close(): void {
    for (const member of this.#members.values()) member.close();
  }

  async #runOn(member: TcpEndpoint, request: Request): Promise<Reply> {
    try {
      return await member.run(request);
    } catch (error) {
      if (this.#primary === member) this.#primary = undefined;
      throw error;
    }
  }

  /** Whoever needs the primary meanwhile waits for the same search. */
  #find(): Promise<TcpEndpoint> {
    return (this.#search ??= this.#ask().finally(() => (this.#search = undefined)));
  }

  async #ask(): Promise<TcpEndpoint> {
    const asked = new Set<string>();
    for (;;) {
      const next = [...this.#members].filter(([host]) => !asked.has(host));
      if (next.length === 0) break;
      const answers = await Promise.all(
        next.map(async ([host, member]) => {
          asked.add(host);
          return this.#isPrimary(member);
        }),
      );
      const found = next.find((_, index) => answers[index])?.[1];
      if (found) return (this.#primary = found);
    }
    throw new EndpointUnreachableError(this.address, `no member of ${this.#name} is its primary`, false);
  }

  /** Asks a member; one that names another primary makes it known. */
  async #isPrimary(member: TcpEndpoint): Promise<boolean> {
    let hello: Uint8Array;
    try {
      hello = (await member.run(requestTo("admin", { hello: 1 }))).body;
    } catch (error) {
      if (error instanceof EndpointUnreachableError) return false;
      throw error;
    }
    const name = textField(hello, "setName");
    if (name !== undefined && name !== this.#name) return false;
    const isPrimary = getField(hello, "isWritablePrimary");
    if (isPrimary && isTruthy(isPrimary)) return true;
    const primary = textField(hello, "primary");
    if (primary !== undefined) this.#learn(primary);
    return false;
  }

  #learn(host: string): void {
    if (this.#members.has(host) || this.#members.size >= MOST_MEMBERS) return;
    try {
      this.#members.set(host, new TcpEndpoint(host, this.#options));
    } catch {
      // What another server says need not be an address.
    }
  }

  #sum(of: (member: TcpEndpoint) => number): number {
    return [...this.#members.values()].reduce((sum, member) => sum + of(member), 0);
  }
}

function isNotPrimary({ body }: Reply): boolean {
  const code = getField(body, "code");
  return code?.type === BsonType.int32 && NOT_PRIMARY.has(asNumber(code));
}

function textField(document: Uint8Array, name: string): string | undefined {
  const value = getField(document, name);
  return value?.type === BsonType.string ? asString(value) : undefined;
}
