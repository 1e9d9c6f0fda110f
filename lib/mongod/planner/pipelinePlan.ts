/**
 * Running an aggregation: what a plan can do is given to the plan.
 *
 *     [{$match: F}, {$sort: S}, {$skip: 10}, {$limit: 5}, {$group: …}]
 *      └────────── find(F).sort(S).skip(10).limit(5) ────┘ └─ stages ┘
 *
 * So a leading `$match` uses indexes and `$sort` with `$limit` keeps only what
 * is asked for; a plain `$project` behind them can be covered by an index. The
 * rest runs as push stages of the query layer, fed one document at a time,
 * until they have something to give or want no more.
 *
 * A pipeline that begins with a source (`$collStats`, `$documents`) has no plan.
 */
import {
  asDocument,
  asNumber,
  BsonType,
  DocumentWriter,
  EMPTY_DOCUMENT,
  isNumeric,
  type RawValue,
} from "../../bson/index.js";
import type { ExpressionOptions, ParsedStage } from "../../query/index.js";
import { neededPaths, optimizePipeline, projectionFlags } from "../../query/index.js";
import type { DocumentSource } from "../cursors.js";
import type { PipelineRun } from "../pipelineHost.js";
import { sourceDocuments } from "../pipelineSources.js";
import type { Collection } from "../storage/collection.js";
import { planCount } from "./countPlan.js";
import type { Interrupt } from "./interrupt.js";
import { CountSource, MetaSource, PipelineSource } from "./pipelineRunning.js";
import { planQuery } from "./plan.js";
import { ListSource, PlanSource } from "./planSource.js";
import type { PlanStage } from "./planStage.js";
import type { Query, QueryParts } from "./query.js";
import { compileQuery } from "./query.js";

/** A pipeline divided into a find and the stages after it. */
export interface SplitPipeline {
  readonly find: QueryParts;
  readonly rest: readonly ParsedStage[];
}

/** A pipeline ready to run. */
export interface OpenedPipeline {
  /** The find at its beginning; absent where it begins with a source. */
  readonly plan?: { readonly query: Query; readonly root: PlanStage };
  /** The stages behind the find or the source. */
  readonly rest: readonly ParsedStage[];
  readonly source: DocumentSource;
}

/**
 * Plans a parsed pipeline; nothing runs yet.
 * @param namespace of the collection, or `db.$cmd.aggregate` for none; views are resolved before
 * @param hint as the command has it
 * @throws CommandError what the planner throws, and what forbids a source stage here
 */
export function openPipeline(
  run: PipelineRun,
  namespace: string,
  stages: readonly ParsedStage[],
  options: ExpressionOptions,
  hint?: RawValue,
): OpenedPipeline {
  const [first] = stages;
  if (first?.isSource) {
    const own = first.name === "$documents";
    const documents = own ? [] : sourceDocuments(run, namespace, first);
    const rest = own ? stages : stages.slice(1);
    return { rest, source: withStages(new ListSource(documents), rest, run) };
  }
  const meta = stages.some(({ usesMeta }) => usesMeta);
  const { find, rest } = splitPipeline(optimizePipeline(stages), meta);
  const query = compileQuery({ ...find, hint }, options);
  const collection = run.server.catalog.find(namespace);
  const needed = meta || query.projection ? undefined : neededPaths(rest);
  const counting = needed?.length === 0 ? countingPlan(collection, query, rest, run.interrupt) : undefined;
  if (counting) {
    return {
      plan: { query, root: counting },
      rest,
      source: withStages(new CountSource(counting), rest, run),
    };
  }
  const covered =
    needed && needed.length > 0 ? coveredPlan(collection, query, needed, run.interrupt) : undefined;
  const root = covered ?? planQuery(collection, query, run.interrupt);
  const source = meta ? new MetaSource(root) : new PlanSource(root);
  return { plan: { query, root }, rest, source: withStages(source, rest, run) };
}

/** Stages that read all of their input before they give anything. */
const BLOCKING: ReadonlySet<string> = new Set(["$bucket", "$bucketAuto", "$count", "$group", "$sortByCount"]);

