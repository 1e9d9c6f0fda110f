/** Variables, the clock, chance, collation and metadata: what reaches an expression from outside. */
import { describeValue } from "shardlab/bson";
import { describe, expect, test } from "vitest";
import {
  compileExpression,
  createStages,
  expressionContext,
  parseCollation,
  parsePipeline,
  runStages,
  setMeta,
  usesMeta,
  type ExpressionOptions,
  type ExternalVariable,
} from "../../lib/query/index.js";
import { bson, failure, text, value } from "./support.js";

const evaluate = (expression: unknown, options: ExpressionOptions = {}, doc: object = {}) =>
  describeValue(compileExpression(value(expression), options)(expressionContext(bson(doc))));
const code = (expression: unknown, options: ExpressionOptions = {}) =>
  failure(() => evaluate(expression, options)).code;

describe("variables of a command", () => {
  const options = { let: bson({ a: 1, b: { $add: ["$$a", 1] }, c: "$$NOW" }), now: () => 86_400_000 };

  test("let is evaluated once, each value seeing those before it", () => {
    expect(evaluate(["$$a", "$$b", "$$c"], options)).toBe("[ 1, 2, new Date(86400000) ]");
    expect(evaluate("$$a.x", options)).toBe("missing");
  });

  test("what is bound inside hides what comes from outside", () => {
    expect(evaluate({ $let: { vars: { a: "in" }, in: ["$$a", "$$b"] } }, options)).toBe('[ "in", 2 ]');
  });

  test.each([
    ["$$nosuch", 17276],
    ["$$a.", 40353],
    ["$$", 9],
    [{ $let: { vars: { Up: 1 }, in: 1 } }, 9],
    [{ $let: { vars: { "a.b": 1 }, in: 1 } }, 9],
  ])("%j → %d", (expression, expected) => expect(code(expression, options)).toBe(expected));

  test("let cannot look at a document", () => {
    expect(code("$$a", { let: bson({ a: "$field" }) })).toBe(4890500);
  });

  test("a variable set from outside is read at each evaluation", () => {
    const variable: ExternalVariable = { value: value(1) };
    const expression = compileExpression(value({ $add: ["$$x", 1] }), {
      variables: new Map([["x", variable]]),
    });
    const context = expressionContext(bson({}));
    expect(describeValue(expression(context))).toBe("2");
    variable.value = value(41);
    expect(describeValue(expression(context))).toBe("42");
  });

  test("the clock stands still within a command", () => {
    let ms = 5;
    const ticking: ExpressionOptions = { now: () => ms++ };
    expect(evaluate({ $subtract: ["$$NOW", "$$NOW"] }, ticking)).toBe("0");
    expect(evaluate("$$NOW", ticking)).toBe("new Date(5)");
    expect(code("$$NOW")).toBe(238);
    expect(code("$$CLUSTER_TIME", ticking)).toBe(51144);
  });

  test("$rand draws anew for each evaluation", () => {
    const draws = [0.5, 0.25];
    expect(evaluate([{ $rand: {} }, { $rand: {} }], { random: () => draws.shift()! })).toBe("[ 0.5, 0.25 ]");
  });
});

describe("strings compare by the collation", () => {
  const collation = parseCollation(bson({ locale: "en", strength: 2 }))!;
  test.each([
    [{ $eq: ["a", "A"] }, "true"],
    [{ $cmp: ["ab", "AC"] }, "-1"],
    [{ $eq: [{ x: ["É"] }, { x: ["é"] }] }, "true"],
    [{ $in: ["A", ["a", "b"]] }, "true"],
    [{ $indexOfArray: [["x", "A"], "a"] }, "1"],
    [{ $setUnion: [["a"], ["A", "b"]] }, '[ "a", "b" ]'],
    [{ $setIsSubset: [["A"], ["a"]] }, "true"],
    [{ $setEquals: [["A", "a"], ["a"]] }, "true"],
    [{ $max: ["a", "B"] }, '"B"'],
    [{ $minN: { n: 2, input: ["B", "a", "A"] } }, '[ "a", "A" ]'],
    [{ $sortArray: { input: ["b", "A", "B"], sortBy: 1 } }, '[ "A", "b", "B" ]'],
    // by bytes, whatever the collation
    [{ $indexOfCP: ["xA", "a"] }, "-1"],
    [{ $regexMatch: { input: "A", regex: "a" } }, "false"],
    [{ $strcasecmp: ["a", "B"] }, "-1"],
    [{ $replaceOne: { input: "A", find: "a", replacement: "x" } }, '"A"'],
  ])("%j → %s", (expression, expected) => expect(evaluate(expression, { collation })).toBe(expected));

  test("groups, sets and extremes", () => {
    const group = {
      _id: "$g",
      set: { $addToSet: "$v" },
      least: { $min: "$v" },
      top: { $top: { sortBy: { v: -1 }, output: "$v" } },
    };
    const docs = [
      { g: "x", v: "b" },
      { g: "X", v: "B" },
      { g: "x", v: "A" },
    ].map(bson);
    expect(
      runStages(createStages(parsePipeline([bson({ $group: group })], { collation })), docs).map(text),
    ).toEqual(['{ _id: "x", set: [ "b", "A" ], least: "A", top: "b" }']);
  });

  test("partitions and windows", () => {
    const windows = { partitionBy: "$g", sortBy: { v: 1 }, output: { r: { $rank: {} }, m: { $max: "$v" } } };
    const docs = [
      { g: "x", v: "b" },
      { g: "X", v: "B" },
      { g: "x", v: "A" },
    ].map(bson);
    const stages = createStages(parsePipeline([bson({ $setWindowFields: windows })], { collation }));
    expect(runStages(stages, docs).map(text)).toEqual([
      '{ g: "x", v: "A", r: 1, m: "b" }',
      '{ g: "x", v: "b", r: 2, m: "b" }',
      '{ g: "X", v: "B", r: 2, m: "b" }',
    ]);
  });
});

describe("metadata", () => {
  test("$meta reads what was noted of the document", () => {
    const doc = bson({ a: 1 });
    setMeta(doc, { sortKey: [value(7)], recordId: 5 });
    setMeta(doc, { indexKey: bson({ a: 1 }) });
    const read = (name: string) =>
      describeValue(compileExpression(value({ $meta: name }))(expressionContext(doc)));
    expect(["sortKey", "recordId", "indexKey"].map(read)).toEqual(["[ 7 ]", "5", "{ a: 1 }"]);
    setMeta(doc, { sortKey: [value(7), value("x")] });
    expect(read("sortKey")).toBe('[ 7, "x" ]');
  });

  test("a query that asks for it is known by it", () => {
    expect(usesMeta(bson({ a: [{ b: { $meta: "sortKey" } }] }))).toBe(true);
    expect(usesMeta(bson({ a: "$meta", $metal: 1 }))).toBe(false);
  });
});
