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
 */
import type { Socket } from "node:net";
import { connect } from "node:net";
import type { Endpoint, Reply, Request } from "../protocol/index.js";
import { encodeMsgRequest, EndpointUnreachableError, errorReply, parseMsgReply } from "../protocol/index.js";
import { MessageReader } from "./reader.js";

export interface TcpEndpointOptions {
  /** Most connections, and so most requests at once; further requests wait. Default 16. */
  readonly maxConnections?: number;
  /** Milliseconds to wait for a connection. Default 5000. */
  readonly connectTimeoutMS?: number;
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
  #busy = 0;
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
    this.#connectTimeoutMS = options.connectTimeoutMS ?? 5_000;
  }

  async run(request: Request): Promise<Reply> {
    await this.#acquire();
    try {
      if (this.#closed) throw new EndpointUnreachableError(this.address, "the endpoint is closed");
      const connection = this.#idle.pop() ?? (await this.#connect());
      const reply = await connection.run(request);
      if (connection.usable && !this.#closed) this.#idle.push(connection);
      return reply;
    } finally {
      this.#release();
    }
  }

  /** Drops every connection; requests under way, and later ones, fail. */
  close(): void {
    this.#closed = true;
    this.#idle.length = 0;
    for (const connection of this.#open) connection.destroy();
  }

  /** Waits for one of the places in the pool. */
  async #acquire(): Promise<void> {
    if (this.#busy < this.#maxConnections) {
      this.#busy++;
      return;
    }
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Hands the place on to who waits longest. */
  #release(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#busy--;
  }

  async #connect(): Promise<PooledConnection> {
    const socket = connect({ host: this.#host, port: this.#port, noDelay: true });
    await new Promise<void>((resolve, reject) => {
      const fail = (cause: unknown): void => {
        socket.destroy();
        reject(new EndpointUnreachableError(this.address, cause));
      };
      const timer = setTimeout(
        () => fail(`no connection within ${this.#connectTimeoutMS} ms`),
        this.#connectTimeoutMS,
      );
      socket.once("error", (error) => {
        clearTimeout(timer);
        fail(error);
      });
      socket.once("connect", () => {
        clearTimeout(timer);
        resolve();
      });
    });
    const connection = new PooledConnection(socket, this.address, () => this.#forget(connection));
    this.#open.add(connection);
    if (this.#closed) connection.destroy();
    return connection;
  }

  #forget(connection: PooledConnection): void {
    this.#open.delete(connection);
    const index = this.#idle.indexOf(connection);
    if (index >= 0) this.#idle.splice(index, 1);
  }
}

/** One connection and the request it carries. */
class PooledConnection {
  readonly #socket: Socket;
  readonly #address: string;
  readonly #reader = new MessageReader();
  #requests = 0;
  #pending: { id: number; resolve: (reply: Reply) => void; reject: (error: Error) => void } | undefined;
  #error: Error | undefined;

  constructor(socket: Socket, address: string, onClose: () => void) {
    this.#socket = socket;
    this.#address = address;
    socket.on("data", (chunk) => this.#receive(chunk));
    socket.on("error", (error) => (this.#error ??= error));
    socket.on("end", () => socket.destroy());
    socket.on("close", () => {
      onClose();
      this.#fail(this.#error);
    });
  }

  get usable(): boolean {
    return !this.#socket.destroyed && this.#pending === undefined;
  }

  destroy(): void {
    this.#socket.destroy();
  }

  run(request: Request): Promise<Reply> {
    const id = (this.#requests = (this.#requests + 1) & 0x7fffffff);
    let pieces: Uint8Array[];
    try {
      pieces = encodeMsgRequest(request, id);
    } catch (error) {
      return Promise.resolve(errorReply(error));
    }
    return new Promise((resolve, reject) => {
      this.#pending = { id, resolve, reject };
      if (this.#socket.destroyed) return this.#fail(this.#error);
      this.#socket.ref(); // a request under way keeps the process alive, an idle connection does not
      this.#socket.cork();
      for (const piece of pieces) this.#socket.write(piece);
      this.#socket.uncork();
    });
  }

  #receive(chunk: Uint8Array): void {
    const messages: Uint8Array[] = [];
    try {
      this.#reader.push(chunk, messages);
      for (const message of messages) this.#settle(message);
    } catch (error) {
      this.#error ??= error as Error;
      this.#socket.destroy();
    }
  }

  #settle(message: Uint8Array): void {
    const { responseTo, reply } = parseMsgReply(message);
    const pending = this.#pending;
    if (pending?.id !== responseTo) throw new Error(`reply to request ${responseTo}, which nobody made`);
    this.#pending = undefined;
    this.#socket.unref();
    pending.resolve(reply);
  }

  #fail(cause: unknown): void {
    const pending = this.#pending;
    this.#pending = undefined;
    pending?.reject(new EndpointUnreachableError(this.#address, cause));
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
