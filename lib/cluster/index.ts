/** Boots clusters, and the process that owns them. */
export { banner } from "./banner.js";
export type { ClusterInfo, ServerInfo } from "./cluster.js";
export { Cluster } from "./cluster.js";
export type { Progress } from "./engines/engine.js";
export { ownProgramPath } from "./engines/ownProgram.js";
export { ClusterError, ClusterErrorCode } from "./error.js";
export type { ClusterOptions, EngineName, ResolvedOptions } from "./options.js";
export { parseChunkSize, resolveOptions } from "./options.js";
export type { RandomSource } from "./random.js";
export { seededRandom } from "./random.js";
export type { HostChannel, HostMethods } from "./host/channel.js";
export { serveChannel } from "./host/serve.js";
export { HostLabs } from "./host/labs.js";
export { connectHost, ForkedHost, forkHost, HOST_CHANNEL } from "./host/fork.js";
