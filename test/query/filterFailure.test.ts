/** `errInfo.details` of documents that a validator of ordinary query operators refuses. */
import { describe, expect, test } from "vitest";
import { asDocument } from "shardlab/bson";
import { explainFailure } from "../../lib/query/index.js";
import { details } from "./failureDetails.js";
import { bson, js } from "./support.js";

describe("ordinary query operators", () => {
  test.each<[object, object, object]>([
    [
      { a: 1 },
      { a: 2 },
      { operatorName: "$eq", specifiedAs: { a: 1 }, reason: "comparison failed", consideredValue: 2 },
    ],
    [
      { a: { $ne: 1 } },
      { a: [0, 1] },
      {
        operatorName: "$ne",
        specifiedAs: { a: { $ne: 1 } },
        reason: "comparison succeeded",
        consideredValues: [0, 1],
      },
    ],
    [
      { a: { $gt: 1 } },
      { b: 2 },
      { operatorName: "$gt", specifiedAs: { a: { $gt: 1 } }, reason: "field was missing" },
    ],
    [
      { a: { $exists: true } },
      {},
      { operatorName: "$exists", specifiedAs: { a: { $exists: true } }, reason: "path does not exist" },
    ],
    [
      { a: { $exists: false } },
      { a: 1 },
      { operatorName: "$exists", specifiedAs: { a: { $exists: false } }, reason: "path does exist" },
    ],
    [
      { a: { $in: [1, 2] } },
      { a: 3 },
      {
        operatorName: "$in",
        specifiedAs: { a: { $in: [1, 2] } },
        reason: "no matching value found in array",
        consideredValue: 3,
      },
    ],
    [
      { a: { $type: "string" } },
      { a: [1, { x: 1 }] },
      {
        operatorName: "$type",
        specifiedAs: { a: { $type: "string" } },
        reason: "type did not match",
        consideredValues: [1, { x: 1 }],
        consideredTypes: ["int", "object"],
      },
    ],
    [
      { a: { $mod: [2, 1] } },
      { a: "x" },
      {
        operatorName: "$mod",
        specifiedAs: { a: { $mod: [2, 1] } },
        reason: "type did not match",
        consideredType: "string",
        expectedTypes: ["decimal", "double", "int", "long"],
        consideredValue: "x",
      },
    ],
    [
      { a: { $size: 2 } },
      { a: 5 },
      {
        operatorName: "$size",
        specifiedAs: { a: { $size: 2 } },
        reason: "type did not match",
        consideredType: "int",
        expectedType: "array",
        consideredValue: 5,
      },
    ],
    [
      { a: { $all: [1, 9] } },
      { a: [1, 2] },
      {
        operatorName: "$all",
        specifiedAs: { a: { $all: [1, 9] } },
        reason: "array did not contain all specified values",
        consideredValue: [1, 2],
      },
    ],
    [
      { a: { $regex: "^S", $options: "i" } },
      { a: "x" },
      {
        operatorName: "$regex",
        specifiedAs: { a: { $regex: "^S", $options: "i" } },
        reason: "regular expression did not match",
        consideredValue: "x",
      },
    ],
    [
      { a: { $bitsAllSet: 3 } },
      { a: 1 },
      {
        operatorName: "$bitsAllSet",
        specifiedAs: { a: { $bitsAllSet: 3 } },
        reason: "bitwise operator failed to match",
        consideredValue: 1,
      },
    ],
    [
      { a: { $not: { $gt: 1 } } },
      { a: 2 },
      {
        operatorName: "$not",
        details: {
          operatorName: "$gt",
          specifiedAs: { a: { $gt: 1 } },
          reason: "comparison succeeded",
          consideredValue: 2,
        },
      },
    ],
    [
      { $expr: { $eq: ["$a", "$b"] } },
      { a: 1, b: 2 },
      {
        operatorName: "$expr",
        specifiedAs: { $expr: { $eq: ["$a", "$b"] } },
        reason: "expression did not match",
        expressionResult: false,
      },
    ],
    [
      // Only the clauses that failed, by their place; the implicit $and of a filter counts too.
      { a: { $gt: 0, $ne: 7 }, b: 1 },
      { a: 7, b: 1 },
      {
        operatorName: "$and",
        clausesNotSatisfied: [
          {
            index: 1,
            details: {
              operatorName: "$ne",
              specifiedAs: { a: { $ne: 7 } },
              reason: "comparison succeeded",
              consideredValue: 7,
            },
          },
        ],
      },
    ],
    [
      { $or: [{ a: 1 }, { a: 2 }] },
      { a: 3 },
      {
        operatorName: "$or",
        clausesNotSatisfied: [
          {
            index: 0,
            details: {
              operatorName: "$eq",
              specifiedAs: { a: 1 },
              reason: "comparison failed",
              consideredValue: 3,
            },
          },
          {
            index: 1,
            details: {
              operatorName: "$eq",
              specifiedAs: { a: 2 },
              reason: "comparison failed",
              consideredValue: 3,
            },
          },
        ],
      },
    ],
  ])("%j on %j", (filter, doc, expected) => {
    const found = details(filter, doc) as object;
    expect(found).toEqual(expected);
    expect(Object.keys(found)).toEqual(Object.keys(expected)); // in MongoDB's order
  });

  test("more than ten considered values are cut off, and it says so", () => {
    const a = Array.from({ length: 12 }, (_, i) => i);
    expect(details({ a: 99 }, { a })).toEqual({
      operatorName: "$eq",
      specifiedAs: { a: 99 },
      reason: "comparison failed",
      consideredValues: a.slice(0, 10),
      consideredValuesTruncated: true,
    });
  });

  test("an expression that fails to evaluate is the reason", () => {
    const filter = { $expr: { $divide: [1, "$a"] } };
    const result = js(asDocument(explainFailure(bson(filter), bson({ a: 0 }))));
    expect(result).toMatchObject({
      operatorName: "$expr",
      reason: "failed to evaluate aggregation expression",
      details: { code: 2 },
    });
  });

  test("a report beyond 8 MB leaves out what it quotes", () => {
    const a = "x".repeat(9 * 1024 * 1024);
    expect(details({ a: 1 }, { a })).toEqual({ operatorName: "$eq", reason: "comparison failed" });
  });
});
