import { Binary, Decimal128, Double, Long, ObjectId } from "bson";
import { describeValue } from "shardlab/bson";
import { describe, expect, test } from "vitest";
import { compileExpression, expressionContext, typeName } from "../../lib/query/index.js";
import { bson, failure, value } from "./support.js";

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5, 6);
const evaluate = (expression: unknown, doc: object = {}) =>
  compileExpression(value(expression), { now: () => NOW })(expressionContext(bson(doc)));
/** The result with its type where it is a number: "int 3", "double 1.5", "missing". */
const shown = (expression: unknown, doc: object = {}) => {
  const v = evaluate(expression, doc);
  const type = typeName(v);
  return v === undefined
    ? "missing"
    : ["int", "long", "double", "decimal"].includes(type)
      ? `${type} ${describeValue(v)}`
      : describeValue(v);
};

const int64 = Long.fromNumber;
const decimal = (text: string) => Decimal128.fromString(text);

/** [expression, document, result] */
type Row = [unknown, object, string];
const table = (name: string, rows: Row[]) =>
  describe(name, () =>
    test.each(rows)("%j on %j → %s", (expression, doc, expected) =>
      expect(shown(expression, doc)).toBe(expected),
    ),
  );

table("paths, variables, literals", [
  ["$a", { a: 1 }, "int 1"],
  ["$a.b", { a: { b: "x" } }, '"x"'],
  ["$a.b", { a: [{ b: 1 }, { c: 2 }, 5, [{ b: 3 }]] }, "[ 1 ]"],
  ["$a.b", { a: 5 }, "missing"],
  ["$a.0", { a: [1, 2] }, "[]"],
  ["$a", {}, "missing"],
  ["$$ROOT.a", { a: 1 }, "int 1"],
  ["$$CURRENT.a", { a: 1 }, "int 1"],
  ["$$ROOT", { a: 1 }, "{ a: 1 }"],
  ["$$REMOVE", {}, "missing"],
  ["$$NOW", {}, `new Date(${NOW})`],
  [{ $literal: "$a" }, {}, '"$a"'],
  [{ $literal: { $add: [1, 2] } }, {}, "{ $add: [ 1, 2 ] }"],
  [{ x: "$a", y: { z: 1 } }, { a: 2 }, "{ x: 2, y: { z: 1 } }"],
  [{ x: "$nosuch" }, {}, "{}"],
  [["$a", "$nosuch", 3], { a: 1 }, "[ 1, null, 3 ]"],
  [{ $let: { vars: { x: "$a", y: 2 }, in: { $add: ["$$x", "$$y"] } } }, { a: 1 }, "int 3"],
  [
    { $let: { vars: { x: 1 }, in: { $let: { vars: { x: 2, y: "$$x" }, in: ["$$x", "$$y"] } } } },
    {},
    "[ 2, 1 ]",
  ],
]);

