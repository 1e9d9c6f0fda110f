/** The embedded shard: a mongod that answers commands in this process. */
export { Mongod } from "./mongod.js";
export type {
  CommandLine,
  ConnectionCounts,
  HostInfo,
  MemoryUse,
  MongodOptions,
  ServerStorage,
  ShutdownRequest,
} from "./options.js";
export type { Journal } from "./storage/journal.js";
export { JournalError } from "./storage/restore.js";
export { ServerParameters } from "./parameters.js";
export { LogRing, newServerLogs, type ServerLogs } from "./serverLogs.js";
