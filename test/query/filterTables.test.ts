import { describe, expect, test } from "vitest";
import { compileFilter, parseCollation } from "../../lib/query/index.js";
import { PATH_OPERATORS } from "../../lib/query/filter/operators.js";
import { TOP_LEVEL_OPERATORS } from "../../lib/query/filter/parse.js";
import { bson, failure } from "./support.js";
import { rows } from "./tables/filter.table.js";
import { coverage, type FilterRow } from "./tables/row.js";

function matches({ filter, doc, collation }: FilterRow): boolean {
  const options = { collation: collation && parseCollation(bson(collation)) };
  return compileFilter(bson(filter), options).matches(bson(doc));
}

describe("query operators as MongoDB documents them", () => {
  test.each(rows.map((row) => [row.op, row] as const))("%s %j", (_, row) => {
    if (row.error !== undefined) expect(failure(() => matches(row)).code, row.source).toBe(row.error);
    else expect(matches(row), row.source).toBe(row.matches);
  });

  test("every operator has a scalar, a null and an array row", () => {
    const refused = ["$where", "$text", "$ref", "$id", "$db"];
    const operators = [...PATH_OPERATORS, ...TOP_LEVEL_OPERATORS, "$not"];
    coverage(
      rows,
      operators.filter((name) => !refused.includes(name)),
    );
  });
});