table("arithmetic follows the types", [
  [{ $add: ["$a", 1] }, { a: 2 }, "int 3"],
  [{ $add: [2147483647, 1] }, {}, "long 2147483648"],
  [{ $add: [1, int64(1)] }, {}, "long 2"],
  [{ $add: [1, 0.5] }, {}, "double 1.5"],
  [{ $add: [Long.MAX_VALUE, 1] }, {}, "double 9223372036854776000.0"],
  [{ $add: [1, decimal("0.10")] }, {}, "decimal 1.10"],
  [{ $add: ["$nosuch", 1] }, {}, "null"],
  [{ $add: [] }, {}, "int 0"],
  [{ $add: [new Date(5), 10] }, {}, "new Date(15)"],
  [{ $subtract: [5, 7] }, {}, "int -2"],
  [{ $subtract: [new Date(50), new Date(20)] }, {}, "long 30"],
  [{ $subtract: [new Date(50), 20] }, {}, "new Date(30)"],
  [{ $subtract: [1, null] }, {}, "null"],
  [{ $multiply: [65536, 65536] }, {}, "long 4294967296"],
  [{ $multiply: ["$a", 2, 1.5] }, { a: 2 }, "double 6.0"],
  [{ $multiply: [decimal("1.5"), 2] }, {}, "decimal 3.0"],
  [{ $divide: [6, 3] }, {}, "double 2.0"],
  [{ $divide: [decimal("1"), 3] }, {}, "decimal 0.3333333333333333333333333333333333"],
  [{ $divide: [decimal("1"), 8] }, {}, "decimal 0.125"],
  [{ $mod: [7, 3] }, {}, "int 1"],
  [{ $mod: [-7, 3] }, {}, "int -1"],
  [{ $mod: [7.5, 2] }, {}, "double 1.5"],
  [{ $abs: -5 }, {}, "int 5"],
  [{ $abs: -2147483648 }, {}, "long 2147483648"],
  [{ $abs: "$nosuch" }, {}, "null"],
  [{ $ceil: 7.2 }, {}, "double 8.0"],
  [{ $floor: -2.5 }, {}, "double -3.0"],
  [{ $floor: 5 }, {}, "int 5"],
  [{ $floor: decimal("2.7") }, {}, "decimal 2"],
  // ties to even
  [{ $round: 10.5 }, {}, "double 10.0"],
  [{ $round: 11.5 }, {}, "double 12.0"],
  [{ $round: [19.25, 1] }, {}, "double 19.2"],
  [{ $round: [28.73, 1] }, {}, "double 28.7"],
  [{ $round: [1234.5678, -2] }, {}, "double 1200.0"],
  [{ $round: [1250, -2] }, {}, "int 1200"],
  [{ $trunc: [-7.85, 1] }, {}, "double -7.8"],
  [{ $trunc: 7.8 }, {}, "double 7.0"],
  [{ $pow: [2, 10] }, {}, "int 1024"],
  [{ $pow: [2, 40] }, {}, "long 1099511627776"],
  [{ $pow: [2, -1] }, {}, "double 0.5"],
  [{ $pow: [-1, 101] }, {}, "int -1"],
  [{ $pow: [10, 30] }, {}, "double 1e+30"],
  [{ $sqrt: 25 }, {}, "double 5.0"],
  [{ $log10: 1000 }, {}, "double 3.0"],
  [{ $log: [8, 2] }, {}, "double 3.0"],
  [{ $exp: 0 }, {}, "double 1.0"],
]);

table("comparison crosses types, missing is lowest but MinKey", [
  [{ $eq: ["$a", 1] }, { a: new Double(1) }, "true"],
  [{ $eq: ["$a", null] }, {}, "false"],
  [{ $gt: ["text", 5] }, {}, "true"],
  [{ $lt: ["$nosuch", null] }, {}, "true"],
  [{ $gte: [[1, 2], [1]] }, {}, "true"],
  [{ $ne: ["$a", "$b"] }, { a: 1, b: 2 }, "true"],
  [{ $cmp: ["$a", 5] }, { a: 3 }, "int -1"],
  [{ $lte: [NaN, 0] }, {}, "true"],
]);

table("decisions", [
  [{ $and: [1, "text", "$a"] }, { a: true }, "true"],
  [{ $and: [1, 0] }, {}, "false"],
  [{ $and: [] }, {}, "true"],
  [{ $or: [null, "$nosuch", 0] }, {}, "false"],
  [{ $not: ["$a"] }, { a: 0 }, "true"],
  [{ $in: [2, "$a"] }, { a: [1, 2] }, "true"],
  [{ $in: [new Double(2), [1, 2]] }, {}, "true"],
  [{ $cond: ["$a", "yes", "no"] }, { a: 1 }, '"yes"'],
  [{ $cond: { if: { $gt: ["$a", 5] }, then: 1, else: "$nosuch" } }, { a: 1 }, "missing"],
  [{ $cond: [false, { $divide: [1, 0] }, 2] }, {}, "int 2"],
  [{ $ifNull: ["$a", 5] }, { a: null }, "int 5"],
  [{ $ifNull: ["$x", "$a", 5] }, { a: "here" }, '"here"'],
  [
    { $switch: { branches: [{ case: { $lt: ["$a", 5] }, then: "low" }], default: "high" } },
    { a: 3 },
    '"low"',
  ],
  [
    { $switch: { branches: [{ case: { $lt: ["$a", 5] }, then: "low" }], default: "high" } },
    { a: 7 },
    '"high"',
  ],
]);

