/**
 * `count`: the sum of the shards' counts.
 *
 * With skip and limit every shard counts up to limit + skip, and the router
 * applies skip, then limit, to the sum (facts-mongos.md §6).
 */
import { asNumber, DocumentWriter, getField } from "../../bson/index.js";
import type { Request } from "../../protocol/index.js";
import { okReply } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { optionalCount, optionalNumber } from "../context.js";
import { limitOfShards } from "../merging/findPlan.js";
import { askShards } from "../merging/scatter.js";
import { forwardedRequest } from "../support/forward.js";
import { answerTargeted } from "../support/reading.js";
import { traceTargeted } from "../trace.js";
import { readView } from "../views/index.js";

export const count: Command = {
  name: "count",
  async run(context, request) {
    const viewed = await readView(context, request);
    if (viewed) return viewed;
    return answerTargeted(context, request, "query", async ({ collection, target }) => {
      const skip = optionalCount(request, "skip") ?? 0;
      const limit = countLimit(request);
      const command = forwardedRequest(request, {
        skip: undefined,
        limit: limitOfShards(limit, skip),
      });
      const record = traceTargeted("count", collection, target, context.environment.now());
      record.merge = { kind: "count", ...(skip && { skip }), ...(limit && { limit }) };
      const replies = await askShards(context, target.shards, () => command, record);
      let sum = 0;
      for (const { shard, reply } of replies) {
        const n = asNumber(getField(reply.body, "n")!);
        sum += n;
        const work = record.shards.find((entry) => entry.shard === shard);
        if (work) work.returned = n;
      }
      context.trace.add(record);
      return okReply(new DocumentWriter().int32("n", windowed(sum, skip, limit)).finish());
    });
  },
};

/** The `limit` of a count; a negative one means the same as its positive value, 0 means none. */
export function countLimit(request: Request): number | undefined {
  return Math.abs(optionalNumber(request, "limit") ?? 0) || undefined;
}

/** What is left of n results after skip, then limit. */
function windowed(n: number, skip: number, limit: number | undefined): number {
  return Math.min(Math.max(0, n - skip), limit ?? Infinity);
}
