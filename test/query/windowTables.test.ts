import { describe, expect, test } from "vitest";
import { createStages, parsePipeline, runStages } from "../../lib/query/index.js";
import { WINDOW_FUNCTIONS } from "../../lib/query/pipeline/window/functions.js";
import { bson, failure, text } from "./support.js";
import { coverage } from "./tables/row.js";
import { rows } from "./tables/window.table.js";

const run = (pipeline: object[], docs: object[]): string[] =>
  runStages(createStages(parsePipeline(pipeline.map(bson))), docs.map(bson)).map(text);

describe("window functions and their stages as MongoDB documents them", () => {
  test.each(rows.map((row) => [row.op, row.kind, row] as const))("%s, %s: %j", (_, __, row) => {
    if (row.error !== undefined) {
      expect(failure(() => run(row.pipeline, row.docs)).code, row.source).toBe(row.error);
    } else expect(run(row.pipeline, row.docs), row.source).toEqual(row.gives!.map((doc) => text(bson(doc))));
  });

  test("every function and stage has a scalar, a null and an array row", () => {
    coverage(rows, [...WINDOW_FUNCTIONS.keys(), "$setWindowFields", "$fill", "$densify"]);
  });
});
