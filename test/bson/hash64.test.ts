import { createHash } from "node:crypto";
import { Code, Double, Long, ObjectId } from "bson";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  MAX_KEY,
  MIN_KEY,
  NULL,
  UNDEFINED,
  asBigInt,
  date,
  double,
  encodeValue,
  hash64,
  hashedValue,
  int32,
  int64,
  objectId,
  sortableHash,
  sortableValue,
  string,
  timestamp,
  type RawValue,
} from "../../lib/bson/index.js";
import { md5, message, reserve, state } from "../../lib/bson/md5.js";
import { anyValue, codeWithScope, decimal, dbPointer, embedded, symbol } from "./arbitraries.js";

const zeros = (n: number): Uint8Array => new Uint8Array(n);

describe("hash64: the published vectors (facts §2.2)", () => {
  const vectors: Array<[string, RawValue | undefined, bigint]> = [
    ["0", int32(0), 4854801880128277513n],
    ["0.456", double(0.456), 4854801880128277513n],
    ["NaN", double(NaN), 4854801880128277513n],
    ["1", int32(1), 5902408780260971510n],
    ["1.987", double(1.987), 5902408780260971510n],
    ["Long 1", int64(1), 5902408780260971510n],
    ["-1", int32(-1), 1140205862565771219n],
    ["-1.789", double(-1.789), 1140205862565771219n],
    ["42", int32(42), -944302157085130861n],
    ["42.123", double(42.123), -944302157085130861n],
    ["2", int32(2), 848411777775835583n],
    ["3", int32(3), -1529429926180645992n],
    ["int32 min", int32(-(2 ** 31)), 6165898260261354870n],
    ["int32 max", int32(2 ** 31 - 1), 1143184177162245883n],
    ["int64 max", int64(2n ** 63n - 1n), 921523596458303250n],
    ["DBL_MAX", double(Number.MAX_VALUE), 921523596458303250n],
    ["+Infinity", double(Infinity), 921523596458303250n],
    ["int64 min", int64(-(2n ** 63n)), 4532067210535695462n],
    ["double 2^63", double(2 ** 63), 4532067210535695462n],
    ["-Infinity", double(-Infinity), 4532067210535695462n],
    ["ObjectId 0102…12", encodeValue(new ObjectId("010203040506070809101112")), -5588663249627035708n],
    ["ObjectId zeros", objectId(zeros(12)), -4293118519463489418n],
    ["Date(0)", date(0), -1178696894582842035n],
    ["Timestamp(0,0)", timestamp(0, 0), -7867208682377458672n],
    ["null", NULL, 2338878944348059895n],
    ["missing", undefined, 2338878944348059895n],
    ["undefined", UNDEFINED, 40158834000849533n],
    ["MinKey", MIN_KEY, 7961148599568647290n],
    ["MaxKey", MAX_KEY, 5504842513779440750n],
    ['""', string(""), 2049396243249673340n],
    ['"abc"', string("abc"), 8478485326885698097n],
    ["true", encodeValue(true), 6405873908747105701n],
    ["false", encodeValue(false), 6289544573401934092n],
    ["{}", encodeValue({}), 7980500913326740417n],
    ["[]", encodeValue([]), 8849948234993459283n],
    ['{a:"abc",b:Long 123}', encodeValue({ a: "abc", b: Long.fromNumber(123) }), 4771603801758380216n],
    ["{b:4}", encodeValue({ b: 4 }), -8549175576357386275n],
    ['"dev-0"', string("dev-0"), 2254643809256703712n],
    ['"dev-1"', string("dev-1"), -9121815034321164931n],
    ['"dev-42"', string("dev-42"), 7632986869154119240n],
  ];

  it.each(vectors)("%s", (_name, value, hash) => {
    expect(hash64(value)).toBe(hash);
    expect(asBigInt(hashedValue(value))).toBe(hash);
    if (value !== undefined) expect(hash64(embedded(value))).toBe(hash);
  });
});

