/**
 * `removeShard`: takes a shard out of the cluster, in three answers (facts-mongos.md §8.4).
 *
 *     started     it is marked as draining: nothing new is placed on it, the balancer takes its chunks away
 *     ongoing     chunks or databases are still on it; databases leave by movePrimary or dropDatabase
 *     completed   nothing is left; its document in config.shards is gone
 *
 * Whoever removes a shard asks again and again. On a virtual clock a round of the balancer runs after each "ongoing".
 */
import { DocumentWriter } from "../../bson/index.js";
import type { Reply } from "../../protocol/index.js";
import { okReply } from "../../protocol/index.js";
import { SHARD_LIST } from "../catalog/shards.js";
import type { Command, RouterContext } from "../context.js";
import {
  addWhatToMove,
  checkRemovable,
  completeRemoval,
  isEmpty,
  remainingDocument,
  remainingOn,
  startDraining,
  whileNothingMoves,
} from "../ddl/shardRemoval.js";
import { stringArgument } from "../support/arguments.js";

export const removeShard: Command = {
  name: "removeShard",
  aliases: ["removeshard"],
  adminOnly: true,
  fields: [],
  async run(context, request) {
    const id = stringArgument(request, request.command);
    const started = await context.locks.whileExclusive(SHARD_LIST, async () => {
      await checkRemovable(context, id);
      return context.shards.get(id).draining ? undefined : start(context, id);
    });
    if (started) return started;
    const reply = await whileNothingMoves(context, () => goOn(context, id));
    await context.balancer.turn(context);
    return reply;
  },
};

async function start(context: RouterContext, id: string): Promise<Reply> {
  await startDraining(context, id);
  const answer = new DocumentWriter()
    .string("msg", "draining started successfully")
    .string("state", "started")
    .string("shard", id);
  return okReply(addWhatToMove(context, answer, await remainingOn(context, id)).finish());
}

async function goOn(context: RouterContext, id: string): Promise<Reply> {
  await checkRemovable(context, id);
  const left = await remainingOn(context, id);
  if (isEmpty(left)) {
    await completeRemoval(context, id);
    return okReply({ msg: "removeshard completed successfully", state: "completed", shard: id });
  }
  const answer = new DocumentWriter()
    .string("msg", "draining ongoing")
    .string("state", "ongoing")
    .document("remaining", remainingDocument(context, left));
  return okReply(addWhatToMove(context, answer, left).finish());
}
