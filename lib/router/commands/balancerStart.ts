/** `balancerStart`: lets the balancer run. */
import type { Command } from "../context.js";
import { setBalancerStopped } from "../support/balancerMode.js";

export const balancerStart: Command = {
  name: "balancerStart",
  adminOnly: true,
  fields: [],
  run: (context) => setBalancerStopped(context, false),
};
