/** `getDefaultRWConcern`: the concerns of operations that name none. The config server keeps them for the cluster. */
import { CONFIG_SHARD } from "../catalog/shards.js";
import type { Command } from "../context.js";
import { forwardedRequest } from "../support/forward.js";

export const getDefaultRWConcern: Command = {
  name: "getDefaultRWConcern",
  adminOnly: true,
  fields: ["inMemory"],
  help: "get the current read/write concern defaults (cluster-wide)",
  run: (context, request) => context.shards.run(CONFIG_SHARD, forwardedRequest(request)),
};
