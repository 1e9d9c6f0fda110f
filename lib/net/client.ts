/**
 * Makes any MongoDB server an endpoint.
 *
 * Requests borrow a connection from a pool, so that several run at once; each
 * connection carries one request at a time, because a MongoDB server answers
 * the requests of one connection one after the other anyway.
 *
 * A connection that breaks fails the request it carried and is forgotten. The
 * request is not repeated: nobody here knows whether it was a write that has
 * already happened. The next request connects anew, so a server that comes back
 * on its address is used again without further ado.
 *
 * A server that hangs is found out in two ways: a command's own `maxTimeMS` ends
 * the wait for it, and {@link LifeSigns} gives up a server that says nothing.
 */
import { connect } from "node:net";
import type { Endpoint, PoolStatistics, Reply, Request } from "../protocol/index.js";
import { EndpointUnreachableError, request as requestTo } from "../protocol/index.js";
import { Deadline, timeIsOver } from "./deadline.js";
import { LifeSigns } from "./lifeSigns.js";
import { PooledConnection } from "./pooledConnection.js";

export interface TcpEndpointOptions {
  /** Most connections, and so most requests at once; further requests wait. Default 16. */
  readonly maxConnections?: number;
  /** Milliseconds to wait for a connection. Default 3000. */
  readonly connectTimeoutMS?: number;
  /** Milliseconds after which a silent server is asked for a sign of life, and then given up. Default 10000. */
  readonly silenceMS?: number;
}

/**
 * A MongoDB server somewhere on the network.
 * @example
 * const server = new TcpEndpoint("127.0.0.1:27017");
 * replyDocument(await server.run(request("admin", { ping: 1 })));   // { ok: 1 }
 * server.close();
 */
export class TcpEndpoint implements Endpoint {
  /** `host:port` */
  readonly address: string;
  readonly #host: string;
  readonly #port: number;
  readonly #maxConnections: number;
  readonly #connectTimeoutMS: number;
  /** Connections at rest, the most recently used last. */
  readonly #idle: PooledConnection[] = [];
  readonly #open = new Set<PooledConnection>();
  readonly #waiting: (() => void)[] = [];
  readonly #lifeSigns: LifeSigns;
  #busy = 0;
  #created = 0;
  #breaks = 0;
  #closed = false;

  /**
   * @param address `host:port`, `[::1]:port`, or `host` for port 27017
   * @throws TypeError for anything else
   */
  constructor(address: string, options: TcpEndpointOptions = {}) {
    const { host, port } = parseAddress(address);
    this.address = address;
    this.#host = host;
    this.#port = port;
    this.#maxConnections = Math.max(1, options.maxConnections ?? 16);
    this.#connectTimeoutMS = options.connectTimeoutMS ?? 3_000;
    this.#lifeSigns = new LifeSigns({
      silenceMS: options.silenceMS ?? 10_000,
      isAwaited: () => this.#busy > 0,
      ask: (timeoutMS) => this.#hello(timeoutMS),
      onSilent: () => {
        for (const connection of this.#open) connection.destroy("the server gives no sign of life");
      },
    });
  }

  get pool(): PoolStatistics {
    return {
      inUse: this.#open.size - this.#idle.length,
      available: this.#idle.length,
      created: this.#created,
    };
  }

  get breaks(): number {
    return this.#breaks;
  }

  async run(request: Request): Promise<Reply> {
    const deadline = new Deadline(request);
    const wait = this.#acquire();
    if (wait) await wait;
    try {
      if (this.#closed) throw new EndpointUnreachableError(this.address, "the endpoint is closed", false);
      if (deadline.isOver) return timeIsOver();
      if (this.#lifeSigns.down)
        throw new EndpointUnreachableError(this.address, "it gives no sign of life", false);
      const connection = this.#idle.pop() ?? (await this.#connect());
      this.#lifeSigns.expecting();
      const reply = await deadline.endsWait(connection.run(request), () => connection.destroy());
      if (connection.usable && !this.#closed) this.#idle.push(connection);
      return reply;
    } finally {
      this.#release();
    }
  }

  /** Drops every connection; requests under way, and later ones, fail. */
  close(): void {
    this.#closed = true;
    this.#lifeSigns.end();
    this.#idle.length = 0;
    for (const connection of this.#open) connection.destroy();
  }

  /** Asks on a connection of its own, which nothing else waits for. */
  async #hello(timeoutMS: number): Promise<void> {
    const connection = await this.#connect(timeoutMS);
    const timer = setTimeout(() => connection.destroy(), timeoutMS).unref();
    try {
      await connection.run(requestTo("admin", { hello: 1 }), false);
    } finally {
      clearTimeout(timer);
      connection.destroy();
    }
  }

  /** Waits for one of the places in the pool. */
  #acquire(): Promise<void> | undefined {
    if (this.#busy < this.#maxConnections) {
      this.#busy++;
      return undefined;
    }
    return new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Hands the place on to who waits longest. */
  #release(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#busy--;
  }

  async #connect(timeoutMS = this.#connectTimeoutMS): Promise<PooledConnection> {
    const socket = connect({ host: this.#host, port: this.#port, noDelay: true });
    await new Promise<void>((resolve, reject) => {
      const fail = (cause: unknown): void => {
        socket.destroy();
        reject(new EndpointUnreachableError(this.address, cause, false));
      };
      const timer = setTimeout(() => fail(`no connection within ${timeoutMS} ms`), timeoutMS);
      socket.once("error", (error) => {
        clearTimeout(timer);
        fail(error);
      });
      socket.once("connect", () => {
        clearTimeout(timer);
        resolve();
      });
    });
    const connection = new PooledConnection(socket, this.address, {
      onData: () => this.#lifeSigns.heard(),
      onClose: (broken) => this.#forget(connection, broken),
    });
    this.#open.add(connection);
    this.#created += 1;
    if (this.#closed) connection.destroy();
    return connection;
  }

  #forget(connection: PooledConnection, broken: boolean): void {
    if (broken) this.#breaks += 1;
    this.#open.delete(connection);
    const index = this.#idle.indexOf(connection);
    if (index >= 0) this.#idle.splice(index, 1);
  }
}

function parseAddress(address: string): { host: string; port: number } {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]/\s]+))(?::(\d{1,5}))?$/.exec(address);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3] ?? 27_017);
  if (!host || port < 1 || port > 65_535) {
    throw new TypeError(`'${address}' is not a server address; write it as host:port`);
  }
  return { host, port };
}
