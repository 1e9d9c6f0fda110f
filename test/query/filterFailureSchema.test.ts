/** `errInfo.details` of documents that a `$jsonSchema` refuses. */
import { describe, expect, test } from "vitest";
import { details } from "./failureDetails.js";

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
