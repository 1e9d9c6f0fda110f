/** How to make a mongod: everything that it cannot know by itself is given to it here. */
import type { Environment } from "../protocol/index.js";
import type { ServerLogs } from "./serverLogs.js";

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

/** A command line as getCmdLineOpts shows it. */
export interface CommandLine {
  /** The words, program first: `["mongod", "--port", "27018"]`. */
  readonly argv: readonly string[];
  /** What they mean, in the shape of a configuration file: `{net: {port: 27018}}`. */
  readonly parsed: Readonly<Record<string, unknown>>;
}

/** The machine, as hostInfo shows it. */
export interface HostInfo {
  readonly hostname: string;
  readonly memSizeMB: number;
  /** What the process may use of it; the same when absent. */
  readonly memLimitMB?: number;
  readonly numCores: number;
  /** E.g. `x86_64`. */
  readonly cpuArch: string;
  readonly os: {
    /** E.g. `Linux`. */
    readonly type: string;
    /** E.g. `Debian GNU/Linux 12`. */
    readonly name: string;
    readonly version: string;
  };
  /** Further figures, as they come. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** Memory of a process in bytes. */
export interface MemoryUse {
  readonly resident: number;
  readonly virtual?: number;
}

/** Connections of a server. */
export interface ConnectionCounts {
  readonly current: number;
  /** How many more it would take. */
  readonly available: number;
  /** All since it started. */
  readonly totalCreated: number;
}

/** Bytes over a server's connections since it started. */
export interface NetworkUse {
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/** What `shutdown` asked for. */
export interface ShutdownRequest {
  readonly force: boolean;
  /** Seconds that secondaries would get to catch up; there are none. */
  readonly timeoutSecs: number;
}
