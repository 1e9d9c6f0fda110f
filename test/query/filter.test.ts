import { Binary, Decimal128, Double, Int32, Long, MaxKey, MinKey, ObjectId, Timestamp } from "bson";
import { DocumentWriter, UNDEFINED } from "shardlab/bson";
import { describe, expect, test } from "vitest";
import { compileFilter, filterDocument, parseCollation } from "../../lib/query/index.js";
import { bson, failure, js, text } from "./support.js";

const matches = (filter: object, doc: object) => compileFilter(bson(filter)).matches(bson(doc));

/** Which of the documents match, by position. */
const matching = (filter: object, docs: object[]) =>
  docs.flatMap((doc, i) => (matches(filter, doc) ? [i] : []));

describe("null, missing and $exists", () => {
  // As in the manual's "Query for Null or Missing Fields".
  const docs = [{ a: null }, {}, { a: 1 }, { a: [null, 1] }, { a: [] }];
  test.each([
    [{ a: null }, [0, 1, 3]],
    [{ a: { $eq: null } }, [0, 1, 3]],
    [{ a: { $ne: null } }, [2, 4]],
    [{ a: { $in: [null] } }, [0, 1, 3]],
    [{ a: { $in: [null, 1] } }, [0, 1, 2, 3]],
    [{ a: { $nin: [null] } }, [2, 4]],
    [{ a: { $gte: null } }, [0, 1, 3]],
    [{ a: { $lte: null } }, [0, 1, 3]],
    [{ a: { $gt: null } }, []],
    [{ a: { $exists: true } }, [0, 2, 3, 4]],
    [{ a: { $exists: false } }, [1]],
    [{ a: { $type: "null" } }, [0, 3]],
    [{ a: { $not: { $eq: null } } }, [2, 4]],
  ])("%j", (filter, expected) => expect(matching(filter, docs)).toEqual(expected));

  test("below a path, null asks every object met, and nothing else", () => {
    const nested = [
      {},
      { a: {} },
      { a: [{}] },
      { a: { b: null } },
      { a: [] },
      { a: [null] },
      { a: [1, 2] },
      { a: 5 },
      { a: { b: 4 } },
    ];
    expect(matching({ "a.b": null }, nested)).toEqual([0, 1, 2, 3, 7]);
    expect(matching({ "a.b": { $exists: false } }, nested)).toEqual([0, 1, 2, 4, 5, 6, 7]);
  });

  test("since 8.0 null does not match the deprecated undefined", () => {
    const doc = new DocumentWriter().field("a", UNDEFINED).finish();
    expect(compileFilter(bson({ a: null })).matches(doc)).toBe(false);
    expect(compileFilter(bson({ a: { $type: "undefined" } })).matches(doc)).toBe(true);
    expect(compileFilter(bson({ a: { $exists: true } })).matches(doc)).toBe(true);
  });
});

describe("comparisons stay within one kind of value", () => {
  const docs = [
    { a: 5 },
    { a: "5" },
    { a: null },
    { a: new Date(5) },
    { a: { x: 1 } },
    { a: true },
    { a: NaN },
    {},
  ];
  test.each([
    [{ a: { $gt: 4 } }, [0]],
    [{ a: { $gte: 5 } }, [0]],
    [{ a: { $lt: 6 } }, [0]],
    [{ a: { $lte: Infinity } }, [0]],
    [{ a: { $gte: "" } }, [1]],
    [{ a: { $gte: new Date(0) } }, [3]],
    [{ a: { $gt: {} } }, [4]],
    [{ a: { $gte: false } }, [5]],
    [{ a: NaN }, [6]],
    [{ a: { $gte: NaN } }, [6]],
    [{ a: { $lt: NaN } }, []],
    [{ a: { $gt: new MinKey() } }, [0, 1, 2, 3, 4, 5, 6, 7]],
    [{ a: { $lt: new MaxKey() } }, [0, 1, 2, 3, 4, 5, 6, 7]],
    [{ a: { $lte: new MinKey() } }, []],
    [{ a: new MaxKey() }, []],
  ])("%j", (filter, expected) => expect(matching(filter, docs)).toEqual(expected));

  test("the four number types are one kind and compare exactly", () => {
    const big = Long.fromString("9007199254740993");
    const docs = [
      { a: new Int32(7) },
      { a: new Double(7) },
      { a: Long.fromNumber(7) },
      { a: Decimal128.fromString("7.0") },
    ];
    expect(matching({ a: 7 }, docs)).toEqual([0, 1, 2, 3]);
    expect(matching({ a: { $in: [Decimal128.fromString("7")] } }, docs)).toEqual([0, 1, 2, 3]);
    expect(matches({ a: 9007199254740992 }, { a: big })).toBe(false);
    expect(matches({ a: { $gt: new Double(9007199254740992) } }, { a: big })).toBe(true);
    expect(matches({ a: 0 }, { a: new Double(-0) })).toBe(true);
  });

  test("binary data compares with its subtype, timestamps are no dates", () => {
    const data = Uint8Array.of(1, 2);
    expect(matches({ a: new Binary(data, 0) }, { a: new Binary(data, 0) })).toBe(true);
    expect(matches({ a: new Binary(data, 0) }, { a: new Binary(data, 5) })).toBe(false);
    expect(matches({ a: { $gt: new Date(0) } }, { a: new Timestamp({ t: 5, i: 1 }) })).toBe(false);
    expect(matches({ a: { $gt: new ObjectId("0".repeat(24)) } }, { a: new ObjectId("1".repeat(24)) })).toBe(
      true,
    );
  });
});

