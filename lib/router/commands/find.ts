/** `find`: documents that match a filter, from the shards that can have them. */
import { getField, isEmptyDocument } from "../../bson/index.js";
import type { Reply, Request } from "../../protocol/index.js";
import { CommandError, ErrorCode, notSimulated } from "../../protocol/index.js";
import type { Sort } from "../../query/index.js";
import {
  compileFilter,
  compileProjection,
  compileSort,
  metaNames,
  setMeta,
  usesMeta,
} from "../../query/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { Command, RouterContext } from "../context.js";
import { documentField, expressionOptions, flag, optionalCount, optionalDocument } from "../context.js";
import { planFind } from "../merging/findPlan.js";
import { openCursors } from "../merging/scatter.js";
import type { DocumentStream } from "../merging/streams.js";
import { MapStream, RoundRobinStream, SortMergeStream, WindowStream } from "../merging/streams.js";
import { forwardedRequest } from "../support/forward.js";
import { answerTargeted } from "../support/reading.js";
import type { Targeting } from "../targeting/target.js";
import { traceTargeted } from "../trace.js";

export const find: Command = {
  name: "find",
  run: (context, request) =>
    answerTargeted(context, request, "filter", (collection, target) =>
      findOnSeveral(context, request, collection, target),
    ),
};

async function findOnSeveral(
  context: RouterContext,
  request: Request,
  collection: ShardedCollection,
  target: Targeting,
): Promise<Reply> {
  if (flag(request, "returnKey")) {
    throw new CommandError(ErrorCode.IllegalOperation, "returnKey cannot be merged from several shards");
  }
  const sort = sortToMerge(request);
  const skip = optionalCount(request, "skip") ?? 0;
  // A limit of 0 means none.
  const limit = optionalCount(request, "limit") || undefined;
  const plan = planFind({ sort, projection: optionalDocument(request, "projection"), skip, limit });
  const shardRequest = forwardedRequest(request, { ...plan.shardChanges, singleBatch: undefined });

  const record = traceTargeted("find", collection, target, context.environment.now());
  record.merge = { kind: sort ? "sort" : "concatenate", ...(skip && { skip }), ...(limit && { limit }) };
  const cursors = await openCursors(context, target.shards, () => shardRequest, record);
  context.trace.add(record);

  let stream: DocumentStream;
  const compiled = sort && compileSort(sort);
  if (compiled) {
    stream = new SortMergeStream(cursors, (document) => compiled.key(document));
  } else {
    stream = new RoundRobinStream(cursors);
  }
  if (skip > 0 || limit !== undefined) stream = new WindowStream(stream, skip, limit ?? Infinity);
  if (plan.routerProjection)
    stream = new MapStream(stream, projectionAfterMerge(context, request, plan.routerProjection, compiled));
  const batchSize = optionalCount(request, "batchSize");
  return context.cursors.firstReply(collection.ns, stream, cursors, batchSize, flag(request, "singleBatch"));
}

/** A projection that the router applies: `a.$` goes by the query, `{$meta: "sortKey"}` by the merge's sort. */
function projectionAfterMerge(
  context: RouterContext,
  request: Request,
  projection: Uint8Array,
  sort: Sort | undefined,
): (document: Uint8Array) => Uint8Array {
  const options = expressionOptions(context, request);
  const filter = compileFilter(documentField(request, "filter"), options);
  const project = compileProjection(projection, options, filter.node);
  for (const name of metaNames(projection)) {
    if (name === "recordId" || name === "indexKey") throw notSimulated(`{$meta: "${name}"} behind a merge`);
  }
  if (!sort || !usesMeta(projection)) return project;
  return (document) => {
    setMeta(document, { sortKey: sort.values(document) });
    return project(document);
  };
}

/** The sort that the merge has to keep; `$natural` order means nothing across shards. */
function sortToMerge(request: Request): Uint8Array | undefined {
  const sort = optionalDocument(request, "sort");
  if (!sort || isEmptyDocument(sort) || getField(sort, "$natural")) return undefined;
  return sort;
}
