/**
 * What an aggregation expression is and what it sees.
 *
 * An expression is compiled once into a function of its context and gives a
 * value, or undefined for *missing* — which is not null: `$project` leaves a
 * missing field out, comparisons put missing below null, arithmetic takes both
 * as null.
 *
 * The context is the document at hand and the variables that `$map`, `$let`
 * and their like bind. Each binding knows its slot at compile time, so that
 * reading a variable is an array access.
 */
import type { Collation, RawValue } from "../../bson/index.js";
import type { PipelineHost } from "../pipeline/host.js";

/** One document's evaluation. */
export interface ExpressionContext {
  readonly root: Uint8Array;
  /** Values of bound variables by slot. */
  readonly slots: Array<RawValue | undefined>;
  /** What its loops have done so far (limits.ts). */
  steps: number;
}

/** A compiled expression; undefined means missing. */
export type Expression = (context: ExpressionContext) => RawValue | undefined;

/** A variable whose value is set from outside between evaluations: `$lookup`'s `let`, `$redact`'s `$$KEEP`. */
export interface ExternalVariable {
  value: RawValue | undefined;
}

/** Settings from outside the expression. */
export interface ExpressionOptions {
  /** The command's `let`: a document of constants, seen as `$$name`. */
  readonly let?: Uint8Array;
  /** Variables beside those of `let`, by name, which they hide. */
  readonly variables?: ReadonlyMap<string, ExternalVariable>;
  /** The clock of `$$NOW`, milliseconds since 1970. */
  readonly now?: () => number;
  /** The source of `$rand`, `$sampleRate` and `$sample`: 0 ≤ n < 1. */
  readonly random?: () => number;
  /** How strings compare; absent: byte by byte (the simple collation). */
  readonly collation?: Collation;
  /** Whether stages that hold all their input may go beyond 100 MB; absent: yes (pipeline/stageMemory.ts). */
  readonly allowDiskUse?: boolean;
  /** The server around a pipeline, for stages that read or write other collections (`$lookup`, `$out`). */
  readonly host?: PipelineHost;
}

/** What an expression sees of one document: no variables are set. */
export function expressionContext(root: Uint8Array): ExpressionContext {
  return { root, slots: [], steps: 0 };
}

/** Names bound by enclosing `$let`, `$map`, …, innermost first. */
export interface Binding {
  readonly name: string;
  readonly slot: number;
  readonly outer: Binding | undefined;
}

/** Compile-time surroundings of an expression. */
export interface Scope {
  readonly options: ExpressionOptions;
  readonly binding: Binding | undefined;
  readonly depth: number;
  /** No document is there yet: the values of a command's `let`. */
  readonly withoutDocument?: boolean;
}

/** The scope inside a construct that binds `name`. */
export function bind(scope: Scope, name: string): { scope: Scope; slot: number } {
  const slot = scope.binding === undefined ? 0 : scope.binding.slot + 1;
  return { scope: { ...scope, binding: { name, slot, outer: scope.binding } }, slot };
}
