/** Updates that somebody made to be slow or to break something: each ends, quickly and with a code where it must. */
import { describe, expect, test } from "vitest";
import { DocumentWriter, elements, fields, getField, asDocument, int32 } from "../../lib/bson/index.js";
import { compileFilter, compileUpdate, upsertDocument } from "../../lib/query/index.js";
import { bson, failure, value } from "./support.js";

const NOW = 0;
const apply = (doc: Uint8Array, update: object): Uint8Array =>
  compileUpdate(value(update)).apply(doc, { now: NOW });

describe("hostile updates", () => {
  test("6,000 fields set in a document of 6,000", () => {
    const names = Array.from({ length: 6_000 }, (_, i) => `f${i}`);
    const doc = bson(Object.fromEntries(names.map((name) => [name, 1])));
    const after = apply(doc, { $set: Object.fromEntries(names.map((name) => [name, 2])) });
    expect(fields(after)).toHaveLength(6_000);
    const none = apply(doc, { $unset: Object.fromEntries(names.map((name) => [name, ""])) });
    expect(none).toHaveLength(5);
  });

  test("an array of 100,000 elements pushed at once, sorted, sliced, pulled", () => {
    const $each = Array.from({ length: 100_000 }, (_, i) => i % 1000);
    const after = apply(bson({ a: [5] }), { $push: { a: { $each, $position: 0, $sort: -1 } } });
    expect(elements(asDocument(getField(after, "a")!))).toHaveLength(100_001);
    const set = apply(after, { $addToSet: { a: { $each } } });
    expect(set).toBe(after);
    expect(elements(asDocument(getField(apply(after, { $pullAll: { a: $each } }), "a")!))).toHaveLength(0);
  });

  test("$[] in $[] over a square of elements", () => {
    const row = Array.from({ length: 300 }, () => 0);
    const doc = bson({ a: Array.from({ length: 300 }, () => row) });
    const after = apply(doc, { $inc: { "a.$[].$[]": 1 } });
    const [first] = elements(asDocument(getField(after, "a")!));
    expect(elements(asDocument(first!)).every((v) => v.bytes[v.start] === 1)).toBe(true);
  });

  test("many steps behind one placeholder hold no list of all their elements", () => {
    const doc = bson({ a: Array.from({ length: 2_000 }, () => ({})) });
    const $unset = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`a.$[].f${i}`, ""]));
    expect(apply(doc, { $unset })).toBe(doc);
  });

  test("an upsert with 6,000 equalities, and with one of 10,000 levels", () => {
    const writer = new DocumentWriter();
    for (let i = 0; i < 6_000; i++) writer.field(`f${i}.x`, int32(i));
    const { node } = compileFilter(writer.finish());
    const update = compileUpdate(value({ $set: { z: 1 } }));
    expect(fields(upsertDocument(node, update, { now: NOW }))).toHaveLength(6_002);
    const deep = bson({ [Array(10_000).fill("a").join(".")]: 1 });
    const failed = failure(() => upsertDocument(compileFilter(deep).node, update, { now: NOW }));
    expect(failed.code).toBeGreaterThan(0);
  });

  test("a path of a million components, an index of a hundred digits, a huge $position", () => {
    expect(failure(() => apply(bson({}), { $set: { [`a${".a".repeat(1_000_000)}`]: 1 } })).code).toBe(15);
    expect(failure(() => apply(bson({ a: [] }), { $set: { [`a.${"9".repeat(100)}`]: 1 } })).code).toBe(34);
    const far = apply(bson({ a: [1] }), {
      $push: { a: { $each: [2], $position: 2 ** 53, $slice: -(2 ** 53) } },
    });
    expect(elements(asDocument(getField(far, "a")!))).toHaveLength(2);
  });

  test("arrayFilters nested without end", () => {
    let filter: object = { x: 1 };
    for (let i = 0; i < 150; i++) filter = { $and: [filter] };
    expect(
      failure(() => compileUpdate(value({ $set: { "a.$[x]": 1 } }), { arrayFilters: [bson(filter)] })).code,
    ).toBeGreaterThan(0);
  });
});
