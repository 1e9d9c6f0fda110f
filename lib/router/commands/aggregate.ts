/**
 * `aggregate`: a pipeline, run by one shard or by shards and router together.
 *
 * What `$out` and `$merge` write is written when all documents of the pipeline
 * are here and the names that it read are free again: a target may be among them,
 * and two pipelines that write into each other's collections must not wait for
 * each other.
 */
import { asDocument, asNumber, BsonType, fields, firstField, isNumeric } from "../../bson/index.js";
import type { Reply, Request } from "../../protocol/index.js";
import {
  bodyField,
  collectionNamespace,
  CommandError,
  cursorReply,
  ErrorCode,
  notSimulated,
} from "../../protocol/index.js";
import type { ParsedStage } from "../../query/index.js";
import { parsePipeline } from "../../query/index.js";
import type { Command, RouterContext } from "../context.js";
import { checkFields, flag, missingField, toInt64, unknownField, wrongType } from "../context.js";
import { explainAggregate } from "../explain/aggregate.js";
import type { Aggregation, AggregationPlan } from "../merging/aggregation.js";
import { pipelineOf, planAggregation, planRows, readOnShard, writtenBy } from "../merging/aggregation.js";
import { databaseSource } from "../merging/databaseSources.js";
import { mergeInto } from "../merging/output/mergeInto.js";
import { replaceCollection } from "../merging/output/replaceCollection.js";
import { outputTarget } from "../merging/output/target.js";
import { drain, openAggregation, withAggregation } from "../merging/runAggregation.js";
import { optionsOn } from "../support/collations.js";
import { originOf } from "../support/cursorOrigin.js";
import { withDatabase } from "../support/databases.js";
import { answerByOneShard, answerUnsharded } from "../support/reading.js";

export const aggregate: Command = {
  name: "aggregate",
  async run(context, request) {
    const target = firstField(request.body)?.[1];
    if (target && isNumeric(target)) return aggregateDatabase(context, request);
    const ns = collectionNamespace(request);
    if (flag(request, "explain")) return explainAggregate(context, request, ns, "queryPlanner");
    checkCursor(request);
    return answerOrWrite(ns, () =>
      withAggregation(context, request, ns, async (aggregation, view) => {
        const plan = planAggregation(context, aggregation);
        if (plan.kind === "whole" && !view) return passOn(context, aggregation, plan);
        return answer(context, aggregation, plan);
      }),
    );
  },
};

/** What is left to be done when no name is held any more. */
type Rest = () => Promise<void>;

async function answerOrWrite(ns: string, work: () => Promise<Reply | Rest>): Promise<Reply> {
  const outcome = await work();
  if (typeof outcome !== "function") return outcome;
  await outcome();
  return cursorReply(ns, 0n, [], "firstBatch");
}

/** The first batch, or what is to be written of a pipeline that ends in `$out` or `$merge`. */
async function answer(
  context: RouterContext,
  aggregation: Aggregation,
  plan: AggregationPlan,
): Promise<Reply | Rest> {
  const { request, ns } = aggregation;
  const size = batchSize(request);
  if (plan.kind !== "whole" && plan.writer) return collectWrite(context, aggregation, plan, plan.writer);
  const { stream, cursors } = await openAggregation(context, aggregation, plan);
  const origin = { ...originOf(request), reads: readOnShard(aggregation, plan) };
  const reply = await context.cursors.firstReply(ns, stream, cursors, size, false, origin);
  // How long the client takes between its getMores is none of this command's time.
  aggregation.state.step = () => undefined;
  return reply;
}

/** One shard answers, and what it says goes to the client as it is. */
async function passOn(
  context: RouterContext,
  aggregation: Aggregation,
  plan: Extract<AggregationPlan, { kind: "whole" }>,
): Promise<Reply> {
  const { request, ns, source, collection, pipeline } = aggregation;
  const { target } = plan;
  const reads = readOnShard(aggregation, plan);
  const pass = (): Promise<Reply> =>
    collection && target
      ? answerByOneShard(context, request, collection, target, reads)
      : answerUnsharded(context, request, ns, reads);
  const written = writtenBy(pipeline, source.db);
  return written ? withDatabase(context, written.db, pass) : pass();
}

/**
 * Runs a pipeline up to its `$out` or `$merge`.
 * @returns what writes its documents; to be called when no name is held any more
 */
async function collectWrite(
  context: RouterContext,
  aggregation: Aggregation,
  plan: AggregationPlan,
  writer: ParsedStage,
): Promise<Rest> {
  const { request, options, state, collationSpec, pipeline, source } = aggregation;
  state.target = await outputTarget(context, writtenBy(pipeline, source.db)!);
  // Checks the target, before anything is read.
  const stage = writer.create();
  const { stream, cursors } = await openAggregation(context, aggregation, plan);
  try {
    for (const each of await drain(stream)) stage.push(each, () => undefined);
  } finally {
    await Promise.all(cursors.map((cursor) => cursor.close()));
  }
  stage.finish(() => undefined);
  return async () => {
    const { pending } = state;
    if (!pending) return;
    const { modes } = pending;
    if (modes)
      await mergeInto(
        context,
        request,
        { ...pending, modes },
        options,
        options.collation?.spec ?? collationSpec,
      );
    else await replaceCollection(context, request, pending);
  };
}

/** What `{aggregate: 1}` takes; no shard sees it that would check. */
const DATABASE_FIELDS = [
  "pipeline",
  "cursor",
  "explain",
  "allowDiskUse",
  "bypassDocumentValidation",
  "collation",
  "hint",
  "let",
];

/** `{aggregate: 1}`: the rows come from the router or the config server, not from a collection. */
async function aggregateDatabase(context: RouterContext, request: Request): Promise<Reply> {
  checkFields(request, DATABASE_FIELDS);
  if (flag(request, "explain")) throw notSimulated("explain of {aggregate: 1}");
  checkCursor(request);
  const parsed = parsePipeline(pipelineOf(request), optionsOn(context, request, undefined));
  // Before any name is held: the source takes those that it looks at.
  const rows = await databaseSource(context, request.db, parsed[0]);
  const ns = `${request.db}.$cmd.aggregate`;
  return answerOrWrite(ns, () =>
    withAggregation(context, request, ns, (aggregation) =>
      answer(context, aggregation, planRows(aggregation, rows)),
    ),
  );
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
    size = toInt64(asNumber(value));
  }
  if (size !== undefined && size < 0) {
    throw new CommandError(51024, `BSON field 'batchSize' value must be >= 0, actual value '${size}'`);
  }
  return size;
}
