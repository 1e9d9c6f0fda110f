import { describeValue } from "shardlab/bson";
import { describe, expect, test } from "vitest";
import { compileExpression, expressionContext, typeName } from "../../lib/query/index.js";
import { NOT_BUILT, operators } from "../../lib/query/expression/operators.js";
import { bson, failure, value } from "./support.js";
import { rows } from "./tables/expression.table.js";
import { coverage, type ExpressionRow } from "./tables/row.js";

const NUMBERS = new Set(["int", "long", "double", "decimal"]);

function evaluate({ expr, doc }: Pick<ExpressionRow, "expr" | "doc">): string {
  const options = { now: () => 0, random: () => 0.25 };
  const v = compileExpression(value(expr), options)(expressionContext(bson(doc)));
  if (v === undefined) return "missing";
  return NUMBERS.has(typeName(v)) ? `${typeName(v)} ${describeValue(v)}` : describeValue(v);
}

describe("expression operators as MongoDB documents them", () => {
  test.each(rows.map((row) => [row.op, row.kind, row] as const))("%s, %s: %j", (_, __, row) => {
    if (row.error !== undefined) expect(failure(() => evaluate(row)).code, row.source).toBe(row.error);
    else expect(evaluate(row), row.source).toBe(row.gives);
  });

  test("every operator has a scalar, a null and an array row", () => {
    coverage(rows, operators().keys());
  });

  test("what MongoDB has beyond is refused by name, what doesn't exist is 168", () => {
    for (const name of NOT_BUILT) {
      expect(failure(() => evaluate({ expr: { [name]: {} }, doc: {} })).code, name).toBe(238);
    }
    expect(failure(() => evaluate({ expr: { $nosuch: {} }, doc: {} })).code).toBe(168);
  });
});
