/**
 * What must not happen while a collection is being resharded (facts-mongos.md §8.2): changes of its definition, of its
 * indexes and of its chunks, for the copy would not have them.
 */
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { RouterContext } from "../context.js";

/**
 * Refuses an operation on a collection that is being resharded, moved or unsharded. To be called with the collection
 * alone: a resharding begins with the collection alone too.
 * @throws CommandError ReshardCollectionInProgress (338)
 */
export function checkNotResharding({ resharding }: RouterContext, ns: string): void {
  if (!resharding.isEmpty && resharding.get(ns)) throw inProgress(ns);
}

/**
 * Refuses an operation on a database of which a collection is being resharded.
 * @throws CommandError ReshardCollectionInProgress (338)
 */
export function checkDatabaseNotResharding({ resharding }: RouterContext, db: string): void {
  const found = resharding.all.find(({ plan }) => plan.ns.startsWith(`${db}.`));
  if (found) throw inProgress(found.plan.ns);
}

/**
 * Refuses what no resharding anywhere allows: shards that come or go.
 * @throws CommandError ReshardCollectionInProgress (338)
 */
export function checkNothingResharding({ resharding }: RouterContext): void {
  const [found] = resharding.all;
  if (found) throw inProgress(found.plan.ns);
}

/** The error of what has to wait. */
export function inProgress(ns: string): CommandError {
  return new CommandError(ErrorCode.ReshardCollectionInProgress, `the collection ${ns} is being resharded`);
}
