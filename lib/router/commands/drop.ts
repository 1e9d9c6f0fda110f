/** `drop`: the collection goes from every shard and from the catalog. */
import { DocumentWriter } from "../../bson/index.js";
import { collectionNamespace, CommandError, ErrorCode, okReply } from "../../protocol/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { Command, RouterContext } from "../context.js";
import { withCollectionAlone } from "../support/collections.js";
import { afterConfigWrite } from "../support/configWrites.js";
import { answerUnsharded } from "../support/reading.js";

export const drop: Command = {
  name: "drop",
  run(context, request) {
    const ns = collectionNamespace(request);
    return withCollectionAlone(context, ns, async (collection) => {
      if (!collection) return afterConfigWrite(context, request, await answerUnsharded(context, request, ns));
      await dropSharded(context, collection);
      return okReply(new DocumentWriter().string("ns", ns).finish());
    });
  },
};

/** Drops a sharded collection everywhere. The caller holds it alone. */
export async function dropSharded(context: RouterContext, collection: ShardedCollection): Promise<void> {
  const { catalog, shards } = context;
  await catalog.log("dropCollection.start", collection.ns);
  // The catalog first: a collection without chunks is unsharded, documents without a catalog entry are nobody's.
  await catalog.dropCollection(collection);
  context.cursors.collectionDropped(collection.ns);
  for (const shard of shards.ids) {
    try {
      await shards.must(shard, collection.db, { drop: collection.name });
    } catch (error) {
      if (!(error instanceof CommandError) || error.code !== ErrorCode.NamespaceNotFound) throw error;
    }
  }
  await catalog.log("dropCollection", collection.ns);
}
