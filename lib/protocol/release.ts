/** Which MongoDB release the simulated servers speak like: one place for shard and router. */

/** What `buildInfo` reports: the line it follows, marked as not being MongoDB's own program. */
export const SERVER_VERSION = "8.2.6-shardlab";

/** Range of wire versions in `hello`; 27 belongs to 8.2. */
export const WIRE_VERSIONS = { min: 0, max: 27 } as const;
