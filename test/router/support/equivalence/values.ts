/**
 * Random values, documents and shard keys.
 *
 * The pools are small, so that filters find something and equal numbers of
 * different types meet; every BSON type is in them.
 */
import {
  Binary,
  BSONRegExp,
  Code,
  Decimal128,
  Double,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
} from "bson";
import fc from "fast-check";
import type { Doc } from "../cluster.js";

const BEYOND_DOUBLES = "9007199254740993"; // 2^53 + 1, which no double can hold

export const smallInts = fc.integer({ min: -3, max: 12 });
export const texts = fc.constantFrom("", "a", "A", "ab", "aB", "abc", "b", "zz", "é");

const oddNumbers = fc.constantFrom<unknown>(
  new Double(-0),
  new Double(1),
  1.5,
  -0.5,
  NaN,
  Infinity,
  -Infinity,
  2 ** 53,
  Long.fromNumber(2),
  Long.fromString(BEYOND_DOUBLES),
  Long.MIN_VALUE,
  Decimal128.fromString("1.5"),
  Decimal128.fromString("3"),
  Decimal128.fromString("-0"),
  Decimal128.fromString("NaN"),
  Decimal128.fromString(BEYOND_DOUBLES),
);

const others = fc.constantFrom<unknown>(
  null,
  true,
  false,
  new Date(0),
  new Date(86_400_000),
  new Date(-1),
  new ObjectId("000000000000000000000001"),
  new ObjectId("7fffffffffffffffffffffff"),
  new Binary(new Uint8Array([1, 2])),
  new Binary(new Uint8Array([1, 2, 3]), 5),
  new Timestamp({ t: 7, i: 1 }),
  {},
  { x: 1 },
  { x: 1, y: 2 },
  new MinKey(),
  new MaxKey(),
);

/** What a field of the key may hold: everything but arrays. */
export const keyValues = fc.oneof(
  { weight: 10, arbitrary: smallInts },
  { weight: 2, arbitrary: oddNumbers },
  { weight: 3, arbitrary: texts },
  { weight: 3, arbitrary: others },
);

/** What a filter pins a key field to, and a chunk may begin at: ends of the line are left out. */
export const pointValues = keyValues.filter((value) => !(value instanceof MinKey || value instanceof MaxKey));

/** Any field's values. */
export const anyValues = fc.oneof(
  { weight: 6, arbitrary: keyValues },
  { weight: 2, arbitrary: fc.array(smallInts, { maxLength: 3 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<unknown>(
      new BSONRegExp("^a"),
      new BSONRegExp("b", "i"),
      new Code("x"),
      ["a", "b", null],
      [[1, 2], 3],
      [],
    ),
  },
);

const arrays = fc.array(
  fc.oneof(smallInts, fc.record({ x: smallInts, y: texts }, { requiredKeys: ["x"] }), texts),
  { maxLength: 4 },
);

/** A document without its `_id`; key fields may be missing, `c`, `d` and `arr` may hold arrays. */
export const bodies: fc.Arbitrary<Doc> = fc.record(
  {
    a: keyValues,
    b: keyValues,
    c: anyValues,
    d: keyValues,
    n: fc.oneof(
      { weight: 4, arbitrary: fc.record({ x: keyValues, y: smallInts }, { requiredKeys: ["y"] }) },
      { weight: 1, arbitrary: fc.constantFrom<unknown>("flat", null, {}) },
    ),
    q: fc.integer({ min: 0, max: 100 }),
    s: texts,
    arr: arrays,
  },
  { requiredKeys: ["q"] },
);

/** The n-th document's `_id`: of several types, never two alike, also by comparison. */
export function idOf(n: number): unknown {
  switch (n % 6) {
    case 1:
      return Long.fromNumber(n);
    case 2:
      return new Double(n);
    case 3:
      return `id-${n}`;
    case 4:
      return new ObjectId(n.toString(16).padStart(24, "0"));
    case 5:
      return { n };
    default:
      return new Int32(n);
  }
}

/** Shard keys of every kind, for tests that want few. */
export const KEYS: readonly Doc[] = [
  { a: 1 },
  { a: "hashed" },
  { a: 1, b: 1 },
  { a: 1, b: "hashed" },
  { a: "hashed", b: 1 },
  { "n.x": 1 },
  { "n.x": "hashed", a: 1 },
  { _id: 1 },
  { _id: "hashed" },
];

const keyPaths = fc.uniqueArray(fc.constantFrom("a", "b", "n.x", "_id"), { minLength: 1, maxLength: 3 });

/** Shard keys of one to three fields, at most one of them hashed, at any position. */
export const shardKeys: fc.Arbitrary<Doc> = fc
  .tuple(keyPaths, fc.integer({ min: -2, max: 2 }))
  .map(([paths, hashed]) => Object.fromEntries(paths.map((path, i) => [path, i === hashed ? "hashed" : 1])));
