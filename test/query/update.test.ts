import { Decimal128, Double, Long, ObjectId, Timestamp } from "bson";
import { getField, int32 } from "shardlab/bson";
import { describe, expect, test } from "vitest";
import { compileFilter, compileUpdate, typeName, upsertDocument } from "../../lib/query/index.js";
import { bson, failure, text, value } from "./support.js";

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);
const apply = (doc: object, update: object, arrayFilters?: object[]) =>
  text(
    compileUpdate(value(update), arrayFilters && { arrayFilters: arrayFilters.map(bson) }).apply(bson(doc), {
      now: NOW,
    }),
  );

describe("$set, $unset, $rename, $setOnInsert", () => {
  test.each([
    [{ _id: 1, a: 1 }, { $set: { a: 2 } }, "{ _id: 1, a: 2 }"],
    [{ _id: 1, a: 1, b: 2 }, { $set: { a: "x" } }, '{ _id: 1, a: "x", b: 2 }'],
    // new fields are appended by name, numbers by value
    [{ _id: 1 }, { $set: { z: 1, a: 1 } }, "{ _id: 1, a: 1, z: 1 }"],
    [{ _id: 1 }, { $set: { "10": 1, "9": 1 } }, "{ _id: 1, 9: 1, 10: 1 }"],
    [{ _id: 1 }, { $set: { "a.c": 1, "a.b": 2 } }, "{ _id: 1, a: { b: 2, c: 1 } }"],
    [{ _id: 1, a: { b: 1 } }, { $set: { "a.c": 2 } }, "{ _id: 1, a: { b: 1, c: 2 } }"],
    [{ _id: 1, a: [1, 2] }, { $set: { "a.1": 9 } }, "{ _id: 1, a: [ 1, 9 ] }"],
    [{ _id: 1, a: [1] }, { $set: { "a.3": 9 } }, "{ _id: 1, a: [ 1, null, null, 9 ] }"],
    [{ _id: 1, a: [{ b: 1 }] }, { $set: { "a.0.b": 2 } }, "{ _id: 1, a: [ { b: 2 } ] }"],
    [{ _id: 1 }, { $set: { "a.0": 1 } }, "{ _id: 1, a: { 0: 1 } }"],
    [{ _id: 1 }, { $set: { _id: 1, a: 1 } }, "{ _id: 1, a: 1 }"],
    [{ _id: 1 }, { $set: {} }, "{ _id: 1 }"],
    [{ _id: 1, a: 1, b: 2 }, { $unset: { a: "" } }, "{ _id: 1, b: 2 }"],
    [{ _id: 1, a: { b: 1, c: 2 } }, { $unset: { "a.b": 1 } }, "{ _id: 1, a: { c: 2 } }"],
    [{ _id: 1, a: [1, 2] }, { $unset: { "a.0": 1 } }, "{ _id: 1, a: [ null, 2 ] }"],
    [{ _id: 1, a: [1] }, { $unset: { "a.b": 1, "x.y": 1 } }, "{ _id: 1, a: [ 1 ] }"],
    [{ _id: 1, a: 1, b: 2 }, { $rename: { a: "c" } }, "{ _id: 1, b: 2, c: 1 }"],
    [{ _id: 1, a: 1, b: 2 }, { $rename: { a: "b" } }, "{ _id: 1, b: 1 }"],
    [{ _id: 1, a: { b: 1 } }, { $rename: { "a.b": "c.d" } }, "{ _id: 1, a: {}, c: { d: 1 } }"],
    [{ _id: 1 }, { $rename: { a: "b" } }, "{ _id: 1 }"],
    [{ _id: 1 }, { $setOnInsert: { a: 1 } }, "{ _id: 1 }"],
    [{ _id: 1, a: 5 }, { $setOnInsert: { "a.b": 1 } }, "{ _id: 1, a: 5 }"],
  ])("%j %j → %s", (doc, update, expected) => expect(apply(doc, update)).toBe(expected));
});

