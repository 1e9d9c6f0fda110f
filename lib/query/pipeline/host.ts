/**
 * What a pipeline may ask of the server that runs it: the stages themselves
 * know documents only, other collections are the host's.
 */
import { notSimulated } from "../../protocol/index.js";
import type { ExpressionOptions } from "../expression/context.js";
import type { NamedCollection } from "./stage.js";

/** A collection of the server by name. */
export interface Source {
  readonly db: string;
  readonly collection: string;
}

/** A pipeline over another collection, parsed once and run any number of times. */
export interface PreparedRead {
  /** The documents as they are now, from the first on. */
  run(): Iterable<Uint8Array>;
}

/** What reads of other collections have examined so far. */
export interface ReadStats {
  docsExamined: number;
  keysExamined: number;
  collectionScans: number;
  /** Names of indexes. */
  readonly indexesUsed: Set<string>;
}

/** How `$merge` treats a document that has, or has not, its counterpart in the target. */
export interface MergeModes {
  /** Fields that identify the counterpart; undefined: `_id`. */
  readonly on: readonly string[] | undefined;
  readonly whenMatched: "replace" | "keepExisting" | "merge" | "fail" | "pipeline";
  readonly whenNotMatched: "insert" | "discard" | "fail";
  /**
   * Of `whenMatched: [pipeline]`: the counterpart after the change.
   * @param existing the document in the target
   * @param incoming the document that came out of the pipeline
   */
  change?(existing: Uint8Array, incoming: Uint8Array): Uint8Array;
}

/** The server around a pipeline. */
export interface PipelineHost {
  /** The collection that the pipeline runs over. */
  readonly source: Source;
  /**
   * Runs a pipeline over another collection or view; an index serves it where one can.
   * @param options `let` and the rest as the pipeline inside shall see them
   */
  read(source: Source, pipeline: readonly Uint8Array[], options: ExpressionOptions): Iterable<Uint8Array>;
  /** The same for many runs: what depends on `options.variables` is evaluated anew by each. */
  prepare(source: Source, pipeline: readonly Uint8Array[], options: ExpressionOptions): PreparedRead;
  /** Whether an index of that collection finds documents by equality at a path. */
  hasIndexOn(source: Source, path: string, options: ExpressionOptions): boolean;
  /** The same host, whose reads are counted for explain. */
  observing(stats: ReadStats): PipelineHost;
  /**
   * What stages of a pipeline that runs again and again keep from one run to the next (hash tables of collections),
   * by what they were parsed into; absent where every run begins anew.
   */
  readonly memory?: Map<object, unknown>;
  /** The same host with a {@link memory}, for a pipeline that runs once for each document. */
  remembering(): PipelineHost;
  /**
   * Checks, before the pipeline runs, that `$out` may replace a collection.
   * @throws CommandError 166 for a view, 17152 for a capped collection
   */
  checkOut(target: Source): void;
  /** Makes the documents the whole content of a collection, at once, keeping its indexes and options. */
  out(target: Source, documents: readonly Uint8Array[]): void;
  /**
   * Checks, before the pipeline runs, that `$merge` may write a collection.
   * @throws CommandError 166 for a view, 51183 where no unique index covers `modes.on`
   */
  checkMerge(target: Source, modes: MergeModes, options: ExpressionOptions): void;
  /** Merges documents into a collection, one after the other. */
  merge(
    target: Source,
    modes: MergeModes,
    documents: readonly Uint8Array[],
    options: ExpressionOptions,
  ): void;
  /**
   * Called now and then by stages that run long.
   * @throws CommandError 50 when the time of the operation is over
   */
  step(): void;
}

/** The host of a stage that cannot do without. */
export function hostOf(options: ExpressionOptions, stage: string): PipelineHost {
  if (options.host === undefined) throw notSimulated(`stage ${stage} here`);
  return options.host;
}

/** A collection that a stage names, in the pipeline's own database where it names none. */
export function sourceOf(host: PipelineHost, { db, collection }: NamedCollection): Source {
  return { db: db ?? host.source.db, collection };
}

/** What a stage has made in an earlier run of its pipeline, or makes now. */
export function remembered<T>(host: PipelineHost, key: object, make: () => T): T {
  const { memory } = host;
  if (memory === undefined) return make();
  if (!memory.has(key)) memory.set(key, make());
  return memory.get(key) as T;
}
