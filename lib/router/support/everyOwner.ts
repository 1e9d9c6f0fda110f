/**
 * Commands on a collection that every shard which has it answers for itself: the reply is the first shard's, with
 * each shard's reply under its name.
 */
import { DocumentWriter, forEachField } from "../../bson/index.js";
import type { Reply, Request } from "../../protocol/index.js";
import { collectionNamespace, okReply } from "../../protocol/index.js";
import type { RouterContext } from "../context.js";
import { homeOf } from "../context.js";
import { askShards } from "../merging/scatter.js";
import { withCollection } from "./collections.js";
import { forwardedRequest } from "./forward.js";

/**
 * Asks the shards that own chunks of the command's collection, or the one that has it whole.
 * @throws the failure of the first shard, by name, that failed
 */
export function askEveryOwner(context: RouterContext, request: Request): Promise<Reply> {
  const ns = collectionNamespace(request);
  return withCollection(context, ns, async (collection) => {
    const owners = collection?.chunks.owningShards() ?? [homeOf(context, request.db, ns).shard];
    const command = forwardedRequest(request);
    const replies = await askShards(context, owners, () => command);
    const answer = new DocumentWriter();
    const [first] = replies;
    if (first) {
      forEachField(first.reply.body, (name, value) => {
        if (name !== "ok" && !name.startsWith("$") && name !== "operationTime") answer.field(name, value);
      });
    }
    for (const { shard, reply } of replies) answer.document(shard, reply.body);
    return okReply(answer.finish());
  });
}