describe("numbers keep or widen their type", () => {
  const int64 = Long.fromNumber;
  const after = (a: unknown, update: object) => {
    const doc = compileUpdate(value(update)).apply(bson(a === undefined ? {} : { a }), { now: NOW });
    const v = getField(doc, "a");
    return `${typeName(v)} ${text(doc)}`;
  };
  test.each([
    [1, { $inc: { a: 2 } }, "int { a: 3 }"],
    [2147483647, { $inc: { a: 1 } }, "long { a: 2147483648 }"],
    [-2147483648, { $inc: { a: -1 } }, "long { a: -2147483649 }"],
    [int64(5), { $inc: { a: 1 } }, "long { a: 6 }"],
    [1, { $inc: { a: int64(1) } }, "long { a: 2 }"],
    [1, { $inc: { a: 0.5 } }, "double { a: 1.5 }"],
    [new Double(1), { $inc: { a: 1 } }, "double { a: 2.0 }"],
    [Decimal128.fromString("1.10"), { $inc: { a: 1 } }, "decimal { a: 2.10 }"],
    [Decimal128.fromString("0.1"), { $inc: { a: 0.2 } }, "decimal { a: 0.300000000000000 }"],
    [undefined, { $inc: { a: 5 } }, "int { a: 5 }"],
    [3, { $mul: { a: 4 } }, "int { a: 12 }"],
    [65536, { $mul: { a: 65536 } }, "long { a: 4294967296 }"],
    [3, { $mul: { a: 0.5 } }, "double { a: 1.5 }"],
    [undefined, { $mul: { a: int64(4) } }, "long { a: 0 }"],
    [undefined, { $mul: { a: 0.5 } }, "double { a: 0.0 }"],
    [5, { $min: { a: 3 } }, "int { a: 3 }"],
    [5, { $min: { a: 5.0 } }, "int { a: 5 }"],
    [5, { $max: { a: 7.5 } }, "double { a: 7.5 }"],
    [5, { $max: { a: "x" } }, 'string { a: "x" }'],
    [undefined, { $max: { a: 1 } }, "int { a: 1 }"],
    [12, { $bit: { a: { and: 10, or: 1 } } }, "int { a: 9 }"],
    [1, { $bit: { a: { xor: int64(3) } } }, "long { a: 2 }"],
    [undefined, { $bit: { a: { or: 4 } } }, "int { a: 4 }"],
    [1, { $currentDate: { a: true } }, `date { a: new Date(${NOW}) }`],
    [1, { $currentDate: { a: { $type: "timestamp" } } }, `timestamp { a: Timestamp(${NOW / 1000}, 1) }`],
    // equal but of another type: $set writes it, $inc by 0 does not
    [5, { $set: { a: new Double(5) } }, "double { a: 5.0 }"],
    [5, { $inc: { a: 0 } }, "int { a: 5 }"],
  ])("a: %s, %j → %s", (a, update, expected) => expect(after(a, update)).toBe(expected));
});

