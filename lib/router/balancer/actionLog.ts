/**
 * config.actionlog: a document for every round of the balancer that had something to do (facts-mongos.md §3.4).
 * sh.status() counts the failed ones among the last five.
 *
 *     {what: "balancer.round", time, details: {executionTimeMillis, errorOccurred: false, candidateChunks: 2, chunksMoved: 2}}
 */
import { DocumentWriter } from "../../bson/index.js";
import type { RouterContext } from "../context.js";
import { quietly } from "../ddl/fanOut.js";
import type { Round } from "./round.js";

/** Writes the entry of a round. A round is not undone because that fails. */
export async function logRound(context: RouterContext, round: Round, milliseconds: number): Promise<void> {
  const { migrations, errors } = round;
  const failed = errors[0] ?? migrations.find(({ error }) => error)?.error;
  if (migrations.length === 0 && !failed) return;
  const details = new DocumentWriter()
    .int32("executionTimeMillis", Math.round(milliseconds))
    .bool("errorOccurred", failed !== undefined);
  if (failed) details.string("errmsg", failed.message);
  details
    .int32("candidateChunks", migrations.length)
    .int32("chunksMoved", migrations.filter(({ error }) => !error).length);
  await quietly(context, "config.actionlog was not written", () =>
    context.catalog.log("balancer.round", "", details.finish(), undefined, "actionlog"),
  );
}
