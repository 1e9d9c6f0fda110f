import { Binary, Code, Decimal128, Long, MaxKey, MinKey, ObjectId, Timestamp } from "bson";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { componentEnd, encodeValue, LabelledCollation, sortableKey } from "../../lib/bson/index.js";

/** Values of every type; strings and binaries with the characters that keys use for themselves. */
const leaf: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, undefined, true, false, new MinKey(), new MaxKey(), NaN, -Infinity, 0, -0),
  fc.double(),
  fc.integer(),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((n) => Long.fromBigInt(n)),
  fc
    .tuple(fc.bigInt({ min: -(10n ** 33n), max: 10n ** 33n }), fc.integer({ min: -60, max: 60 }))
    .map(([digits, exponent]) => Decimal128.fromString(`${digits}E${exponent}`)),
  fc.string({ unit: fc.constantFrom("\u0000", "\u0001", "\u0002", "a", "ÿ", "é") }),
  fc.uint8Array({ maxLength: 6 }).map((bytes) => new Binary(bytes, bytes.length % 3)),
  fc.uint8Array({ minLength: 12, maxLength: 12 }).map((bytes) => new ObjectId(bytes)),
  fc.date({ noInvalidDate: true }),
  fc.tuple(fc.nat(), fc.nat()).map(([t, i]) => new Timestamp({ t, i })),
  fc.constantFrom(/^a/i, /x\/y/, new Code("f()"), new Code("f()", { a: [1, "x"] })),
);
const value: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    { weight: 4, arbitrary: leaf },
    { weight: 1, arbitrary: fc.array(tie("value"), { maxLength: 3 }) },
    { weight: 1, arbitrary: fc.dictionary(fc.constantFrom("a", "bc", ""), tie("value"), { maxKeys: 3 }) },
  ),
})).value;

const collation = (): LabelledCollation =>
  new LabelledCollation(
    new Uint8Array([5, 0, 0, 0, 0]),
    new Intl.Collator("en", { sensitivity: "base" }).compare,
  );

describe("a sortable key", () => {
  it("can be taken apart into the components that it was made of", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(value, fc.boolean()), { minLength: 1, maxLength: 4 }),
        fc.boolean(),
        (fields, collated) => {
          const values = fields.map(([one]) => encodeValue(one));
          const descending = fields.map(([, down]) => down);
          const strings = collated ? collation() : undefined;
          const key = sortableKey(values, descending, strings);
          let at = 0;
          for (const [i, one] of values.entries()) {
            const end = componentEnd(key, at, descending[i]);
            expect(key.slice(at, end)).toBe(sortableKey([one], [descending[i] === true], strings));
            at = end;
          }
          expect(at).toBe(key.length);
        },
      ),
      { numRuns: 1500 },
    );
  });
});
