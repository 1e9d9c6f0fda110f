/**
 * The router as a server: what it runs in, what it has been told to be, what it has done. Commands about the server
 * (`serverStatus`, `currentOp`, `getParameter`, …) read it; routing needs nothing of it.
 */
import type {
  CommandLine,
  ConnectionCounts,
  HostInfo,
  MemoryUse,
  NetworkUse,
  Request,
  ShutdownRequest,
} from "../../protocol/index.js";
import { ParameterSet, ServerStatistics } from "../../protocol/index.js";
import { ROUTER_PARAMETERS } from "./parameters.js";
import { TargetingCounts } from "./targetingCounts.js";

/** The logs that getLog knows. */
export const LOG_NAMES = ["global", "startupWarnings"] as const;
export type LogName = (typeof LOG_NAMES)[number];

/** The latest lines of a log. */
export interface KeptLog {
  /** Number of lines ever written. */
  readonly total: number;
  /** The lines that are left, oldest first. */
  lines(): string[];
}

/** What whoever runs the router tells it of its process; by itself it looks at nothing. */
export interface RouterProcess {
  /** How it was started, for getCmdLineOpts. */
  readonly commandLine?: CommandLine;
  /** The machine, for hostInfo. */
  readonly hostInfo?: () => HostInfo;
  /** The memory of its process, for `serverStatus.mem`. */
  readonly memory?: () => MemoryUse;
  /** Its open connections, for `serverStatus.connections`. */
  readonly connections?: () => ConnectionCounts;
  /** What went over its connections, for `serverStatus.network`. */
  readonly network?: () => NetworkUse;
  /** Number of its process, for `serverStatus.pid`. */
  readonly pid?: number;
  /** What it has logged, for getLog. Absent: no log is kept. */
  readonly logs?: Readonly<Record<LogName, KeptLog>>;
  /** A client sent `logRotate`. Absent: there is no file to start anew. */
  readonly onLogRotate?: () => void;
  /** A client sent `shutdown`. Called before the reply goes out. Absent: the command is refused. */
  readonly onShutdown?: (request: ShutdownRequest) => void;
}

/** A command that has come and is not answered yet. */
export interface RunningOperation {
  readonly request: Request;
  /** Milliseconds of the router's clock. */
  readonly since: number;
}

/** What a router knows of itself. */
export class ServerState {
  readonly statistics = new ServerStatistics();
  readonly parameters = new ParameterSet(ROUTER_PARAMETERS);
  readonly targeting = new TargetingCounts();
  /** By operation number, oldest first. */
  readonly running = new Map<number, RunningOperation>();
  /** What `profile` sets: for the log of slow operations, which is not kept. */
  readonly profile = { slowms: 100, sampleRate: 1 };

  /**
   * @param startup parameters by name, as a command line has them
   * @throws CommandError InvalidOptions (72) for an unknown one, BadValue (2) for a value it does not take
   */
  constructor(
    readonly process: RouterProcess = {},
    startup: Readonly<Record<string, string>> = {},
  ) {
    for (const [name, text] of Object.entries(startup)) this.parameters.setFromText(name, text);
  }
}