describe("arrays", () => {
  test.each([
    // elements and the whole
    [{ a: 2 }, { a: [1, 2] }, true],
    [{ a: [1, 2] }, { a: [1, 2] }, true],
    [{ a: [2, 1] }, { a: [1, 2] }, false],
    [{ a: [1, 2] }, { a: [[1, 2], 3] }, true],
    [{ a: 1 }, { a: [[1]] }, false],
    [{ a: { $gt: 5, $lt: 3 } }, { a: [1, 7] }, true],
    [{ a: { $elemMatch: { $gt: 5, $lt: 3 } } }, { a: [1, 7] }, false],
    [{ a: { $elemMatch: { $gt: 2, $lt: 5 } } }, { a: [1, 4, 7] }, true],
    [{ a: { $elemMatch: { $gt: 2 } } }, { a: 4 }, false],
    [{ a: { $ne: 1 } }, { a: [1, 2] }, false],
    [{ a: { $gt: [1] } }, { a: [1, 2] }, true],
    // through arrays of objects
    [{ "a.b": 2 }, { a: [{ b: 1 }, { b: 2 }] }, true],
    [{ "a.b": 2 }, { a: [{ b: [1, 2] }] }, true],
    [{ "a.b": 1 }, { a: [[{ b: 1 }]] }, false],
    [{ "a.b": 1, "a.c": 2 }, { a: [{ b: 1 }, { c: 2 }] }, true],
    [{ a: { $elemMatch: { b: 1, c: 2 } } }, { a: [{ b: 1 }, { c: 2 }] }, false],
    [{ a: { $elemMatch: { b: 1, c: 2 } } }, { a: [{ b: 1, c: 2 }] }, true],
    [{ a: { $elemMatch: { $or: [{ b: 1 }, { b: 9 }] } } }, { a: [{ b: 9 }] }, true],
    [{ a: { $elemMatch: { 0: 5 } } }, { a: [[5]] }, true],
    [{ a: { $not: { $elemMatch: { $gt: 5 } } } }, { a: [1, 7] }, false],
    // numbers in paths
    [{ "a.0": 1 }, { a: [1, 2] }, true],
    [{ "a.1": 1 }, { a: [1, 2] }, false],
    [{ "a.0.b": 1 }, { a: [{ b: 1 }, { b: 2 }] }, true],
    [{ "a.0": { $size: 2 } }, { a: [[1, 2]] }, true],
    [{ "a.1": 2 }, { a: [5, [2, 4]] }, false],
    [{ "a.1": 4 }, { a: [5, { 1: 4 }] }, true],
    [{ "a.5": { $exists: false } }, { a: [1] }, true],
    [{ "a.0": "x" }, { a: { 0: "x" } }, true],
    // $size, $all
    [{ a: { $size: 2 } }, { a: [1, [2]] }, true],
    [{ a: { $size: 0 } }, { a: [] }, true],
    [{ a: { $size: 1 } }, { a: 5 }, false],
    [{ a: { $all: [1, 2] } }, { a: [2, 3, 1] }, true],
    [{ a: { $all: [1, 2] } }, { a: [1] }, false],
    [{ a: { $all: [[1, 2]] } }, { a: [1, 2] }, true],
    [{ a: { $all: [5] } }, { a: 5 }, true],
    [{ a: { $all: [] } }, { a: [] }, false],
    [
      { a: { $all: [{ $elemMatch: { b: 1 } }, { $elemMatch: { b: 2 } }] } },
      { a: [{ b: 1 }, { b: 2 }] },
      true,
    ],
    [{ a: { $all: [/^x/] } }, { a: ["xy"] }, true],
  ])("%j on %j: %s", (filter, doc, expected) => expect(matches(filter, doc)).toBe(expected));
});

