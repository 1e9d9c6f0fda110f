/**
 * aggregate: a pipeline over a collection, over a view, or (`{aggregate: 1}`) over no collection at all.
 *
 * A view is replaced by its collection with its stages in front. The cursor and its getMores keep the name that was
 * asked for.
 */
import {
  asDocument,
  asNumber,
  asString,
  BsonType,
  elements,
  firstField,
  getField,
  isNumeric,
} from "../../bson/index.js";
import type { Request } from "../../protocol/index.js";
import { checkNamespace, CommandError, cursorReply, ErrorCode } from "../../protocol/index.js";
import type { ExpressionOptions, ParsedStage } from "../../query/index.js";
import { checkLet, collectionless, parsePipeline } from "../../query/index.js";
import type { Command, CommandContext } from "../command.js";
import { Arguments } from "../command.js";
import { BatchStream, DEFAULT_FIRST_BATCH, executing } from "../cursors.js";
import { expressionOptions } from "../expressionOptions.js";
import { explainPipeline } from "../pipelineExplain.js";
import { ShardPipelineHost, type PipelineRun } from "../pipelineHost.js";
import { NO_COLLECTION } from "../pipelineSources.js";
import type { Verbosity } from "../planner/explain.js";
import { explainTrailer } from "../planner/explain.js";
import { openPipeline } from "../planner/pipelinePlan.js";
import { treeReply } from "../tree.js";
import { checkViewCollation, resolveView, type ResolvedView } from "../viewResolution.js";

export const aggregate: Command = {
  name: "aggregate",
  fields: [
    "pipeline",
    "cursor",
    "explain",
    "allowDiskUse",
    "bypassDocumentValidation",
    "collation",
    "hint",
    "let",
  ],
  writes: endsInWrite,
  refused: {
    exchange: "exchange",
    fromMongos: "merging inside a shard",
    needsMerge: "merging inside a shard",
    fromRouter: "merging inside a shard",
    isMapReduceCommand: "mapReduce",
    encryptionInformation: "queryable encryption",
    querySettings: "query settings",
  },
  help: "runs an aggregation pipeline",

  run(command) {
    const { server, request, arguments: args } = command;
    if (args.boolean("explain")) {
      const explained = explain(command, "queryPlanner");
      return treeReply({ ...explained, ...explainTrailer(server, args.body, request.db) });
    }
    const batchSize = cursorBatchSize(args);
    const { namespace, reads, stages, options, run } = read(command);
    const { source } = openPipeline(run, reads, stages, options, args.get("hint"));
    const stream = new BatchStream(source);
    const batch = executing(during(namespace), () => stream.take(batchSize));
    if (batch.exhausted) return cursorReply(namespace, 0n, batch.documents, "firstBatch");
    const cursor = server.cursors.open(namespace, stream, {
      command: args.body,
      documents: batch.documents.length,
      interrupt: command.interrupt,
    });
    return cursorReply(namespace, cursor.id, batch.documents, "firstBatch");
  },

  explain,
};

/** A command read and checked. */
interface Aggregation {
  /** As the client knows it. */
  readonly namespace: string;
  /** What is read: the collection under a view. */
  readonly reads: string;
  readonly stages: readonly ParsedStage[];
  readonly options: ExpressionOptions;
  readonly run: PipelineRun;
}

function read(context: CommandContext): Aggregation {
  const { server, request, arguments: args, interrupt } = context;
  const namespace = aggregateNamespace(context);
  const pipeline = rawPipeline(args);
  const view = readsItself(pipeline) ? undefined : resolveView(server, namespace);
  const run: PipelineRun = {
    server,
    request,
    interrupt,
    bypassValidation: args.boolean("bypassDocumentValidation"),
  };
  const { db } = request;
  const host = new ShardPipelineHost(run, { db, collection: namespace.slice(db.length + 1) });
  const options = optionsOf(context, namespace, view, host);
  const parsed = parsePipeline(view ? [...view.pipeline, ...pipeline] : pipeline, options);
  checkCollection(namespace, parsed);
  return { namespace, reads: view?.namespace ?? namespace, stages: parsed, options, run };
}

