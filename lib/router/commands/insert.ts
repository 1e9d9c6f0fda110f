/**
 * `insert`: every document goes to the shard that owns its key.
 *
 * The walk of one write: take the raw documents, extract each shard key, find
 * its chunk, group the slices by shard, send, and put the shards' answers
 * together in the client's order. Nothing is decoded on the way.
 */
import { getField, prependField } from "../../bson/index.js";
import type { Reply, Request } from "../../protocol/index.js";
import { checkBatch, collectionNamespace, CommandError, documentsOf } from "../../protocol/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { Command, RouterContext } from "../context.js";
import { flag } from "../context.js";
import { maxChunkSize } from "../ddl/chunkSize.js";
import { withCollection } from "../support/collections.js";
import { checkCollectionUuid } from "../support/collectionUuid.js";
import type { IdSource } from "../support/ids.js";
import type { TraceRecord } from "../trace.js";
import { sampleKeys } from "../trace.js";
import type { InsertRoute } from "../writes/batches.js";
import { routeInserts } from "../writes/batches.js";
import { WriteReplies } from "../writes/replies.js";
import { sendBatches } from "../writes/send.js";
import { writeUnsharded } from "../writes/unsharded.js";

export const insert: Command = {
  name: "insert",
  fields: ["documents", "ordered", "bypassDocumentValidation", "bypassEmptyTsReplacement", "collectionUUID"],
  retryable: true,
  run(context, request) {
    const ns = collectionNamespace(request);
    const documents = documentsOf(request, "documents");
    checkBatch(request, documents);
    return withCollection(context, ns, (collection) =>
      collection
        ? insertSharded(context, request, collection, documents)
        : writeUnsharded(context, request, ns, documents.length),
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
  const replies = new WriteReplies("insert");
  const refusal = uuidMismatch(context, request, collection);
  if (refusal) {
    replies.addFailure([...documents.keys()], refusal, ordered);
    return replies.finish();
  }
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
    samples: sampleKeys(collection.key, complete),
    shards: [],
    merge: { kind: "none" },
  };
  if (context.rules.autoSplit) noteGrowth(context, collection, complete, route);
  await sendBatches(context, request, "documents", route.batches, ordered, replies, record.shards);
  // In an ordered batch a document that cannot be routed is only reached if all before it went well.
  if (!ordered || !replies.failed)
    for (const { index, error } of route.errors) replies.addError(index, error);
  if (replies.failed) record.merge = { kind: "errors" };
  context.trace.add(record);
  return replies.finish();
}

/** Counts what goes to each chunk: its share of the batch. */
function noteGrowth(
  context: RouterContext,
  collection: ShardedCollection,
  documents: readonly Uint8Array[],
  { perChunk }: InsertRoute,
): void {
  const bytes = documents.reduce((sum, { length }) => sum + length, 0);
  for (const [chunk, count] of perChunk) {
    const share = (bytes * count) / documents.length;
    context.growth.wrote(collection, chunk, share, maxChunkSize(context, collection));
  }
}

/** The document with an `_id`, made before the shard key is looked at, of which it is a part. */
function withId(document: Uint8Array, ids: IdSource): Uint8Array {
  if (getField(document, "_id")) return document;
  return prependField(document, "_id", ids.objectId());
}

/** Another `collectionUUID` fails each document, not the command. */
function uuidMismatch(
  context: RouterContext,
  request: Request,
  collection: ShardedCollection,
): CommandError | undefined {
  try {
    checkCollectionUuid(context, request, collection);
    return undefined;
  } catch (error) {
    if (error instanceof CommandError) return error;
    throw error;
  }
}
