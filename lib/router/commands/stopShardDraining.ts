/** `stopShardDraining`: a shard that was on its way out stays, and gets chunks again (facts-mongos.md §8.4). */
import { okReply } from "../../protocol/index.js";
import { SHARD_LIST } from "../catalog/shards.js";
import type { Command } from "../context.js";
import { checkNotConfig, checkShardExists } from "../ddl/shardRemoval.js";
import { stringArgument } from "../support/arguments.js";

/** @since MongoDB 8.3 */
export const stopShardDraining: Command = {
  name: "stopShardDraining",
  adminOnly: true,
  fields: [],
  async run(context, request) {
    const id = stringArgument(request, request.command);
    checkNotConfig(id, request.command);
    await context.locks.whileExclusive(SHARD_LIST, async () => {
      checkShardExists(context, id);
      if (context.shards.get(id).draining) await context.catalog.stopDraining(id);
    });
    return okReply();
  },
};