function optionsOf(
  context: CommandContext,
  namespace: string,
  view: ResolvedView | undefined,
  host: ShardPipelineHost,
): ExpressionOptions {
  const { server, arguments: args } = context;
  const owner = view ? { collation: view.collation } : server.catalog.find(namespace);
  const options = expressionOptions(context, owner, {}, host);
  if (view && args.get("collation")) checkViewCollation(namespace, view, options.collation);
  checkLet(options);
  // $$NOW is one moment for the whole command, also in pipelines inside its stages.
  const started = server.environment.now();
  return { ...options, now: () => started };
}

/** `{aggregate: 1}` is a pipeline over no collection; its cursor's namespace says so. */
function aggregateNamespace({ request, arguments: args }: CommandContext): string {
  const { main } = args;
  if (isNumeric(main)) {
    if (asNumber(main) !== 1) {
      throw new CommandError(
        ErrorCode.FailedToParse,
        "Invalid command format: the 'aggregate' field must specify a collection name or 1",
      );
    }
    return `${request.db}.${NO_COLLECTION}`;
  }
  if (main.type !== BsonType.string) {
    throw new CommandError(
      ErrorCode.TypeMismatch,
      "collection name has invalid type: must be a string or the number 1",
    );
  }
  const collection = asString(main);
  checkNamespace(request.db, collection);
  return `${request.db}.${collection}`;
}

function cursorBatchSize(args: Arguments): number {
  const cursor = args.document("cursor");
  if (!cursor) {
    throw new CommandError(
      ErrorCode.FailedToParse,
      "The 'cursor' option is required, except for aggregate with the explain argument",
    );
  }
  return (
    new Arguments("aggregate.cursor", cursor, { fields: ["batchSize"] }, false).count("batchSize") ??
    DEFAULT_FIRST_BATCH
  );
}

function rawPipeline(args: Arguments): Uint8Array[] {
  const pipeline = args.get("pipeline") ?? args.missing("pipeline");
  if (pipeline.type !== BsonType.array) throw args.wrongType("pipeline", pipeline, "array");
  return elements(asDocument(pipeline)).map((stage) => {
    if (stage.type !== BsonType.object)
      throw new CommandError(
        ErrorCode.TypeMismatch,
        "Each element of the 'pipeline' array must be an object",
      );
    return asDocument(stage);
  });
}

/** Whether the pipeline ends in `$out` or `$merge`, which make a read a write. */
function endsInWrite({ body }: Request): boolean {
  const pipeline = getField(body, "pipeline");
  if (pipeline?.type !== BsonType.array) return false;
  const last = elements(asDocument(pipeline)).at(-1);
  const name = last?.type === BsonType.object ? firstField(asDocument(last))?.[0] : undefined;
  return name === "$out" || name === "$merge";
}

/** Stages about a namespace itself: over a view they tell of the view. */
function readsItself([first]: readonly Uint8Array[]): boolean {
  if (!first) return false;
  const name = firstField(first)?.[0];
  return name === "$collStats" || name === "$listCatalog";
}

/**
 * Checks that the first stage stands where it can be answered.
 * @throws CommandError InvalidNamespace (73)
 */
function checkCollection(namespace: string, stages: readonly ParsedStage[]): void {
  const none = namespace.endsWith(`.${NO_COLLECTION}`);
  const [first] = stages;
  const refuse = (message: string): never => {
    throw new CommandError(ErrorCode.InvalidNamespace, message);
  };
  if (!first) {
    if (none) refuse("{aggregate: 1} is not valid for an empty pipeline.");
    return;
  }
  const standing = collectionless(first.name);
  if (none && standing === undefined)
    refuse(`{aggregate: 1} is not valid for '${first.name}'; a collection is required.`);
  if (!none && standing === "only") refuse(`'${first.name}' can only be run with {aggregate: 1}`);
}

/** What messages of failures begin with that came while documents were looked at. */
function during(namespace: string): string {
  return `Executor error during aggregate command on namespace: ${namespace}`;
}

function explain(command: CommandContext, verbosity: Verbosity): Record<string, unknown> {
  const { namespace, reads, stages, options, run } = read(command);
  const hint = command.arguments.get("hint");
  return executing(during(namespace), () => explainPipeline(run, reads, stages, options, hint, verbosity));
}
