/**
 * The simulated mongos: routes commands to shards by the shard key and merges
 * their answers. Start reading at router.ts, targeting/target.ts and
 * merging/streams.ts.
 */
export type { RouterOptions } from "./router.js";
export { Router } from "./router.js";
export type { Rules, RulesVersion } from "./rules.js";
export { RULES_VERSIONS, rulesFor } from "./rules.js";
export type { RoutingTraceEntry } from "./trace.js";
export { hashedSplitPoints } from "./keys/initialChunks.js";
