/** `balancerStatus`: whether the balancer may run (facts-mongos.md §3.2). */
import { DocumentWriter } from "../../bson/index.js";
import { okReply } from "../../protocol/index.js";
import type { Command } from "../context.js";

export const balancerStatus: Command = {
  name: "balancerStatus",
  adminOnly: true,
  fields: [],
  run(context) {
    const { balancerStopped } = context.catalog.settings;
    return okReply(
      new DocumentWriter()
        .string("mode", balancerStopped ? "off" : "full")
        .bool("inBalancerRound", false)
        .int64("numBalancerRounds", 0n)
        .finish(),
    );
  },
};
