/** Updates over random documents: what they don't touch keeps its bytes, and what they write can be found. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  DocumentWriter,
  fields,
  getField,
  int32,
  valuesIdentical,
  type RawValue,
} from "../../lib/bson/index.js";
import { compileFilter, compileUpdate, upsertDocument } from "../../lib/query/index.js";
import { anyDocument, anyValue } from "../bson/arbitraries.js";
import { bson, text, value } from "./support.js";

const NOW = Date.UTC(2026, 0, 2);
const runs = { numRuns: 120 };

/** A document of random fields with random names of its own: x0, x1, … */
const named = fc.array(anyValue, { maxLength: 8 }).map((values) => {
  const writer = new DocumentWriter();
  values.forEach((v, i) => writer.field(`x${i}`, v));
  return writer.finish();
});

const apply = (doc: Uint8Array, update: RawValue): Uint8Array =>
  compileUpdate(update).apply(doc, { now: NOW });

/** `{ $set: { name: v } }` with a raw value. */
function setting(name: string, v: RawValue): RawValue {
  const inner = new DocumentWriter().field(name, v).finish();
  return {
    type: 3,
    bytes: new DocumentWriter().document("$set", inner).finish(),
    start: 0,
    end: inner.length + 11,
  };
}

describe("over random documents", () => {
  test("an update changes its own field and no other byte, and a new field comes last", () => {
    fc.assert(
      fc.property(named, fc.nat({ max: 9 }), anyValue, (doc, at, v) => {
        const name = `x${at}`;
        const after = apply(doc, setting(name, v));
        const before = fields(doc);
        const expected = before.some(([own]) => own === name)
          ? before.map(([own, old]) => [own, own === name ? v : old] as const)
          : [...before, [name, v] as const];
        const result = fields(after);
        expect(result.map(([own]) => own)).toEqual(expected.map(([own]) => own));
        expect(result.every(([, own], i) => valuesIdentical(own, expected[i]![1]))).toBe(true);
      }),
      runs,
    );
  });

  test("$set of the value that is there, $unset and $pull of what isn't, give back the very same bytes", () => {
    fc.assert(
      fc.property(named, (doc) => {
        for (const [name, v] of fields(doc)) expect(apply(doc, setting(name, v))).toBe(doc);
        expect(apply(doc, value({ $unset: { nosuch: 1, "no.such": 1 }, $pull: { other: 1 } }))).toBe(doc);
      }),
      runs,
    );
  });

  test("a nested update keeps the bytes around it", () => {
    fc.assert(
      fc.property(anyDocument, anyValue, anyDocument, (inner, v, tail) => {
        const doc = new DocumentWriter()
          .int32("_id", 1)
          .document("in", new DocumentWriter().document("deep", inner).field("v", v).finish())
          .values("list", [v, int32(1), v])
          .document("tail", tail)
          .finish();
        const after = apply(doc, value({ $set: { "in.deep2.z": 1, "list.1": 5 } }));
        const deep = getField(getField(after, "in")!.bytes.subarray(getField(after, "in")!.start), "deep")!;
        expect(deep.bytes.slice(deep.start, deep.end)).toEqual(inner);
        const kept = getField(after, "tail")!;
        expect(kept.bytes.slice(kept.start, kept.end)).toEqual(tail);
        const list = fields(getField(after, "list")!.bytes.subarray(getField(after, "list")!.start));
        expect(list.map(([name]) => name)).toEqual(["0", "1", "2"]);
        expect(valuesIdentical(list[0]![1], v) && valuesIdentical(list[2]![1], v)).toBe(true);
      }),
      runs,
    );
  });

  test("what $set wrote is found by equality, and what $unset took away is missing", () => {
    // A regular expression, undefined, and an object that begins with $ mean something else in a filter.
    const findable = anyValue.filter(({ type }) => type !== 11 && type !== 6 && type !== 3);
    fc.assert(
      fc.property(named, findable, (doc, v) => {
        const after = apply(doc, setting("field", v));
        expect(compileFilter(new DocumentWriter().field("field", v).finish()).matches(after)).toBe(true);
        const gone = apply(after, value({ $unset: { field: "" } }));
        expect(compileFilter(bson({ field: { $exists: false } })).matches(gone)).toBe(true);
        expect(gone).toEqual(doc);
      }),
      runs,
    );
  });

  test("what an upsert makes of equalities matches them, and upserting again finds it", () => {
    const scalar = fc.oneof(
      fc.integer(),
      fc.string(),
      fc.boolean(),
      fc.constant(null),
      fc.date({ noInvalidDate: true }),
    );
    const path = fc.constantFrom("a", "b", "c.d", "c.e", "f.g.h");
    fc.assert(
      fc.property(fc.dictionary(path, scalar, { maxKeys: 4 }), fc.integer(), (filter, n) => {
        const compiled = compileFilter(bson(filter));
        const made = upsertDocument(compiled.node, compileUpdate(value({ $set: { n } })), { now: NOW });
        expect(compiled.matches(made)).toBe(true);
        expect(compileFilter(bson({ n })).matches(made)).toBe(true);
        expect(text(made).startsWith("{ _id: ObjectId(")).toBe(true);
      }),
      runs,
    );
  });

  test("$push and $pull undo each other; $addToSet twice is once", () => {
    const element = fc.integer({ min: 0, max: 5 });
    fc.assert(
      fc.property(fc.array(element), element, (list, x) => {
        const doc = bson({ list });
        const pushed = apply(doc, value({ $push: { list: x } }));
        expect(text(apply(pushed, value({ $pop: { list: 1 } })))).toBe(text(doc));
        const without = list.filter((y) => y !== x);
        expect(text(apply(pushed, value({ $pull: { list: x } })))).toBe(text(bson({ list: without })));
        const once = apply(doc, value({ $addToSet: { list: x } }));
        expect(apply(once, value({ $addToSet: { list: x } }))).toBe(once);
      }),
      runs,
    );
  });

  test("$push with $sort and $slice is what sorting and slicing by hand is", () => {
    const element = fc.integer({ min: -9, max: 9 });
    fc.assert(
      fc.property(
        fc.array(element, { maxLength: 8 }),
        fc.array(element, { maxLength: 4 }),
        fc.constantFrom(1 as const, -1 as const),
        fc.integer({ min: -6, max: 6 }),
        (list, $each, $sort, $slice) => {
          const sorted = [...list, ...$each].sort((a, b) => $sort * (a - b));
          const kept = $slice >= 0 ? sorted.slice(0, $slice) : sorted.slice($slice);
          const after = apply(bson({ list }), value({ $push: { list: { $each, $sort, $slice } } }));
          expect(text(after)).toBe(text(bson({ list: kept })));
        },
      ),
      runs,
    );
  });
});