describe("arrays", () => {
  test.each([
    [[1], { $push: { a: 2 } }, "[ 1, 2 ]"],
    [undefined, { $push: { a: 2 } }, "[ 2 ]"],
    [[1], { $push: { a: [2, 3] } }, "[ 1, [ 2, 3 ] ]"],
    [[1], { $push: { a: { $each: [2, 3] } } }, "[ 1, 2, 3 ]"],
    [[1, 2], { $push: { a: { $each: [9], $position: 1 } } }, "[ 1, 9, 2 ]"],
    [[1, 2], { $push: { a: { $each: [9], $position: -1 } } }, "[ 1, 9, 2 ]"],
    [[3, 1], { $push: { a: { $each: [2], $sort: 1 } } }, "[ 1, 2, 3 ]"],
    [[3, 1], { $push: { a: { $each: [2], $sort: -1, $slice: 2 } } }, "[ 3, 2 ]"],
    [[1, 2], { $push: { a: { $each: [3], $slice: -2 } } }, "[ 2, 3 ]"],
    [[{ q: 2 }, { q: 1 }], { $push: { a: { $each: [], $sort: { q: 1 } } } }, "[ { q: 1 }, { q: 2 } ]"],
    [[1], { $push: { a: { $each: [], $slice: 0 } } }, "[]"],
    [[1, 2], { $addToSet: { a: 2 } }, "[ 1, 2 ]"],
    [[1, 2], { $addToSet: { a: new Double(2) } }, "[ 1, 2 ]"],
    [[1], { $addToSet: { a: { $each: [2, 2, 1] } } }, "[ 1, 2 ]"],
    [[{ b: 1 }], { $addToSet: { a: { b: 1 } } }, "[ { b: 1 } ]"],
    [undefined, { $addToSet: { a: 1 } }, "[ 1 ]"],
    [[1, 2, 3], { $pop: { a: 1 } }, "[ 1, 2 ]"],
    [[1, 2, 3], { $pop: { a: -1 } }, "[ 2, 3 ]"],
    [[], { $pop: { a: 1 } }, "[]"],
    [[1, 2, 1], { $pull: { a: 1 } }, "[ 2 ]"],
    [[1, 5, 8], { $pull: { a: { $gte: 5 } } }, "[ 1 ]"],
    [[{ b: 1, c: 2 }, { b: 2 }, 5], { $pull: { a: { b: 1 } } }, "[ { b: 2 }, 5 ]"],
    [[{ b: 1 }, { b: 7 }], { $pull: { a: { b: { $gt: 5 } } } }, "[ { b: 1 } ]"],
    [[{ b: 1 }, { b: 7 }], { $pull: { a: { $or: [{ b: 1 }, { b: 9 }] } } }, "[ { b: 7 } ]"],
    [["ab", "cd"], { $pull: { a: /^a/ } }, '[ "cd" ]'],
    [["ab", "cd"], { $pull: { a: { $in: ["cd", "x"] } } }, '[ "ab" ]'],
    [[1, 2, 1, 3], { $pullAll: { a: [1, 3] } }, "[ 2 ]"],
    // all elements, and filtered ones
    [[1, 2], { $inc: { "a.$[]": 10 } }, "[ 11, 12 ]"],
    [[{ b: 1 }, { b: 2 }], { $set: { "a.$[].b": 0 } }, "[ { b: 0 }, { b: 0 } ]"],
  ])("a: %j, %j → %s", (a, update, expected) => {
    expect(apply(a === undefined ? {} : { a }, update)).toBe(`{ a: ${expected} }`);
  });

  test("arrayFilters choose elements", () => {
    expect(apply({ a: [1, 5, 8] }, { $set: { "a.$[big]": 0 } }, [{ big: { $gte: 5 } }])).toBe(
      "{ a: [ 1, 0, 0 ] }",
    );
    expect(
      apply(
        {
          a: [
            { k: 1, v: [1, 2] },
            { k: 2, v: [1] },
          ],
        },
        { $inc: { "a.$[x].v.$[y]": 10 } },
        [{ "x.k": 1 }, { y: 2 }],
      ),
    ).toBe("{ a: [ { k: 1, v: [ 1, 12 ] }, { k: 2, v: [ 1 ] } ] }");
    expect(failure(() => apply({ a: [1] }, { $set: { "a.$[x]": 0 } }))).toEqual({
      code: 2,
      message: "No array filter found for identifier 'x' in path 'a.$[x]'",
    });
    expect(failure(() => apply({ a: [1] }, { $set: { a: 0 } }, [{ x: 1 }])).code).toBe(9);
    expect(failure(() => apply({ a: 1 }, { $set: { "a.$[]": 0 } })).code).toBe(2);
    expect(failure(() => apply({}, { $set: { "a.$[]": 0 } })).code).toBe(2);
    // two identifiers for the same element
    expect(
      failure(() => apply({ a: [1] }, { $set: { "a.$[x]": 0 }, $inc: { "a.$[y]": 1 } }, [{ x: 1 }, { y: 1 }]))
        .code,
    ).toBe(40);
  });
});

describe("replacement", () => {
  test("counts as a modification unless it is the stored document byte for byte, _id included", () => {
    const doc = bson({ _id: 1, a: 1 });
    const replaced = (by: object) => compileUpdate(value(by)).apply(doc, { now: NOW });
    expect(replaced({ _id: 1, a: 1 })).toBe(doc);
    expect(replaced({ a: 1 })).not.toBe(doc);
    expect(replaced({ a: 1 })).toEqual(doc);
  });

  test("takes the _id as it was sent where it is equal to the old one", () => {
    expect(apply({ _id: 1 }, { _id: new Double(1), a: 2 })).toBe("{ _id: 1.0, a: 2 }");
  });

  test.each([
    [{ _id: 1, a: 1 }, { b: 2 }, "{ _id: 1, b: 2 }"],
    [{ _id: 1, a: 1 }, { b: 2, _id: 1 }, "{ _id: 1, b: 2 }"],
    [{ _id: 1, a: 1 }, {}, "{ _id: 1 }"],
    [{ _id: 1 }, { "a.b": 1 }, "{ _id: 1, a.b: 1 }"],
  ])("%j %j → %s", (doc, update, expected) => expect(apply(doc, update)).toBe(expected));
});

describe("pipelines", () => {
  test.each([
    [{ _id: 1, a: 2 }, [{ $set: { b: { $add: ["$a", 1] } } }], "{ _id: 1, a: 2, b: 3 }"],
    [{ _id: 1, a: 2 }, [{ $unset: "a" }, { $set: { c: "$$NOW" } }], `{ _id: 1, c: new Date(${NOW}) }`],
    [{ _id: 1, a: 2 }, [{ $replaceWith: { x: "$a" } }], "{ _id: 1, x: 2 }"],
    [{ _id: 1, a: 2 }, [{ $project: { _id: 0, a: 1 } }], "{ _id: 1, a: 2 }"],
  ])("%j %j → %s", (doc, update, expected) => expect(apply(doc, update)).toBe(expected));

  test("other stages, and a changed _id, are refused", () => {
    expect(failure(() => apply({}, [{ $match: {} }]))).toEqual({
      code: 72,
      message: "$match is not allowed to be used within an update",
    });
    expect(failure(() => apply({}, [{ $nosuch: {} }])).code).toBe(40324);
    expect(failure(() => apply({ _id: 1 }, [{ $set: { _id: 2 } }])).code).toBe(66);
  });
});

