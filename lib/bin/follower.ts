/**
 * The members of a replica set beside the one with the data.
 *
 *     client ── find, secondaryOk ──► follower ── find ──► primary
 *     client ── insert ─────────────► follower: 10107 NotWritablePrimary
 *
 * In MongoDB a secondary copies what the primary does, and one of them takes over when it is gone. Here nothing is
 * copied: a follower says that it is a secondary, keeps its own database `local`, and asks the primary for all else it
 * may be asked. So it is never behind, and clients and tools that want three members find three; but when the primary
 * is gone, nobody takes over until it is started again.
 *
 * Members learn of a configuration from the one that got it, by `_shardlabFollow`.
 */
import {
  asDocument,
  asNumber,
  asString,
  BsonType,
  DocumentWriter,
  elements,
  getField,
} from "../bson/index.js";
import { toleratesSecondary } from "../mongod/availability.js";
import type { Mongod } from "../mongod/index.js";
import { TcpEndpoint } from "../net/index.js";
import type { Endpoint, Reply, Request } from "../protocol/index.js";
import {
  CommandError,
  EndpointUnreachableError,
  ErrorCode,
  errorReply,
  isOk,
  okReply,
  request as requestTo,
} from "../protocol/index.js";

/** How long until a member that did not answer is told again, in milliseconds. */
const RETRY_MS = 2_000;

/** What a primary tells the others. */
const FOLLOW = "_shardlabFollow";

/** Reads that a secondary answers where the client allows it. */
const READS: ReadonlySet<string> = new Set([
  "aggregate",
  "collStats",
  "count",
  "dataSize",
  "dbHash",
  "dbStats",
  "distinct",
  "explain",
  "find",
  "listCollections",
  "listDatabases",
  "listIndexes",
  "validate",
]);
/** What goes on with a read, wherever that runs. */
const CURSORS: ReadonlySet<string> = new Set(["getMore", "killCursors"]);

/** This server's part in a replica set of several members. */
export class Followers {
  readonly #mongod: Mongod;
  readonly #others = new Map<string, TcpEndpoint>();
  #closed = false;

  constructor(mongod: Mongod) {
    this.#mongod = mongod;
  }

  /** What clients of this member meet. */
  readonly endpoint: Endpoint = {
    breaks: 0,
    run: async (request) => {
      try {
        return await this.#run(request);
      } catch (error) {
        return errorReply(error);
      }
    },
  };

  /** Tells the other members what is in force; for a primary that was started again. */
  announce(): void {
    const set = this.#mongod.replicaSet;
    if (set && set.primary === this.#mongod.host) void this.#tellAll();
  }

  /** Drops the connections to the other members. */
  close(): void {
    this.#closed = true;
    for (const endpoint of this.#others.values()) endpoint.close();
  }

  async #run(request: Request): Promise<Reply> {
    switch (request.command) {
      case FOLLOW:
        return this.#follow(request);
      case "replSetInitiate":
        await this.#checkQuorum(request);
        return this.#configure(request);
      case "replSetReconfig":
        return this.#configure(request);
      default:
        return this.#isForPrimary(request) ? this.#askPrimary(request) : this.#mongod.member.run(request);
    }
  }

  #isForPrimary(request: Request): boolean {
    const { command, db } = request;
    if (db === "local" || !(READS.has(command) || CURSORS.has(command))) return false;
    const set = this.#mongod.replicaSet;
    if (!set || set.primary === this.#mongod.host) return false;
    return CURSORS.has(command) || toleratesSecondary(request);
  }

  async #askPrimary(request: Request): Promise<Reply> {
    const primary = this.#mongod.replicaSet?.primary ?? "";
    try {
      return await this.#other(primary).run(request);
    } catch (error) {
      if (!(error instanceof EndpointUnreachableError)) throw error;
      throw new CommandError(
        ErrorCode.NotPrimaryOrSecondary,
        `the primary that this member follows is gone: ${error.message}`,
      );
    }
  }

  /** MongoDB takes a first configuration only where every member answers. */
  async #checkQuorum(request: Request): Promise<void> {
    const failed: string[] = [];
    await Promise.all(
      hostsOf(request).map(async (host) => {
        if (host === this.#mongod.host) return;
        try {
          await this.#other(host).run(requestTo("admin", { ping: 1 }));
        } catch (error) {
          failed.push(`${host} failed with ${error instanceof Error ? error.message : String(error)}`);
        }
      }),
    );
    if (failed.length === 0) return;
    throw new CommandError(
      ErrorCode.NodeNotFound,
      `replSetInitiate quorum check failed because not all proposed set members responded affirmatively: ${failed.join(", ")}`,
    );
  }

  async #configure(request: Request): Promise<Reply> {
    const reply = await this.#mongod.member.run(request);
    if (isOk(reply)) await this.#tellAll();
    return reply;
  }

  /** Tells every other member once before it returns; those that don't answer are told again later. */
  async #tellAll(): Promise<void> {
    const set = this.#mongod.replicaSet;
    if (!set) return;
    const others = set.members.filter((host) => host !== this.#mongod.host);
    const told = await Promise.all(others.map((host) => this.#tell(host, set.config, set.term)));
    if (this.#closed || told.every(Boolean)) return;
    setTimeout(() => {
      const now = this.#mongod.replicaSet;
      if (now?.primary === this.#mongod.host) void this.#tellAll();
    }, RETRY_MS).unref();
  }

  /** @returns whether there was an answer */
  async #tell(host: string, config: Uint8Array, term: number): Promise<boolean> {
    const command = new DocumentWriter().document(FOLLOW, config).int32("term", term).finish();
    try {
      await this.#other(host).run(requestTo("admin", command));
      return true;
    } catch {
      return false;
    }
  }

  #follow({ body }: Request): Reply {
    const config = getField(body, FOLLOW);
    const term = getField(body, "term");
    if (config?.type !== BsonType.object || term?.type !== BsonType.int32) {
      throw new CommandError(ErrorCode.TypeMismatch, `${FOLLOW} takes a configuration and a term`);
    }
    this.#mongod.follow(asDocument(config).slice(), asNumber(term));
    return okReply();
  }

  #other(host: string): TcpEndpoint {
    let endpoint = this.#others.get(host);
    if (!endpoint) this.#others.set(host, (endpoint = new TcpEndpoint(host)));
    return endpoint;
  }
}

/** The members' addresses in the configuration of a replSetInitiate; what is malformed is the command's to refuse. */
function hostsOf({ body }: Request): string[] {
  const config = getField(body, "replSetInitiate");
  const members = config?.type === BsonType.object ? getField(asDocument(config), "members") : undefined;
  if (members?.type !== BsonType.array) return [];
  const list = elements(asDocument(members));
  // One member is this server or no member at all, which the command finds out.
  if (list.length < 2 || list.length > 50) return [];
  return list.flatMap((member) => {
    const host = member.type === BsonType.object ? getField(asDocument(member), "host") : undefined;
    return host?.type === BsonType.string ? [asString(host)] : [];
  });
}
