/**
 * MongoDB's hash of a value: what a hashed index stores and what places a
 * document under a hashed shard key.
 *
 *     hash64(v) = the first eight bytes, as a signed little-endian int64, of
 *                 MD5( int32 seed 0 | element(v) )
 *
 *     element   = int32 canonical type | [name NUL, inside objects only] | value
 *     value     = a number: int64, see below
 *                 an object or array: its elements one after another, then int32 0
 *                 all else: its BSON bytes (a string with length and NUL)
 *
 * Example: "dev-0" hashes
 * `00000000 | 0f000000 | 06000000 6465762d3000` to 2254643809256703712.
 *
 * All four number types hash by one int64, so that 3, 3.0 and Long 3 meet in
 * one place; the price is that 2.2, 2.3 and 2.9 meet there too: fractions are
 * cut off, which is why the manual warns against hashing doubles.
 * Format and rules: facts §2.1; test vectors: §2.2. Seeds other than 0 exist in old
 * hashed indexes but are refused for shard keys (facts §1.3).
 */
import { int64OfWords, readDouble, readInt32, writeInt32 } from "./bytes.js";
import { canonicalType } from "./compare.js";
import { decimalToBigInt, readDecimal } from "./decimal.js";
import { md5, message, reserve, state } from "./md5.js";
import { closingNul, endOfName, endOfValue, startOfScope } from "./raw.js";
import { BsonType, NULL, int64FromWords, type RawValue } from "./value.js";

/** MongoDB's 64-bit hash of a value, signed. A missing field hashes as null. */
export function hash64(v: RawValue | undefined): bigint {
  digest(v ?? NULL);
  return int64OfWords(state[1]!, state[0]!);
}

/** {@link hash64} as an int64 value: a hashed index's key. Makes no BigInt. */
export function hashedValue(v: RawValue | undefined): RawValue {
  digest(v ?? NULL);
  return int64FromWords(state[1]!, state[0]!);
}

/** The hash as 32-bit words, low before high; valid until the next hash is computed. */
export function hashWords(v: RawValue | undefined): Int32Array {
  digest(v ?? NULL);
  return state;
}

function digest(v: RawValue): void {
  writeInt32(message, 0, 0); // the seed
  writeInt32(message, 4, canonicalType(v.type));
  md5(appendValue(8, v.type, v.bytes, v.start, v.end));
}

/** Appends a value's bytes at `at`; returns the position behind them. */
function appendValue(at: number, type: BsonType, bytes: Uint8Array, start: number, end: number): number {
  switch (type) {
    case BsonType.int32: {
      const n = readInt32(bytes, start);
      return appendWords(at, n >> 31, n);
    }
    case BsonType.int64:
      return appendWords(at, readInt32(bytes, start + 4), readInt32(bytes, start));
    case BsonType.double:
      return appendDouble(at, readDouble(bytes, start));
    case BsonType.decimal128:
      return appendDecimal(at, bytes, start);
    case BsonType.object:
    case BsonType.array:
      return appendDocument(at, bytes, start);
    case BsonType.codeWithScope: {
      // hashed are the code with its NUL and the scope's elements
      const scope = startOfScope(bytes, start, end);
      return appendDocument(appendBytes(at, bytes, start + 8, scope), bytes, scope);
    }
    default:
      return appendBytes(at, bytes, start, end);
  }
}

function appendWords(at: number, high: number, low: number): number {
  reserve(at + 8, at);
  writeInt32(message, at, low);
  writeInt32(message, at + 4, high);
  return at + 8;
}

/** Cut off to int64; NaN is 0, beyond the range is the nearest limit, but 2^63 itself is -2^63 (facts §2.1). */
function appendDouble(at: number, n: number): number {
  if (n !== n) return appendWords(at, 0, 0);
  if (n > 9223372036854775808) return appendWords(at, 0x7fffffff, -1);
  if (n === 9223372036854775808 || n <= -9223372036854775808) return appendWords(at, -0x80000000, 0);
  const integer = Math.trunc(n);
  const high = Math.floor(integer / 4294967296);
  return appendWords(at, high, integer - high * 4294967296);
}

/** Rounded to the nearest int64, ties to even; NaN is 0, beyond the range is the nearest limit (facts §2.1). */
function appendDecimal(at: number, bytes: Uint8Array, start: number): number {
  const n = decimalToBigInt(readDecimal(bytes, start), "nearestEven");
  if (n > 0x7fffffffffffffffn) return appendWords(at, 0x7fffffff, -1);
  if (n < -0x8000000000000000n) return appendWords(at, -0x80000000, 0);
  return appendWords(at, Number(n >> 32n), Number(n & 0xffffffffn));
}

function appendBytes(at: number, bytes: Uint8Array, start: number, end: number): number {
  const length = end - start;
  reserve(at + length, at);
  if (length <= 48) for (let i = 0; i < length; i++) message[at + i] = bytes[start + i]!;
  else message.set(bytes.subarray(start, end), at);
  return at + length;
}

/** The elements of the document at `offset`, and the int32 0 that ends them. */
function appendDocument(at: number, bytes: Uint8Array, offset: number): number {
  const limit = closingNul(bytes, offset);
  let from = offset + 4;
  while (from < limit) {
    const type = bytes[from]! as BsonType;
    const nameEnd = endOfName(bytes, from + 1, limit);
    const end = endOfValue(bytes, type, nameEnd + 1, limit);
    reserve(at + 4, at);
    writeInt32(message, at, canonicalType(type));
    at = appendBytes(at + 4, bytes, from + 1, nameEnd + 1);
    at = appendValue(at, type, bytes, nameEnd + 1, end);
    from = end;
  }
  reserve(at + 4, at);
  writeInt32(message, at, 0);
  return at + 4;
}
