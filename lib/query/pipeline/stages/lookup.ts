/**
 * `$lookup`: to each document the documents of another collection that belong to it.
 *
 *     {from, localField, foreignField, as}             equal values
 *     {from, let, pipeline, as}                        whatever the pipeline finds
 *     {from, localField, foreignField, let, pipeline}  equal values first, then the pipeline
 *
 * The pipeline is parsed once. The variables of `let` are cells that are set
 * before each run; a pipeline that uses none runs once and its result serves
 * all documents. A pipeline that begins with a `$match` that compares a field
 * with a variable (`{$expr: {$eq: ["$a", "$$x"]}}`) is joined by that field, so
 * that the collection is not read again for every document.
 *
 * An `$unwind` of the result right behind is done here: no array is built that
 * would be taken apart at once.
 */
import { NULL, type RawValue } from "../../../bson/index.js";
import { compileExpression } from "../../expression/compile.js";
import {
  expressionContext,
  type ExpressionOptions,
  type ExternalVariable,
} from "../../expression/context.js";
import { compileFilter } from "../../filter/compile.js";
import { hostOf, remembered, sourceOf, type PipelineHost, type ReadStats, type Source } from "../host.js";
import { createStages, runStages } from "../runner.js";
import type {
  NamedCollection,
  ParsedStage,
  Stage,
  StageParser,
  SubPipelineParser,
  UnwindSpec,
} from "../stage.js";
import { equalityFilter, expressionJoin, matchJoin } from "./join.js";
import { JoiningStage, newReadStats, type Finder } from "./joiningStage.js";
import { joinPredicate } from "./joinPredicate.js";
import { parseLookup, type LookupSpec, type LookupVariable } from "./lookupSpec.js";
import { visitValues } from "./paths.js";

export const lookup: StageParser = (spec, options, _, parse) => {
  const parsed = parseLookup(spec, options);
  const inner = innerOptions(parsed, options);
  // Parsed here to be checked, and again for each run of the stage: runs hold state.
  const checked = parsed.pipeline && parse(parsed.pipeline, inner, "$lookup");
  const reads = [
    ...(parsed.from ? [parsed.from] : []),
    ...(checked ?? []).flatMap((stage): readonly NamedCollection[] => stage.reads ?? []),
  ];
  const make = (unwinding?: UnwindSpec): Stage => {
    const stats = newReadStats();
    return new JoiningStage(
      "$lookup",
      parsed.as,
      finderOf(parsed, inner, options, parse, stats),
      unwinding,
      stats,
    );
  };
  return {
    reads,
    needsHost: parsed.from !== undefined || (checked ?? []).some(({ needsHost }) => needsHost),
    moves: { kind: "only", paths: [parsed.as.join(".")] },
    create: () => make(),
    absorb: (next: ParsedStage) =>
      next.unwind?.path === parsed.as.join(".") ? () => make(next.unwind) : undefined,
  };
};

function innerOptions({ variables }: LookupSpec, options: ExpressionOptions): ExpressionOptions {
  if (variables.length === 0) return options;
  const cells = new Map<string, ExternalVariable>(options.variables);
  for (const { name, cell } of variables) cells.set(name, cell);
  return { ...options, variables: cells };
}

/** How one run of the stage finds documents; decided when the first one comes. */
function finderOf(
  spec: LookupSpec,
  inner: ExpressionOptions,
  options: ExpressionOptions,
  parse: SubPipelineParser,
  stats: ReadStats,
): Finder {
  if (spec.from === undefined) return documentsFinder(spec, inner, parse);
  const host = hostOf(options, "$lookup").observing(stats);
  const source = sourceOf(host, spec.from);
  // Within a pipeline that runs for each document, what one run has built serves the next.
  return remembered(host, spec, () => {
    let finder: Finder | undefined;
    return (doc: Uint8Array) => (finder ??= collectionFinder(spec, host, source, inner, options, parse))(doc);
  });
}

/** Sets the variables of `let` for a document. */
function bindVariables(variables: readonly LookupVariable[], doc: Uint8Array): void {
  if (variables.length === 0) return;
  const context = expressionContext(doc);
  const values = variables.map(({ expression }) => expression(context));
  variables.forEach(({ cell }, i) => (cell.value = values[i]));
}

/** `pipeline: [{$documents: …}, …]`, no collection at all; equal fields are looked for among those documents. */
function documentsFinder(spec: LookupSpec, inner: ExpressionOptions, parse: SubPipelineParser): Finder {
  const [source, ...rest] = parse(spec.pipeline!, inner, "$lookup");
  return (doc) => {
    bindVariables(spec.variables, doc);
    let documents = runStages(createStages([source!]), []);
    if (spec.fields) {
      const { foreign, local } = spec.fields;
      const filter = compileFilter(equalityFilter(foreign, localValues(doc, local)), inner);
      documents = documents.filter((each) => filter.matches(each));
    }
    return runStages(createStages(rest), documents);
  };
}

function collectionFinder(
  spec: LookupSpec,
  host: PipelineHost,
  source: Source,
  inner: ExpressionOptions,
  options: ExpressionOptions,
  parse: SubPipelineParser,
): Finder {
  const { pipeline, variables } = spec;
  const within: ExpressionOptions = { ...inner, host: host.remembering() };
  const step = (): void => host.step();
  if (spec.fields) {
    const { local, foreign } = spec.fields;
    const join = matchJoin(host, source, foreign, options);
    const candidates: Finder = (doc) => join.find(localValues(doc, local));
    if (!pipeline || pipeline.length === 0) return candidates;
    const stages = parse(pipeline, within, "$lookup");
    return (doc) => {
      bindVariables(variables, doc);
      return runStages(createStages(stages), candidates(doc), step);
    };
  }
  const stages = pipeline!;
  const correlated = inner.variables !== undefined && inner.variables.size > 0;
  if (!correlated) {
    let all: readonly Uint8Array[] | undefined;
    return () => (all ??= [...host.read(source, stages, inner)]);
  }
  const predicate = joinPredicate(stages[0], inner.variables!);
  if (predicate) {
    const join = expressionJoin(host, source, predicate.path, options);
    const variable = compileExpression(predicate.variable, inner);
    const parsed = parse(stages, within, "$lookup");
    return (doc) => {
      bindVariables(variables, doc);
      return runStages(createStages(parsed), join.find(variable(expressionContext(doc))), step);
    };
  }
  const prepared = host.prepare(source, stages, within);
  return (doc) => {
    bindVariables(variables, doc);
    return prepared.run();
  };
}

/** What a document is joined by: all values at the path, or null where there are none. */
function localValues(doc: Uint8Array, parts: readonly string[]): RawValue[] {
  const values: RawValue[] = [];
  visitValues(doc, parts, (value) => values.push(value));
  return values.length === 0 ? [NULL] : values;
}
