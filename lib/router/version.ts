/** What the router says about itself. It never pretends to be MongoDB's own program: see `modules`. */

/** The server version it speaks like. Rules don't change it: today's clients must connect under any. */
export const SERVER_VERSION = "8.2.6-shardlab";
/** The same as numbers. */
export const VERSION_ARRAY: readonly number[] = [8, 2, 6, 0];
/** Named by buildInfo, so that nobody takes the simulation for the real thing. */
export const MODULES: readonly string[] = ["shardlab simulated mongos"];
/** Range of wire versions; 27 belongs to 8.2. */
export const WIRE_VERSIONS = { min: 0, max: 27 } as const;
/** Limits that drivers plan their batches by. */
export const LIMITS = {
  maxBsonObjectSize: 16 * 1024 * 1024,
  maxMessageSizeBytes: 48_000_000,
  maxWriteBatchSize: 100_000,
} as const;
