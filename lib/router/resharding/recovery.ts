/** Reshardings that an earlier router has left in the middle. */
import type { RouterContext } from "../context.js";
import { finishReshardingSometime } from "./finish.js";
import { allOperations } from "./operations.js";

/**
 * Brings every resharding to its end that config.reshardingOperations still knows: forward where it was decided, else
 * back. Those that are going on in this router are left alone.
 * @throws CommandError when the config server can't be read
 */
export async function recoverResharding(context: RouterContext): Promise<void> {
  for (const { ns, uuid } of await allOperations(context)) {
    if (!context.resharding.get(ns)) await finishReshardingSometime(context, ns, uuid);
  }
}
