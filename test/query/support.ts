/** Short names for the tables of the query tests, and random documents for the property tests. */
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
  type Document,
} from "bson";
import fc from "fast-check";
import { describeDocument, encodeValue, fromDocument, toDocument, type RawValue } from "shardlab/bson";
import { CommandError } from "../../lib/protocol/index.js";

/** Raw BSON of a JavaScript object; integers become int32. */
export const bson = (obj: object): Uint8Array => toDocument(obj);
/** Raw BSON value of a JavaScript value. */
export const value = (js: unknown): RawValue => encodeValue(js);
/** A document as shell text: doubles show a point, so int32 1 and double 1.0 differ. */
export const text = (doc: Uint8Array): string => describeDocument(doc);
export const js = (doc: Uint8Array): Document => fromDocument(doc);

/** The error that a call throws, as `code: message`. */
export function failure(call: () => unknown): { code: number; message: string } {
  try {
    call();
  } catch (error) {
    if (error instanceof CommandError) return { code: error.code, message: error.message };
    throw error;
  }
  throw new Error("it was expected to fail");
}

/** Values of many types that are near each other in BSON order, so that random filters often match. */
export const scalar: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: -3, max: 6 }) },
  { weight: 2, arbitrary: fc.integer({ min: -3, max: 6 }).map((n) => new Double(n + 0.5)) },
  { weight: 1, arbitrary: fc.integer({ min: -3, max: 6 }).map((n) => Long.fromNumber(n)) },
  { weight: 1, arbitrary: fc.integer({ min: -3, max: 6 }).map((n) => Decimal128.fromString(`${n}.5`)) },
  { weight: 1, arbitrary: fc.constantFrom(NaN, Infinity, -Infinity, new Double(-0)) },
  { weight: 3, arbitrary: fc.constantFrom("", "a", "ab", "abc", "abd", "b", "ab\u{10ffff}", "é") },
  { weight: 2, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.boolean() },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 3 }).map((n) => new Date(n * 1000)) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 3 }).map((n) => new Timestamp({ t: n, i: 1 })) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 3 }).map((n) => new ObjectId(String(n).repeat(24))) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 3 }).map((n) => new Binary(Uint8Array.of(n))) },
  { weight: 1, arbitrary: fc.constantFrom(new MinKey(), new MaxKey()) },
  { weight: 1, arbitrary: fc.constantFrom(/^ab/, /b/, new Int32(2)) },
);

/** A scalar, or a small object. */
export const plain: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: scalar },
  { weight: 1, arbitrary: fc.dictionary(fc.constantFrom("b", "c"), scalar, { maxKeys: 2 }) },
);

/** A scalar, an object, or an array of them, one level deeper for some. */
export const anything: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: plain },
  { weight: 2, arbitrary: fc.array(plain, { maxLength: 3 }) },
  { weight: 2, arbitrary: fc.array(fc.integer({ min: -2, max: 5 }), { maxLength: 3 }) },
  {
    weight: 1,
    arbitrary: fc.array(
      fc.integer({ min: -2, max: 5 }).map((b) => ({ b })),
      { maxLength: 3 },
    ),
  },
  { weight: 1, arbitrary: fc.array(fc.array(scalar, { maxLength: 2 }), { maxLength: 2 }) },
);
