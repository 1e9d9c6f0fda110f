import {
  Binary,
  Decimal128,
  Double,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
  UUID,
  deserialize,
  serialize,
} from "bson";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  BsonError,
  BsonType,
  DocumentWriter,
  EMPTY_DOCUMENT,
  FALSE,
  FieldPath,
  MAX_KEY,
  MIN_KEY,
  NULL,
  TRUE,
  UNDEFINED,
  array,
  asBigInt,
  asDocument,
  asMilliseconds,
  asNumber,
  asString,
  asTimestamp,
  compareValues,
  date,
  decodeValue,
  describeDocument,
  describeValue,
  document,
  documentLength,
  double,
  elements,
  encodeValue,
  fields,
  firstField,
  forEachField,
  fromDocument,
  getField,
  getPath,
  int32,
  int64,
  isEmptyDocument,
  isNumeric,
  isTruthy,
  numericValue,
  objectId,
  prependField,
  string,
  timestamp,
  toDocument,
  topLevelNames,
  uuid,
  validateDocument,
  valuesIdentical,
} from "../../lib/bson/index.js";
import {
  anyDocument,
  anyValue,
  code,
  codeWithScope,
  dbPointer,
  decimal,
  embedded,
  symbol,
} from "./arbitraries.js";

const zeros12 = new Uint8Array(12);

describe("fields of a raw document", () => {
  const doc = toDocument({
    _id: 7,
    name: "Ada",
    address: { zip: "1010", geo: { lat: 48.2 } },
    tags: ["a", "b"],
  });

  it("are found by name, top level", () => {
    expect(asNumber(getField(doc, "_id")!)).toBe(7);
    expect(asString(getField(doc, "name")!)).toBe("Ada");
    expect(getField(doc, "nam")).toBeUndefined();
    expect(getField(doc, "names")).toBeUndefined();
    expect(getField(doc, "address.zip")).toBeUndefined();
    expect(topLevelNames(doc)).toEqual(["_id", "name", "address", "tags"]);
    expect(firstField(doc)![0]).toBe("_id");
    expect(firstField(EMPTY_DOCUMENT)).toBeUndefined();
    expect([isEmptyDocument(doc), isEmptyDocument(EMPTY_DOCUMENT)]).toEqual([false, true]);
  });

  it("are found by dotted path, through objects only", () => {
    expect(asString(getPath(doc, "address.zip")!)).toBe("1010");
    expect(asNumber(getPath(doc, "address.geo.lat")!)).toBe(48.2);
    expect(getPath(doc, "tags.0")).toBeUndefined();
    expect(getPath(doc, "name.x")).toBeUndefined();
    expect(getPath(doc, "address.geo.lon")).toBeUndefined();
  });

  it("have names beyond ASCII, an empty name, and the first of two equal names wins", () => {
    const odd = new DocumentWriter()
      .int32("größe", 1)
      .int32("", 2)
      .int32("日本", 3)
      .int32("x", 4)
      .int32("x", 5)
      .finish();
    expect(asNumber(getField(odd, "größe")!)).toBe(1);
    expect(asNumber(getField(odd, "")!)).toBe(2);
    expect(asNumber(getField(odd, "日本")!)).toBe(3);
    expect(asNumber(getField(odd, "x")!)).toBe(4);
    // "é" is one UTF-16 unit E9; a lone byte E9 in a name is not it
    const lone = Uint8Array.of(12, 0, 0, 0, 16, 0xe9, 0, 1, 0, 0, 0, 0);
    expect(getField(lone, "é")).toBeUndefined();
  });

  it("are visited in order until the visitor returns false", () => {
    const seen: string[] = [];
    forEachField(doc, (name) => {
      seen.push(name);
      return name !== "name";
    });
    expect(seen).toEqual(["_id", "name"]);
  });

  it("prependField puts one in front", () => {
    const id = new ObjectId();
    const withId = prependField(toDocument({ x: 1 }), "_id", objectId(id.id));
    expect(deserialize(withId)).toEqual({ _id: id, x: 1 });
    validateDocument(withId);
  });
});