table("strings", [
  [{ $concat: ["a", "$b"] }, { b: "c" }, '"ac"'],
  [{ $concat: ["a", "$nosuch"] }, {}, "null"],
  [{ $toUpper: "aé" }, {}, '"Aé"'],
  [{ $toLower: "$nosuch" }, {}, '""'],
  [{ $toLower: 5 }, {}, '"5"'],
  [{ $substrCP: ["héllo", 1, 3] }, {}, '"éll"'],
  [{ $substrBytes: ["hello", 1, 2] }, {}, '"el"'],
  [{ $substr: ["hello", 2, -1] }, {}, '"llo"'],
  [{ $substrBytes: [12345, 0, 2] }, {}, '"12"'],
  [{ $strLenCP: "né\u{1f600}" }, {}, "int 3"],
  [{ $strLenBytes: "né" }, {}, "int 3"],
  [{ $split: ["a-b-c", "-"] }, {}, '[ "a", "b", "c" ]'],
  [{ $split: [null, "-"] }, {}, "null"],
  [{ $trim: { input: "  x " } }, {}, '"x"'],
  [{ $ltrim: { input: "xxay", chars: "x" } }, {}, '"ay"'],
  [{ $rtrim: { input: "$nosuch" } }, {}, "null"],
  [{ $indexOfCP: ["añb", "b"] }, {}, "int 2"],
  [{ $indexOfBytes: ["añb", "b"] }, {}, "int 3"],
  [{ $indexOfCP: ["abcabc", "c", 3] }, {}, "int 5"],
  [{ $indexOfCP: ["abc", "z"] }, {}, "int -1"],
  [{ $replaceOne: { input: "aXbX", find: "X", replacement: { $literal: "$&" } } }, {}, '"a$&bX"'],
  [{ $replaceAll: { input: "aXbX", find: "X", replacement: "-" } }, {}, '"a-b-"'],
  [{ $strcasecmp: ["ABC", "abd"] }, {}, "int -1"],
  [{ $regexMatch: { input: "Device-7", regex: "^device", options: "i" } }, {}, "true"],
  [{ $regexMatch: { input: null, regex: /x/ } }, {}, "false"],
]);

table("types and conversions", [
  [{ $type: "$a" }, { a: int64(1) }, '"long"'],
  [{ $type: "$a" }, {}, '"missing"'],
  [{ $isNumber: "$a" }, { a: decimal("1") }, "true"],
  [{ $isNumber: "$a" }, { a: "1" }, "false"],
  [{ $toString: 2.5 }, {}, '"2.5"'],
  [{ $toString: new Double(3) }, {}, '"3"'],
  [{ $toString: int64(7) }, {}, '"7"'],
  [{ $toString: true }, {}, '"true"'],
  [{ $toString: new Binary(Uint8Array.of(1)) }, {}, '"AQ=="'],
  [{ $toString: new Date(0) }, {}, '"1970-01-01T00:00:00.000Z"'],
  [{ $toString: new ObjectId("5ab9cbfa31c2ab715d42129e") }, {}, '"5ab9cbfa31c2ab715d42129e"'],
  [{ $toString: "$nosuch" }, {}, "null"],
  [{ $toInt: "-5" }, {}, "int -5"],
  [{ $toInt: 2.9 }, {}, "int 2"],
  [{ $toInt: true }, {}, "int 1"],
  [{ $toLong: new Date(7) }, {}, "long 7"],
  [{ $toLong: decimal("5.5") }, {}, "long 5"],
  [{ $toDouble: "2.5e3" }, {}, "double 2500.0"],
  [{ $toDouble: 3 }, {}, "double 3.0"],
  [{ $toDecimal: 0.1 }, {}, "decimal 0.100000000000000"],
  [{ $toBool: "false" }, {}, "true"],
  [{ $toBool: 0 }, {}, "false"],
  [{ $toDate: "2018-03-20T11:00:06Z" }, {}, `new Date(${Date.UTC(2018, 2, 20, 11, 0, 6)})`],
  [{ $toDate: "2018-03-20" }, {}, `new Date(${Date.UTC(2018, 2, 20)})`],
  [{ $toDate: "2018-03-20 11:00:06 +0500" }, {}, `new Date(${Date.UTC(2018, 2, 20, 6, 0, 6)})`],
  [{ $toDate: new ObjectId("5ab9c3da31c2ab715d421285") }, {}, `new Date(${0x5ab9c3da * 1000})`],
  [{ $toObjectId: "5ab9cbfa31c2ab715d42129e" }, {}, "ObjectId('5ab9cbfa31c2ab715d42129e')"],
  [{ $convert: { input: "x", to: "int", onError: -1 } }, {}, "int -1"],
  [{ $convert: { input: "$nosuch", to: "int", onNull: 0 } }, {}, "int 0"],
  [{ $convert: { input: "7", to: 18 } }, {}, "long 7"],
]);

