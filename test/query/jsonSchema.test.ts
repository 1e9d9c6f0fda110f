import { Decimal128, Double } from "bson";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileFilter, explainFailure, filterDocument } from "../../lib/query/index.js";
import { bson, failure, js } from "./support.js";

const compile = ($jsonSchema: unknown) => compileFilter(bson({ $jsonSchema }));
const accepts = (keywords: object, a: unknown) =>
  compile({ properties: { a: keywords } }).matches(bson({ a }));

describe("schemas that MongoDB refuses", () => {
  test.each<[unknown, number, string]>([
    [5, 14, "$jsonSchema must be an object"],
    [{ foo: 1 }, 9, "Unknown $jsonSchema keyword: foo"],
    [{ $ref: "#/x" }, 9, "$jsonSchema keyword '$ref' is not currently supported"],
    [{ $schema: "x" }, 9, "$jsonSchema keyword '$schema' is not currently supported"],
    [{ default: 1 }, 9, "$jsonSchema keyword 'default' is not currently supported"],
    [{ definitions: {} }, 9, "$jsonSchema keyword 'definitions' is not currently supported"],
    [{ format: "date" }, 9, "$jsonSchema keyword 'format' is not currently supported"],
    [{ id: "x" }, 9, "$jsonSchema keyword 'id' is not currently supported"],
    [{ type: "integer" }, 9, "$jsonSchema type 'integer' is not currently supported."],
    [{ type: "int" }, 2, "Unknown type name alias: int"],
    [{ bsonType: "nosuch" }, 2, "Unknown type name alias: nosuch"],
    [{ bsonType: 2 }, 14, "$jsonSchema keyword 'bsonType' must be either a string or an array of strings"],
    [{ bsonType: [] }, 9, "$jsonSchema keyword 'bsonType' must name at least one type"],
    [{ bsonType: ["int", "int"] }, 9, "$jsonSchema keyword 'bsonType' has duplicate value: int"],
    [
      { type: "object", bsonType: "object" },
      9,
      "Cannot specify both $jsonSchema keywords 'type' and 'bsonType'",
    ],
    [{ title: 1 }, 14, "$jsonSchema keyword 'title' must be of type string"],
    [{ description: 1 }, 14, "$jsonSchema keyword 'description' must be of type string"],
    [{ properties: 1 }, 14, "$jsonSchema keyword 'properties' must be an object"],
    [{ properties: { a: 1 } }, 14, "Nested schema for $jsonSchema property 'a' must be an object"],
    [
      { required: "a" },
      14,
      "$jsonSchema keyword 'required' must be an array, but found an element of type string",
    ],
    [{ required: [] }, 9, "$jsonSchema keyword 'required' cannot be an empty array"],
    [{ required: ["a", "a"] }, 9, "$jsonSchema keyword 'required' array cannot contain duplicate values"],
    [
      { required: [1] },
      14,
      "$jsonSchema keyword 'required' must be an array of strings, but found an element of type: int",
    ],
    [{ minimum: "1" }, 14, "$jsonSchema keyword 'minimum' must be a number"],
    [
      { exclusiveMinimum: true },
      9,
      "$jsonSchema keyword 'minimum' must be a present if exclusiveMinimum is present",
    ],
    [{ minimum: 1, exclusiveMinimum: 1 }, 14, "$jsonSchema keyword 'exclusiveMinimum' must be a boolean"],
    [{ multipleOf: 0 }, 9, "$jsonSchema keyword 'multipleOf' must have a positive value"],
    [{ minLength: -1 }, 9, "Expected a non-negative number in: minLength: -1"],
    [{ maxItems: "1" }, 9, 'Expected a number in: maxItems: "1"'],
    [{ minProperties: 1.5 }, 9, "Expected an integer: minProperties: 1.5"],
    [{ pattern: 1 }, 14, "$jsonSchema keyword 'pattern' must be a string"],
    [{ pattern: "[" }, 51091, "Regular expression is invalid: missing terminating ] for character class"],
    [{ uniqueItems: 1 }, 14, "$jsonSchema keyword 'uniqueItems' must be a boolean"],
    [{ items: 1 }, 14, "$jsonSchema keyword 'items' must be an array or an object, not int"],
    [
      { items: [1] },
      14,
      "$jsonSchema keyword 'items' requires that each element of the array is an object, but found a int",
    ],
    [
      { additionalItems: 1 },
      14,
      "$jsonSchema keyword 'additionalItems' must be either an object or a boolean, but got a int",
    ],
    [
      { additionalProperties: 1 },
      14,
      "$jsonSchema keyword 'additionalProperties' must be an object or a boolean",
    ],
    [
      { patternProperties: { x: 1 } },
      14,
      "$jsonSchema keyword 'patternProperties' has property 'x' which is not an object",
    ],
    [
      { dependencies: { a: 1 } },
      14,
      "property 'a' in $jsonSchema keyword 'dependencies' must be either an object or an array",
    ],
    [
      { dependencies: { a: [] } },
      9,
      "property 'a' in $jsonSchema keyword 'dependencies' cannot be an empty array",
    ],
    [{ allOf: {} }, 14, "$jsonSchema keyword 'allOf' must be an array"],
    [{ anyOf: [] }, 2, "$jsonSchema keyword 'anyOf' must be a non-empty array"],
    [
      { oneOf: [1] },
      14,
      "$jsonSchema keyword 'oneOf' must be an array of objects, but found an element of type int",
    ],
    [{ not: 1 }, 14, "$jsonSchema keyword 'not' must be an object, but found an element of type int"],
    [{ enum: [] }, 9, "$jsonSchema keyword 'enum' cannot be an empty array"],
    [{ enum: [1, new Double(1)] }, 9, "$jsonSchema keyword 'enum' array cannot contain duplicate values."],
    [{ encrypt: {} }, 238, "not simulated: $jsonSchema keyword encrypt"],
  ])("%j", (schema, code, message) => {
    expect(failure(() => compile(schema))).toEqual({ code, message });
  });
});