describe("FieldPath and arrays", () => {
  const path = new FieldPath("a.b");
  const read = (obj: object): { values: unknown[]; missing: boolean; multikey: boolean } => {
    const found = path.valuesOf(toDocument(obj));
    return { ...found, values: found.values.map(decodeValue) };
  };

  it("get and meetsArray: the shard key's view", () => {
    const cases: Array<[object, unknown, boolean]> = [
      [{ a: { b: 1 } }, 1, false],
      [{ a: { b: [1, 2] } }, [1, 2], true],
      [{ a: [{ b: 1 }] }, undefined, true],
      [{ a: 1 }, undefined, false],
      [{}, undefined, false],
      [{ a: { c: [1] } }, undefined, false],
    ];
    for (const [obj, value, meets] of cases) {
      const doc = toDocument(obj);
      const found = path.get(doc);
      expect(found && decodeValue(found)).toEqual(value);
      expect(path.meetsArray(doc)).toBe(meets);
    }
  });

  it("valuesOf: a multikey index's view", () => {
    expect(read({ a: { b: 1 } })).toEqual({ values: [1], missing: false, multikey: false });
    expect(read({ a: { b: null } })).toEqual({ values: [null], missing: false, multikey: false });
    expect(read({})).toEqual({ values: [null], missing: true, multikey: false });
    expect(read({ a: 5 })).toEqual({ values: [null], missing: true, multikey: false });
    expect(read({ a: { b: [1, 2, [3]] } })).toEqual({ values: [1, 2, [3]], missing: false, multikey: true });
    expect(read({ a: { b: [] } })).toEqual({ values: [undefined], missing: false, multikey: true });
    expect(read({ a: [{ b: 1 }, { b: [2, 3] }, {}, 4] })).toEqual({
      values: [1, 2, 3, null, null],
      missing: false,
      multikey: true,
    });
    expect(read({ a: [] })).toEqual({ values: [null], missing: true, multikey: true });
  });

  it("a number in the path picks an element of an array", () => {
    const first = new FieldPath("a.0.b").valuesOf(toDocument({ a: [{ b: 1 }, { b: 2 }] }));
    expect(first.values.map(decodeValue)).toEqual([1]);
    expect(first.multikey).toBe(false);
    const named = new FieldPath("a.0").valuesOf(toDocument({ a: { 0: "x" } }));
    expect(named.values.map(decodeValue)).toEqual(["x"]);
    const beyond = new FieldPath("a.2").valuesOf(toDocument({ a: [1] }));
    expect([beyond.values.map(decodeValue), beyond.missing]).toEqual([[null], true]);
  });
});

