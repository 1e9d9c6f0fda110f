/** The rows of the update table, and that every operator has enough of them. */
import { int32 } from "shardlab/bson";
import { describe, expect, test } from "vitest";
import {
  compileFilter,
  compileUpdate,
  parseCollation,
  upsertDocument,
  UPDATE_OPERATORS,
} from "../../lib/query/index.js";
import { bson, failure, text, value } from "./support.js";
import { coverage, type DocumentRow } from "./tables/row.js";
import { NOW, OTHERS, rows, type UpdateRowOptions } from "./tables/update.table.js";

function run({ spec, doc, query, options }: DocumentRow): string {
  const { arrayFilters, constants, let: variables, collation, upsert } = (options ?? {}) as UpdateRowOptions;
  const common = {
    now: () => NOW,
    collation: collation && parseCollation(bson(collation)),
    ...(variables && { let: bson(variables) }),
  };
  const update = compileUpdate(value(spec), {
    ...common,
    arrayFilters: arrayFilters?.map(bson),
    constants: constants && bson(constants),
  });
  const filter = compileFilter(bson(query ?? {}), common).node;
  if (upsert) return text(upsertDocument(filter, update, { now: NOW, newId: () => int32(99) }));
  return text(update.apply(bson(doc), { now: NOW, filter }));
}

describe("update rows", () => {
  test.each(rows.map((row) => [row.op, text(bson({ _: row.spec })), text(bson(row.doc)), row] as const))(
    "%s: %s on %s",
    (_, _spec, _doc, row) => {
      if (row.error === undefined) expect(run(row)).toBe(row.gives);
      else expect(failure(() => run(row)).code).toBe(row.error);
    },
  );

  test("every operator has a scalar, a null and an array row", () => {
    coverage(rows, [...UPDATE_OPERATORS, ...OTHERS]);
  });

  test("no row is there twice", () => {
    const keys = rows.map(({ op, spec, doc, query = {}, options = {} }) =>
      text(bson({ op, spec, doc, query, options })),
    );
    expect(keys.filter((key, i) => keys.indexOf(key) !== i)).toEqual([]);
  });
});