describe("what doesn't change stays as it is", () => {
  const doc = bson({ _id: 1, a: { b: [1, { c: new Timestamp({ t: 1, i: 2 }) }] }, z: new Double(5) });
  test.each([
    [{ $set: { z: new Double(5) } }],
    [{ $unset: { nosuch: 1, "a.x.y": 1 } }],
    [{ $pull: { "a.b": 7 } }],
    [{ $inc: { z: 0 } }],
    [{ _id: 1, a: { b: [1, { c: new Timestamp({ t: 1, i: 2 }) }] }, z: new Double(5) }],
    [[{ $set: { z: "$z" } }]],
  ])("%j gives back the very same bytes", (update) => {
    expect(compileUpdate(value(update)).apply(doc, { now: NOW })).toBe(doc);
  });

  test("paths and touches tell what an update may change", () => {
    const update = compileUpdate(value({ $set: { "a.b": 1 }, $rename: { c: "d" } }));
    expect([update.kind, update.paths]).toEqual(["operators", ["a.b", "c", "d"]]);
    expect(["a", "a.b", "a.b.c", "a.c", "d", "e"].map((path) => update.touches(path))).toEqual([
      true,
      true,
      true,
      false,
      true,
      false,
    ]);
    expect(compileUpdate(value({ a: 1 })).touches("anything")).toBe(true);
  });
});

describe("upsert", () => {
  const upsert = (filter: object, update: object) =>
    text(
      upsertDocument(compileFilter(bson(filter)).node, compileUpdate(value(update)), {
        now: NOW,
        newId: () => int32(99),
      }),
    );
  test.each([
    [{ _id: 7, a: 1 }, { $set: { b: 2 } }, "{ _id: 7, a: 1, b: 2 }"],
    [{ a: 1, n: { $gt: 5 } }, { $inc: { hits: 1 } }, "{ _id: 99, a: 1, hits: 1 }"],
    [{ "a.b": 1, "a.c": 2 }, { $set: { x: 1 } }, "{ _id: 99, a: { b: 1, c: 2 }, x: 1 }"],
    [{ $and: [{ a: 1 }, { b: { $eq: 2 } }] }, { $setOnInsert: { c: 3 } }, "{ _id: 99, a: 1, b: 2, c: 3 }"],
    [{ $or: [{ a: 1 }, { b: 2 }] }, { $set: { c: 3 } }, "{ _id: 99, c: 3 }"],
    [{ a: { $in: [1, 2] } }, { $set: { c: 3 } }, "{ _id: 99, c: 3 }"],
    [{ a: 1 }, { $set: { _id: 5 } }, "{ _id: 5, a: 1 }"],
    [{ a: 1 }, { $set: { a: 2 } }, "{ _id: 99, a: 2 }"],
    [{ _id: 7, a: 1 }, { b: 2 }, "{ _id: 7, b: 2 }"],
    [{ a: 1 }, { b: 2 }, "{ _id: 99, b: 2 }"],
    [{ a: 1 }, { b: 2, _id: 3 }, "{ _id: 3, b: 2 }"],
    [{ a: 1 }, [{ $set: { b: { $add: ["$a", 1] } } }], "{ _id: 99, a: 1, b: 2 }"],
    [{ a: [1, 2] }, { $push: { a: 3 } }, "{ _id: 99, a: [ 1, 2, 3 ] }"],
  ])("%j %j → %s", (filter, update, expected) => expect(upsert(filter, update)).toBe(expected));

  test("a path pinned twice, an _id that disagrees", () => {
    expect(failure(() => upsert({ $and: [{ a: 1 }, { a: 2 }] }, { $set: { b: 1 } }))).toEqual({
      code: 54,
      message: "cannot infer query fields to set, path 'a' is matched twice",
    });
    expect(failure(() => upsert({ "a.b": 1, a: { c: 1 } }, { $set: { b: 1 } })).code).toBe(54);
    expect(failure(() => upsert({ _id: 1 }, { $set: { _id: 2 } })).code).toBe(66);
  });

  test("a generated _id is an ObjectId", () => {
    const doc = upsertDocument(compileFilter(bson({})).node, compileUpdate(value({ $set: { a: 1 } })), {
      now: NOW,
    });
    expect(text(doc)).toMatch(/^\{ _id: ObjectId\('[0-9a-f]{24}'\), a: 1 \}$/);
    expect(ObjectId.isValid(text(doc).slice(17, 41))).toBe(true);
  });
});
