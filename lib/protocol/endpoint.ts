/**
 * The one interface that carries the system.
 *
 * The embedded shard, the router and a remote server are all endpoints:
 * something that answers MongoDB commands. `net/server` puts any endpoint on a
 * TCP port, `net/client` makes any TCP server an endpoint, and the router holds
 * one endpoint for each shard. In-process shards are a function call away, a
 * real mongod is a socket away, and the router cannot tell them apart.
 *
 * Commands and documents travel as raw BSON slices. Nobody decodes a document
 * that it only passes on.
 */

/** Who sent a request; set by `net/server`, absent for in-process callers. */
export interface ClientInfo {
  /** Number of the connection, as `hello` reports it in `connectionId`. */
  readonly connectionId: number;
  /** `host:port` of the peer. */
  readonly address: string;
}

/**
 * Hashes that the sender of some documents has computed: a router, to find each document's chunk. A shard in the same
 * process need not compute them again for a hashed index on that path. They never travel over a wire.
 */
export interface KnownHashes {
  /** Path of the hashed field, e.g. `device.id`. */
  readonly path: string;
  /** For each document the two words of its hash64, low before high. */
  readonly words: Int32Array;
}

/** One MongoDB command with its document sequences. */
export interface Request {
  /** Database the command runs in (`$db`). */
  readonly db: string;
  /** Command name: the name of the first element of `body`, as the client spelt it. */
  readonly command: string;
  /** The command document, raw BSON, as it came (with `$db`, `lsid`, … if the client sent them). */
  readonly body: Uint8Array;
  /**
   * Document sequences (OP_MSG kind 1 sections) by identifier, e.g. `documents`
   * of an insert. Each element is one raw BSON document. A sequence means the
   * same as an array field of that name in `body`.
   */
  readonly sequences: ReadonlyMap<string, readonly Uint8Array[]>;
  /** The connection it came from, where there is one. */
  readonly client?: ClientInfo;
  /** Every document in it was found to be well-formed when its message was read: nobody has to look again. */
  readonly checked?: true;
  /** Its whole message was no longer than one document may be: no document in it is. */
  readonly small?: boolean | undefined;
  /** Of an insert whose documents are a sequence. */
  readonly hashes?: KnownHashes | undefined;
}

/** The answer to a request. */
export interface Reply {
  /** The reply document, raw BSON, with `ok` and, on failure, `code`, `codeName` and `errmsg`. */
  readonly body: Uint8Array;
}

/**
 * Answers MongoDB commands.
 *
 * A command that fails is a normal reply with `ok: 0`. The promise rejects only
 * where no reply exists at all: the peer is gone ({@link EndpointUnreachableError}).
 */
export interface Endpoint {
  run(request: Request): Promise<Reply>;
  /**
   * How many connections to it have broken. Where the number has grown, the server behind it may be another
   * process than before. Absent where there is no connection that could break: a server in this process, which never
   * rejects and leaves the time out of its replies.
   */
  readonly breaks?: number;
  /** Its connections, where there are any. */
  readonly pool?: PoolStatistics;
}

/** The connections to a server. */
export interface PoolStatistics {
  /** Those with a request on them. */
  readonly inUse: number;
  /** Those at rest. */
  readonly available: number;
  /** All that were ever made. */
  readonly created: number;
}

/** No reply could be had: the server behind a `net/client` endpoint is gone or not there. */
export class EndpointUnreachableError extends Error {
  override readonly name = "EndpointUnreachableError";
  /** `host:port` that was tried. */
  readonly address: string;
  /** False where the request has certainly never reached the server; true where nobody knows. */
  readonly mayHaveRun: boolean;

  constructor(address: string, cause?: unknown, mayHaveRun = true) {
    const detail = cause instanceof Error ? cause.message : String(cause ?? "connection closed");
    super(`cannot reach ${address}: ${detail}`, { cause });
    this.address = address;
    this.mayHaveRun = mayHaveRun;
  }
}

/** What the engine takes from outside, so that it can run anywhere and repeat itself for a seed. */
export interface Environment {
  /** Wall clock, milliseconds since 1970. */
  readonly now: () => number;
  /** Uniform in [0, 1); seeded. */
  readonly random: () => number;
  /** One structured log entry; never contains user data at level "info". */
  readonly log?: (level: "debug" | "info" | "warn", message: string, attributes?: object) => void;
  /**
   * Calls back once after so many milliseconds, and keeps no process alive for it; returns what calls it off.
   * Absent: work that is due is done when the next command comes.
   */
  readonly setTimer?: (callback: () => void, milliseconds: number) => () => void;
}
