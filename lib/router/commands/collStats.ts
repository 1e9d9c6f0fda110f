/** `collStats`: the owning shards' statistics and their sums (facts-mongos.md §6). */
import { asNumber, DocumentWriter, getField, isNumeric } from "../../bson/index.js";
import { collectionNamespace, okReply } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { askShards } from "../merging/scatter.js";
import { withCollection } from "../support/collections.js";
import { forwardedRequest } from "../support/forward.js";
import { answerUnsharded } from "../support/reading.js";

/** Numbers that add up over shards. */
const SUMMED = ["count", "size", "storageSize", "totalIndexSize", "totalSize", "numOrphanDocs"];

export const collStats: Command = {
  name: "collStats",
  aliases: ["collstats"],
  run(context, request) {
    const ns = collectionNamespace(request);
    return withCollection(context, ns, async (collection) => {
      if (!collection) return answerUnsharded(context, request, ns);
      const command = forwardedRequest(request);
      const replies = await askShards(context, collection.chunks.owningShards(), () => command);
      const sums = new Map(SUMMED.map((name) => [name, 0]));
      const perShard = new DocumentWriter();
      let bytes = 0;
      for (const { shard, reply } of replies) {
        for (const name of SUMMED) sums.set(name, sums.get(name)! + numberIn(reply.body, name));
        // Not from `size`, which a `scale` has divided.
        bytes += numberIn(reply.body, "avgObjSize") * numberIn(reply.body, "count");
        perShard.document(shard, reply.body);
      }
      const answer = new DocumentWriter().bool("sharded", true).bool("capped", false).string("ns", ns);
      for (const [name, sum] of sums) answer.double(name, sum);
      const count = sums.get("count")!;
      if (count > 0) answer.double("avgObjSize", Math.floor(bytes / count));
      return okReply(
        answer
          .double("nindexes", Math.max(...replies.map(({ reply }) => numberIn(reply.body, "nindexes"))))
          .int32("nchunks", collection.chunks.size)
          .double("scaleFactor", Math.max(...replies.map(({ reply }) => numberIn(reply.body, "scaleFactor"))))
          .document("shards", perShard.finish())
          .finish(),
      );
    });
  },
};

function numberIn(body: Uint8Array, name: string): number {
  const value = getField(body, name);
  return value && isNumeric(value) ? asNumber(value) : 0;
}
