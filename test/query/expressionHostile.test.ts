/** Expressions that ask for too much end in a coded error, soon. */
import { Double } from "bson";
import { describe, expect, test } from "vitest";
import { compileExpression, expressionContext } from "../../lib/query/index.js";
import { bson, failure, value } from "./support.js";

const evaluate = (expression: unknown, doc: object = {}) =>
  compileExpression(value(expression), { now: () => 0, random: () => 0 })(expressionContext(bson(doc)));
const nested = (depth: number, wrap: (inner: unknown) => unknown, innermost: unknown = 1): unknown => {
  let expression = innermost;
  for (let i = 0; i < depth; i++) expression = wrap(expression);
  return expression;
};
const many = (n: number) => Array.from({ length: n }, (_, i) => i);

describe("hostile expressions", () => {
  test.each<[string, unknown, number]>([
    ["a range of a billion", { $range: [0, 1e9] }, 146],
    ["a range beyond 32 bits", { $range: [0, new Double(2 ** 40)] }, 34446],
    [
      "a string doubled forty times",
      { $reduce: { input: many(40), initialValue: "x".repeat(64), in: { $concat: ["$$value", "$$value"] } } },
      146,
    ],
    [
      "an array doubled forty times",
      {
        $reduce: {
          input: many(40),
          initialValue: ["x".repeat(10_000)],
          in: { $concatArrays: ["$$value", "$$value"] },
        },
      },
      146,
    ],
    [
      "an array of itself, doubled",
      { $reduce: { input: many(60), initialValue: "x".repeat(1000), in: ["$$value", "$$value"] } },
      146,
    ],
    [
      "a value wrapped five hundred times",
      { $reduce: { input: many(500), initialValue: 1, in: ["$$value"] } },
      15,
    ],
    [
      "an object wrapped five hundred times",
      { $reduce: { input: many(500), initialValue: 1, in: { v: "$$value" } } },
      15,
    ],
    [
      "replacements that multiply",
      {
        $reduce: {
          input: many(8),
          initialValue: "aaaaaaaaaa",
          in: { $replaceAll: { input: "$$value", find: "a", replacement: "aaaaaaaaaa" } },
        },
      },
      146,
    ],
    [
      "a map that repeats a long string",
      { $map: { input: { $range: [0, 3000] }, in: "x".repeat(100_000) } },
      146,
    ],
  ])("%s", (_, expression, code) => {
    expect(failure(() => evaluate(expression)).code).toBe(code);
  });

  test.each<[string, (inner: unknown) => unknown]>([
    ["operators", (inner) => ({ $abs: inner })],
    ["arrays", (inner) => [inner, "$a"]],
    ["objects", (inner) => ({ a: inner, b: "$a" })],
    ["conditions", (inner) => ({ $cond: [true, inner, 0] })],
    ["variables", (inner) => ({ $let: { vars: { x: 1 }, in: inner } })],
  ])("%s nested beyond 200 levels", (_, wrap) => {
    expect(failure(() => compileExpression(value(nested(250, wrap)))).code).toBe(15);
    expect(() => compileExpression(value(nested(60, wrap)))).not.toThrow();
  });

  test("a path of many names", () => {
    expect(failure(() => evaluate(`$${"a.".repeat(300)}a`)).code).toBe(15);
  });

  test("a pattern that backtracks elsewhere takes linear time", () => {
    const start = performance.now();
    expect(evaluate({ $regexMatch: { input: `${"a".repeat(20_000)}b`, regex: "^(a+)+$" } })!.bytes[0]).toBe(
      0,
    );
    expect(performance.now() - start).toBeLessThan(3000);
  });

  test("long arrays cost no more than their length", () => {
    const list = many(10_000);
    const start = performance.now();
    const doc = { list };
    for (const expression of [
      { $setUnion: ["$list", "$list"] },
      { $setDifference: ["$list", "$list"] },
      { $setIsSubset: ["$list", "$list"] },
      { $sortArray: { input: "$list", sortBy: -1 } },
      { $reverseArray: "$list" },
      { $zip: { inputs: ["$list", "$list"] } },
      { $median: { input: "$list", method: "approximate" } },
      { $maxN: { n: 10_000, input: "$list" } },
      { $arrayToObject: { $map: { input: "$list", in: [{ $toString: "$$this" }, 1] } } },
    ]) {
      evaluate(expression, doc);
    }
    expect(performance.now() - start).toBeLessThan(6000);
  });

  test("dates and amounts at the ends of 64 bits", () => {
    const date = new Date(8.64e15);
    const add = (amount: unknown) => ({ $dateAdd: { startDate: date, unit: "year", amount } });
    expect(failure(() => evaluate(add(new Double(2 ** 62)))).code).toBe(5976500);
    expect(failure(() => evaluate({ $add: [date, new Double(9.22e18)] })).code).toBe(15);
    expect(failure(() => evaluate({ $dateToString: { date } })).code).toBe(18537);
  });
});
