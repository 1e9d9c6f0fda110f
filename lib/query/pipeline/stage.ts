/**
 * Stages take documents pushed into them and hand documents on.
 *
 * Pushing instead of pulling lets the shard run a pipeline in one go over its
 * storage and the router run the same stages while batches arrive from its
 * shards. A streaming stage (`$match`) hands on at once, a blocking one
 * (`$sort`, `$group`) when its input is finished.
 */
import type { RawValue } from "../../bson/index.js";
import type { ExpressionOptions } from "../expression/context.js";
import type { FilterNode } from "../filter/node.js";

/** Hands a document on; false when whoever takes it wants no more. */
export type Emit = (doc: Uint8Array) => boolean | void;

/** One run of a stage. */
export interface Stage {
  readonly name: string;
  /** Takes one document. */
  push(doc: Uint8Array, emit: Emit): void;
  /** The input is finished. */
  finish(emit: Emit): void;
  /** No more input can change the output: `$limit` is reached. */
  readonly satisfied: boolean;
  /** What explain says of its work, beside the number of documents. */
  describe?(): Record<string, unknown>;
}

/** A collection that a stage names; `db` is undefined for the database of the pipeline itself. */
export interface NamedCollection {
  readonly db: string | undefined;
  readonly collection: string;
}

/** A stage of a pipeline, parsed and checked, ready to be run any number of times. */
export interface ParsedStage {
  readonly name: string;
  /** The value behind the name. */
  readonly spec: RawValue;
  /** The stage document as it came, to be sent to a shard. */
  readonly raw: Uint8Array;
  /**
   * The stage produces documents instead of taking them (`$collStats`). The host answers it and `create` throws,
   * but for those that need no host: `$documents`.
   */
  readonly isSource: boolean;
  /** Of a `$match`: its filter. */
  readonly filter?: FilterNode;
  /** Of a `$limit` or `$skip`: its number. */
  readonly count?: number;
  /** Other collections that it reads, those of pipelines inside included. */
  readonly reads?: readonly NamedCollection[];
  /** The collection that it writes: `$out`, `$merge`. */
  readonly writes?: NamedCollection;
  /** It runs only where there is a `PipelineHost`; elsewhere `create` throws 238. */
  readonly needsHost?: boolean;
  /** `$meta` is asked for in it, or in a pipeline inside. */
  readonly usesMeta?: boolean;
  /** What it does with whole documents one by one and independent of all others, for moving a `$match` over it. */
  readonly moves?: PathChanges;
  /** Of an `$unwind`. */
  readonly unwind?: UnwindSpec;
  /** A run of this stage that does the work of the next one as well; undefined where it cannot. */
  absorb?(next: ParsedStage): (() => Stage) | undefined;
  /** How explain shows it: other stages that it stands for. Absent: as it came. */
  explain?(): Uint8Array[];
  create(): Stage;
}

/** What an `$unwind` does. */
export interface UnwindSpec {
  readonly path: string;
  /** The field that gets the element's place in the array. */
  readonly index: readonly string[] | undefined;
  readonly preserve: boolean;
}

/** Which paths a stage may change: all that are below, above or equal to one of `paths`, or all but those. */
export interface PathChanges {
  readonly kind: "only" | "allBut";
  readonly paths: readonly string[];
}

/** What a stage's parser gives; name, value and document are added for it. */
export type StageParts = Omit<ParsedStage, "name" | "spec" | "raw" | "isSource" | "usesMeta"> & {
  readonly isSource?: boolean;
};

/** Where a pipeline stands: on its own, or inside a stage with pipelines of its own. */
export type Within = "$facet" | "$lookup" | "$unionWith" | "update";

/**
 * Parses the value of a stage.
 * @param spec the value behind the stage's name
 * @param options of expressions and filters inside it
 * @param name the stage's name: some parsers serve several
 * @param parse parses pipelines inside the stage, which must keep the rules for `within`
 */
export type StageParser = (
  spec: RawValue,
  options: ExpressionOptions,
  name: string,
  parse: SubPipelineParser,
) => StageParts;

export type SubPipelineParser = (
  stages: readonly Uint8Array[],
  options: ExpressionOptions,
  within: Within,
) => ParsedStage[];

/** A stage's entry in the table of stages. */
export interface StageDefinition {
  readonly parse: StageParser;
  /** It must be the first or the last of its pipeline. */
  readonly position?: "first" | "last";
  /** It must not stand inside these stages' pipelines. */
  readonly notWithin?: readonly Within[];
  /** It takes its documents from elsewhere and begins `{aggregate: 1}`: only there, or over a collection as well. */
  readonly collectionless?: "only" | "also";
}

/** A stage that turns each document into one or none. */
export function streaming(name: string, push: (doc: Uint8Array, emit: Emit) => void): Stage {
  return { name, push, finish: () => undefined, satisfied: false };
}
