/** The embedded shard. */
export type { MongodOptions } from "./mongod.js";
export { Mongod, MONGOD_VERSION } from "./mongod.js";
