import { BSONRegExp, Code, Decimal128, Long, MinKey } from "bson";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  BsonType,
  DocumentWriter,
  FALSE,
  MAX_KEY,
  MIN_KEY,
  NULL,
  TRUE,
  UNDEFINED,
  asBigInt,
  asNumber,
  binary,
  canonicalType,
  compareDocuments,
  compareValues,
  date,
  decodeValue,
  documentSortableKey,
  double,
  encodeValue,
  int32,
  int64,
  objectId,
  sortableKey,
  sortableValue,
  string,
  timestamp,
  toDocument,
  type RawValue,
} from "../../lib/bson/index.js";
import { anyValue, code, codeWithScope, dbPointer, decimal, numberValue, symbol } from "./arbitraries.js";

const bytes12 = (byte: number): Uint8Array => new Uint8Array(12).fill(byte);

/** Asserts that a list is strictly ascending, by comparison and by sortable key, in every pair. */
function expectAscending(list: readonly RawValue[]): void {
  const keys = list.map((v) => sortableValue(v));
  for (let i = 0; i < list.length; i++) {
    for (let j = 0; j < list.length; j++) {
      expect(compareValues(list[i]!, list[j]!), `${i} against ${j}`).toBe(Math.sign(i - j));
      expect(keys[i]! < keys[j]!, `keys ${i} < ${j}`).toBe(i < j);
      expect(keys[i] === keys[j], `keys ${i} = ${j}`).toBe(i === j);
    }
  }
}

