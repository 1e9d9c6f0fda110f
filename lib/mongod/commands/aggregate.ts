/** aggregate: a pipeline over a collection. */
import { asDocument, asString, BsonType, elements, isNumeric } from "../../bson/index.js";
import { checkNamespace, CommandError, cursorReply, ErrorCode, notSimulated } from "../../protocol/index.js";
import type { ParsedStage } from "../../query/index.js";
import { filterDocument, parsePipeline } from "../../query/index.js";
import { collStatsDocument, indexStatsDocuments } from "../collectionStats.js";
import type { Command, CommandContext } from "../command.js";
import { Arguments, refuseCollation } from "../command.js";
import type { DocumentSource } from "../cursors.js";
import { BatchStream, DEFAULT_FIRST_BATCH } from "../cursors.js";
import type { Verbosity } from "../planner/explain.js";
import { executionStatsSection, explainTrailer, queryPlannerSection } from "../planner/explain.js";
import { PipelineSource, splitPipeline } from "../planner/pipelinePlan.js";
import { planQuery } from "../planner/plan.js";
import { ListSource, PlanSource } from "../planner/planSource.js";
import { compileQuery } from "../planner/query.js";
import { treeReply } from "../tree.js";

export const aggregate: Command = {
  name: "aggregate",
  fields: ["pipeline", "cursor", "explain", "allowDiskUse", "bypassDocumentValidation", "collation", "hint"],
  refused: {
    let: "let variables in aggregate",
    exchange: "exchange",
    fromMongos: "merging inside a shard",
    needsMerge: "merging inside a shard",
    fromRouter: "merging inside a shard",
    isMapReduceCommand: "mapReduce",
    encryptionInformation: "queryable encryption",
    querySettings: "query settings",
  },

  run(context) {
    const { server, arguments: args } = context;
    if (args.boolean("explain")) {
      return treeReply({ ...explainPipeline(context, "queryPlanner"), ...explainTrailer(server, args.body) });
    }
    const namespace = aggregateNamespace(context);
    const batchSize = cursorBatchSize(args);
    const stages = readPipeline(args);
    const stream = new BatchStream(sourceOf(context, namespace, stages));
    const batch = stream.take(batchSize);
    if (batch.exhausted) return cursorReply(namespace, 0n, batch.documents, "firstBatch");
    const cursor = server.cursors.open(namespace, stream);
    return cursorReply(namespace, cursor.id, batch.documents, "firstBatch");
  },

  explain: explainPipeline,
};

/** `{aggregate: 1}` is a pipeline over no collection; its cursor's namespace says so. */
function aggregateNamespace({ request, arguments: args }: CommandContext): string {
  const { main } = args;
  if (isNumeric(main)) return `${request.db}.$cmd.aggregate`;
  if (main.type !== BsonType.string) throw args.wrongType("aggregate", main, "string");
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

function readPipeline(args: Arguments): ParsedStage[] {
  refuseCollation(args.document("collation"));
  const pipeline = args.get("pipeline") ?? args.missing("pipeline");
  if (pipeline.type !== BsonType.array) throw args.wrongType("pipeline", pipeline, "array");
  const stages = elements(asDocument(pipeline)).map((stage) => {
    if (stage.type !== BsonType.object)
      throw new CommandError(
        ErrorCode.TypeMismatch,
        "Each element of the 'pipeline' array must be an object",
      );
    return asDocument(stage);
  });
  return parsePipeline(stages);
}

/** Stages that make documents themselves instead of reading the collection. */
const SOURCES: ReadonlySet<string> = new Set(["$collStats", "$indexStats"]);

function sourceOf(
  context: CommandContext,
  namespace: string,
  stages: readonly ParsedStage[],
): DocumentSource {
  const { server, interrupt } = context;
  const [first] = stages;
  checkSources(stages);
  if (first && SOURCES.has(first.name)) {
    const documents =
      first.name === "$collStats"
        ? [collStatsDocument(server, namespace, first)]
        : indexStatsDocuments(server, server.catalog.find(namespace));
    return withStages(new ListSource(documents), stages.slice(1));
  }
  if (namespace.endsWith(".$cmd.aggregate")) {
    throw notSimulated(`a pipeline without a collection${first ? ` that begins with ${first.name}` : ""}`);
  }
  const { find, rest } = splitPipeline(stages);
  const query = compileQuery({ ...find, hint: context.arguments.get("hint") });
  return withStages(new PlanSource(planQuery(server.catalog.find(namespace), query, interrupt)), rest);
}

function withStages(source: DocumentSource, stages: readonly ParsedStage[]): DocumentSource {
  return stages.length > 0 ? new PipelineSource(source, stages) : source;
}

/**
 * @throws CommandError 40602 for a source stage that is not the first
 */
function checkSources(stages: readonly ParsedStage[]): void {
  const late = stages.slice(1).find((stage) => SOURCES.has(stage.name));
  if (late) throw new CommandError(40602, `${late.name} is only valid as the first stage in a pipeline`);
}

/**
 * A pipeline that a find can do whole is explained as one; otherwise its find is
 * the first of `stages`, as `$cursor`.
 */
function explainPipeline(context: CommandContext, verbosity: Verbosity): Record<string, unknown> {
  const { server, interrupt, arguments: args } = context;
  const namespace = aggregateNamespace(context);
  const stages = readPipeline(args);
  checkSources(stages);
  const [first] = stages;
  if (first && SOURCES.has(first.name)) {
    return { explainVersion: "1", stages: stages.map((stage) => stage.raw) };
  }
  const { find, rest } = splitPipeline(stages);
  const query = compileQuery({ ...find, hint: args.get("hint") });
  const started = server.environment.now();
  const root = planQuery(server.catalog.find(namespace), query, interrupt);
  const queryPlanner = queryPlannerSection(namespace, filterDocument(query.filter.node), root);
  let nReturned = 0;
  if (verbosity !== "queryPlanner") {
    const source = withStages(new PlanSource(root), rest);
    while (source.next()) nReturned++;
  }
  const section = {
    queryPlanner,
    ...(verbosity !== "queryPlanner" && {
      executionStats: executionStatsSection(root, server.environment.now() - started, verbosity),
    }),
  };
  if (rest.length === 0) return { explainVersion: "1", ...section };
  return {
    explainVersion: "1",
    stages: [
      { $cursor: section },
      ...rest.map((stage, i) => {
        if (verbosity === "queryPlanner" || i < rest.length - 1) return stage.raw;
        return { [stage.name]: stage.spec, nReturned };
      }),
    ],
  };
}
