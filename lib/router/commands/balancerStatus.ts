/**
 * `balancerStatus`: whether the balancer may run, and what it has done (facts-mongos.md §3.2).
 *
 * On a virtual clock a round's time passes after each answer: whoever waits for the balancer by asking sees it work.
 */
import { DocumentWriter } from "../../bson/index.js";
import { okReply } from "../../protocol/index.js";
import type { Command } from "../context.js";

export const balancerStatus: Command = {
  name: "balancerStatus",
  adminOnly: true,
  fields: [],
  async run(context) {
    const { balancer, catalog } = context;
    const reply = okReply(
      new DocumentWriter()
        .string("mode", catalog.settings.balancerMode)
        .bool("inBalancerRound", balancer.inRound)
        .int64("numBalancerRounds", BigInt(balancer.rounds))
        .finish(),
    );
    await balancer.turn(context);
    return reply;
  },
};