table("arrays and objects", [
  [{ $size: "$a" }, { a: [1, 2] }, "int 2"],
  [{ $arrayElemAt: ["$a", -1] }, { a: [1, 2] }, "int 2"],
  [{ $arrayElemAt: ["$a", 9] }, { a: [1, 2] }, "missing"],
  [{ $arrayElemAt: ["$nosuch", 0] }, {}, "null"],
  [{ $first: "$a" }, { a: [1, 2] }, "int 1"],
  [{ $last: "$a" }, { a: [] }, "missing"],
  [{ $concatArrays: [[1], "$a"] }, { a: [2, 3] }, "[ 1, 2, 3 ]"],
  [{ $concatArrays: [[1], "$nosuch"] }, {}, "null"],
  [{ $slice: ["$a", 2] }, { a: [1, 2, 3] }, "[ 1, 2 ]"],
  [{ $slice: ["$a", -2] }, { a: [1, 2, 3] }, "[ 2, 3 ]"],
  [{ $slice: ["$a", 1, 1] }, { a: [1, 2, 3] }, "[ 2 ]"],
  [{ $map: { input: "$a", as: "x", in: { $add: ["$$x", "$b"] } } }, { a: [1, 2], b: 10 }, "[ 11, 12 ]"],
  [{ $map: { input: "$a", in: "$$this.q" } }, { a: [{ q: 1 }, {}] }, "[ 1, null ]"],
  [{ $map: { input: "$nosuch", in: 1 } }, {}, "null"],
  [{ $filter: { input: "$a", cond: { $gt: ["$$this", 1] } } }, { a: [1, 2, 3] }, "[ 2, 3 ]"],
  [{ $filter: { input: "$a", as: "x", cond: true, limit: 1 } }, { a: [1, 2] }, "[ 1 ]"],
  [
    { $reduce: { input: "$a", initialValue: 0, in: { $add: ["$$value", "$$this"] } } },
    { a: [1, 2, 3] },
    "int 6",
  ],
  [
    {
      $map: {
        input: [1, 2],
        as: "x",
        in: { $map: { input: [10, 20], as: "y", in: { $add: ["$$x", "$$y"] } } },
      },
    },
    {},
    "[ [ 11, 21 ], [ 12, 22 ] ]",
  ],
  [{ $range: [0, 10, 3] }, {}, "[ 0, 3, 6, 9 ]"],
  [{ $range: [3, 0, -1] }, {}, "[ 3, 2, 1 ]"],
  [{ $reverseArray: [[1, 2, 3]] }, {}, "[ 3, 2, 1 ]"],
  [{ $isArray: ["$a"] }, { a: [] }, "true"],
  [{ $indexOfArray: [["a", "b"], "b"] }, {}, "int 1"],
  [
    {
      $setUnion: [
        [1, 2],
        [2, 3],
      ],
    },
    {},
    "[ 1, 2, 3 ]",
  ],
  [
    {
      $setIntersection: [
        [1, 2, 2],
        [2, 3],
      ],
    },
    {},
    "[ 2 ]",
  ],
  [{ $setDifference: [[1, 2], [2]] }, {}, "[ 1 ]"],
  [
    {
      $setEquals: [
        [1, 2, 1],
        [2, 1],
      ],
    },
    {},
    "true",
  ],
  [{ $setIsSubset: [[1], [2, 1]] }, {}, "true"],
  [{ $anyElementTrue: [[0, null, 1]] }, {}, "true"],
  [{ $allElementsTrue: [[1, 0]] }, {}, "false"],
  [{ $mergeObjects: ["$a", { y: 2 }, null] }, { a: { x: 1, y: 1 } }, "{ x: 1, y: 2 }"],
  [{ $objectToArray: "$a" }, { a: { x: 1 } }, '[ { k: "x", v: 1 } ]'],
  [
    {
      $arrayToObject: [
        [
          ["x", 1],
          ["y", 2],
        ],
      ],
    },
    {},
    "{ x: 1, y: 2 }",
  ],
  [{ $getField: "a.b" }, { "a.b": 5 }, "int 5"],
  [{ $getField: { field: { $literal: "$x" }, input: "$a" } }, { a: { $x: 1 } }, "int 1"],
  [{ $sum: "$a" }, { a: [1, 2.5, "x"] }, "double 3.5"],
  [{ $avg: [1, 2] }, {}, "double 1.5"],
  [{ $max: ["$a", "$b"] }, { a: 1, b: 7 }, "int 7"],
  [{ $min: "$a" }, { a: [3, 1, null] }, "int 1"],
]);

