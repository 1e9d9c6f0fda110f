/** The embedded shard: a mongod that answers commands in this process. */
export { Mongod } from "./mongod.js";
export type {
  CommandLine,
  ConnectionCounts,
  HostInfo,
  MemoryUse,
  MongodOptions,
  ShutdownRequest,
} from "./options.js";
export { ServerParameters } from "./parameters.js";
export { LogRing, newServerLogs, type ServerLogs } from "./serverLogs.js";
