/**
 * `startShardDraining`: the first step of removing a shard, on its own (facts-mongos.md §8.4). The balancer takes its
 * chunks away from now on; `shardDrainingStatus` says how far it is, `commitShardRemoval` ends it, `stopShardDraining`
 * takes it back.
 */
import { okReply } from "../../protocol/index.js";
import { SHARD_LIST } from "../catalog/shards.js";
import type { Command } from "../context.js";
import { checkNotConfig, checkRemovable, startDraining } from "../ddl/shardRemoval.js";
import { stringArgument } from "../support/arguments.js";

/** @since MongoDB 8.3 */
export const startShardDraining: Command = {
  name: "startShardDraining",
  adminOnly: true,
  fields: [],
  async run(context, request) {
    const id = stringArgument(request, request.command);
    checkNotConfig(id, request.command);
    await context.locks.whileExclusive(SHARD_LIST, async () => {
      await checkRemovable(context, id);
      if (!context.shards.get(id).draining) await startDraining(context, id);
    });
    return okReply();
  },
};