const D = new Date(Date.UTC(2024, 1, 29, 13, 14, 15, 16)); // a Thursday
table("dates", [
  [{ $year: D }, {}, "int 2024"],
  [{ $month: D }, {}, "int 2"],
  [{ $dayOfMonth: D }, {}, "int 29"],
  [{ $hour: { date: D, timezone: "+02:30" } }, {}, "int 15"],
  [{ $hour: { date: D, timezone: "America/New_York" } }, {}, "int 8"],
  [{ $minute: D }, {}, "int 14"],
  [{ $second: D }, {}, "int 15"],
  [{ $millisecond: D }, {}, "int 16"],
  [{ $dayOfYear: D }, {}, "int 60"],
  [{ $dayOfWeek: D }, {}, "int 5"],
  [{ $isoWeek: D }, {}, "int 9"],
  [{ $isoWeekYear: new Date(Date.UTC(2021, 0, 1)) }, {}, "long 2020"],
  [{ $week: D }, {}, "int 8"],
  [{ $year: "$nosuch" }, {}, "null"],
  [{ $dateToString: { date: D } }, {}, '"2024-02-29T13:14:15.016Z"'],
  [{ $dateToString: { date: D, format: "%Y/%m/%d %H:%M %j %w %u %%" } }, {}, '"2024/02/29 13:14 060 5 4 %"'],
  [{ $dateToString: { date: D, format: "%H%z", timezone: "-0330" } }, {}, '"09-0330"'],
  [{ $dateToString: { date: null, onNull: "none" } }, {}, '"none"'],
  [{ $dateTrunc: { date: D, unit: "hour" } }, {}, `new Date(${Date.UTC(2024, 1, 29, 13)})`],
  [{ $dateTrunc: { date: D, unit: "minute", binSize: 5 } }, {}, `new Date(${Date.UTC(2024, 1, 29, 13, 10)})`],
  [{ $dateTrunc: { date: D, unit: "month" } }, {}, `new Date(${Date.UTC(2024, 1, 1)})`],
  [{ $dateTrunc: { date: D, unit: "quarter" } }, {}, `new Date(${Date.UTC(2024, 0, 1)})`],
  [{ $dateTrunc: { date: D, unit: "week" } }, {}, `new Date(${Date.UTC(2024, 1, 25)})`],
  [
    { $dateTrunc: { date: D, unit: "week", startOfWeek: "monday" } },
    {},
    `new Date(${Date.UTC(2024, 1, 26)})`,
  ],
  [
    { $dateTrunc: { date: D, unit: "day", timezone: "+12:00" } },
    {},
    `new Date(${Date.UTC(2024, 1, 29, 12)})`,
  ],
]);

