/** The rows of the projection table, and that every form has enough of them. */
import { describe, expect, test } from "vitest";
import { compileFilter, compileProjection, parseCollation } from "../../lib/query/index.js";
import { parseProjection } from "../../lib/query/projection/index.js";
import { bson, failure, text } from "./support.js";
import { FORMS, rows, type ProjectionRowOptions } from "./tables/projection.table.js";
import { coverage, type DocumentRow } from "./tables/row.js";

function run({ spec, doc, query, options }: DocumentRow): string {
  const { dialect, collation } = (options ?? {}) as ProjectionRowOptions;
  const common = { collation: collation && parseCollation(bson(collation)) };
  if (dialect) return text(parseProjection(bson(spec), dialect, common).apply(bson(doc)));
  const filter = compileFilter(bson(query ?? {}), common);
  if (query) expect(filter.matches(bson(doc))).toBe(true);
  return text(compileProjection(bson(spec), common, filter.node)(bson(doc)));
}

describe("projection rows", () => {
  test.each(rows.map((row) => [row.op, text(bson(row.spec)), text(bson(row.doc)), row] as const))(
    "%s: %s on %s",
    (_, _spec, _doc, row) => {
      if (row.error === undefined) expect(run(row)).toBe(row.gives);
      else expect(failure(() => run(row)).code).toBe(row.error);
    },
  );

  test("every form has a scalar, a null and an array row", () => coverage(rows, FORMS));
});