describe("hash64: what a class sees", () => {
  it("5,000 devices fall 2,555 below 0 and 2,445 at or above, as in the lesson's readings_hashed", () => {
    let below = 0;
    for (let i = 0; i < 5000; i++) if (hash64(string(`dev-${i}`)) < 0n) below++;
    expect([below, 5000 - below]).toEqual([2555, 2445]);
  });

  it("2.2, 2.3 and 2.9 collide with 2: fractions are cut off", () => {
    for (const n of [2.2, 2.3, 2.9]) expect(hash64(double(n))).toBe(hash64(int32(2)));
    expect(hash64(double(-2.9))).toBe(hash64(int32(-2)));
  });

  it("a decimal is rounded to the nearest, ties to even, not cut off", () => {
    const pairs: Array<[string, bigint]> = [
      ["2.4", 2n],
      ["2.5", 2n],
      ["3.5", 4n],
      ["2.6", 3n],
      ["-2.5", -2n],
      ["-3.5", -4n],
      ["1E+3", 1000n],
      ["1E-6000", 0n],
      ["NaN", 0n],
      ["Infinity", 2n ** 63n - 1n],
      ["9.9E+6000", 2n ** 63n - 1n],
      ["9223372036854775807.9", 2n ** 63n - 1n],
      ["-Infinity", -(2n ** 63n)],
      ["-9223372036854775809", -(2n ** 63n)],
      ["9007199254740993", 9007199254740993n],
    ];
    for (const [text, integer] of pairs) expect(hash64(decimal(text)), text).toBe(hash64(int64(integer)));
  });

  it("a symbol hashes as the string of the same text", () => {
    expect(hash64(symbol("abc"))).toBe(8478485326885698097n);
  });

  it("numbers inside objects are squashed as well, and the order of fields matters", () => {
    expect(hash64(encodeValue({ b: new Double(4) }))).toBe(hash64(encodeValue({ b: 4 })));
    expect(hash64(encodeValue({ a: 1, b: 2 }))).not.toBe(hash64(encodeValue({ b: 2, a: 1 })));
  });
});

/** The recipe of facts §2.1, written out for one message: the first 8 bytes of MD5 by node:crypto. */
function reference(canonicalType: number, ...parts: Uint8Array[]): bigint {
  const type = Buffer.alloc(8); // seed 0, canonical type
  type.writeInt32LE(canonicalType, 4);
  return createHash("md5")
    .update(Buffer.concat([type, ...parts]))
    .digest()
    .readBigInt64LE(0);
}

describe("hash64: the recipe, by another md5", () => {
  it("strings of every length up to 200, and a long one", () => {
    for (const length of [...Array(201).keys(), 5000, 200_000]) {
      const v = string("ä" + "x".repeat(length));
      expect(hash64(v)).toBe(reference(15, v.bytes.subarray(v.start, v.end)));
    }
  });

  it("a DBPointer by its bytes; code with scope by its code and its scope's elements", () => {
    const pointer = dbPointer("db.c", zeros(12));
    expect(hash64(pointer)).toBe(reference(55, pointer.bytes));
    const element = Buffer.from([10, 0, 0, 0, 0x61, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]); // number "a" 7, end
    expect(hash64(encodeValue(new Code("f()", { a: 7 })))).toBe(reference(65, Buffer.from("f()\0"), element));
    expect(hash64(codeWithScope("f()", encodeValue({ a: 7 }).bytes.subarray(7, 19)))).toBe(
      hash64(encodeValue(new Code("f()", { a: 7 }))),
    );
  });

  it("a large object, longer than the message buffer", () => {
    const words = Array.from({ length: 2000 }, (_, i) => `word ${i}`);
    const parts = words.flatMap((word, i) => {
      const v = string(word);
      return [Buffer.from([15, 0, 0, 0]), Buffer.from(`${i}\0`), Buffer.from(v.bytes.subarray(0, v.end))];
    });
    expect(hash64(encodeValue(words))).toBe(reference(25, ...parts, zeros(4)));
  });
});

describe("sortableHash", () => {
  it("is the key of the hashed value, for a missing field too", () => {
    expect(sortableHash(undefined)).toBe(sortableValue(hashedValue(NULL)));
    fc.assert(
      fc.property(anyValue, (v) => sortableHash(v) === sortableValue(hashedValue(v))),
      { numRuns: 500 },
    );
  });
});

describe("md5", () => {
  it("agrees with node:crypto for every length from 0 to 200", () => {
    for (let length = 0; length <= 200; length++) {
      const data = Uint8Array.from({ length }, (_, i) => (i * 151 + length * 31) & 255);
      reserve(length, 0);
      message.set(data);
      md5(length);
      const digest = Buffer.alloc(16);
      state.forEach((word, i) => digest.writeInt32LE(word, i * 4));
      expect(digest.toString("hex")).toBe(createHash("md5").update(data).digest("hex"));
    }
  });
});