describe("embedded documents are equal with the same fields in the same order", () => {
  test.each([
    [{ a: { b: 1, c: 2 } }, { a: { b: 1, c: 2 } }, true],
    [{ a: { c: 2, b: 1 } }, { a: { b: 1, c: 2 } }, false],
    [{ a: { b: 1 } }, { a: { b: 1, c: 2 } }, false],
    [{ a: { b: 1 } }, { a: { b: new Double(1) } }, true],
    [{ a: {} }, { a: {} }, true],
    [{ a: { $ref: "c", $id: 1 } }, { a: { $ref: "c", $id: 1 } }, true],
  ])("%j on %j: %s", (filter, doc, expected) => expect(matches(filter, doc)).toBe(expected));
});

describe("$in, $nin, logic, $type, $mod, $expr", () => {
  test.each([
    [{ a: { $in: [1, /^x/] } }, { a: "xy" }, true],
    [{ a: { $in: [1, /^x/] } }, { a: ["no", 1] }, true],
    [{ a: { $in: [[1, 2]] } }, { a: [1, 2] }, true],
    [{ a: { $in: [] } }, { a: 1 }, false],
    [{ a: { $in: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, null] } }, {}, true],
    [{ a: { $in: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] } }, { a: new Double(9) }, true],
    [{ a: { $in: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] } }, { a: "9" }, false],
    [{ a: { $nin: [1, 2] } }, { a: [2, 3] }, false],
    [{ a: { $nin: [1, 2] } }, {}, true],
    [{ $and: [{ a: 1 }, { b: 2 }] }, { a: 1, b: 2 }, true],
    [{ $or: [{ a: 1 }, { b: 2 }] }, { a: 0, b: 2 }, true],
    [{ $nor: [{ a: 1 }, { b: 2 }] }, { a: 0, b: 0 }, true],
    [{ $nor: [{ a: 1 }, { b: 2 }] }, { a: 1 }, false],
    [{ a: { $not: /^x/ } }, { a: "y" }, true],
    [{ a: { $not: { $gt: 5 } } }, { a: "text" }, true],
    [{ a: { $type: "number" } }, { a: Long.fromNumber(1) }, true],
    [{ a: { $type: ["string", 16] } }, { a: [new Double(0.5), 1] }, true],
    [{ a: { $type: "array" } }, { a: [1] }, true],
    [{ a: { $type: "object" } }, {}, false],
    [{ a: { $type: -1 } }, { a: new MinKey() }, true],
    [{ a: { $mod: [4, 0] } }, { a: 8 }, true],
    [{ a: { $mod: [4, 1] } }, { a: new Double(5.9) }, true],
    [{ a: { $mod: [4, -1] } }, { a: -5 }, true],
    [{ a: { $mod: [4, 0] } }, { a: ["x", 12] }, true],
    [{ a: { $mod: [4, 0] } }, { a: null }, false],
    [{ $expr: { $gt: ["$a", "$b"] } }, { a: 2, b: 1 }, true],
    [{ $expr: { $eq: ["$a", null] } }, {}, false],
    [{ $expr: { $lt: ["$a", null] } }, {}, true],
    [{ $expr: { $gt: ["$a", 5] } }, { a: "text" }, true],
    [{ a: 1, $comment: "why" }, { a: 1 }, true],
    [{}, {}, true],
  ])("%j on %j: %s", (filter, doc, expected) => expect(matches(filter, doc)).toBe(expected));

  test("$expr sees the command's let variables", () => {
    const filter = compileFilter(bson({ $expr: { $eq: ["$a", "$$wanted"] } }), { let: bson({ wanted: 5 }) });
    expect([{ a: 5 }, { a: 6 }].map((doc) => filter.matches(bson(doc)))).toEqual([true, false]);
  });
});

