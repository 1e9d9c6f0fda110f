/** Writes to an unsharded collection go whole to the shard that has it, mostly the database's primary shard. */
import type { Reply, Request } from "../../protocol/index.js";
import type { RouterContext } from "../context.js";
import { afterConfigWrite, checkConfigWrite } from "../support/configWrites.js";
import { withDatabase } from "../support/databases.js";
import { forwardedRequest } from "../support/forward.js";
import { traceUnsharded } from "../trace.js";

/**
 * Passes a write on as it came. A database that does not exist is created first, whatever the write will do: a mongos
 * does not look into it (§1.1).
 * @param sent how many documents or statements it has
 */
export async function writeUnsharded(
  context: RouterContext,
  request: Request,
  ns: string,
  sent?: number,
): Promise<Reply> {
  await checkConfigWrite(context, request);
  return withDatabase(context, request.db, async ({ primary }) => {
    const shard = context.catalog.tracked(ns)?.shard ?? primary;
    const record = traceUnsharded(request.command, ns, shard, context.environment.now());
    if (sent !== undefined) record.shards[0]!.sent = sent;
    context.trace.add(record);
    const reply = await context.shards.run(shard, forwardedRequest(request));
    return afterConfigWrite(context, request, reply);
  });
}
