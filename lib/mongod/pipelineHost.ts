/**
 * The shard as the host of a pipeline: what `$lookup`, `$unionWith` and
 * `$graphLookup` read, and what `$out` and `$merge` write.
 *
 * A read resolves views, parses once and plans at every run, so that a stage
 * that comes back to a collection after a rest sees it as it is then.
 */
import { sameCollation } from "../bson/index.js";
import { CommandError, ErrorCode, type Request } from "../protocol/index.js";
import type {
  ExpressionOptions,
  MergeModes,
  PipelineHost,
  PreparedRead,
  ReadStats,
  Source,
} from "../query/index.js";
import { parsePipeline } from "../query/index.js";
import type { Server } from "./command.js";
import type { DocumentSource } from "./cursors.js";
import { PipelineWriter } from "./pipelineWriter.js";
import type { Interrupt } from "./planner/interrupt.js";
import { totals } from "./planner/explain.js";
import { openPipeline } from "./planner/pipelinePlan.js";
import type { PlanStage } from "./planner/planStage.js";
import { resolveView } from "./viewResolution.js";

/** Pipelines within pipelines and views within them: so many levels at most. */
const MAX_DEPTH = 20;

/** What all pipelines of one command have in common. */
export interface PipelineRun {
  readonly server: Server;
  /** `bypassDocumentValidation` of the command. */
  readonly bypassValidation: boolean;
  /** The command itself, for `$currentOp`. */
  readonly request?: Request;
  /** The interrupt of the command at work: aggregate's own, then that of each getMore. */
  interrupt: Interrupt;
}

export class ShardPipelineHost implements PipelineHost {
  private readonly writer: PipelineWriter;

  /** @param depth how many pipelines this one is inside of */
  constructor(
    readonly run: PipelineRun,
    readonly source: Source,
    private readonly depth = 0,
    private readonly stats?: ReadStats,
    readonly memory?: Map<object, unknown>,
  ) {
    this.writer = new PipelineWriter(run);
  }

  step(): void {
    this.run.interrupt.step();
  }

  read(source: Source, pipeline: readonly Uint8Array[], options: ExpressionOptions): Iterable<Uint8Array> {
    return this.prepare(source, pipeline, options).run();
  }

  prepare(source: Source, pipeline: readonly Uint8Array[], options: ExpressionOptions): PreparedRead {
    if (this.depth >= MAX_DEPTH) {
      throw new CommandError(
        ErrorCode.MaxSubPipelineDepthExceeded,
        `Maximum number of nested sub-pipelines exceeded. Limit is ${MAX_DEPTH}`,
      );
    }
    const { run } = this;
    const asked = `${source.db}.${source.collection}`;
    const view = resolveView(run.server, asked);
    if (view && !sameCollation(view.collation, options.collation)) {
      throw new CommandError(
        ErrorCode.OptionNotSupportedOnView,
        `Cannot override a view's default collation${asked}`,
      );
    }
    const namespace = view?.namespace ?? asked;
    const stages = view ? [...view.pipeline, ...pipeline] : pipeline;
    const inner: ExpressionOptions = {
      ...options,
      host: new ShardPipelineHost(run, source, this.depth + 1, undefined, options.host?.memory),
    };
    const parsed = parsePipeline(stages, inner);
    const { stats } = this;
    return {
      run: () => {
        const { source, plan } = openPipeline(run, namespace, parsed, inner);
        return documentsOf(
          source,
          plan && stats && run.interrupt.explains ? () => count(plan.root, stats) : undefined,
        );
      },
    };
  }

  observing(stats: ReadStats): ShardPipelineHost {
    return new ShardPipelineHost(this.run, this.source, this.depth, stats, this.memory);
  }

  remembering(): ShardPipelineHost {
    const { run, source, depth, stats, memory = new Map<object, unknown>() } = this;
    return new ShardPipelineHost(run, source, depth, stats, memory);
  }

  hasIndexOn(source: Source, path: string, { collation }: ExpressionOptions): boolean {
    const collection = this.run.server.catalog.find(`${source.db}.${source.collection}`);
    if (!collection) return false;
    return collection.indexes.some(
      ({ spec }) =>
        spec.fields[0]?.path === path &&
        !spec.hidden &&
        !spec.sparse &&
        spec.partialFilter === undefined &&
        sameCollation(spec.collation, collation),
    );
  }

  checkOut(target: Source): void {
    this.writer.checkOut(target);
  }

  out(target: Source, documents: readonly Uint8Array[]): void {
    this.writer.out(target, documents);
  }

  checkMerge(target: Source, modes: MergeModes, options: ExpressionOptions): void {
    this.writer.checkMerge(target, modes, options);
  }

  merge(
    target: Source,
    modes: MergeModes,
    documents: readonly Uint8Array[],
    options: ExpressionOptions,
  ): void {
    this.writer.merge(target, modes, documents, options);
  }
}

function* documentsOf(source: DocumentSource, atEnd?: () => void): Iterable<Uint8Array> {
  try {
    for (let doc = source.next(); doc !== undefined; doc = source.next()) yield doc;
  } finally {
    atEnd?.();
  }
}

/** Adds to counters what a plan has examined. */
function count(root: PlanStage, stats: ReadStats): void {
  const { keys, docs } = totals(root);
  stats.keysExamined += keys;
  stats.docsExamined += docs;
  const visit = (stage: PlanStage): void => {
    const { indexName } = stage.describe();
    if (stage.name === "COLLSCAN") stats.collectionScans++;
    if (typeof indexName === "string") stats.indexesUsed.add(indexName);
    stage.inputs.forEach(visit);
  };
  visit(root);
}
