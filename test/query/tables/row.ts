/**
 * Rows of the behaviour tables: what MongoDB documents for one operator, as data.
 *
 * Every operator has at least three rows: a scalar, a null or missing field, an
 * array or something nested. `coverage` fails for an operator that has less.
 */
import { expect } from "vitest";

export type Kind = "scalar" | "null" | "array";

/** What all tables have in common. */
export interface Row {
  /** The operator, expression or stage the row is about: `"$gt"`. */
  readonly op: string;
  readonly kind: Kind;
  /** Where MongoDB says so: a page of its manual (below `reference/`), or a test or ticket by name. */
  readonly source: string;
  /** A behaviour that mingo 7.2 has wrong or lacks. */
  readonly gap?: true;
}

/** Does `filter` match `doc`? Or the code of the filter's error. */
export interface FilterRow extends Row {
  readonly filter: object;
  readonly doc: object;
  readonly collation?: object;
  readonly matches?: boolean;
  readonly error?: number;
}

/** Result of an expression, as typed shell text (`int 3`, `"a"`, `missing`), or the code of its error. */
export interface ExpressionRow extends Row {
  readonly expr: unknown;
  readonly doc: object;
  readonly gives?: string;
  readonly error?: number;
}

/** Documents that come out of a pipeline, in order, as JavaScript objects, or the code of the error. */
export interface PipelineRow extends Row {
  readonly pipeline: object[];
  readonly docs: object[];
  readonly gives?: object[];
  readonly error?: number;
}

/** The document after an update or a projection, as shell text, or the code of the error. */
export interface DocumentRow extends Row {
  readonly spec: object | object[];
  readonly query?: object;
  readonly options?: object;
  readonly doc: object;
  readonly gives?: string;
  readonly error?: number;
}

/** Names of operators that lack a row of some kind: must be empty. */
export function lacking(rows: readonly Row[], operators: Iterable<string>): string[] {
  const kinds: readonly Kind[] = ["scalar", "null", "array"];
  const have = new Map<string, Set<Kind>>();
  for (const { op, kind } of rows) have.set(op, (have.get(op) ?? new Set()).add(kind));
  return [...operators].flatMap((op) => {
    const missing = kinds.filter((kind) => !have.get(op)?.has(kind));
    return missing.length > 0 ? [`${op}: ${missing.join(", ")}`] : [];
  });
}

/** Fails for an operator without its three kinds of rows. */
export function coverage(rows: readonly Row[], operators: Iterable<string>): void {
  expect(lacking(rows, operators)).toEqual([]);
}
