/**
 * One BSON value as a slice of the bytes it came in.
 *
 * A BSON document is `int32 length, element…, 0`, an element is
 * `type byte, name, 0, value bytes`. A {@link RawValue} points at the value
 * bytes of one element and remembers the type; the name stays behind. It is
 * the one value model of the engine: filters, sort, updates, index keys and
 * chunk bounds all work on it, so that a value is copied from a client's
 * insert to a shard, into an index and back into a reply without ever turning
 * into a JavaScript object and losing its type on the way.
 *
 *     { x: 5 }  =  0c 00 00 00   10   78 00   05 00 00 00   00
 *                  length        type name    value bytes   end
 *                                             └ start    └ end   → { type: int32, bytes, start: 7, end: 11 }
 */
import {
  decodeUtf8,
  readDouble,
  readInt32,
  readInt64,
  readInt64Lossy,
  readUint32,
  writeDouble,
  writeInt32,
  writeInt64,
  writeUtf8,
} from "./bytes.js";
import { readDecimal, decimalToBigInt, decimalToNumber } from "./decimal.js";
import { BsonError } from "./error.js";

/** The type byte in front of each element's name. `decimal128` exists since MongoDB 3.4. */
export const BsonType = {
  double: 1,
  string: 2,
  object: 3,
  array: 4,
  binary: 5,
  undefined: 6,
  objectId: 7,
  bool: 8,
  date: 9,
  null: 10,
  regex: 11,
  dbPointer: 12,
  code: 13,
  symbol: 14,
  codeWithScope: 15,
  int32: 16,
  timestamp: 17,
  int64: 18,
  decimal128: 19,
  minKey: 255,
  maxKey: 127,
} as const;
export type BsonType = (typeof BsonType)[keyof typeof BsonType];

/** One BSON value: its type, and its value bytes as `bytes[start, end)`, without type byte and name. */
export interface RawValue {
  readonly type: BsonType;
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

/** The value of a type whose bytes are bytes[start, end). The bytes are not checked. */
export function rawValue(type: BsonType, bytes: Uint8Array, start: number, end: number): RawValue {
  return { type, bytes, start, end };
}

function whole(type: BsonType, bytes: Uint8Array): RawValue {
  return { type, bytes, start: 0, end: bytes.length };
}

const NO_BYTES = new Uint8Array(0);
/** null: also what a missing field counts as in indexes and hashes. */
export const NULL: RawValue = whole(BsonType.null, NO_BYTES);
/** BSON's deprecated undefined: what an index stores for an empty array. */
export const UNDEFINED: RawValue = whole(BsonType.undefined, NO_BYTES);
/** Lower than every other value: the open lower end of a chunk's range. */
export const MIN_KEY: RawValue = whole(BsonType.minKey, NO_BYTES);
/** Greater than every other value: the open upper end of a chunk's range. */
export const MAX_KEY: RawValue = whole(BsonType.maxKey, NO_BYTES);
export const TRUE: RawValue = whole(BsonType.bool, Uint8Array.of(1));
export const FALSE: RawValue = whole(BsonType.bool, Uint8Array.of(0));

/** An int32. Throws RangeError for anything but a 32-bit integer. */
export function int32(n: number): RawValue {
  if ((n | 0) !== n) throw new RangeError(`${n} is not a 32-bit integer`);
  const bytes = new Uint8Array(4);
  writeInt32(bytes, 0, n);
  return whole(BsonType.int32, bytes);
}

/** An int64 from a bigint (taken modulo 2^64) or from a number that is an integer within ±2^63. */
export function int64(n: bigint | number): RawValue {
  const bytes = new Uint8Array(8);
  writeInt64(bytes, 0, n);
  return whole(BsonType.int64, bytes);
}

/** The int64 of a high and a low 32-bit half: for hot paths that must not make a BigInt. */
export function int64FromWords(high: number, low: number): RawValue {
  const bytes = new Uint8Array(8);
  writeInt32(bytes, 0, low);
  writeInt32(bytes, 4, high);
  return whole(BsonType.int64, bytes);
}

/** A double; -0, NaN and the infinities included. */
export function double(n: number): RawValue {
  const bytes = new Uint8Array(8);
  writeDouble(bytes, 0, n);
  return whole(BsonType.double, bytes);
}

/** A string, in UTF-8; lone surrogates become U+FFFD. */
export function string(s: string): RawValue {
  const bytes = new Uint8Array(5 + 3 * s.length);
  const end = writeUtf8(bytes, 4, s) + 1;
  writeInt32(bytes, 0, end - 4);
  return { type: BsonType.string, bytes, start: 0, end };
}

/** {@link TRUE} or {@link FALSE}. */
export function bool(b: boolean): RawValue {
  return b ? TRUE : FALSE;
}

/** A date from milliseconds since 1970 (an integer). */
export function date(ms: number | bigint): RawValue {
  const bytes = new Uint8Array(8);
  writeInt64(bytes, 0, ms);
  return whole(BsonType.date, bytes);
}

/** An embedded object whose bytes are the given document. */
export function document(bytes: Uint8Array): RawValue {
  return whole(BsonType.object, bytes);
}

/** An array whose bytes are the given document with the names "0", "1", … */
export function arrayDocument(bytes: Uint8Array): RawValue {
  return whole(BsonType.array, bytes);
}

/** An ObjectId of the given twelve bytes. */
export function objectId(bytes12: Uint8Array): RawValue {
  if (bytes12.length !== 12) throw new RangeError(`an ObjectId has 12 bytes, not ${bytes12.length}`);
  return whole(BsonType.objectId, bytes12);
}

/** A timestamp: `high` in seconds since 1970, `low` the ordinal within that second; both unsigned. */
export function timestamp(high: number, low: number): RawValue {
  const bytes = new Uint8Array(8);
  writeInt32(bytes, 0, low);
  writeInt32(bytes, 4, high);
  return whole(BsonType.timestamp, bytes);
}

/** Binary of the given subtype. */
export function binary(data: Uint8Array, subtype = 0): RawValue {
  const bytes = new Uint8Array(5 + data.length);
  writeInt32(bytes, 0, data.length);
  bytes[4] = subtype;
  bytes.set(data, 5);
  return whole(BsonType.binary, bytes);
}

/** A UUID (binary subtype 4) of the given sixteen bytes. */
export function uuid(bytes16: Uint8Array): RawValue {
  if (bytes16.length !== 16) throw new RangeError(`a UUID has 16 bytes, not ${bytes16.length}`);
  return binary(bytes16, 4);
}

/** An embedded object or array as a document of its own: a view, no copy. */
export function asDocument(v: RawValue): Uint8Array {
  if (v.type !== BsonType.object && v.type !== BsonType.array) {
    throw new BsonError(`expected an object or array, found BSON type ${v.type}`);
  }
  return v.start === 0 && v.end === v.bytes.length ? v.bytes : v.bytes.subarray(v.start, v.end);
}

/** True for int32, int64, double and decimal128. */
export function isNumeric(v: RawValue): boolean {
  const { type } = v;
  return (
    type === BsonType.int32 ||
    type === BsonType.double ||
    type === BsonType.int64 ||
    type === BsonType.decimal128
  );
}

/** The nearest double of any numeric value, undefined for all else. */
export function numericValue(v: RawValue): number | undefined {
  switch (v.type) {
    case BsonType.int32:
      return readInt32(v.bytes, v.start);
    case BsonType.double:
      return readDouble(v.bytes, v.start);
    case BsonType.int64:
      return readInt64Lossy(v.bytes, v.start);
    case BsonType.decimal128:
      return decimalToNumber(readDecimal(v.bytes, v.start));
    default:
      return undefined;
  }
}

/** The nearest double of any numeric value. Throws {@link BsonError} for all else. */
export function asNumber(v: RawValue): number {
  const n = numericValue(v);
  if (n === undefined) throw new BsonError(`expected a number, found BSON type ${v.type}`);
  return n;
}

const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);

