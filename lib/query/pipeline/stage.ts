/**
 * Stages take documents pushed into them and hand documents on.
 *
 * Pushing instead of pulling lets the shard run a pipeline in one go over its
 * storage and the router run the same stages while batches arrive from its
 * shards. A streaming stage (`$match`) hands on at once, a blocking one
 * (`$sort`, `$group`) when its input is finished.
 */
import type { RawValue } from "../../bson/index.js";
import type { FilterNode } from "../filter/node.js";

export type Emit = (doc: Uint8Array) => void;

/** One run of a stage. */
export interface Stage {
  readonly name: string;
  /** Takes one document. */
  push(doc: Uint8Array, emit: Emit): void;
  /** The input is finished. */
  finish(emit: Emit): void;
  /** No more input can change the output: `$limit` is reached. */
  readonly satisfied: boolean;
}

/** A stage of a pipeline, parsed and checked, ready to be run any number of times. */
export interface ParsedStage {
  readonly name: string;
  /** The value behind the name. */
  readonly spec: RawValue;
  /** The stage document as it came, to be sent to a shard. */
  readonly raw: Uint8Array;
  /** The stage produces documents instead of taking them (`$collStats`): the host answers it, `create` throws. */
  readonly isSource: boolean;
  /** Of a `$match`: its filter. */
  readonly filter?: FilterNode;
  /** Of a `$limit` or `$skip`: its number. */
  readonly count?: number;
  create(): Stage;
}

/** A stage that turns each document into one or none. */
export function streaming(name: string, push: (doc: Uint8Array, emit: Emit) => void): Stage {
  return { name, push, finish: () => undefined, satisfied: false };
}
