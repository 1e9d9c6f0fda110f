/**
 * Carrying out an aggregation that the router has a part in.
 *
 *     1. fetch what its stages read elsewhere     aggregations of their own, routed like any other
 *     2. open cursors on the shards               their part of the pipeline
 *     3. merge the streams, run the router's stages
 *
 * Locks: whoever begins an aggregation holds every namespace that it reads,
 * taken in ascending order, until its cursors are open and step 1 is done
 * ({@link withAggregation}). Two operations that need the same names then never
 * wait for each other in a circle, whatever they do to them.
 */
import type { RawValue } from "../../bson/index.js";
import {
  array,
  asDocument,
  document,
  DocumentWriter,
  EMPTY_DOCUMENT,
  getField,
  sameCollation,
  string,
} from "../../bson/index.js";
import type { Request } from "../../protocol/index.js";
import { CommandError, ErrorCode, request as makeRequest } from "../../protocol/index.js";
import type { ExpressionOptions, ParsedStage, Source } from "../../query/index.js";
import { collectionless, compileSort, createStages, parseCollation, setMeta } from "../../query/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { RouterContext } from "../context.js";
import { homeOf, optionalCount, optionalDocument } from "../context.js";
import { optionsOn } from "../support/collations.js";
import { withCollections } from "../support/collections.js";
import type { Changes } from "../support/forward.js";
import { forwardedRequest } from "../support/forward.js";
import type { TraceRecord } from "../trace.js";
import { traceTargeted, traceUnsharded } from "../trace.js";
import { isAllOn, reachOf } from "../views/reach.js";
import type { ResolvedView } from "../views/resolve.js";
import { behindView, resolveView, wholeView, wrongViewCollation } from "../views/resolve.js";
import type { Aggregation, AggregationPlan } from "./aggregation.js";
import { pipelineOf, planAggregation, writtenBy } from "./aggregation.js";
import type { ForeignRead } from "./foreignReads.js";
import { foreignReads, keyOfRead } from "./foreignReads.js";
import { cannotBeSharded, outputTarget } from "./output/target.js";
import { referencesOf } from "./pipelineReferences.js";
import { stageOf } from "./pipelineSplit.js";
import { PipelineStream } from "./pipelineStream.js";
import type { HostState } from "./routerHost.js";
import { RouterPipelineHost } from "./routerHost.js";
import { openCursors } from "./scatter.js";
import type { ShardCursor } from "./shardCursor.js";
import { shardRows } from "./shardRows.js";
import type { DocumentStream } from "./streams.js";
import { BufferStream, MapStream, RoundRobinStream, SortMergeStream } from "./streams.js";

/** Aggregations inside aggregations, and views inside them: so many levels at most. */
const MAX_DEPTH = 20;
/** Bytes that the stages of one command may have the router fetch. */
const MAX_FETCHED_BYTES = 1024 * 1024 * 1024;

/** An aggregation whose cursors are open. */
export interface RunningAggregation {
  readonly stream: DocumentStream;
  /** The cursors under the stream, for whoever closes them. */
  readonly cursors: readonly ShardCursor[];
}

/**
 * Reads an aggregate command, takes the names that it reads and runs `work`.
 * @throws CommandError OptionNotSupportedOnView (167), 28769 for joins with sharded collections before rules 6.0, and
 *   what is wrong with the command
 */
export async function withAggregation<T>(
  context: RouterContext,
  request: Request,
  ns: string,
  work: (aggregation: Aggregation, view: ResolvedView | undefined) => Promise<T>,
): Promise<T> {
  const own = pipelineOf(request);
  const { db } = request;
  for (;;) {
    const view = tellsOfItself(own) ? undefined : await resolveView(context, ns);
    const pipeline = view ? [...view.pipeline, ...own] : own;
    const reads = view?.ns ?? ns;
    const reach = await reachOf(context, db, [], pipeline);
    // Of a view that its shard reads by itself, nothing may move away from there meanwhile.
    const behind = view || tellsOfItself(own) ? undefined : await behindView(context, ns);
    const written = writtenBy(pipeline, db);
    const names = [ns, reads, ...reach.collections, ...reach.views];
    if (behind) names.push(...behind.collections, ...behind.views);
    if (written) names.push(`${written.db}.${written.collection}`);
    const outcome = await withCollections(context, names, async () => {
      if (behind && !isAllOn(context, homeOf(context, db).shard, behind)) return undefined;
      const collection = context.catalog.collection(reads);
      const source = { db, collection: reads.slice(db.length + 1) };
      await refuseShardedJoins(context, pipeline, db);
      const collationSpec = await collationFor(context, request, ns, view, source, collection, reach);
      const state: HostState = { fetched: new Map(), target: undefined, step: deadline(context, request) };
      const host = new RouterPipelineHost({ db, collection: ns.slice(db.length + 1) }, state);
      const options: ExpressionOptions = { ...optionsOn(context, request, collection, collationSpec), host };
      const aggregation = { request, ns, source, collection, pipeline, options, collationSpec, state, reach };
      return { value: await work({ ...aggregation, behind: behind?.collections }, view) };
    });
    if (outcome) return outcome.value;
    // Something behind the view has moved before its name was held: it is resolved anew.
  }
}

