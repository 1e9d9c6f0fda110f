/** `commitShardRemoval`: the last step of removing a shard that is empty (facts-mongos.md §8.4). */
import { CommandError, ErrorCode, okReply } from "../../protocol/index.js";
import type { Command } from "../context.js";
import {
  checkNotConfig,
  checkRemovable,
  completeRemoval,
  isEmpty,
  remainingOn,
  whileNothingMoves,
} from "../ddl/shardRemoval.js";
import { stringArgument } from "../support/arguments.js";

/** @since MongoDB 8.3 */
export const commitShardRemoval: Command = {
  name: "commitShardRemoval",
  adminOnly: true,
  fields: [],
  async run(context, request) {
    const id = stringArgument(request, request.command);
    checkNotConfig(id, request.command);
    await whileNothingMoves(context, async () => {
      // One that is gone is gone: whoever did not get the answer may ask again.
      if (!context.shards.has(id)) return;
      if (!context.shards.get(id).draining) {
        throw new CommandError(
          ErrorCode.ConflictingOperationInProgress,
          `Shard ${id} is not being drained, so it can't be removed`,
        );
      }
      await checkRemovable(context, id);
      if (!isEmpty(await remainingOn(context, id))) {
        throw new CommandError(ErrorCode.IllegalOperation, `Shard ${id} is not completely drained yet`);
      }
      await completeRemoval(context, id);
    });
    return okReply();
  },
};
