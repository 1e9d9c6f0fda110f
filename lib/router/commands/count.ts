/**
 * `count`: the sum of the shards' counts.
 *
 * With skip and limit every shard counts up to limit + skip, and the router
 * applies skip, then limit, to the sum (facts-mongos.md §6).
 */
import { asNumber, DocumentWriter, getField, int64 } from "../../bson/index.js";
import { collectionNamespace, okReply } from "../../protocol/index.js";
import { compileFilter } from "../../query/index.js";
import type { Command } from "../context.js";
import { documentField, expressionOptions, optionalCount } from "../context.js";
import { askShards } from "../merging/scatter.js";
import { withCollection } from "../support/collections.js";
import { forwardedRequest } from "../support/forward.js";
import { answerByOneShard, answerUnsharded, refuseCommandCollation } from "../support/reading.js";
import { targetFilter } from "../targeting/target.js";
import { traceTargeted } from "../trace.js";

export const count: Command = {
  name: "count",
  run(context, request) {
    const ns = collectionNamespace(request);
    return withCollection(context, ns, async (collection) => {
      if (!collection) return answerUnsharded(context, request, ns);
      refuseCommandCollation(request);
      const target = targetFilter(
        compileFilter(documentField(request, "query"), expressionOptions(context, request)).node,
        collection,
      );
      if (target.shards.length === 1) return answerByOneShard(context, request, collection, target);

      const skip = optionalCount(request, "skip") ?? 0;
      const limit = optionalCount(request, "limit") || undefined;
      const command = forwardedRequest(request, {
        skip: undefined,
        limit: limit === undefined ? undefined : int64(limit + skip),
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

/** What is left of n results after skip, then limit. */
export function windowed(n: number, skip: number, limit: number | undefined): number {
  return Math.min(Math.max(0, n - skip), limit ?? Infinity);
}