/** Stages about a namespace itself, or over none: they tell of a view, not of what it reads. */
const OF_THE_NAME: ReadonlySet<string> = new Set(["$collStats", "$listCatalog"]);

function tellsOfItself([first]: readonly Uint8Array[]): boolean {
  const name = first && stageOf(first).name;
  return name !== undefined && (OF_THE_NAME.has(name) || collectionless(name) === "only");
}

/**
 * Which collation shards are told, where it is not the command's own.
 *
 * A view brings its own, and refuses another. What the router runs over an unsharded collection of other shards
 * than the joined ones must compare as that collection does.
 */
async function collationFor(
  context: RouterContext,
  request: Request,
  ns: string,
  view: ResolvedView | undefined,
  source: Source,
  collection: ShardedCollection | undefined,
  reach: Aggregation["reach"],
): Promise<Uint8Array | undefined> {
  const given = optionalDocument(request, "collation");
  if (view) {
    if (given && !sameCollation(parseCollation(given), parseCollation(view.collation))) {
      throw wrongViewCollation(ns);
    }
    return view.collation ?? SIMPLE;
  }
  const { shard } = homeOf(context, source.db, `${source.db}.${source.collection}`);
  if (given || collection || isAllOn(context, shard, reach)) return undefined;
  const { options } = await outputTarget(context, source);
  const own = options && getField(options, "collation");
  return own && asDocument(own);
}

const SIMPLE = new DocumentWriter().string("locale", "simple").finish();

/** @throws CommandError 28769: before 5.1, `$lookup` and `$graphLookup` read unsharded collections only (§6) */
async function refuseShardedJoins(
  context: RouterContext,
  pipeline: readonly Uint8Array[],
  db: string,
): Promise<void> {
  if (context.rules.shardedLookup) return;
  for (const { stage, db: inDb, collection } of referencesOf(pipeline, db)) {
    if (stage !== "$lookup" && stage !== "$graphLookup") continue;
    const { collections } = await reachOf(context, inDb, [collection], []);
    for (const ns of collections) if (context.catalog.collection(ns)) throw cannotBeSharded(ns);
  }
}

/** What the command's `maxTimeMS` means for the router's own stages. */
export function deadline({ environment }: RouterContext, request: Request): () => void {
  const limit = optionalCount(request, "maxTimeMS");
  if (!limit) return () => undefined;
  const end = environment.now() + limit;
  let steps = 0;
  return () => {
    // Asking for the time costs more than most steps.
    if (++steps % 256 !== 0 || environment.now() <= end) return;
    throw new CommandError(ErrorCode.MaxTimeMSExpired, "operation exceeded time limit");
  };
}

/** A record of an aggregation for the trace; shards are added as they answer. */
function recordOf(
  context: RouterContext,
  { source, collection }: Aggregation,
  plan: AggregationPlan,
): TraceRecord {
  const now = context.environment.now();
  if (collection && plan.target) return traceTargeted("aggregate", collection, plan.target, now);
  return { ...traceUnsharded("aggregate", `${source.db}.${source.collection}`, "", now), shards: [] };
}

/**
 * Opens an aggregation: everything is fetched that its stages on the router read, and its shards have answered.
 * @param depth aggregations around this one
 */
export async function openAggregation(
  context: RouterContext,
  aggregation: Aggregation,
  plan: AggregationPlan,
  depth = 0,
): Promise<RunningAggregation> {
  const { pipeline } = aggregation;
  if (plan.kind !== "whole") {
    const stages = plan.kind === "split" ? plan.split.mergerPart : pipeline.slice(1);
    await fetchReads(context, aggregation, stages, depth);
  }
  if (plan.kind === "rows") return overRows(aggregation, plan.rows, plan.stages);
  const record = recordOf(context, aggregation, plan);
  if (plan.kind === "perShardSource") {
    record.merge = { kind: plan.shards.length > 1 ? "concatenate" : "none" };
    const command = shardRequest(aggregation, []);
    const rows = await shardRows(context, command, pipeline[0]!, plan.shards, record);
    context.trace.add(record);
    return overRows(aggregation, rows, plan.stages);
  }
  const stages = plan.kind === "whole" ? pipeline : plan.split.shardPart;
  const shards = plan.kind === "whole" ? [plan.shard] : plan.shards;
  record.merge = { kind: plan.kind === "whole" ? "none" : plan.split.mergeKind };
  const command = shardRequest(aggregation, stages);
  const cursors = await openCursors(context, shards, () => command, record);
  context.trace.add(record);
  return { stream: mergedStream(aggregation, plan, cursors), cursors };
}