describe("single values", () => {
  it("constructors write what the bson package writes", () => {
    const id = new ObjectId();
    const pairs: Array<[ReturnType<typeof int32>, unknown]> = [
      [int32(-7), new Int32(-7)],
      [int64(-7), Long.fromNumber(-7)],
      [int64(2n ** 62n + 1n), 2n ** 62n + 1n],
      [int64(2 ** 53), Long.fromString("9007199254740992")],
      [int64(-(2 ** 40) - 3), Long.fromNumber(-(2 ** 40) - 3)],
      [double(-0.1), new Double(-0.1)],
      [string("grün"), "grün"],
      [TRUE, true],
      [FALSE, false],
      [NULL, null],
      [MIN_KEY, new MinKey()],
      [MAX_KEY, new MaxKey()],
      [date(1_700_000_000_123), new Date(1_700_000_000_123)],
      [date(-1), new Date(-1)],
      [objectId(id.id), id],
      [timestamp(1_700_000_000, 3), new Timestamp({ t: 1_700_000_000, i: 3 })],
      [uuid(new Uint8Array(16).fill(5)), new UUID(new Uint8Array(16).fill(5))],
      [document(toDocument({ x: 1 })), { x: 1 }],
      [array([int32(1), string("b")]), [1, "b"]],
    ];
    for (const [value, js] of pairs) {
      const expected = getField(serialize({ v: js }), "v")!;
      expect(valuesIdentical(value, expected), describeValue(value)).toBe(true);
    }
  });

  it("constructors refuse what does not fit", () => {
    expect(() => int32(2 ** 31)).toThrow(RangeError);
    expect(() => int32(0.5)).toThrow(RangeError);
    expect(() => int64(0.5)).toThrow(RangeError);
    expect(() => int64(2 ** 63)).toThrow(RangeError);
    expect(() => date(NaN)).toThrow(RangeError);
    expect(() => objectId(new Uint8Array(11))).toThrow(RangeError);
    expect(() => encodeValue(() => 1)).toThrow(BsonError);
    expect(() => encodeValue(2n ** 63n)).toThrow(BsonError);
  });

  it("encodeValue chooses number types as the driver does", () => {
    const types = [5, 2 ** 31, 0.5, -0, 5n, NaN].map((n) => encodeValue(n).type);
    const { int32: i, double: d, int64: l } = BsonType;
    expect(types).toEqual([i, d, d, d, l, d]);
    expect(Object.is(decodeValue(encodeValue(-0)), -0)).toBe(true);
    expect(encodeValue(undefined)).toBe(NULL);
  });

  it("numbers of any type read as number and as 64-bit integer", () => {
    for (const v of [int32(42), double(42), int64(42), decimal("42.0")]) {
      expect([asNumber(v), asBigInt(v), isNumeric(v)]).toEqual([42, 42n, true]);
    }
    expect(asBigInt(double(-2.9))).toBe(-2n);
    expect(asBigInt(decimal("-2.9"))).toBe(-2n);
    expect(asBigInt(double(NaN))).toBe(0n);
    expect(asBigInt(double(1e300))).toBe(2n ** 63n - 1n);
    expect(asBigInt(decimal("-1E+6000"))).toBe(-(2n ** 63n));
    expect(numericValue(string("5"))).toBeUndefined();
    expect(() => asNumber(string("5"))).toThrow(BsonError);
    expect(() => asBigInt(NULL)).toThrow(BsonError);
    expect(() => asString(NULL)).toThrow(BsonError);
    expect(() => asDocument(NULL)).toThrow(BsonError);
    expect(asMilliseconds(date(-86_400_000))).toBe(-86_400_000);
    expect(asTimestamp(timestamp(0xffffffff, 7))).toEqual({ high: 0xffffffff, low: 7 });
  });

  it("truth is MongoDB's", () => {
    const truthy = [
      TRUE,
      int32(1),
      double(NaN),
      string(""),
      document(EMPTY_DOCUMENT),
      MIN_KEY,
      decimal("0.1"),
    ];
    const falsy = [FALSE, NULL, UNDEFINED, int32(0), double(-0), int64(0), decimal("0.00"), undefined];
    expect(truthy.map(isTruthy)).toEqual(truthy.map(() => true));
    expect(falsy.map(isTruthy)).toEqual(falsy.map(() => false));
  });

  it("describeValue writes what error messages show", () => {
    const texts: Array<[ReturnType<typeof int32> | undefined, string]> = [
      [int32(1), "1"],
      [double(1), "1.0"],
      [double(0.5), "0.5"],
      [double(1e30), "1e+30"],
      [int64(2n ** 60n), "1152921504606846976"],
      [decimal("1.50"), "1.50"],
      [decimal("1E-7"), "1E-7"],
      [decimal("-0.001"), "-0.001"],
      [decimal("12E+3"), "1.2E+4"],
      [string('a"b'), '"a\\"b"'],
      [symbol("s"), '"s"'],
      [objectId(zeros12), "ObjectId('000000000000000000000000')"],
      [uuid(new Uint8Array(16)), 'UUID("00000000-0000-0000-0000-000000000000")'],
      [encodeValue(new Binary(Uint8Array.of(10, 255))), "BinData(0, 0AFF)"],
      [date(0), "new Date(0)"],
      [timestamp(5, 1), "Timestamp(5, 1)"],
      [encodeValue(/a.c/i), "/a.c/i"],
      [NULL, "null"],
      [UNDEFINED, "undefined"],
      [TRUE, "true"],
      [MIN_KEY, "MinKey"],
      [MAX_KEY, "MaxKey"],
      [array([int32(1), string("a")]), '[ 1, "a" ]'],
      [array([]), "[]"],
      [document(EMPTY_DOCUMENT), "{}"],
      [code("f()"), "f()"],
      [codeWithScope("f()", toDocument({ x: 1 })), "CodeWScope( f(), { x: 1 })"],
      [dbPointer("a.b", zeros12), "DBRef('a.b',000000000000000000000000)"],
      [undefined, "missing"],
    ];
    for (const [value, text] of texts) {
      expect(describeValue(value)).toBe(text);
      if (value !== undefined) expect(describeValue(embedded(value))).toBe(text);
    }
    expect(describeDocument(toDocument({ x: 1, y: new MinKey() }))).toBe("{ x: 1, y: MinKey }");
  });
});

