/** A partition of `$setWindowFields`: documents that share a value of `partitionBy`, in the order of `sortBy`. */
import { string, type RawValue } from "../../../bson/index.js";
import { compileExpression } from "../../expression/compile.js";
import { expressionContext, type Expression, type ExpressionOptions } from "../../expression/context.js";
import type { Sort } from "../../sort/index.js";

/** What the functions of a stage are compiled with. */
export interface WindowSetup {
  readonly options: ExpressionOptions;
  readonly sort: Sort | undefined;
  /** The value of the only field of `sortBy`; undefined where there are several, or none. */
  readonly sortValue: Expression | undefined;
  /** Whether a name is that of a window function. */
  isFunction(name: string): boolean;
}

/** What the functions of one `$setWindowFields` share; they get a sort value only where one field is sorted by. */
export function windowSetup(
  sort: Sort | undefined,
  options: ExpressionOptions,
  isFunction: (name: string) => boolean,
): WindowSetup {
  const only = sort?.fields.length === 1 ? sort.fields[0]! : undefined;
  const sortValue =
    only === undefined || only.path === "$meta"
      ? undefined
      : compileExpression(string(`$${only.path}`), options);
  return { options, sort, sortValue, isFunction };
}

export class Partition {
  constructor(readonly docs: readonly Uint8Array[]) {}

  get size(): number {
    return this.docs.length;
  }

  /** An expression's value for the document at `index`, which must exist. */
  value(expression: Expression, index: number): RawValue | undefined {
    return expression(expressionContext(this.docs[index]!));
  }
}

/** A window function at work in a partition: its value for document after document, from the first on. */
export type WindowRun = (index: number) => RawValue | undefined;

/** A compiled window function. */
export interface WindowFunction {
  /** Begins a partition. A missing value (undefined) leaves the field out. */
  start(partition: Partition): WindowRun;
}
