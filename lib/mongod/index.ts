/** The embedded shard. */
export type { MongodOptions } from "./mongod.js";
export { Mongod } from "./mongod.js";