describe("BSON order", () => {
  it("goes by kind first: MinKey, undefined, null, numbers, strings, …, MaxKey", () => {
    expectAscending([
      MIN_KEY,
      UNDEFINED,
      NULL,
      int32(1_000_000),
      string(""),
      encodeValue({}),
      encodeValue([]),
      binary(new Uint8Array(0)),
      objectId(bytes12(0)),
      FALSE,
      TRUE,
      date(-5),
      timestamp(0, 0),
      encodeValue(new BSONRegExp("", "")),
      dbPointer("", bytes12(0)),
      code(""),
      codeWithScope("", toDocument({})),
      MAX_KEY,
    ]);
    expect(canonicalType(BsonType.minKey)).toBe(-1);
    expect(canonicalType(BsonType.maxKey)).toBe(127);
  });

  it("compares numbers of all four types by exact value", () => {
    expectAscending([
      double(NaN),
      double(-Infinity),
      decimal("-9E+6000"),
      double(-Number.MAX_VALUE),
      int64(-(2n ** 63n)),
      int32(-1),
      decimal("-5E-324"), // nearer to zero than any double
      decimal("-1E-6176"),
      int32(0),
      decimal("1E-6176"),
      decimal("4E-324"),
      double(5e-324), // 4.94…e-324
      decimal("5E-324"),
      decimal("0.1"),
      double(0.1), // 0.1000000000000000055…
      decimal("0.1000000000000000055511151231257828"),
      int32(1),
      double(2 ** 53),
      decimal("9007199254740992.05"),
      decimal("9007199254740992.5"),
      int64(2n ** 53n + 1n),
      decimal("9007199254740993.5"),
      double(2 ** 53 + 2),
      int64(2n ** 63n - 1n),
      decimal("9223372036854775807.5"),
      double(2 ** 63),
      decimal("9223372036854775808.5"),
      decimal("18446744073709551615.5"),
      double(2 ** 64),
      decimal("18446744073709551616.5"),
      decimal("1.5E+308"),
      double(Number.MAX_VALUE),
      decimal("1.8E+308"),
      decimal("9E+6000"),
      double(Infinity),
    ]);
  });

  it("equal numbers of different types have one key", () => {
    const groups: RawValue[][] = [
      [int32(0), double(-0), double(0), int64(0), decimal("0"), decimal("-0"), decimal("0E+6000")],
      [int32(5), double(5), int64(5), decimal("5"), decimal("5.00"), decimal("0.5E+1")],
      [double(2 ** 63), decimal("9223372036854775808")],
      [int64(2n ** 53n + 1n), decimal("9007199254740993"), decimal("9007199254740993.000")],
      [int64(-(2n ** 53n) - 1n), decimal("-9007199254740993")],
      [double(0.5), decimal("0.5"), decimal("0.50")],
      [decimal("0.1"), decimal("0.100"), decimal("1E-1")],
      [decimal("9007199254740993.5"), decimal("9007199254740993.500")],
      [double(NaN), decimal("NaN"), encodeValue(Decimal128.fromString("NaN"))],
      [double(Infinity), decimal("Infinity")],
      [double(-Infinity), decimal("-Infinity")],
      [double(2 ** -20), decimal((2 ** -20).toFixed(20))],
    ];
    for (const group of groups) {
      for (const v of group) {
        expect(compareValues(group[0]!, v)).toBe(0);
        expect(sortableValue(v)).toBe(sortableValue(group[0]!));
      }
    }
  });

  it("a decimal whose coefficient has more than 34 digits' worth of bits counts as 0", () => {
    const tooLarge = new Uint8Array(16).fill(255);
    tooLarge[15] = 0x30; // exponent in range, coefficient 2^113 - 1
    tooLarge[14] = 0x41;
    const v: RawValue = { type: BsonType.decimal128, bytes: tooLarge, start: 0, end: 16 };
    expect(compareValues(v, int32(0))).toBe(0);
    expect(sortableValue(v)).toBe(sortableValue(int32(0)));
  });

  it("compares strings and symbols by their UTF-8 bytes, a NUL included", () => {
    expectAscending(
      ["", "\0", "\0\0", "\u0001", "A", "a", "a\0", "a\0b", "a\u0001", "aa", "é", "\uffff", "😀"].map(string),
    );
    expect(compareValues(symbol("abc"), string("abc"))).toBe(0);
    expect(sortableValue(symbol("abc"))).toBe(sortableValue(string("abc")));
  });

  it("compares objects field by field: kind, then name, then value", () => {
    expectAscending([
      encodeValue({}),
      encodeValue({ b: 1 }), // a number before a string, whatever the names
      encodeValue({ b: 1, a: 1 }),
      encodeValue({ b: 2 }),
      encodeValue({ ba: 0 }),
      encodeValue({ a: "x" }),
      encodeValue({ a: {} }),
      encodeValue({ a: { b: new MinKey() } }),
    ]);
    expect(compareDocuments(toDocument({ a: 1, b: 2 }), toDocument({ a: Long.ONE, b: 2 }))).toBe(0);
  });

  it("compares arrays element by element", () => {
    expectAscending([[], [null], [1], [1, 1], [2], ["a"], [{}], [[]]].map(encodeValue));
  });

  it("compares binary by length, subtype, bytes; timestamps unsigned; dates signed", () => {
    expectAscending([
      binary(Uint8Array.of(9)),
      binary(Uint8Array.of(1), 5),
      binary(Uint8Array.of(0, 0)),
      binary(Uint8Array.of(0, 1)),
    ]);
    expectAscending([
      timestamp(0, 0xffffffff),
      timestamp(1, 0),
      timestamp(0x7fffffff, 1),
      timestamp(0x80000000, 0),
    ]);
    expectAscending([date(-(2n ** 63n)), date(-1), date(0), date(1), date(2n ** 62n)]);
  });

  it("compares regexes by pattern then flags, code with scope by code then scope", () => {
    expectAscending(
      [
        new BSONRegExp("a", ""),
        new BSONRegExp("a", "i"),
        new BSONRegExp("aa", ""),
        new BSONRegExp("b", ""),
      ].map(encodeValue),
    );
    expectAscending(
      [new Code("a", {}), new Code("a", { x: 1 }), new Code("a", { x: 2 }), new Code("b", {})].map(
        encodeValue,
      ),
    );
    expectAscending([dbPointer("z", bytes12(1)), dbPointer("aa", bytes12(0)), dbPointer("aa", bytes12(2))]);
  });
});

/** A finite number as an exact fraction, by a way of its own: [numerator, denominator]. */
function fraction(v: RawValue): [bigint, bigint] | undefined {
  if (v.type === BsonType.decimal128) {
    const match = /^(-?\d+)(?:\.(\d+))?(?:E([+-]\d+))?$/.exec(String(decodeValue(v)));
    if (match === null) return undefined;
    const digits = BigInt(match[1]!.replace("-", "") + (match[2] ?? ""));
    const exponent = BigInt(Number(match[3] ?? 0) - (match[2] ?? "").length);
    const sign = match[1]!.startsWith("-") ? -1n : 1n;
    return exponent < 0n ? [sign * digits, 10n ** -exponent] : [sign * digits * 10n ** exponent, 1n];
  }
  if (v.type !== BsonType.double) return [asBigInt(v), 1n];
  let n = asNumber(v);
  if (!Number.isFinite(n)) return undefined;
  let denominator = 1n;
  while (!Number.isInteger(n)) {
    n *= 2;
    denominator *= 2n;
  }
  return [BigInt(n), denominator];
}

