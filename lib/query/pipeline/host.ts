/**
 * What a pipeline may ask of the server that runs it: the stages themselves
 * know documents only, other collections are the host's.
 */
import type { ExpressionOptions } from "../expression/context.js";

/** A collection of the server by name. */
export interface Source {
  readonly db: string;
  readonly collection: string;
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
}
