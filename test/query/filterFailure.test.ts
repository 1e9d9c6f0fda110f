import { describe, expect, test } from "vitest";
import { asDocument, BsonType } from "shardlab/bson";
import { compileFilter, explainFailure } from "../../lib/query/index.js";
import { bson, js } from "./support.js";

/** `errInfo.details` for a document that the filter does not match. */
function details(filter: object, doc: object): unknown {
  expect(compileFilter(bson(filter)).matches(bson(doc))).toBe(false);
  const result = explainFailure(bson(filter), bson(doc));
  expect(result.type).toBe(BsonType.object);
  return js(asDocument(result));
}

const prop = (keywords: object, rest: object = {}) => ({
  $jsonSchema: { properties: { a: keywords }, ...rest },
});
/** What a failure of property a looks like around the failures of its keywords. */
const around = (...list: object[]) => ({
  operatorName: "$jsonSchema",
  schemaRulesNotSatisfied: [
    { operatorName: "properties", propertiesNotSatisfied: [{ propertyName: "a", details: list }] },
  ],
});

describe("$jsonSchema, as in MongoDB's own tests of document validation errors", () => {
  test("title and description stand beside the operator and the property", () => {
    const schema = {
      $jsonSchema: {
        properties: { a: { minimum: 1, title: "property a", description: "a >= 1" } },
        title: "example title",
        description: "example description",
      },
    };
    expect(details(schema, { a: 0 })).toEqual({
      operatorName: "$jsonSchema",
      title: "example title",
      description: "example description",
      schemaRulesNotSatisfied: [
        {
          operatorName: "properties",
          propertiesNotSatisfied: [
            {
              propertyName: "a",
              title: "property a",
              description: "a >= 1",
              details: [
                {
                  operatorName: "minimum",
                  specifiedAs: { minimum: 1 },
                  reason: "comparison failed",
                  consideredValue: 0,
                },
              ],
            },
          ],
        },
      ],
    });
    expect(Object.keys(details(schema, { a: 0 }) as object)).toEqual([
      "operatorName",
      "title",
      "description",
      "schemaRulesNotSatisfied",
    ]);
  });

  test.each<[object, object, object]>([
    [
      prop({ bsonType: "int", minimum: 1 }),
      { a: "foo" },
      around({
        operatorName: "bsonType",
        specifiedAs: { bsonType: "int" },
        reason: "type did not match",
        consideredValue: "foo",
        consideredType: "string",
      }),
    ],
    [
      prop({ minimum: 10, maximum: -10 }),
      { a: 5 },
      around(
        {
          operatorName: "maximum",
          specifiedAs: { maximum: -10 },
          reason: "comparison failed",
          consideredValue: 5,
        },
        {
          operatorName: "minimum",
          specifiedAs: { minimum: 10 },
          reason: "comparison failed",
          consideredValue: 5,
        },
      ),
    ],
    [
      prop({ minimum: 1, exclusiveMinimum: true }),
      { a: 1 },
      around({
        operatorName: "minimum",
        specifiedAs: { minimum: 1, exclusiveMinimum: true },
        reason: "comparison failed",
        consideredValue: 1,
      }),
    ],
    [
      prop({ minLength: 4 }),
      { a: "foo" },
      around({
        operatorName: "minLength",
        specifiedAs: { minLength: 4 },
        reason: "specified string length was not satisfied",
        consideredValue: "foo",
      }),
    ],
    [
      prop({ pattern: "^S" }),
      { a: "slow" },
      around({
        operatorName: "pattern",
        specifiedAs: { pattern: "^S" },
        reason: "regular expression did not match",
        consideredValue: "slow",
      }),
    ],
    [
      prop({ multipleOf: 2 }),
      { a: 1 },
      around({
        operatorName: "multipleOf",
        specifiedAs: { multipleOf: 2 },
        reason: "considered value is not a multiple of the specified value",
        consideredValue: 1,
      }),
    ],
    [
      prop({ minItems: 2 }),
      { a: [1] },
      around({
        operatorName: "minItems",
        specifiedAs: { minItems: 2 },
        reason: "array did not match specified length",
        consideredValue: [1],
        numberOfItems: 1,
      }),
    ],
    [
      prop({ uniqueItems: true }),
      { a: [1, 2, 1] },
      around({
        operatorName: "uniqueItems",
        specifiedAs: { uniqueItems: true },
        reason: "found a duplicate item",
        consideredValue: [1, 2, 1],
        duplicatedValue: 1,
      }),
    ],
    [
      prop({ items: { type: "string", title: "item" } }),
      { a: ["x", 5] },
      around({
        operatorName: "items",
        title: "item",
        reason: "At least one item did not match the sub-schema",
        itemIndex: 1,
        details: [
          {
            operatorName: "type",
            specifiedAs: { type: "string" },
            reason: "type did not match",
            consideredValue: 5,
            consideredType: "int",
          },
        ],
      }),
    ],
    [
      prop({ items: [{ minimum: 1 }, { minimum: 1 }], additionalItems: false }),
      { a: [0, 1, 7, 8] },
      around(
        {
          operatorName: "items",
          details: [
            {
              itemIndex: 0,
              details: [
                {
                  operatorName: "minimum",
                  specifiedAs: { minimum: 1 },
                  reason: "comparison failed",
                  consideredValue: 0,
                },
              ],
            },
          ],
        },
        {
          operatorName: "additionalItems",
          specifiedAs: { additionalItems: false },
          reason: "found additional items",
          additionalItems: [7, 8],
        },
      ),
    ],
    [
      prop({ enum: [1, 2] }),
      { a: 3 },
      around({
        operatorName: "enum",
        specifiedAs: { enum: [1, 2] },
        reason: "value was not found in enum",
        consideredValue: 3,
      }),
    ],
    [
      prop({ oneOf: [{ minimum: 0 }, { maximum: 10 }] }),
      { a: 5 },
      around({
        operatorName: "oneOf",
        reason: "more than one subschema matched",
        matchingSchemaIndexes: [0, 1],
      }),
    ],
    [
      prop({ anyOf: [{ type: "string", title: "text" }, { minimum: 3 }] }),
      { a: 2 },
      around({
        operatorName: "anyOf",
        schemasNotSatisfied: [
          {
            index: 0,
            title: "text",
            details: [
              {
                operatorName: "type",
                specifiedAs: { type: "string" },
                reason: "type did not match",
                consideredValue: 2,
                consideredType: "int",
              },
            ],
          },
          {
            index: 1,
            details: [
              {
                operatorName: "minimum",
                specifiedAs: { minimum: 3 },
                reason: "comparison failed",
                consideredValue: 2,
              },
            ],
          },
        ],
      }),
    ],
    [
      prop({ not: { minimum: 1 } }),
      { a: 2 },
      around({ operatorName: "not", reason: "child expression matched" }),
    ],
    [
      // What is missing is said once, by `required`.
      prop({ minimum: 2, bsonType: "int" }, { required: ["b", "a"] }),
      {},
      {
        operatorName: "$jsonSchema",
        schemaRulesNotSatisfied: [
          {
            operatorName: "required",
            specifiedAs: { required: ["b", "a"] },
            missingProperties: ["a", "b"],
          },
        ],
      },
    ],
    [
      {
        $jsonSchema: {
          properties: { a: {} },
          patternProperties: { "^n": { type: "number" } },
          additionalProperties: false,
          minProperties: 9,
          dependencies: { a: ["p", "q"], b: { required: ["r"] } },
        },
      },
      { a: 1, b: 1, n1: "x" },
      {
        operatorName: "$jsonSchema",
        schemaRulesNotSatisfied: [
          {
            operatorName: "additionalProperties",
            specifiedAs: { additionalProperties: false },
            additionalProperties: ["b"],
          },
          {
            operatorName: "patternProperties",
            details: [
              {
                propertyName: "n1",
                regexMatched: "^n",
                details: [
                  {
                    operatorName: "type",
                    specifiedAs: { type: "number" },
                    reason: "type did not match",
                    consideredValue: "x",
                    consideredType: "string",
                  },
                ],
              },
            ],
          },
          {
            operatorName: "minProperties",
            specifiedAs: { minProperties: 9 },
            reason: "specified number of properties was not satisfied",
            numberOfProperties: 3,
          },
          {
            operatorName: "dependencies",
            failingDependencies: [
              { conditionalProperty: "a", missingProperties: ["p", "q"] },
              {
                conditionalProperty: "b",
                details: [
                  { operatorName: "required", specifiedAs: { required: ["r"] }, missingProperties: ["r"] },
                ],
              },
            ],
          },
        ],
      },
    ],
    [
      { $jsonSchema: { type: "number" } },
      { a: 1 },
      {
        operatorName: "$jsonSchema",
        specifiedAs: { $jsonSchema: { type: "number" } },
        reason: "expression always evaluates to false",
      },
    ],
    [
      { $nor: [{ $jsonSchema: { minimum: 1 } }] },
      { a: 2 },
      {
        operatorName: "$nor",
        clausesSatisfied: [{ index: 0, details: { operatorName: "$jsonSchema", reason: "schema matched" } }],
      },
    ],
  ])("%j on %j", (filter, doc, expected) => expect(details(filter, doc)).toEqual(expected));
});

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
