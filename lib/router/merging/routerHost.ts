/**
 * The router as the host of a pipeline: what `$lookup`, `$graphLookup` and
 * `$unionWith` read there was fetched before they run (foreignReads.ts), and what
 * `$out` and `$merge` write is kept until they have ended (output/).
 *
 *     shards ──► router's stages ── read "rates" ──► fetched documents of test.rates
 *                       │
 *                       └── out / merge ──► a pending write, which the command carries out
 */
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type {
  ExpressionOptions,
  MergeModes,
  PipelineHost,
  PreparedRead,
  ReadStats,
  Source,
} from "../../query/index.js";
import { createStages, parsePipeline, runStages } from "../../query/index.js";
import { divideRead, keyOfRead } from "./foreignReads.js";
import type { OutputTarget } from "./output/target.js";
import { checkMerge, checkOut } from "./output/target.js";

/** Pipelines within pipelines: so many levels at most. */
const MAX_DEPTH = 20;

/** What `$out` or `$merge` wants to be written. */
export interface PendingWrite {
  readonly target: Source;
  readonly documents: readonly Uint8Array[];
  /** Of a `$merge`; absent for `$out`. */
  readonly modes?: MergeModes;
}

/** What all hosts of one command share. */
export interface HostState {
  /** Fetched documents by the key of their read. */
  fetched: ReadonlyMap<string, readonly Uint8Array[]>;
  /** What is known of the collection that the pipeline writes. */
  target: OutputTarget | undefined;
  /** Ends what takes too long, by throwing; the time of one command, so it is replaced when that has answered. */
  step: () => void;
  /** Set when `$out` or `$merge` has got all its documents. */
  pending?: PendingWrite;
}

/** The router around a pipeline. */
export class RouterPipelineHost implements PipelineHost {
  readonly source: Source;
  readonly memory?: Map<object, unknown>;
  readonly #state: HostState;
  readonly #depth: number;

  /** @param depth how many pipelines this one is inside of */
  constructor(source: Source, state: HostState, depth = 0, memory?: Map<object, unknown>) {
    this.source = source;
    this.#state = state;
    this.#depth = depth;
    if (memory) this.memory = memory;
  }

  read(source: Source, pipeline: readonly Uint8Array[], options: ExpressionOptions): Iterable<Uint8Array> {
    return this.prepare(source, pipeline, options).run();
  }

  prepare(source: Source, pipeline: readonly Uint8Array[], options: ExpressionOptions): PreparedRead {
    if (this.#depth >= MAX_DEPTH) {
      throw new CommandError(
        ErrorCode.MaxSubPipelineDepthExceeded,
        `Maximum number of nested sub-pipelines exceeded. Limit is ${MAX_DEPTH}`,
      );
    }
    const correlated = (options.variables?.size ?? 0) > 0;
    const read = divideRead(source, pipeline, correlated);
    const documents = this.#state.fetched.get(keyOfRead(read));
    if (!documents) throw new Error(`the router has not fetched ${source.db}.${source.collection}`);
    if (read.kept.length === 0) return { run: () => documents };
    const host = new RouterPipelineHost(source, this.#state, this.#depth + 1, options.host?.memory);
    const parsed = parsePipeline(read.kept, { ...options, host });
    return { run: () => runStages(createStages(parsed), documents, () => this.step()) };
  }

  /** Indexes are on shards; here joins are by hash tables. */
  hasIndexOn(): boolean {
    return false;
  }

  /** What shards have examined is not known here. */
  observing(_stats: ReadStats): RouterPipelineHost {
    return this;
  }

  remembering(): RouterPipelineHost {
    return new RouterPipelineHost(
      this.source,
      this.#state,
      this.#depth,
      this.memory ?? new Map<object, unknown>(),
    );
  }

  checkOut(): void {
    checkOut(this.#target());
  }

  out(target: Source, documents: readonly Uint8Array[]): void {
    this.#state.pending = { target, documents };
  }

  checkMerge(_target: Source, modes: MergeModes, options: ExpressionOptions): void {
    checkMerge(this.#target(), modes, options.collation);
  }

  merge(target: Source, modes: MergeModes, documents: readonly Uint8Array[]): void {
    this.#state.pending = { target, documents, modes };
  }

  step(): void {
    this.#state.step();
  }

  #target(): OutputTarget {
    const { target } = this.#state;
    if (!target) throw new Error("nothing is known of the collection that the pipeline writes");
    return target;
  }
}