describe("malformed filters and operators beyond the engine", () => {
  test.each([
    [{ a: { $foo: 1 } }, 2, "unknown operator: $foo"],
    [{ a: { $gt: 1, b: 2 } }, 2, "unknown operator: b"],
    [
      { $foo: 1 },
      2,
      "unknown top level operator: $foo. If you have a field name that starts with a '$' symbol, consider using $getField or $setField.",
    ],
    [{ $or: [] }, 2, "$and/$or/$nor must be a nonempty array"],
    [{ $and: {} }, 2, "$and must be an array"],
    [{ $nor: [1] }, 2, "$or/$and/$nor entries need to be full objects"],
    [
      { $not: { a: 1 } },
      2,
      "unknown top level operator: $not. If you are trying to negate an entire expression, use $nor.",
    ],
    [{ [Array(201).fill("a").join(".")]: 1 }, 5729100, "FieldPath is too long"],
    [{ a: { $comment: 1 } }, 2, "unknown operator: $comment"],
    [{ a: { $ref: "c" } }, 2, "unknown operator: $ref"],
    [{ $alwaysTrue: 2 }, 9, "$alwaysTrue must be an integer value of 1"],
    [{ a: { $in: 1 } }, 2, "$in needs an array"],
    [{ a: { $in: [{ $gt: 1 }] } }, 2, "cannot nest $ under $in"],
    [{ a: { $not: 1 } }, 2, "$not needs a regex or a document"],
    [{ a: { $not: {} } }, 2, "$not cannot be empty"],
    [{ a: { $gt: /x/ } }, 2, "Can't have RegEx as arg to predicate over field 'a'."],
    [{ a: { $options: "i" } }, 2, "$options needs a $regex"],
    [{ a: { $mod: [0, 1] } }, 2, "divisor cannot be 0"],
    [{ a: { $mod: [1] } }, 2, "malformed mod, not enough elements"],
    [{ a: { $elemMatch: 1 } }, 2, "$elemMatch needs an Object"],
    [{ a: { $all: [{ $gt: 1 }] } }, 2, "no $ expressions in $all"],
    [{ a: { $type: "nosuch" } }, 2, "Unknown type name alias: nosuch"],
    [{ $expr: { $nosuch: 1 } }, 168, "Unrecognized expression '$nosuch'"],
    [{ $where: "true" }, 238, "not simulated: $where"],
    [{ a: { $geoWithin: {} } }, 238, "not simulated: $geoWithin"],
    [{ $text: { $search: "x" } }, 238, "not simulated: $text"],
    // arguments of $size, $mod, $type and the bitwise operators
    [{ a: { $size: -1 } }, 2, "Failed to parse $size. Expected a non-negative number in: $size: -1"],
    [{ a: { $size: 0.5 } }, 2, "Failed to parse $size. Expected an integer: $size: 0.5"],
    [{ a: { $size: "1" } }, 2, 'Failed to parse $size. Expected a number in: $size: "1"'],
    [
      { a: { $mod: [NaN, 1] } },
      2,
      "malformed mod, divisor value is invalid :: caused by :: Unable to coerce NaN/Inf to integral type",
    ],
    [
      { a: { $mod: [5, 1e19] } },
      2,
      "malformed mod, remainder value is invalid :: caused by :: Out of bounds coercing to integral value",
    ],
    [{ a: { $mod: [0.5, 1] } }, 2, "divisor cannot be 0"],
    [{ a: { $type: [] } }, 9, "a must match at least one type"],
    [{ a: { $type: 30 } }, 2, "Invalid numerical type code: 30"],
    [{ a: { $bitsAllSet: -1 } }, 9, "Expected a non-negative number in: a: -1"],
    [{ a: { $bitsAllSet: 0.5 } }, 9, "Expected an integer: a: 0.5"],
    [
      { a: { $bitsAnySet: [-1] } },
      2,
      "Failed to parse bit position. Expected a non-negative number in: 0: -1",
    ],
    [
      { a: { $bitsAnySet: [1, 2 ** 31] } },
      2,
      "Failed to parse bit position. Cannot represent in an int: 1: 2147483648.0",
    ],
    [{ a: { $bitsAllSet: "x" } }, 2, 'a takes an Array, a number, or a BinData but received: a: "x"'],
    [{ $sampleRate: "x" }, 2, "argument to $sampleRate must be a numeric type"],
    [{ $sampleRate: NaN }, 2, "numeric argument to $sampleRate must be in [0, 1]"],
    [{ a: { $options: "i", $regex: /x/i } }, 51074, "options set in both $regex and $options"],
    [{ a: { $regex: /x/i, $options: "i" } }, 51075, "options set in both $regex and $options"],
    // what is about the whole document has no place in an element
    [
      { a: { $elemMatch: { $and: [{ $expr: true }] } } },
      2,
      "$expr can only be applied to the top-level document",
    ],
    [
      { a: { $elemMatch: { $or: [{ $sampleRate: 1 }] } } },
      2,
      "$sampleRate can only be applied to the top-level document",
    ],
    [{ a: { $elemMatch: { $where: "1" } } }, 2, "$where can only be applied to the top-level document"],
    [{ a: { $where: "1" } }, 2, "$where cannot be applied to a field"],
    [{ a: { $near: [1, 2] } }, 238, "not simulated: $near"],
  ])("%j", (filter, code, message) => {
    expect(failure(() => compileFilter(bson(filter)))).toEqual({ code, message });
  });

  test("a filter nested over 100 levels is refused, not a crash", () => {
    let filter: object = { a: 1 };
    for (let i = 0; i < 120; i++) filter = { $or: [filter, { b: i }] };
    expect(failure(() => compileFilter(bson(filter))).code).toBe(2);
  });
});