describe("BSON order: properties", () => {
  it("finite numbers compare as exact fractions", () => {
    fc.assert(
      fc.property(numberValue, numberValue, (a, b) => {
        const left = fraction(a);
        const right = fraction(b);
        fc.pre(left !== undefined && right !== undefined);
        const difference = left![0] * right![1] - right![0] * left![1];
        const order = difference < 0n ? -1 : difference > 0n ? 1 : 0;
        expect(compareValues(a, b)).toBe(order);
      }),
      { numRuns: 5000 },
    );
  });

  it("is a total order: antisymmetric and transitive", () => {
    fc.assert(
      fc.property(anyValue, anyValue, anyValue, (a, b, c) => {
        expect(compareValues(a, a)).toBe(0);
        expect(compareValues(a, b) + compareValues(b, a)).toBe(0);
        const [low, middle, high] = [a, b, c].sort(compareValues);
        expect(compareValues(low!, middle!)).toBeLessThanOrEqual(0);
        expect(compareValues(middle!, high!)).toBeLessThanOrEqual(0);
        expect(compareValues(low!, high!)).toBeLessThanOrEqual(0);
        if (compareValues(low!, middle!) === 0) {
          expect(compareValues(low!, high!)).toBe(compareValues(middle!, high!));
        }
      }),
      { numRuns: 3000 },
    );
  });

  const pairOfNumbers = fc.tuple(numberValue, numberValue);
  const pairOfAny = fc.tuple(anyValue, anyValue);
  it.each([
    ["numbers", pairOfNumbers],
    ["values of any type", pairOfAny],
  ])("sortable keys order %s as compareValues does", (_name, pairs) => {
    fc.assert(
      fc.property(pairs, ([a, b]) => {
        const x = sortableValue(a);
        const y = sortableValue(b);
        expect(x < y ? -1 : x > y ? 1 : 0).toBe(compareValues(a, b));
        expect(x === y).toBe(compareValues(a, b) === 0);
        expect([...x].every((c) => c.charCodeAt(0) < 256)).toBe(true);
        expect(x !== y && (x.startsWith(y) || y.startsWith(x)), "prefix-free").toBe(false);
      }),
      { numRuns: 5000 },
    );
  });

  it("sortable keys order tuples component by component, each ascending or descending", () => {
    const small = fc.oneof(fc.constantFrom(NULL, int32(1), int32(2), string("a"), string("a\0")), anyValue);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(small, small, fc.boolean()), { minLength: 1, maxLength: 3 }),
        fc.nat(3),
        (rows, shared) => {
          const a = rows.map(([value]) => value);
          const b = rows.map(([value, other], i) => (i < shared ? value : other));
          const descending = rows.map(([, , down]) => down);
          let order = 0;
          for (let i = 0; i < a.length && order === 0; i++) {
            order = descending[i] ? compareValues(b[i]!, a[i]!) : compareValues(a[i]!, b[i]!);
          }
          const x = sortableKey(a, descending);
          const y = sortableKey(b, descending);
          expect(x < y ? -1 : x > y ? 1 : 0).toBe(order);
        },
      ),
      { numRuns: 5000 },
    );
  });

  it("the key of (a) begins the key of (a, b), and key(a) + \\xff lies behind all of them", () => {
    fc.assert(
      fc.property(anyValue, anyValue, fc.boolean(), fc.boolean(), (a, b, aDown, bDown) => {
        const prefix = sortableKey([a], [aDown]);
        const key = sortableKey([a, b], [aDown, bDown]);
        expect(key.startsWith(prefix) && key.length > prefix.length).toBe(true);
        expect(key < `${prefix}\u00ff`).toBe(true);
      }),
    );
  });

  it("documentSortableKey is the key of the bound's values", () => {
    fc.assert(
      fc.property(fc.array(anyValue, { maxLength: 3 }), (values) => {
        const bound = new DocumentWriter();
        values.forEach((v, i) => bound.field(`f${i}`, v));
        expect(documentSortableKey(bound.finish())).toBe(sortableKey(values));
      }),
    );
  });
});
