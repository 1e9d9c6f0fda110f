/** What the router says about itself. It never pretends to be MongoDB's own program: see `modules`. */
import { MAX_BSON_OBJECT_BYTES, MAX_MESSAGE_BYTES, MAX_WRITE_BATCH } from "../protocol/index.js";

/** The release it speaks like. Rules don't change it: today's clients must connect under any. */
export { SERVER_VERSION, WIRE_VERSIONS } from "../protocol/index.js";
/** The same as numbers. */
export const VERSION_ARRAY: readonly number[] = [8, 2, 6, 0];
/** Named by buildInfo, so that nobody takes the simulation for the real thing. */
export const MODULES: readonly string[] = ["shardlab simulated mongos"];
/** Limits that drivers plan their batches by. */
export const LIMITS = {
  maxBsonObjectSize: MAX_BSON_OBJECT_BYTES,
  maxMessageSizeBytes: MAX_MESSAGE_BYTES,
  maxWriteBatchSize: MAX_WRITE_BATCH,
} as const;