function overRows(
  { state }: Aggregation,
  rows: readonly Uint8Array[],
  stages: readonly ParsedStage[],
): RunningAggregation {
  return {
    stream: new PipelineStream(new BufferStream(rows), createStages(stages), () => state.step()),
    cursors: [],
  };
}

function mergedStream(
  { options, state }: Aggregation,
  plan: Extract<AggregationPlan, { kind: "whole" | "split" }>,
  cursors: readonly ShardCursor[],
): DocumentStream {
  if (plan.kind === "whole") return new RoundRobinStream(cursors);
  const { split } = plan;
  let stream: DocumentStream;
  if (split.mergeSort) {
    const sort = compileSort(split.mergeSort, options);
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
  const { wrappedIn } = split;
  if (wrappedIn !== undefined) stream = new MapStream(stream, (row) => asDocument(getField(row, wrappedIn)!));
  const stages = split.mergerStages();
  return stages.length > 0 ? new PipelineStream(stream, stages, () => state.step()) : stream;
}

/** The command that a shard gets for its part. */
export function shardRequest(
  { request, source, collationSpec }: Aggregation,
  stages: readonly Uint8Array[],
): Request {
  const changes: Changes = {
    aggregate: string(source.collection),
    pipeline: array(stages.map(document)),
    cursor: document(EMPTY_DOCUMENT),
    explain: undefined,
    ...(collationSpec && { collation: document(collationSpec) }),
  };
  return forwardedRequest(request, changes);
}

/** Fetches what stages of the router read from other collections, one after the other. */
async function fetchReads(
  context: RouterContext,
  aggregation: Aggregation,
  stages: readonly Uint8Array[],
  depth: number,
): Promise<void> {
  const { source, state } = aggregation;
  const reads = foreignReads(stages, source.db);
  if (reads.length === 0) return;
  if (depth >= MAX_DEPTH) {
    throw new CommandError(
      ErrorCode.MaxSubPipelineDepthExceeded,
      `Maximum number of nested sub-pipelines exceeded. Limit is ${MAX_DEPTH}`,
    );
  }
  const fetched = new Map<string, readonly Uint8Array[]>();
  for (const read of reads) {
    fetched.set(keyOfRead(read), await fetchRead(context, aggregation, read, depth + 1));
  }
  state.fetched = fetched;
}

async function fetchRead(
  context: RouterContext,
  outer: Aggregation,
  { source, sent }: ForeignRead,
  depth: number,
): Promise<Uint8Array[]> {
  const inner = await innerAggregation(context, outer, source, sent);
  const { stream, cursors } = await openAggregation(context, inner, planAggregation(context, inner), depth);
  try {
    return await drain(stream, MAX_FETCHED_BYTES);
  } catch (error) {
    await Promise.all(cursors.map((cursor) => cursor.close()));
    throw error;
  }
}

/** All documents of a stream. */
export async function drain(stream: DocumentStream, maxBytes = Infinity): Promise<Uint8Array[]> {
  const documents: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const next = stream.take();
    if (next) {
      documents.push(next);
      bytes += next.length;
      if (bytes > maxBytes) {
        throw new CommandError(
          ErrorCode.ExceededMemoryLimit,
          `what one pipeline's stages read from other collections may not exceed ${maxBytes} bytes`,
        );
      }
    } else if (stream.ended) {
      return documents;
    } else {
      await stream.more();
    }
  }
}

/** The aggregation of one read: under the variables and the collation of the outer one. */
async function innerAggregation(
  context: RouterContext,
  outer: Aggregation,
  asked: Source,
  sent: readonly Uint8Array[],
): Promise<Aggregation> {
  const ns = `${asked.db}.${asked.collection}`;
  const view = await wholeView(context, ns);
  const { collation } = outer.options;
  if (view && !sameCollation(parseCollation(view.collation), collation)) throw wrongViewCollation(ns);
  const reads = view?.ns ?? ns;
  const source = { db: asked.db, collection: reads.slice(asked.db.length + 1) };
  const pipeline = view ? [...view.pipeline, ...sent] : sent;
  const collationSpec = collation?.spec ?? SIMPLE;
  const state: HostState = { fetched: new Map(), target: undefined, step: () => outer.state.step() };
  const host = new RouterPipelineHost(asked, state);
  return {
    request: innerRequest(outer.request, source),
    ns,
    source,
    collection: context.catalog.collection(reads),
    pipeline,
    options: { ...outer.options, host },
    collationSpec,
    state,
    reach: await reachOf(context, asked.db, [], pipeline),
  };
}

/** Options of the outer command that hold for what it reads, too. */
const INHERITED: readonly string[] = ["let", "maxTimeMS", "allowDiskUse", "comment"];

function innerRequest(outer: Request, { db, collection }: Source): Request {
  const writer = new DocumentWriter().string("aggregate", collection);
  const add = (name: string, value: RawValue | undefined): void => {
    if (value) writer.field(name, value);
  };
  for (const name of INHERITED) add(name, getField(outer.body, name));
  return makeRequest(db, writer.finish());
}
