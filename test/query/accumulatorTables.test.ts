import { describe, expect, test } from "vitest";
import { createStages, parsePipeline, runStages } from "../../lib/query/index.js";
import { ACCUMULATORS } from "../../lib/query/pipeline/accumulators.js";
import { bson, failure, text } from "./support.js";
import { rows } from "./tables/accumulator.table.js";
import { coverage } from "./tables/row.js";

const run = (pipeline: object[], docs: object[]): string[] =>
  runStages(createStages(parsePipeline(pipeline.map(bson))), docs.map(bson)).map(text);

describe("accumulators as MongoDB documents them", () => {
  test.each(rows.map((row) => [row.op, row.kind, row] as const))("%s, %s: %j", (_, __, row) => {
    if (row.error !== undefined) {
      expect(failure(() => run(row.pipeline, row.docs)).code, row.source).toBe(row.error);
    } else expect(run(row.pipeline, row.docs), row.source).toEqual(row.gives!.map((doc) => text(bson(doc))));
  });

  test("every accumulator has a scalar, a null and an array row", () => {
    coverage(rows, ACCUMULATORS.keys());
  });

  test("JavaScript is refused", () => {
    const pipeline = [{ $group: { _id: null, r: { $accumulator: {} } } }];
    expect(failure(() => run(pipeline, [{}])).code).toBe(238);
  });

  test.each([
    [{ r: 5 }, 40234],
    [{ r: {} }, 40234],
    [{ r: { x: 1 } }, 40234],
    [{ "r.s": { $sum: 1 } }, 40235],
    [{ $r: { $sum: 1 } }, 40236],
    [{ r: { $sum: 1, $avg: 1 } }, 40238],
    [{ r: { $sum: [1, 2] } }, 40237],
    [{ r: { $nosuch: 1 } }, 15952],
  ])("$group: %j → %d", (fields, code) => {
    expect(failure(() => parsePipeline([bson({ $group: { _id: null, ...fields } })])).code).toBe(code);
  });

  test("$group needs an object with an _id", () => {
    expect(failure(() => parsePipeline([bson({ $group: 1 })])).code).toBe(15947);
    expect(failure(() => parsePipeline([bson({ $group: { r: { $sum: 1 } } })])).code).toBe(15955);
  });

  test("n may depend on the group's _id, where that is an object", () => {
    const n = { $cond: [{ $eq: ["$g", 1] }, 1, 2] };
    const docs = [1, 2, 3, 4, 5].map((a) => ({ g: a % 2, a }));
    expect(run([{ $group: { _id: { g: "$g" }, r: { $firstN: { n, input: "$a" } } } }], docs)).toEqual([
      "{ _id: { g: 1 }, r: [ 1 ] }",
      "{ _id: { g: 0 }, r: [ 2, 4 ] }",
    ]);
  });
});
