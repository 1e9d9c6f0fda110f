/** `aggregate`: a pipeline, run by one shard or by shards and router together. */
import {
  array,
  asDocument,
  asNumber,
  BsonType,
  document,
  DocumentWriter,
  EMPTY_DOCUMENT,
  fields,
  firstField,
  isNumeric,
} from "../../bson/index.js";
import type { Reply, Request } from "../../protocol/index.js";
import {
  bodyField,
  collectionNamespace,
  CommandError,
  ErrorCode,
  notSimulated,
} from "../../protocol/index.js";
import { compileSort, createStages, parsePipeline, setMeta } from "../../query/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { Command, RouterContext } from "../context.js";
import { checkFields, expressionOptions, flag, missingField, unknownField, wrongType } from "../context.js";
import { explainAggregate } from "../explain/aggregate.js";
import type { AggregationPlan } from "../merging/aggregation.js";
import { pipelineOf, planAggregation } from "../merging/aggregation.js";
import { databaseSource } from "../merging/databaseSources.js";
import { PipelineStream } from "../merging/pipelineStream.js";
import { shardRows } from "../merging/shardRows.js";
import { openCursors } from "../merging/scatter.js";
import type { DocumentStream } from "../merging/streams.js";
import { BufferStream, MapStream, RoundRobinStream, SortMergeStream } from "../merging/streams.js";
import { withCollection } from "../support/collections.js";
import { forwardedRequest } from "../support/forward.js";
import { answerByOneShard, answerUnsharded, refuseCommandCollation } from "../support/reading.js";
import type { TraceRecord } from "../trace.js";
import { traceTargeted, traceUnsharded } from "../trace.js";

export const aggregate: Command = {
  name: "aggregate",
  run(context, request) {
    const target = firstField(request.body)?.[1];
    if (target && isNumeric(target)) return aggregateDatabase(context, request);
    const ns = collectionNamespace(request);
    return withCollection(context, ns, async (collection) => {
      if (flag(request, "explain")) return explainAggregate(context, request, ns, collection, "queryPlanner");
      checkCursor(request);
      if (collection) refuseCommandCollation(request);
      const plan = planAggregation(context, request, collection, pipelineOf(request));
      switch (plan.kind) {
        case "whole":
          return runWhole(context, request, ns, collection, plan);
        case "perShardSource":
          return runOverShardRows(context, request, ns, collection, plan);
        case "split":
          return runSplit(context, request, collection!, plan);
      }
    });
  },
};

type Plan<K extends AggregationPlan["kind"]> = Extract<AggregationPlan, { kind: K }>;

async function runWhole(
  context: RouterContext,
  request: Request,
  ns: string,
  collection: ShardedCollection | undefined,
  plan: Plan<"whole">,
): Promise<Reply> {
  if (collection && plan.target) return answerByOneShard(context, request, collection, plan.target);
  return answerUnsharded(context, request, ns);
}

async function runOverShardRows(
  context: RouterContext,
  request: Request,
  ns: string,
  collection: ShardedCollection | undefined,
  plan: Plan<"perShardSource">,
): Promise<Reply> {
  const pipeline = pipelineOf(request);
  const stages = createStages(parsePipeline(pipeline.slice(1), expressionOptions(context, request)));
  const now = context.environment.now();
  const record: TraceRecord =
    collection && plan.target
      ? traceTargeted("aggregate", collection, plan.target, now)
      : { ...traceUnsharded("aggregate", ns, plan.shards[0]!, now), shards: [] };
  record.merge = { kind: plan.shards.length > 1 ? "concatenate" : "none" };
  const rows = await shardRows(context, request, pipeline[0]!, plan.shards, record);
  context.trace.add(record);
  return context.cursors.firstReply(
    ns,
    new PipelineStream(new BufferStream(rows), stages),
    [],
    batchSize(request),
  );
}

async function runSplit(
  context: RouterContext,
  request: Request,
  collection: ShardedCollection,
  { target, split }: Plan<"split">,
): Promise<Reply> {
  const size = batchSize(request);
  const stages = split.mergerStages();
  const command = forwardedRequest(request, {
    pipeline: array(split.shardPart.map(document)),
    cursor: document(EMPTY_DOCUMENT),
  });
  const record = traceTargeted("aggregate", collection, target, context.environment.now());
  record.merge = { kind: split.mergeKind };
  const cursors = await openCursors(context, target.shards, () => command, record);
  context.trace.add(record);
  let stream: DocumentStream;
  if (split.mergeSort) {
    const sort = compileSort(split.mergeSort);
    stream = new SortMergeStream(cursors, (row) => sort.key(row));
    if (split.needsSortKeys) {
      stream = new MapStream(stream, (row) => {
        setMeta(row, { sortKey: sort.values(row) });
        return row;
      });
    }
  } else {
    stream = new RoundRobinStream(cursors);
  }
  if (stages.length > 0) stream = new PipelineStream(stream, stages);
  return context.cursors.firstReply(collection.ns, stream, cursors, size);
}

const MATCH_ALL = new DocumentWriter().document("$match", EMPTY_DOCUMENT).finish();

/** What `{aggregate: 1}` takes; no shard sees it that would check. */
const DATABASE_FIELDS = ["pipeline", "cursor", "explain", "allowDiskUse", "let", "collation"];

/** `{aggregate: 1}`: the rows come from the router or the config server, not from a collection. */
async function aggregateDatabase(context: RouterContext, request: Request): Promise<Reply> {
  checkFields(request, DATABASE_FIELDS);
  refuseCommandCollation(request);
  if (flag(request, "explain")) throw notSimulated("explain of {aggregate: 1}");
  checkCursor(request);
  const pipeline = pipelineOf(request);
  const [first, ...rest] = pipeline;
  if (!first)
    throw new CommandError(ErrorCode.InvalidNamespace, "{aggregate: 1} is not valid for an empty pipeline.");
  const rows = await databaseSource(context, request.db, first);
  // The router's source is no stage that shards know; whatever stands first there, the rest does not.
  const [, ...parsed] = parsePipeline([MATCH_ALL, ...rest], expressionOptions(context, request));
  const stream = new PipelineStream(new BufferStream(rows), createStages(parsed));
  return context.cursors.firstReply(`${request.db}.$cmd.aggregate`, stream, [], batchSize(request));
}

function checkCursor(request: Request): void {
  const cursor = bodyField(request, "cursor");
  if (!cursor) {
    throw new CommandError(
      ErrorCode.FailedToParse,
      "The 'cursor' option is required, except for aggregate with the explain argument",
    );
  }
  if (cursor.type !== BsonType.object) throw wrongType(request, "cursor", "object");
}

function batchSize(request: Request): number | undefined {
  const cursor = bodyField(request, "cursor");
  if (!cursor) throw missingField(request, "cursor");
  let size: number | undefined;
  for (const [name, value] of fields(asDocument(cursor))) {
    if (name !== "batchSize") throw unknownField(`${request.command}.cursor.${name}`);
    if (!isNumeric(value)) throw wrongType(request, "cursor.batchSize", "number");
    size = Math.trunc(asNumber(value));
  }
  if (size !== undefined && size < 0) {
    throw new CommandError(51024, `BSON field 'batchSize' value must be >= 0, actual value '${size}'`);
  }
  return size;
}