/**
 * Any numeric value as a 64-bit integer: fractions are cut off, NaN gives 0,
 * values out of range give the nearest limit. Dates give their milliseconds.
 * Throws {@link BsonError} for all else.
 */
export function asBigInt(v: RawValue): bigint {
  switch (v.type) {
    case BsonType.int32:
      return BigInt(readInt32(v.bytes, v.start));
    case BsonType.int64:
    case BsonType.date:
      return readInt64(v.bytes, v.start);
    case BsonType.double: {
      const n = readDouble(v.bytes, v.start);
      if (Number.isNaN(n)) return 0n;
      if (n >= 9223372036854775808) return INT64_MAX;
      return n <= -9223372036854775808 ? INT64_MIN : BigInt(Math.trunc(n));
    }
    case BsonType.decimal128: {
      const n = decimalToBigInt(readDecimal(v.bytes, v.start), "truncate");
      return n > INT64_MAX ? INT64_MAX : n < INT64_MIN ? INT64_MIN : n;
    }
    default:
      throw new BsonError(`expected a number, found BSON type ${v.type}`);
  }
}

/** Text of a string, symbol or code. Throws {@link BsonError} for all else. */
export function asString(v: RawValue): string {
  if (v.type !== BsonType.string && v.type !== BsonType.symbol && v.type !== BsonType.code) {
    throw new BsonError(`expected a string, found BSON type ${v.type}`);
  }
  return decodeUtf8(v.bytes, v.start + 4, v.end - 1);
}

/** Milliseconds since 1970 of a date; exact for every date that a JavaScript Date can hold. */
export function asMilliseconds(v: RawValue): number {
  if (v.type !== BsonType.date) throw new BsonError(`expected a date, found BSON type ${v.type}`);
  return readInt64Lossy(v.bytes, v.start);
}

/** Halves of a timestamp: seconds since 1970 and increment, both unsigned. */
export function asTimestamp(v: RawValue): { high: number; low: number } {
  if (v.type !== BsonType.timestamp) throw new BsonError(`expected a timestamp, found BSON type ${v.type}`);
  return { high: readUint32(v.bytes, v.start + 4), low: readUint32(v.bytes, v.start) };
}

/**
 * What MongoDB takes for true where it expects a flag: everything but false,
 * null, undefined, a missing value and a number equal to zero (NaN is true).
 */
export function isTruthy(v: RawValue | undefined): boolean {
  if (v === undefined) return false;
  switch (v.type) {
    case BsonType.bool:
      return v.bytes[v.start] !== 0;
    case BsonType.null:
    case BsonType.undefined:
      return false;
    default:
      return numericValue(v) !== 0;
  }
}

/** {@link isTruthy} under the name of its siblings. */
export function asBoolean(v: RawValue): boolean {
  return isTruthy(v);
}

/** Same type and same bytes: stricter than being equal in BSON order, where 1, Long 1 and 1.0 are equal. */
export function valuesIdentical(a: RawValue, b: RawValue): boolean {
  const length = a.end - a.start;
  if (a.type !== b.type || b.end - b.start !== length) return false;
  for (let i = 0; i < length; i++) {
    if (a.bytes[a.start + i] !== b.bytes[b.start + i]) return false;
  }
  return true;
}
