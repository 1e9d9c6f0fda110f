import { Long, deserialize, serialize } from "bson";
import { describe, expect, it } from "vitest";
import {
  BsonError,
  DocumentWriter,
  array,
  int32,
  string,
  toDocument,
  validateDocument,
} from "../../lib/bson/index.js";

describe("DocumentWriter", () => {
  it("writes what the bson package writes", () => {
    const when = new Date(1_700_000_000_000);
    const written = new DocumentWriter()
      .int32("n", -3)
      .int64("l", 2n ** 40n)
      .int64("m", -5)
      .double("d", 0.1)
      .string("s", "grün 😀")
      .bool("t", true)
      .bool("f", false)
      .null("z")
      .date("when", when.getTime())
      .document("doc", toDocument({ a: 1 }))
      .arrayOf("docs", [toDocument({ a: 1 }), toDocument({})])
      .values("values", [int32(1), string("x")])
      .values("none", [])
      .field("again", string("x"))
      .fieldsOf(toDocument({ p: 1, q: [2] }))
      .finish();
    validateDocument(written);
    const expected = serialize({
      n: -3,
      l: Long.fromNumber(2 ** 40),
      m: Long.fromNumber(-5),
      d: 0.1,
      s: "grün 😀",
      t: true,
      f: false,
      z: null,
      when,
      doc: { a: 1 },
      docs: [{ a: 1 }, {}],
      values: [1, "x"],
      none: [],
      again: "x",
      p: 1,
      q: [2],
    });
    expect(Buffer.from(written).toString("hex")).toBe(Buffer.from(expected).toString("hex"));
  });

  it("numbers array elements past 9, 99 and 999", () => {
    const n = 1005;
    const written = new DocumentWriter()
      .values(
        "v",
        Array.from({ length: n }, (_, i) => int32(i)),
      )
      .finish();
    expect(Buffer.from(written)).toEqual(Buffer.from(serialize({ v: [...Array(n).keys()] })));
    const docs = Array.from({ length: n }, (_, i) => toDocument({ i }));
    expect(deserialize(new DocumentWriter().arrayOf("v", docs).finish())["v"].at(-1)).toEqual({ i: n - 1 });
  });

  it("grows: long names, long strings, many fields", () => {
    const long = "x".repeat(100_000) + "ß";
    const writer = new DocumentWriter().string(long, long);
    for (let i = 0; i < 3000; i++) writer.int32(`field${i}`, i);
    const back = deserialize(writer.finish());
    expect(back[long]).toBe(long);
    expect(back["field2999"]).toBe(2999);
  });

  it("writers in use at the same time and results handed out do not share bytes", () => {
    const outer = new DocumentWriter().int32("a", 1);
    const inner = new DocumentWriter().int32("b", 2).finish();
    const result = outer.document("inner", inner).finish();
    const later = new DocumentWriter().int32("zzzz", 0x7fffffff).string("more", "y".repeat(80)).finish();
    const latest = new DocumentWriter().string("more", "z".repeat(80)).finish();
    expect(deserialize(inner)).toEqual({ b: 2 });
    expect(deserialize(result)).toEqual({ a: 1, inner: { b: 2 } });
    expect(deserialize(later)).toEqual({ zzzz: 0x7fffffff, more: "y".repeat(80) });
    expect(deserialize(latest)).toEqual({ more: "z".repeat(80) });
    expect(
      deserialize(
        toDocument({ v: deserialize(new DocumentWriter().field("v", array([int32(4)])).finish()) }),
      ),
    ).toEqual({
      v: { v: [4] },
    });
  });

  it("takes only bytes of the embedded document, not what lies behind it in the buffer", () => {
    const padded = new Uint8Array(40).fill(9);
    padded.set(toDocument({ a: 1 }));
    const written = new DocumentWriter()
      .document("d", padded)
      .arrayOf("l", [padded])
      .fieldsOf(padded)
      .finish();
    expect(deserialize(written)).toEqual({ d: { a: 1 }, l: [{ a: 1 }], a: 1 });
  });

  it("refuses a NUL in a name, numbers out of range, and use after finish", () => {
    expect(() => new DocumentWriter().int32("a\0b", 1)).toThrow(BsonError);
    expect(() => new DocumentWriter().int32("a", 2 ** 31)).toThrow(RangeError);
    expect(() => new DocumentWriter().int64("a", 2 ** 63)).toThrow(RangeError);
    const writer = new DocumentWriter();
    writer.finish();
    expect(() => writer.int32("a", 1)).toThrow(BsonError);
    expect(() => writer.finish()).toThrow(BsonError);
  });
});
