/**
 * `setDefaultRWConcern`: the concerns of operations that name none. The config server checks and keeps them; every
 * set has one member here, which satisfies each of them.
 */
import { CONFIG_SHARD } from "../catalog/shards.js";
import type { Command } from "../context.js";
import { forwardedRequest } from "../support/forward.js";

export const setDefaultRWConcern: Command = {
  name: "setDefaultRWConcern",
  adminOnly: true,
  fields: ["defaultReadConcern", "defaultWriteConcern"],
  help: "set the current read/write concern defaults (cluster-wide)",
  run: (context, request) => context.shards.run(CONFIG_SHARD, forwardedRequest(request)),
};
