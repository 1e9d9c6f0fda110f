/** `drop`: the collection goes from every shard and from the catalog, with its zone ranges. */
import { DocumentWriter } from "../../bson/index.js";
import type { Reply, Request } from "../../protocol/index.js";
import {
  bodyField,
  collectionNamespace,
  CommandError,
  ErrorCode,
  isOk,
  okReply,
  request as makeRequest,
} from "../../protocol/index.js";
import { forgetAnalyzers } from "../analyze/sampler.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { TrackedCollection } from "../catalog/tracked.js";
import type { Command, RouterContext } from "../context.js";
import { isConfigDatabase } from "../context.js";
import { dropWhole } from "../ddl/dropRecovery.js";
import { indexesOn } from "../ddl/shardCollections.js";
import { askShards } from "../merging/scatter.js";
import { checkNotResharding } from "../resharding/guard.js";
import { withCollectionAlone } from "../support/collections.js";
import { checkCollectionUuid } from "../support/collectionUuid.js";
import { answerUnsharded } from "../support/reading.js";

export const drop: Command = {
  name: "drop",
  fields: ["collectionUUID"],
  run(context, request) {
    const ns = collectionNamespace(request);
    const { db } = request;
    if (db === "config" || db === "admin") {
      throw new CommandError(
        ErrorCode.IllegalOperation,
        `Cannot drop collection in '${db}' database in sharded cluster`,
      );
    }
    return withCollectionAlone(context, ns, async (collection) => {
      checkNotResharding(context, ns);
      if (collection) {
        checkCollectionUuid(context, request, collection);
        await dropSharded(context, collection);
        return okReply(new DocumentWriter().string("ns", ns).finish());
      }
      if (!isConfigDatabase(request.db) && !context.catalog.database(request.db)) {
        return okReply({ info: "database does not exist" });
      }
      const tracked = context.catalog.tracked(ns);
      const reply = tracked
        ? await dropTracked(context, request, tracked)
        : await answerUnsharded(context, request, ns);
      context.views.forget(request.db);
      // Ranges may have been given to it before it was sharded.
      if (isOk(reply) && !isConfigDatabase(request.db)) await context.catalog.dropZones(ns);
      if (isOk(reply)) await forgetAnalyzers(context, ns);
      return reply;
    });
  },
};

/**
 * Drops a sharded collection everywhere. The caller holds it alone.
 *
 * First the shards, then the catalog: documents of a dropped collection that a shard had kept would be read again once
 * the name is sharded anew. When a shard is gone, nothing has happened yet; when one fails between, the rest is dropped
 * before the name is used again.
 */
export async function dropSharded(context: RouterContext, collection: ShardedCollection): Promise<void> {
  const { catalog } = context;
  await allThere(context);
  await catalog.log("dropCollection.start", collection.ns);
  context.cursors.collectionDropped(collection.ns);
  await dropWhole(context, collection);
  await forgetAnalyzers(context, collection.ns);
  await catalog.log("dropCollection", collection.ns);
}

/** Drops an unsharded collection that the catalog knows: like a sharded one, and with the answer of the one shard. */
async function dropTracked(
  context: RouterContext,
  request: Request,
  tracked: TrackedCollection,
): Promise<Reply> {
  const { db, name, ns, shard } = tracked;
  const collectionUUID = bodyField(request, "collectionUUID");
  if (collectionUUID) {
    // The shard compares it with its own collection.
    const compare = new DocumentWriter().string("collMod", name).field("collectionUUID", collectionUUID);
    await context.shards.must(shard, db, compare.finish());
  }
  const { length } = await indexesOn(context, shard, tracked);
  context.cursors.collectionDropped(ns);
  await dropWhole(context, tracked);
  return okReply(new DocumentWriter().int32("nIndexesWas", length).string("ns", ns).finish());
}

/** Makes sure that every shard answers. @throws CommandError naming the one that does not */
export async function allThere(context: RouterContext): Promise<void> {
  await askShards(context, context.shards.ids, () => makeRequest("admin", { ping: 1 }));
}
