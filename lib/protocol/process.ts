/** What whoever runs a server tells it of its machine, its process and its connections; by itself it looks at nothing. */

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
