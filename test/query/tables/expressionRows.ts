/** How the tables of expressions are written: rows of one operator behind its page of the manual. */
import type { ExpressionRow, Kind } from "./row.js";

/** Kind, expression, document, result (a number is an error's code); "gap" where mingo has it wrong or lacks it. */
export type Case = readonly [kind: Kind, expr: unknown, doc: object, gives: string | number, gap?: "gap"];

/** Rows of an operator. @param source a page of the manual below `operator/aggregation/`, or a test by its path */
export function of(op: string, source: string, ...cases: Case[]): ExpressionRow[] {
  const where = source.includes("/") ? source : `manual: operator/aggregation/${source}`;
  return cases.map(([kind, expr, doc, gives, gap]) => ({
    op,
    kind,
    expr,
    doc,
    ...(typeof gives === "number" ? { error: gives } : { gives }),
    source: where,
    ...(gap && { gap: true as const }),
  }));
}
