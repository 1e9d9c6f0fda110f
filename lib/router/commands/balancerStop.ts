/** `balancerStop`: keeps the balancer from running. */
import type { Command } from "../context.js";
import { setBalancerStopped } from "../support/balancerMode.js";

export const balancerStop: Command = {
  name: "balancerStop",
  adminOnly: true,
  fields: [],
  run: (context) => setBalancerStopped(context, true),
};
