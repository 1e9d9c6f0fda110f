/** `find`: documents that match a filter, from the shards that can have them. */
import { describeDocument, getField, isEmptyDocument, isTruthy } from "../../bson/index.js";
import type { Reply, Request } from "../../protocol/index.js";
import { bodyField, collectionNamespace, CommandError, ErrorCode } from "../../protocol/index.js";
import { compileSort } from "../../query/index.js";
import type { Command, RouterContext } from "../context.js";
import { flag, optionalCount, optionalDocument } from "../context.js";
import { planFind } from "../merging/findPlan.js";
import { projectionAfterMerge } from "../merging/findProjection.js";
import { openCursors } from "../merging/scatter.js";
import type { DocumentStream } from "../merging/streams.js";
import { MapStream, RoundRobinStream, SortMergeStream, WindowStream } from "../merging/streams.js";
import { originOf } from "../support/cursorOrigin.js";
import { forwardedRequest } from "../support/forward.js";
import type { ShardedRead } from "../support/reading.js";
import { answerTargeted } from "../support/reading.js";
import { traceTargeted } from "../trace.js";
import { readView } from "../views/index.js";

export const find: Command = {
  name: "find",
  run(context, request) {
    checkReserved(request);
    const ns = collectionNamespace(request);
    const read = (): Promise<Reply> =>
      answerTargeted(context, request, "filter", (sharded) => findOnSeveral(context, request, sharded));
    // A sharded collection is no view: most reads need not look.
    if (context.catalog.collection(ns)) return read();
    return readView(context, request).then((reply) => reply ?? read());
  },
};

async function findOnSeveral(context: RouterContext, request: Request, read: ShardedRead): Promise<Reply> {
  const { collection, target, filter, options } = read;
  const sort = sortToMerge(request);
  const compiled = sort && compileSort(sort, options);
  const skip = optionalCount(request, "skip") ?? 0;
  // A limit of 0 means none.
  const limit = optionalCount(request, "limit") || undefined;
  const batchSize = optionalCount(request, "batchSize");
  const single = flag(request, "singleBatch");
  const plan = planFind({
    sort,
    projection: optionalDocument(request, "projection"),
    skip,
    limit,
    showRecordId: flag(request, "showRecordId"),
    returnKey: flag(request, "returnKey"),
  });
  const project = plan.afterMerge && projectionAfterMerge(plan.afterMerge, filter, compiled, options);
  const shardRequest = forwardedRequest(request, plan.shardChanges);
  const origin = originOf(request);

  const record = traceTargeted("find", collection, target, context.environment.now());
  record.merge = { kind: sort ? "sort" : "concatenate", ...(skip && { skip }), ...(limit && { limit }) };
  const cursors = await openCursors(context, target.shards, () => shardRequest, record, {
    batchSize,
    partial: origin.partial,
  });
  context.trace.add(record);

  let stream: DocumentStream;
  if (compiled) {
    stream = new SortMergeStream(cursors, (document) => compiled.key(document));
  } else {
    stream = new RoundRobinStream(cursors);
  }
  if (skip > 0 || limit !== undefined) stream = new WindowStream(stream, skip, limit ?? Infinity);
  if (project) stream = new MapStream(stream, project);
  return context.cursors.firstReply(collection.ns, stream, cursors, batchSize, single, origin);
}

/** The sort that the merge has to keep; `$natural` order means nothing across shards. */
function sortToMerge(request: Request): Uint8Array | undefined {
  const sort = optionalDocument(request, "sort");
  if (!sort || isEmptyDocument(sort) || getField(sort, "$natural")) return undefined;
  return sort;
}

/**
 * What a mongos refuses on any collection: the field in which shards send it sort keys, and places in one shard's
 * storage, which mean nothing across shards.
 * @throws CommandError BadValue (2)
 */
function checkReserved(request: Request): void {
  const projection = optionalDocument(request, "projection");
  if (projection && getField(projection, "$sortKey")) {
    throw new CommandError(
      ErrorCode.BadValue,
      `Projection contains illegal field '$sortKey': ${describeDocument(projection)}`,
    );
  }
  const resume = bodyField(request, "$_requestResumeToken");
  if (bodyField(request, "$_resumeAfter") || (resume && isTruthy(resume))) {
    throw new CommandError(ErrorCode.BadValue, "Queries on mongoS may not request or provide a resume token");
  }
}
