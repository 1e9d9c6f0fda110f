/** `balancerStop`: keeps the balancer from running, and waits for the round that is running. */
import type { Command } from "../context.js";
import { setBalancerStopped } from "../support/balancerMode.js";

export const balancerStop: Command = {
  name: "balancerStop",
  adminOnly: true,
  fields: [],
  async run(context) {
    const reply = await setBalancerStopped(context, true);
    await context.balancer.idle();
    return reply;
  },
};
