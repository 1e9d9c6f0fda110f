/**
 * Explaining an aggregation, in the shape of an 8.x server's classic engine.
 *
 *     all of it a find                  {queryPlanner, executionStats}
 *     more                              {stages: [{$cursor: {queryPlanner, …}}, {$group: …}, …]}
 *
 * With `executionStats` the pipeline runs, but for a `$out` or `$merge` at its
 * end, and every stage says how many documents it handed on.
 */
import {
  asDocument,
  asNumber,
  bool,
  DocumentWriter,
  int64,
  isNumeric,
  type RawValue,
} from "../bson/index.js";
import type { ExpressionOptions, ParsedStage, StagePair } from "../query/index.js";
import { filterDocument, stagePairs } from "../query/index.js";
import type { PipelineRun } from "./pipelineHost.js";
import type { Verbosity } from "./planner/explain.js";
import { executionStatsSection, queryPlannerSection } from "./planner/explain.js";
import { openPipeline } from "./planner/pipelinePlan.js";
import { PipelineSource } from "./planner/pipelineRunning.js";
import { encodeTree } from "./tree.js";

/**
 * What explain says of a parsed pipeline.
 * @param namespace the collection; views are resolved before
 */
export function explainPipeline(
  run: PipelineRun,
  namespace: string,
  stages: readonly ParsedStage[],
  options: ExpressionOptions,
  hint: RawValue | undefined,
  verbosity: Verbosity,
): Record<string, unknown> {
  const writing = stages.at(-1)?.writes ? stages.at(-1) : undefined;
  const executed = writing ? stages.slice(0, -1) : stages;
  if (writing) writing.create(); // checks its target and writes nothing
  run.interrupt.explains = true;
  const { now } = run.server.environment;
  const started = now();
  const opened = openPipeline(run, namespace, executed, options, hint);
  const { plan, source, rest } = opened;
  const executes = verbosity !== "queryPlanner";
  const planner = plan && queryPlannerSection(namespace, filterDocument(plan.query.filter.node), plan.root);
  if (executes) while (source.next());
  const section = plan && {
    queryPlanner: planner,
    ...(executes && { executionStats: executionStatsSection(plan.root, now() - started, verbosity) }),
  };
  if (section && rest.length === 0 && !writing) return { explainVersion: "1", ...section };
  const runner = source instanceof PipelineSource ? source.runner : undefined;
  const shown: unknown[] = [];
  if (section) {
    shown.push({ $cursor: section, ...(executes && counts(plan.root.returned)) });
  } else if (stages[0] && rest[0] !== stages[0]) {
    shown.push(stages[0].raw);
  }
  stagePairs(rest).forEach((pair, i) => {
    // MongoDB has made a $limit behind a $sort part of it.
    if (pair.stage.name === "$limit" && rest[rest.indexOf(pair.stage) - 1]?.name === "$sort") return;
    const list = describe(pair, rest);
    // Of a stage that stands for several the last one gives what the stage gives.
    const last = list.length - 1;
    const work = runner?.stages[i]?.describe?.();
    list.forEach((each, j) =>
      shown.push(executes && j === last ? withCounts(each, runner?.emitted[i] ?? 0, work) : each),
    );
  });
  if (writing) shown.push(executes ? withCounts(writing.raw, 0) : writing.raw);
  return { explainVersion: "1", stages: shown };
}

function counts(nReturned: number): Record<string, unknown> {
  return { nReturned: int64(nReturned), executionTimeMillisEstimate: int64(0) };
}

/** @param work what the stage says of itself */
function withCounts(stage: Uint8Array, nReturned: number, work: Record<string, unknown> = {}): Uint8Array {
  const added = encodeTree({ ...work, ...counts(nReturned) });
  return new DocumentWriter().fieldsOf(stage).fieldsOf(added).finish();
}

function describe({ stage, absorbed }: StagePair, all: readonly ParsedStage[]): Uint8Array[] {
  if (stage.explain) return stage.explain();
  if (absorbed) return [withUnwinding(stage, absorbed)];
  if (stage.name === "$sort") return [sortWithLimit(stage, all)];
  return [stage.raw];
}

/** `{$lookup: {…, unwinding: {preserveNullAndEmptyArrays: false}}}` */
function withUnwinding(stage: ParsedStage, { unwind }: ParsedStage): Uint8Array {
  const unwinding = new DocumentWriter().field("preserveNullAndEmptyArrays", bool(unwind?.preserve ?? false));
  if (unwind?.index) unwinding.string("includeArrayIndex", unwind.index.join("."));
  const spec = new DocumentWriter()
    .fieldsOf(asDocument(stage.spec))
    .document("unwinding", unwinding.finish());
  return new DocumentWriter().document(stage.name, spec.finish()).finish();
}

/** `{$sort: {sortKey: {…}, limit: n}}`: a `$limit` right behind belongs to it. */
function sortWithLimit(stage: ParsedStage, all: readonly ParsedStage[]): Uint8Array {
  const sort = new DocumentWriter().field("sortKey", stage.spec);
  const next = all[all.indexOf(stage) + 1];
  if (next?.name === "$limit" && isNumeric(next.spec)) sort.int64("limit", asNumber(next.spec));
  return new DocumentWriter().document("$sort", sort.finish()).finish();
}
