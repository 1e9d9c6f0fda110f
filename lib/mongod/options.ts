/** How to make a mongod: everything that it cannot know by itself is given to it here. */
import type {
  CommandLine,
  ConnectionCounts,
  Environment,
  HostInfo,
  MemoryUse,
  NetworkUse,
  ShutdownRequest,
} from "../protocol/index.js";
import type { ServerLogs } from "./serverLogs.js";
import type { Journal } from "./storage/journal.js";

export type { CommandLine, ConnectionCounts, HostInfo, MemoryUse, NetworkUse, ShutdownRequest };

/** Where a server's data outlasts it. */
export interface ServerStorage {
  /** The frames of the journal that an earlier server left, in pieces of whole frames. */
  readonly frames: Iterable<Uint8Array>;
  /**
   * Called once, when everything of it is read: from now on what happens is in `journal`, to be taken and kept before
   * each reply goes out.
   * @param snapshot everything that is there, as the first frames of a fresh journal; can be asked for at any time
   */
  start(journal: Journal, snapshot: () => Iterable<Uint8Array>): void;
}

/** How to make a `Mongod`. Only `environment` and `host` must be given. */
export interface MongodOptions {
  readonly environment: Environment;
  /** `host:port` it calls itself by in `hello.me`, `$collStats` and explain. */
  readonly host: string;
  /** Name of the replica set whose only member it is (a shard's id, e.g. `shardA`); absent: standalone. */
  readonly replSet?: string;
  /**
   * Whether the set has its configuration from the start (default true). With false it waits for `replSetInitiate`
   * as a freshly started `mongod --replSet` does, and takes no writes until then.
   */
  readonly initiated?: boolean;
  /** What it was started as, where it is part of a cluster; a config server says so in `hello`. */
  readonly clusterRole?: "configsvr" | "shardsvr";
  /** Whether its set may have members beside it, which ask it (`lib/bin/follower.ts`); else such a set is refused. */
  readonly severalMembers?: boolean;
  /** What buildInfo reports; `SERVER_VERSION` when absent. */
  readonly version?: string;
  /** How the program was started, for getCmdLineOpts and serverStatus. */
  readonly commandLine?: CommandLine;
  /**
   * Server parameters of the command line (`--setParameter name=value`), by name. The constructor throws a
   * CommandError for one that does not exist (72), that does not take the value (2) or is not simulated (238).
   */
  readonly parameters?: Readonly<Record<string, string>>;
  /** The machine it runs on, for hostInfo. */
  readonly hostInfo?: () => HostInfo;
  /** The memory of its process, for `serverStatus.mem`. */
  readonly memory?: () => MemoryUse;
  /** Its open connections, for `serverStatus.connections`. */
  readonly connections?: () => ConnectionCounts;
  /** What went over its connections, for `serverStatus.network`. */
  readonly network?: () => NetworkUse;
  /** Number of its process, for `serverStatus.pid`. */
  readonly pid?: number;
  /** Absent: everything is in memory and gone at the end. */
  readonly storage?: ServerStorage;
  /** What getLog shows; the program's logger writes into it. */
  readonly logs?: ServerLogs;
  /** Start the log file anew, for `logRotate`. */
  readonly onLogRotate?: () => void;
  /**
   * A client sent `shutdown`. Called before the reply goes out; the program ends itself soon after.
   * Absent: the mongod closes itself, as by `close()`.
   */
  readonly onShutdown?: (request: ShutdownRequest) => void;
}