describe("round trips", () => {
  const scalar = fc.oneof(
    fc.string({ unit: "binary", maxLength: 40 }),
    fc.integer(),
    fc.double({ noDefaultInfinity: false }),
    fc.boolean(),
    fc.constant(null),
    fc.date({ noInvalidDate: true }),
    fc.uint8Array({ minLength: 12, maxLength: 12 }).map((b) => new ObjectId(b)),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((n) => Long.fromBigInt(n)),
    fc.integer().map((n) => Decimal128.fromString(String(n / 8))),
    fc.uint8Array({ maxLength: 9 }).map((b) => new Binary(b)),
  );
  const name = fc
    .string({ unit: "binary", minLength: 1, maxLength: 8 })
    .filter((s) => !/^\$|\0|^__proto__$/.test(s));
  const object = fc.dictionary(
    name,
    fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }), fc.dictionary(name, scalar, { maxKeys: 3 })),
    { maxKeys: 6 },
  );

  it("what bson serialises, the accessors read: every field, every array element", () => {
    fc.assert(
      fc.property(object, (obj) => {
        const bytes = toDocument(obj);
        validateDocument(bytes);
        expect(documentLength(bytes)).toBe(bytes.length);
        const decoded: Record<string, unknown> = deserialize(serialize(obj));
        expect(fromDocument(bytes)).toEqual(decoded);
        const list = fields(bytes);
        expect(list.map(([key]) => key)).toEqual(topLevelNames(bytes));
        expect(Object.fromEntries(list.map(([key, v]) => [key, decodeValue(v)]))).toEqual(decoded);
        for (const [key, value] of list) {
          expect(getField(bytes, key)).toEqual(value);
          const js = decoded[key];
          if (Array.isArray(js)) expect(elements(asDocument(value)).map(decodeValue)).toEqual(js);
        }
      }),
      { numRuns: 200 },
    );
  });

  it("decodeValue and encodeValue undo each other, up to BSON equality", () => {
    fc.assert(
      fc.property(scalar, (js) => {
        const value = encodeValue(js);
        expect(decodeValue(value)).toEqual(decodeValue(embedded(value)));
        expect(compareValues(encodeValue(decodeValue(value)), value)).toBe(0);
      }),
      { numRuns: 500 },
    );
  });

  it("a document rebuilt field by field has the same bytes", () => {
    fc.assert(
      fc.property(anyDocument, (doc) => {
        validateDocument(doc);
        const writer = new DocumentWriter();
        forEachField(doc, (key, value) => void writer.field(key, value));
        expect(writer.finish()).toEqual(doc);
        expect(new DocumentWriter().fieldsOf(doc).finish()).toEqual(doc);
      }),
      { numRuns: 500 },
    );
  });

  it("an array of any values comes back value by value", () => {
    fc.assert(
      fc.property(fc.array(anyValue, { maxLength: 130 }), (values) => {
        const list = elements(asDocument(array(values)));
        expect(list.length).toBe(values.length);
        list.forEach((v, i) => expect(valuesIdentical(v, values[i]!)).toBe(true));
        expect(topLevelNames(asDocument(array(values)))).toEqual(values.map((_, i) => String(i)));
      }),
      { numRuns: 100 },
    );
  });
});
