/**
 * What a command is, and how it reads its arguments.
 *
 * A command file declares the fields it understands. Everything else is refused
 * the way MongoDB does it (`BSON field 'find.foo' is an unknown field.`, 40415),
 * and fields that MongoDB understands but the engine doesn't are refused with
 * code 238: nothing that would change an answer is ignored.
 */
import type { Arguments, Environment, LogicalClock, Reply, Request } from "../protocol/index.js";
import type { OnSecondary } from "./availability.js";
import type { CursorRegistry } from "./cursors.js";
import type { FsyncLock } from "./fsyncLock.js";
import type { ObjectIds } from "./objectIds.js";
import type { MongodOptions, ShutdownRequest } from "./options.js";
import type { ServerParameters } from "./parameters.js";
import type { Verbosity } from "./planner/explain.js";
import type { Interrupt } from "./planner/interrupt.js";
import type { ReplicaSet } from "./replication/replicaSet.js";
import type { ServerLogs } from "./serverLogs.js";
import type { ServerSettings } from "./serverSettings.js";
import type { SessionCatalog } from "./sessions.js";
import type { ServerStatistics } from "../protocol/index.js";
import type { Catalog } from "./storage/catalog.js";

/** The state that commands work on. */
export interface Server {
  readonly environment: Environment;
  /** Moves on with every write. */
  readonly clock: LogicalClock;
  readonly catalog: Catalog;
  readonly cursors: CursorRegistry;
  readonly sessions: SessionCatalog;
  readonly objectIds: ObjectIds;
  /** `host:port` it calls itself by. */
  readonly host: string;
  /** Replica set name, where it is a member of one. */
  readonly replSet: string | undefined;
  /** The replica set that it is a member of, in its present state. */
  readonly replication: ReplicaSet | undefined;
  readonly version: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** What it was made with. */
  readonly options: MongodOptions;
  readonly parameters: ServerParameters;
  readonly settings: ServerSettings;
  readonly logs: ServerLogs;
  /** What it has done so far. */
  readonly statistics: ServerStatistics;
  readonly fsyncLock: FsyncLock;
  /** Begins to shut the server down. */
  shutdown(request: ShutdownRequest): void;
}

/** One command being run. */
export interface CommandContext {
  readonly server: Server;
  readonly request: Request;
  readonly arguments: Arguments;
  /** Ends the command when its `maxTimeMS` is over. */
  readonly interrupt: Interrupt;
}

/** A command of the server. */
export interface Command {
  /** The name that clients send. */
  readonly name: string;
  readonly aliases?: readonly string[];
  /** Fields beside the name and the generic ones. */
  readonly fields: readonly string[];
  /** Fields of MongoDB that are refused unless they say nothing: name → what is not simulated. */
  readonly refused?: Readonly<Record<string, string>>;
  /** Accept any field that isn't refused: commands whose answer cannot depend on one, or that MongoDB reads so. */
  readonly lenient?: boolean;
  /** Changes data, and takes a `writeConcern`: always, or as the request says. */
  readonly writes?: boolean | ((request: Request) => boolean);
  /** Runs in the database `admin` only. */
  readonly adminOnly?: boolean;
  /** Whether a member that is not primary answers it; by default writes never, others where the client opts in. */
  readonly onSecondary?: OnSecondary;
  /** One sentence for `listCommands`. */
  readonly help?: string;
  run(context: CommandContext): Reply;
  /**
   * What `explain` answers for it: `queryPlanner` or `stages`, and from
   * verbosity executionStats on `executionStats`. Writes nothing.
   */
  explain?(context: CommandContext, verbosity: Verbosity): Record<string, unknown>;
}

/** Whether a command changes data. */
export function isWrite({ writes = false }: Command, request: Request): boolean {
  return typeof writes === "function" ? writes(request) : writes;
}

export { Arguments, isGeneric } from "../protocol/index.js";
