/**
 * One unsharded collection as the oracle.
 *
 * Whatever the shard key, the chunks and the placement: a client must not be
 * able to tell a sharded collection from one on a single server, except where
 * MongoDB says so (order without a sort). So random data goes into both, random
 * splits and moves happen to one, and random operations must give the same.
 *
 *     values.ts       documents and shard keys         filters.ts    every operator
 *     pipelines.ts    aggregations                     operations.ts what clients do
 *     keyBounds.ts    filters whose shards are known   compare.ts    exactly, or by value
 *     world.ts        both sides, and their comparison
 */
import { EJSON } from "bson";
import type { Session } from "./equivalence/operations.js";
import type { Tally } from "./equivalence/world.js";
import { World } from "./equivalence/world.js";

export { filters } from "./equivalence/filters.js";
export { sessions, type Session } from "./equivalence/operations.js";
export { bodies, KEYS } from "./equivalence/values.js";

/**
 * Runs a session against both sides.
 * @returns what was compared
 * @throws Error that names the operation which both sides answered differently
 */
export async function runSession(session: Session): Promise<Tally> {
  const world = await World.start(session);
  try {
    for (const operation of session.operations) {
      await explaining(operation, () => world.perform(operation));
    }
    await world.checkEverything();
  } finally {
    world.close();
  }
  return world.tally;
}

/** The tally of no session at all. */
export const NOTHING: Tally = { operations: 0, rows: 0, refused: 0, narrowed: 0 };

/** Two tallies as one. */
export function addTally(x: Tally, y: Tally): Tally {
  return {
    operations: x.operations + y.operations,
    rows: x.rows + y.rows,
    refused: x.refused + y.refused,
    narrowed: x.narrowed + y.narrowed,
  };
}

/** A session has dozens of operations: an error says first of which one it speaks. */
async function explaining(operation: object, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(`${EJSON.stringify(operation)}: ${message}`, { cause: error });
  }
}
