/** Reaching a resharding that is going on: what the commit and abort commands of all three kinds do. */
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { RouterContext } from "../context.js";
import type { Provenance } from "./plan.js";
import type { RunningResharding } from "./running.js";

/**
 * The operation of a namespace.
 * @throws CommandError NoSuchReshardCollection (339)
 */
export function runningOf(
  { resharding }: RouterContext,
  ns: string,
  provenance: Provenance,
): RunningResharding {
  const running = resharding.get(ns);
  if (running?.plan.provenance === provenance) return running;
  throw new CommandError(ErrorCode.NoSuchReshardCollection, `no ${provenance} of ${ns} is in progress`);
}

/**
 * Takes an operation back and waits until it is.
 * @throws CommandError NoSuchReshardCollection (339), ReshardCollectionCommitted (340) when it is too late
 */
export async function abortRunning(
  context: RouterContext,
  ns: string,
  provenance: Provenance,
): Promise<void> {
  const running = runningOf(context, ns, provenance);
  if (!running.isDecided) {
    running.ask("abort");
    const { error } = await running.over;
    if (error !== undefined) return;
  }
  throw new CommandError(ErrorCode.ReshardCollectionCommitted, `the ${provenance} of ${ns} was committed`);
}