describe("corners of the dialect", () => {
  test.each<[object, unknown, boolean]>([
    // numbers: the four types are one kind for `type`, four for `bsonType`
    [{ type: "number" }, Decimal128.fromString("1"), true],
    [{ bsonType: "number" }, new Double(1), true],
    [{ bsonType: ["int", "long"] }, new Double(1), false],
    [{ multipleOf: 5 }, Decimal128.fromString("10.0"), true],
    [{ multipleOf: 5 }, Infinity, false],
    [{ multipleOf: 5 }, NaN, false],
    [{ minimum: 0 }, NaN, false],
    // arrays are one value
    [{ minimum: 5 }, [1], true],
    [{ enum: [[1, 2]] }, [1, 2], true],
    [{ enum: [1, 2] }, [1, 2], false],
    [{ items: [{ type: "string" }] }, [], true],
    [{ items: { type: "string" }, additionalItems: false }, ["x", "y"], true],
    [{ additionalItems: false }, [1, 2], true],
    [{ items: [{}, {}], additionalItems: false }, [1, 2], true],
    [{ uniqueItems: true }, [1, new Double(1)], false],
    [{ uniqueItems: true }, [[1], [2]], true],
    [{ uniqueItems: false }, [1, 1], true],
    // objects within
    [{ required: ["b"] }, { b: null }, true],
    [{ required: ["b"] }, 5, true],
    [{ bsonType: "object", required: ["b"] }, 5, false],
    [
      { properties: { b: { items: { properties: { c: { maximum: 1 } } } } } },
      { b: [{ c: 1 }, { c: 2 }] },
      false,
    ],
    [{ properties: { "x.y": { type: "string" } } }, { "x.y": 5 }, false],
    [{ dependencies: { b: ["c"] } }, { b: 1 }, false],
    [{ dependencies: { b: ["c"] } }, { d: 1 }, true],
    [{ additionalProperties: { type: "number" } }, { b: 1, c: "x" }, false],
    [{ oneOf: [{ minimum: 5 }, { type: "string" }] }, 7, true],
    [{ not: {} }, 1, false],
    [{}, undefined, true],
  ])("%j accepts %j: %s", (keywords, value, expected) => expect(accepts(keywords, value)).toBe(expected));

  test("a schema of elements, and one shown by explain", () => {
    const filter = { a: { $elemMatch: { $jsonSchema: { required: ["b"] } } } };
    expect(compileFilter(bson(filter)).matches(bson({ a: [{ c: 1 }, { b: 1 }] }))).toBe(true);
    const { node } = compile({ required: ["b"] });
    expect(js(filterDocument(node))).toEqual({ $jsonSchema: { required: ["b"] } });
  });

  test("every refusal has an explanation, and names what a schema of its own confirms", () => {
    const value = fc.oneof(
      fc.integer({ min: -2, max: 4 }),
      fc.constantFrom("", "a", "ab", null, true),
      fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom("b", "c"), fc.integer({ min: 0, max: 2 }), { maxKeys: 2 }),
    );
    const keyword = fc.oneof(
      fc.integer({ min: -1, max: 3 }).map((minimum) => ({ minimum })),
      fc.integer({ min: 0, max: 3 }).map((maxLength) => ({ maxLength })),
      fc.constantFrom("int", "string", "array", "object").map((bsonType) => ({ bsonType })),
      fc.constantFrom({ uniqueItems: true }, { minItems: 1 }, { items: { minimum: 1 } }, { required: ["b"] }),
      fc.constantFrom({ enum: [1, "a"] }, { not: { minimum: 1 } }, { additionalProperties: false }),
      fc.constantFrom({ anyOf: [{ minimum: 2 }, { bsonType: "string" }] }, { multipleOf: 2 }),
    );
    fc.assert(
      fc.property(fc.array(keyword, { minLength: 1, maxLength: 3 }), value, (keywords, a) => {
        const schema = Object.assign({}, ...keywords) as Record<string, unknown>;
        const filter = bson({ $jsonSchema: { properties: { a: schema } } });
        const doc = bson({ a });
        const alone = Object.keys(schema).filter((name) => !accepts({ [name]: schema[name] }, a));
        expect(compileFilter(filter).matches(doc)).toBe(alone.length === 0);
        if (alone.length === 0) return;
        const report = explainFailure(filter, doc);
        const { details } = js(report.bytes).schemaRulesNotSatisfied[0].propertiesNotSatisfied[0];
        const named = (details as Array<{ operatorName: string }>).map(({ operatorName }) => operatorName);
        expect(named.sort()).toEqual(alone.sort());
      }),
      { numRuns: 500 },
    );
  });
});