table("the shard key's hash (facts §2.2)", [
  [{ $toHashedIndexKey: "$a" }, { a: "dev-42" }, "long 7632986869154119240"],
  [{ $toHashedIndexKey: 1 }, {}, "long 5902408780260971510"],
  [{ $toHashedIndexKey: "$nosuch" }, {}, "long 2338878944348059895"],
  [{ $bsonSize: "$$ROOT" }, { a: 1 }, "int 12"],
]);

describe("refusals with MongoDB's codes", () => {
  test.each([
    [{ $nosuch: 1 }, 168, "Unrecognized expression '$nosuch'"],
    [{ $function: {} }, 238, "not simulated: expression $function"],
    [{ $rand: {} }, 238, "not simulated: $rand here"],
    [{ $add: 1, $subtract: 2 }, 15983, undefined],
    ["$$nosuch", 17276, "Use of undefined variable: nosuch"],
    ["$", 16872, "'$' by itself is not a valid FieldPath"],
    ["$a.", 40353, "FieldPath must not end with a '.'."],
    [{ $cmp: [1] }, 16020, "Expression $cmp takes exactly 2 arguments. 1 were passed in."],
    [
      { $round: [1, 2, 3] },
      28667,
      "Expression $round takes at least 1 arguments, and at most 2, but 3 were passed in.",
    ],
    [{ $add: ["x"] }, 14, "$add only supports numeric or date types, not string"],
    [{ $subtract: ["x", 1] }, 14, "can't $subtract int from string"],
    [{ $multiply: [true] }, 14, "$multiply only supports numeric types, not bool"],
    [{ $divide: [1, 0] }, 2, "can't $divide by zero"],
    [{ $concat: [1] }, 16702, "$concat only supports strings, not int"],
    [{ $size: "$nosuch" }, 17124, "The argument to $size must be an array, but was of type: missing"],
    [{ $in: [1, 2] }, 40081, "$in requires an array as a second argument, found: int"],
    [{ $arrayElemAt: [1, 2] }, 28689, "$arrayElemAt's first argument must be an array, but is int"],
    [
      { $toInt: "1.5" },
      241,
      "Failed to parse number '1.5' in $convert with no onError value: Did not consume whole string.",
    ],
    [
      { $toInt: 1e10 },
      241,
      "Conversion would overflow target type in $convert with no onError value: 10000000000",
    ],
    [{ $toInt: [[]] }, 241, "Unsupported conversion from array to int in $convert with no onError value"],
    [{ $toLower: { $literal: {} } }, 16007, "can't convert from BSON type object to String"],
    [{ $year: "x" }, 16006, "can't convert from BSON type string to Date"],
    [{ $switch: { branches: [{ case: false, then: 1 }] } }, 40066, undefined],
    [{ $range: [0, 1e9] }, 146, undefined],
  ])("%j → %d %s", (expression, code, message) => {
    const error = failure(() => evaluate(expression));
    expect(error.code).toBe(code);
    if (message !== undefined) expect(error.message).toBe(message);
  });

  test("a failed conversion has a name", () => {
    for (const expression of [{ $toInt: "zz" }, { $toDate: "zz" }])
      expect(() => evaluate(expression)).toThrow(expect.objectContaining({ codeName: "ConversionFailure" }));
  });

  test("only the branch taken fails", () => {
    expect(shown({ $cond: [true, 1, { $divide: [1, 0] }] })).toBe("int 1");
    expect(shown({ $or: [true, { $divide: [1, 0] }] })).toBe("true");
  });
});
