/** Puts any endpoint on a TCP port, so that every MongoDB client can talk to it. */
import type { AddressInfo, Socket } from "node:net";
import { createServer } from "node:net";
import type { Endpoint } from "../protocol/index.js";
import type { Log } from "./connection.js";
import { Connection } from "./connection.js";

export interface ServeOptions {
  /** Interface to listen on; `127.0.0.1` unless told otherwise. */
  readonly host?: string;
  /** 0 (default): any free port. */
  readonly port?: number;
  readonly log?: Log;
  /** Kept up to date; servers that share it number their connections in one row. */
  readonly counts?: ConnectionCounts;
  /** Connections beyond this many are dropped at once. */
  readonly maxConnections?: number;
}

/** Connections of one server, or of several that share the count. */
export interface ConnectionCounts {
  /** Open now. */
  current: number;
  /** Since the start. */
  total: number;
}

/** Bytes that went over a server's connections. */
export interface Traffic {
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/** An endpoint that listens. */
export interface TcpServer {
  readonly host: string;
  readonly port: number;
  /** `host:port` */
  readonly address: string;
  /** What went over its connections since it started. */
  traffic(): Traffic;
  /** Stops listening, drops every connection and resolves when the port is free again. */
  close(): Promise<void>;
}

/** The port could not be opened. */
export class ListenError extends Error {
  override readonly name = "ListenError";
  /** The system's code, e.g. `EADDRINUSE`. */
  readonly code: string;
  /** What to do about it. */
  readonly remedy: string;

  constructor(code: string, cause: string, remedy: string) {
    super(`${cause}; ${remedy}`);
    this.code = code;
    this.remedy = remedy;
  }
}

/**
 * Serves `endpoint` on TCP.
 *
 * @param endpoint what answers, or a function that makes it once the address is known (a mongod
 * tells clients its own address)
 * @param options where to listen
 * @throws ListenError when the port is in use, not allowed or not a port
 * @example
 * const server = await serve({ run: async () => okReply() });
 * console.log(`mongodb://${server.address}/`);
 * await server.close();
 */
export async function serve(
  endpoint: Endpoint | ((address: string) => Endpoint),
  options: ServeOptions = {},
): Promise<TcpServer> {
  const host = options.host ?? "127.0.0.1";
  const port = options.port ?? 0;
  const sockets = new Set<Socket>();
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    if (!Number.isInteger(port) || port < 0 || port > 65_535) throw badPort(port);
    // After the start this hears of failed accepts (too many open files): that client is lost, no other.
    server.on("error", (error: NodeJS.ErrnoException) => {
      if (server.listening) options.log?.("warn", "server error", { error: error.message });
      reject(explain(error, host, port));
    });
    server.listen({ host, port, exclusive: true }, resolve);
  });
  const bound = (server.address() as AddressInfo).port;
  const address = host.includes(":") ? `[${host}]:${bound}` : `${host}:${bound}`;

  /** Of the connections that have ended. */
  const gone = { bytesIn: 0, bytesOut: 0 };
  const traffic = (): Traffic => {
    const sum = { ...gone };
    for (const socket of sockets) {
      sum.bytesIn += socket.bytesRead;
      sum.bytesOut += socket.bytesWritten;
    }
    return sum;
  };

  let target: Endpoint;
  const { log, maxConnections = Infinity, counts = { current: 0, total: 0 } } = options;
  server.on("connection", (socket) => {
    const client = {
      connectionId: ++counts.total,
      address: `${socket.remoteAddress}:${socket.remotePort}`,
    };
    if (counts.current >= maxConnections) {
      log?.("warn", "connection refused because there are too many", client);
      socket.destroy();
      return;
    }
    sockets.add(socket);
    counts.current++;
    log?.("info", "connection accepted", { ...client, current: counts.current });
    socket.on("close", () => {
      sockets.delete(socket);
      gone.bytesIn += socket.bytesRead;
      gone.bytesOut += socket.bytesWritten;
      counts.current--;
      log?.("info", "connection ended", { ...client, current: counts.current });
    });
    new Connection(socket, target, client, log);
  });

  let closing: Promise<void> | undefined;
  const close = (): Promise<void> =>
    (closing ??= new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    }));

  try {
    target = typeof endpoint === "function" ? endpoint(address) : endpoint;
  } catch (error) {
    await close();
    throw error;
  }
  return { host, port: bound, address, traffic, close };
}

function badPort(port: unknown): ListenError {
  return new ListenError("EBADPORT", `${String(port)} is not a port`, "give a whole number from 0 to 65535");
}

function explain(error: NodeJS.ErrnoException, host: string, port: number): ListenError {
  const code = error.code ?? "ELISTEN";
  switch (code) {
    case "EADDRINUSE":
      return new ListenError(
        code,
        `port ${port} on ${host} is in use by another program`,
        "choose another port, or 0 for any free one",
      );
    case "EACCES":
      return new ListenError(
        code,
        `this user may not open port ${port}`,
        "choose a port above 1023, or 0 for any free one",
      );
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return new ListenError(code, `${host} is not an address of this machine`, "listen on 127.0.0.1");
    default:
      return new ListenError(code, `cannot listen on ${host}:${port} (${error.message})`, "try another port");
  }
}