/** Where nobody looks at the documents: a count of index keys, if that tells how many there are. */
function countingPlan(
  collection: Collection | undefined,
  query: Query,
  [first]: readonly ParsedStage[],
  interrupt: Interrupt,
): PlanStage | undefined {
  if (!collection || query.skip > 0 || query.limit > 0 || !first || !BLOCKING.has(first.name))
    return undefined;
  const { input, planning } = planCount(collection, query, interrupt);
  if (input?.name !== "COUNT_SCAN") return undefined;
  if (planning) input.planning = planning;
  return input;
}

/**
 * A plan that gives only the needed fields, if an index has them all: then no document is fetched. Elsewhere taking
 * fields out costs more than it saves; but explain shows, and runs, the projection that MongoDB has there.
 */
function coveredPlan(
  collection: Collection | undefined,
  query: Query,
  needed: readonly string[],
  interrupt: Interrupt,
): PlanStage | undefined {
  if (!collection) return undefined;
  const spec = new DocumentWriter();
  for (const path of needed) spec.int32(path, 1);
  if (!needed.some((path) => path === "_id" || path.startsWith("_id."))) spec.int32("_id", 0);
  const projected = compileQuery({ projection: spec.finish() }, query.options);
  if (!interrupt.explains && !mayBeCovered(collection, needed)) return undefined;
  const root = planQuery(
    collection,
    { ...query, ...(projected.projection && { projection: projected.projection }) },
    interrupt,
  );
  return interrupt.explains || isCovered(root) ? root : undefined;
}

/** Whether some index has all the fields, which must be so for a covered plan. */
function mayBeCovered({ indexes }: Collection, needed: readonly string[]): boolean {
  return indexes.some(({ spec }) => needed.every((path) => spec.fields.some((field) => field.path === path)));
}

function isCovered(stage: PlanStage): boolean {
  return stage.name === "PROJECTION_COVERED" || stage.inputs.some(isCovered);
}

function withStages(
  source: DocumentSource,
  stages: readonly ParsedStage[],
  run: PipelineRun,
): DocumentSource {
  return stages.length > 0 ? new PipelineSource(source, stages, run) : source;
}

/**
 * Takes the leading stages that a find can do.
 * @param filtersOnly only `$match`: a `$sort` that is asked for its keys runs as a stage
 */
export function splitPipeline(stages: readonly ParsedStage[], filtersOnly = false): SplitPipeline {
  let at = 0;
  const filters: Uint8Array[] = [];
  const take = (name: string): RawValue | undefined => {
    const stage = stages[at];
    if (stage?.name !== name) return undefined;
    at++;
    return stage.spec;
  };
  for (let spec = take("$match"); spec; spec = take("$match")) filters.push(asDocument(spec));
  if (filtersOnly) return { find: { filter: allOf(filters) }, rest: stages.slice(at) };
  const sort = take("$sort");
  const amount = (name: string): number | undefined => {
    const spec = stages[at]?.name === name ? stages[at]!.spec : undefined;
    if (!spec || !isNumeric(spec) || !(asNumber(spec) >= 1)) return undefined;
    at++;
    return asNumber(spec);
  };
  const skip = amount("$skip");
  const limit = amount("$limit");
  const projection = plainProjection(stages[at]);
  if (projection) at++;
  return {
    find: { filter: allOf(filters), sort: sort && asDocument(sort), skip, limit, projection },
    rest: stages.slice(at),
  };
}

/** A `$project` that says of fields only whether they stay. */
function plainProjection(stage: ParsedStage | undefined): Uint8Array | undefined {
  if (stage?.name !== "$project" || stage.spec.type !== BsonType.object) return undefined;
  const spec = asDocument(stage.spec);
  return projectionFlags(spec, "") === undefined ? undefined : spec;
}

function allOf(filters: readonly Uint8Array[]): Uint8Array {
  const [first] = filters;
  if (!first) return EMPTY_DOCUMENT;
  return filters.length === 1 ? first : new DocumentWriter().arrayOf("$and", filters).finish();
}