test("the normal form that explain shows", () => {
  const normal = (filter: object) => js(filterDocument(compileFilter(bson(filter)).node));
  expect(normal({ a: 5 })).toEqual({ a: { $eq: 5 } });
  expect(normal({ a: 5, b: { $ne: 1 } })).toEqual({ $and: [{ a: { $eq: 5 } }, { b: { $not: { $eq: 1 } } }] });
  expect(normal({ a: { $in: [7] } })).toEqual({ a: { $eq: 7 } });
  expect(text(filterDocument(compileFilter(bson({})).node))).toBe("{}");
});

test("$sampleRate draws once for each document", () => {
  const draws = [0.1, 0.5, 0.9];
  const filter = compileFilter(bson({ $sampleRate: 0.6 }), { random: () => draws.shift()! });
  expect([1, 2, 3].map((a) => filter.matches(bson({ a })))).toEqual([true, true, false]);
  expect(text(filterDocument(filter.node))).toBe("{ $expr: { $lt: [ { $rand: {} }, { $const: 0.6 } ] } }");
});

describe("a collation changes how strings compare, wherever they are", () => {
  const collation = parseCollation(bson({ locale: "en", strength: 2 }));
  const many = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
  test.each<[object, object, boolean]>([
    [{ a: "ABC" }, { a: "abc" }, true],
    [{ a: { $ne: "ABC" } }, { a: "abc" }, false],
    [{ a: "é" }, { a: "e" }, false],
    [{ a: { $gt: "B" } }, { a: "c" }, true],
    [{ a: { $lte: "B" } }, { a: "b" }, true],
    [{ a: { $in: ["X", "Y"] } }, { a: ["q", "y"] }, true],
    [{ a: { $in: many } }, { a: "J" }, true],
    [{ a: { $in: many } }, { a: "k" }, false],
    [{ a: { $nin: many } }, { a: "J" }, false],
    [{ a: { $all: ["X", "Y"] } }, { a: ["y", "x"] }, true],
    [{ a: { b: "X" } }, { a: { b: "x" } }, true],
    [{ a: { B: "x" } }, { a: { b: "x" } }, false],
    [{ a: ["X"] }, { a: ["x"] }, true],
    [{ a: { $elemMatch: { b: "X" } } }, { a: [{ b: "x" }] }, true],
    [{ a: { $regex: "X" } }, { a: "x" }, false],
    [{ a: { $in: [/X/] } }, { a: "x" }, false],
    [{ a: 5 }, { a: new Double(5) }, true],
  ])("%j on %j: %s", (filter, doc, expected) => {
    expect(compileFilter(bson(filter), { collation }).matches(bson(doc))).toBe(expected);
  });
});

describe("references to documents", () => {
  test.each<[object, object, boolean]>([
    [{ a: { $id: 1, $ref: "c" } }, { a: { $id: 1, $ref: "c" } }, true],
    [{ a: { $in: [{ $ref: "c", $id: 1 }] } }, { a: { $ref: "c", $id: 1 } }, true],
    [{ "a.$id": 1 }, { a: { $ref: "c", $id: 1 } }, true],
    [{ a: { $elemMatch: { $ref: "c", $id: 2, extra: 1 } } }, { a: [{ $ref: "c", $id: 2, extra: 1 }] }, true],
  ])("%j on %j: %s", (filter, doc, expected) => expect(matches(filter, doc)).toBe(expected));
});
