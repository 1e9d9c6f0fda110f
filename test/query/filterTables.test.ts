import { describe, expect, test } from "vitest";
import { compileFilter } from "../../lib/query/index.js";
import { PATH_OPERATORS } from "../../lib/query/filter/operators.js";
import { TOP_LEVEL_OPERATORS } from "../../lib/query/filter/parse.js";
import { bson } from "./support.js";
import { rows } from "./tables/filter.table.js";
import { coverage } from "./tables/row.js";

describe("query operators as MongoDB documents them", () => {
  test.each(rows.map((row) => [row.op, row] as const))("%s %j", (_, { filter, doc, matches, source }) => {
    expect(compileFilter(bson(filter)).matches(bson(doc)), source).toBe(matches);
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
