/**
 * `insert`: every document goes to the shard that owns its key.
 *
 * The walk of one write: take the raw documents, extract each shard key, find
 * its chunk, group the slices by shard, send, and put the shards' answers
 * together in the client's order. Nothing is decoded on the way.
 */
import { getField, prependField } from "../../bson/index.js";
import type { Reply, Request } from "../../protocol/index.js";
import { checkBatchSize, collectionNamespace, documentsOf } from "../../protocol/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { Command, RouterContext } from "../context.js";
import { flag } from "../context.js";
import { withCollection } from "../support/collections.js";
import { afterConfigWrite, checkConfigWrite } from "../support/configWrites.js";
import { withDatabase } from "../support/databases.js";
import { forwardedRequest } from "../support/forward.js";
import type { IdSource } from "../support/ids.js";
import type { TraceRecord } from "../trace.js";
import { traceUnsharded } from "../trace.js";
import { routeInserts } from "../writes/batches.js";
import { WriteReplies } from "../writes/replies.js";
import { sendBatches } from "../writes/send.js";

export const insert: Command = {
  name: "insert",
  fields: ["documents", "ordered", "bypassDocumentValidation"],
  retryable: true,
  run(context, request) {
    const ns = collectionNamespace(request);
    const documents = documentsOf(request, "documents");
    checkBatchSize(documents.length);
    return withCollection(context, ns, (collection) =>
      collection
        ? insertSharded(context, request, collection, documents)
        : insertUnsharded(context, request, ns, documents.length),
    );
  },
};

async function insertSharded(
  context: RouterContext,
  request: Request,
  collection: ShardedCollection,
  documents: readonly Uint8Array[],
): Promise<Reply> {
  const ordered = flag(request, "ordered", true);
  // Without `_id` in the key, the shard that gets a document can give it one as well as the router.
  const complete = collection.key.includesId
    ? documents.map((document) => withId(document, context.ids))
    : documents;
  const { chunks } = collection;
  const route = routeInserts(complete, collection, context.rules, ordered);
  const record: TraceRecord = {
    at: context.environment.now(),
    op: "insert",
    ns: collection.ns,
    targeting: "shardKey",
    key: collection.key,
    chunks,
    documents: route.perChunk,
    shards: [],
    merge: { kind: "none" },
  };
  const replies = new WriteReplies("insert");
  await sendBatches(context, request, "documents", route.batches, ordered, replies, record.shards);
  // In an ordered batch a document that cannot be routed is only reached if all before it went well.
  if (!ordered || !replies.failed)
    for (const { index, error } of route.errors) replies.addError(index, error);
  if (replies.failed) record.merge = { kind: "errors" };
  context.trace.add(record);
  return replies.finish();
}

async function insertUnsharded(
  context: RouterContext,
  request: Request,
  ns: string,
  sent: number,
): Promise<Reply> {
  await checkConfigWrite(context, request);
  return withDatabase(context, request.db, async ({ primary }) => {
    const record = traceUnsharded("insert", ns, primary, context.environment.now());
    record.shards[0]!.sent = sent;
    const reply = await context.shards.run(primary, forwardedRequest(request));
    context.trace.add(record);
    return afterConfigWrite(context, request, reply);
  });
}

/** The document with an `_id`, made before the shard key is looked at, of which it is a part. */
function withId(document: Uint8Array, ids: IdSource): Uint8Array {
  if (getField(document, "_id")) return document;
  return prependField(document, "_id", ids.objectId());
}
