/**
 * `shardDrainingStatus`: what is still on a shard that is being removed (facts-mongos.md §8.4). On a virtual clock a round
 * of the balancer runs after each answer that says "ongoing".
 */
import { DocumentWriter } from "../../bson/index.js";
import { CommandError, ErrorCode, okReply } from "../../protocol/index.js";
import type { Command } from "../context.js";
import {
  addWhatToMove,
  bytesOn,
  checkNotConfig,
  checkShardExists,
  isEmpty,
  remainingDocument,
  remainingOn,
} from "../ddl/shardRemoval.js";
import { stringArgument } from "../support/arguments.js";

/** @since MongoDB 8.3 */
export const shardDrainingStatus: Command = {
  name: "shardDrainingStatus",
  adminOnly: true,
  fields: [],
  async run(context, request) {
    const id = stringArgument(request, request.command);
    checkNotConfig(id, request.command);
    checkShardExists(context, id);
    if (!context.shards.get(id).draining) {
      throw new CommandError(ErrorCode.IllegalOperation, `Shard ${id} is not being drained`);
    }
    const left = await remainingOn(context, id);
    if (isEmpty(left))
      return okReply({ msg: "draining completed successfully", state: "drainingComplete", shard: id });
    const answer = new DocumentWriter()
      .string("msg", "draining ongoing")
      .string("state", "ongoing")
      .document("remaining", remainingDocument(context, left, await bytesOn(context, id)));
    const reply = okReply(addWhatToMove(context, answer, left).finish());
    await context.balancer.turn(context);
    return reply;
  },
};
