/**
 * BSON order: which of two values comes first.
 *
 * Values of different kinds are ordered by kind, MongoDB's *canonical type*:
 * MinKey, undefined, null, numbers, strings, objects, arrays, binary, ObjectId,
 * bool, date, timestamp, regex, DBPointer, code, code with scope, MaxKey. The
 * four number types are one kind and compare by exact value, never by way of a
 * double: Long 9007199254740993 is greater than the double 9007199254740992.
 * NaN is the lowest number and equal to itself, -0 equals 0.
 *
 * Objects compare field by field: first the kinds of the two values, then the
 * names, then the values; the one that ends first is less. So
 * `{ b: 1 } < { a: "x" }`, because a number comes before a string, whatever
 * the names. Arrays do the same without names.
 *
 * sortable.ts writes this same order into strings; a property test holds the
 * two together.
 */
import { compareBytes, decodeUtf8, readDouble, readInt32, readUint32 } from "./bytes.js";
import type { Collation } from "./collation.js";
import {
  compareDecimalMagnitudes,
  compareDecimalMagnitudeToDouble,
  decimalOfInteger,
  readDecimal,
  type Decimal,
} from "./decimal.js";
import { closingNul, endOfName, endOfValue, startOfScope } from "./raw.js";
import { BsonType, asBigInt, type RawValue } from "./value.js";

const CANONICAL = new Int8Array(256);
CANONICAL[BsonType.minKey] = -1;
CANONICAL[BsonType.undefined] = 0;
CANONICAL[BsonType.null] = 5;
CANONICAL[BsonType.double] = 10;
CANONICAL[BsonType.int32] = 10;
CANONICAL[BsonType.int64] = 10;
CANONICAL[BsonType.decimal128] = 10;
CANONICAL[BsonType.string] = 15;
CANONICAL[BsonType.symbol] = 15;
CANONICAL[BsonType.object] = 20;
CANONICAL[BsonType.array] = 25;
CANONICAL[BsonType.binary] = 30;
CANONICAL[BsonType.objectId] = 35;
CANONICAL[BsonType.bool] = 40;
CANONICAL[BsonType.date] = 45;
CANONICAL[BsonType.timestamp] = 47;
CANONICAL[BsonType.regex] = 50;
CANONICAL[BsonType.dbPointer] = 55;
CANONICAL[BsonType.code] = 60;
CANONICAL[BsonType.codeWithScope] = 65;
CANONICAL[BsonType.maxKey] = 127;

/** MongoDB's number for the kind of a type: the sort bracket, also the type that `hash64` hashes (facts §2.1). */
export function canonicalType(type: BsonType): number {
  return CANONICAL[type]!;
}

/** The collation of the comparison under way: strings wherever they are nested compare by it. */
let strings: Collation | undefined;

/**
 * -1, 0 or 1: the order of two values of any types.
 * @param collation how strings compare; absent: byte by byte
 */
export function compareValues(a: RawValue, b: RawValue, collation?: Collation): number {
  strings = collation;
  return compareAt(a.type, a.bytes, a.start, a.end, b.type, b.bytes, b.start, b.end);
}

/**
 * -1, 0 or 1: the order of two documents, field by field.
 * @param collation see {@link compareValues}; field names always compare byte by byte
 */
export function compareDocuments(a: Uint8Array, b: Uint8Array, collation?: Collation): number {
  strings = collation;
  return compareDocumentsAt(a, 0, b, 0, true);
}

function compareAt(
  aType: BsonType,
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  bType: BsonType,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
): number {
  const kind = CANONICAL[aType]!;
  const otherKind = CANONICAL[bType]!;
  if (kind !== otherKind) return kind < otherKind ? -1 : 1;
  switch (aType) {
    case BsonType.int32:
    case BsonType.double:
    case BsonType.int64:
    case BsonType.decimal128:
      return compareNumbers(aType, a, aStart, bType, b, bStart);
    case BsonType.string:
      if (strings !== undefined && bType === BsonType.string)
        return Math.sign(
          strings.compare(decodeUtf8(a, aStart + 4, aEnd - 1), decodeUtf8(b, bStart + 4, bEnd - 1)),
        );
      return compareBytes(a, aStart + 4, aEnd - 1, b, bStart + 4, bEnd - 1);
    case BsonType.symbol:
    case BsonType.code:
      return compareBytes(a, aStart + 4, aEnd - 1, b, bStart + 4, bEnd - 1);
    case BsonType.object:
      return compareDocumentsAt(a, aStart, b, bStart, true);
    case BsonType.array:
      return compareDocumentsAt(a, aStart, b, bStart, false);
    case BsonType.binary:
      // length, then subtype and data
      return (
        compareNumber(readInt32(a, aStart), readInt32(b, bStart)) ||
        compareBytes(a, aStart + 4, aEnd, b, bStart + 4, bEnd)
      );
    case BsonType.dbPointer:
      return compareNumber(aEnd - aStart, bEnd - bStart) || compareBytes(a, aStart, aEnd, b, bStart, bEnd);
    case BsonType.date:
      return compareInt64(a, aStart, b, bStart);
    case BsonType.timestamp:
      return (
        compareNumber(readUint32(a, aStart + 4), readUint32(b, bStart + 4)) ||
        compareNumber(readUint32(a, aStart), readUint32(b, bStart))
      );
    case BsonType.codeWithScope:
      return compareCodeWithScope(a, aStart, aEnd, b, bStart, bEnd);
    default:
      // bool, ObjectId and regex (pattern NUL flags NUL) compare as their bytes; null, undefined, MinKey, MaxKey have none
      return compareBytes(a, aStart, aEnd, b, bStart, bEnd);
  }
}

function compareNumber(a: number, b: number): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

function compareInt64(a: Uint8Array, aStart: number, b: Uint8Array, bStart: number): number {
  return (
    compareNumber(readInt32(a, aStart + 4), readInt32(b, bStart + 4)) ||
    compareNumber(readUint32(a, aStart), readUint32(b, bStart))
  );
}

function compareDocumentsAt(
  a: Uint8Array,
  aStart: number,
  b: Uint8Array,
  bStart: number,
  byName: boolean,
): number {
  const aLimit = closingNul(a, aStart);
  const bLimit = closingNul(b, bStart);
  let aAt = aStart + 4;
  let bAt = bStart + 4;
  while (aAt < aLimit && bAt < bLimit) {
    const aType = a[aAt]! as BsonType;
    const bType = b[bAt]! as BsonType;
    const byKind = CANONICAL[aType]! - CANONICAL[bType]!;
    if (byKind !== 0) return byKind < 0 ? -1 : 1;
    const aName = endOfName(a, aAt + 1, aLimit);
    const bName = endOfName(b, bAt + 1, bLimit);
    if (byName) {
      const order = compareBytes(a, aAt + 1, aName, b, bAt + 1, bName);
      if (order !== 0) return order;
    }
    const aEnd = endOfValue(a, aType, aName + 1, aLimit);
    const bEnd = endOfValue(b, bType, bName + 1, bLimit);
    const order = compareAt(aType, a, aName + 1, aEnd, bType, b, bName + 1, bEnd);
    if (order !== 0) return order;
    aAt = aEnd;
    bAt = bEnd;
  }
  return Number(aAt < aLimit) - Number(bAt < bLimit);
}

/** By code, then by scope. */
function compareCodeWithScope(
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
): number {
  const aScope = startOfScope(a, aStart, aEnd);
  const bScope = startOfScope(b, bStart, bEnd);
  return (
    compareBytes(a, aStart + 8, aScope - 1, b, bStart + 8, bScope - 1) ||
    compareDocumentsAt(a, aScope, b, bScope, true)
  );
}

function compareNumbers(
  aType: BsonType,
  a: Uint8Array,
  aStart: number,
  bType: BsonType,
  b: Uint8Array,
  bStart: number,
): number {
  if (aType === BsonType.decimal128 || bType === BsonType.decimal128) {
    return compareWithDecimal(aType, a, aStart, bType, b, bStart);
  }
  if (aType === BsonType.int64) {
    if (bType === BsonType.int64) return compareInt64(a, aStart, b, bStart);
    return compareInt64ToDouble(a, aStart, smallNumber(bType, b, bStart));
  }
  const left = smallNumber(aType, a, aStart);
  if (bType === BsonType.int64) return 0 - compareInt64ToDouble(b, bStart, left); // 0 - x: no -0
  return compareDoubles(left, smallNumber(bType, b, bStart));
}

/** An int32 or a double: both are exact as a JavaScript number. */
function smallNumber(type: BsonType, bytes: Uint8Array, at: number): number {
  return type === BsonType.int32 ? readInt32(bytes, at) : readDouble(bytes, at);
}

function compareDoubles(a: number, b: number): number {
  if (a < b) return -1;
  if (a > b) return 1;
  if (a === b) return 0;
  return Number(b !== b) - Number(a !== a); // NaN first
}

function compareInt64ToDouble(bytes: Uint8Array, at: number, n: number): number {
  if (n !== n || n < -9223372036854775808) return 1;
  if (n >= 9223372036854775808) return -1;
  // Within the range of int64 a double's integer part has exact halves.
  const integer = Math.floor(n);
  const high = Math.floor(integer / 4294967296);
  const order =
    compareNumber(readInt32(bytes, at + 4), high) ||
    compareNumber(readUint32(bytes, at), integer - high * 4294967296);
  return order === 0 && n > integer ? -1 : order;
}

function compareWithDecimal(
  aType: BsonType,
  a: Uint8Array,
  aStart: number,
  bType: BsonType,
  b: Uint8Array,
  bStart: number,
): number {
  if (bType === BsonType.double) return compareDecimalToDouble(readDecimal(a, aStart), readDouble(b, bStart));
  if (aType === BsonType.double)
    return 0 - compareDecimalToDouble(readDecimal(b, bStart), readDouble(a, aStart));
  const left = exactDecimal(aType, a, aStart);
  const right = exactDecimal(bType, b, bStart);
  return compareNumber(rank(left), rank(right)) || signed(left, compareDecimalMagnitudes(left, right));
}

/** A decimal, int32 or int64 as a decimal. */
function exactDecimal(type: BsonType, bytes: Uint8Array, start: number): Decimal {
  if (type === BsonType.decimal128) return readDecimal(bytes, start);
  return decimalOfInteger(asBigInt({ type, bytes, start, end: start }));
}

/** NaN 0, -Infinity 1, negative 2, zero 3, positive 4, Infinity 5. */
function rank(d: Decimal): number {
  if (d.kind === "nan") return 0;
  if (d.kind === "infinity") return d.negative ? 1 : 5;
  return d.coefficient === 0n ? 3 : d.negative ? 2 : 4;
}

function rankOfDouble(n: number): number {
  if (n !== n) return 0;
  if (n === Infinity) return 5;
  if (n === -Infinity) return 1;
  return n === 0 ? 3 : n < 0 ? 2 : 4;
}

/** Order of two values of the same sign, from the order of their magnitudes. */
function signed(d: Decimal, byMagnitude: number): number {
  return d.kind !== "finite" || byMagnitude === 0 ? 0 : d.negative ? -byMagnitude : byMagnitude;
}

function compareDecimalToDouble(d: Decimal, n: number): number {
  const byRank = compareNumber(rank(d), rankOfDouble(n));
  if (byRank !== 0 || d.kind !== "finite") return byRank;
  return signed(d, compareDecimalMagnitudeToDouble(d, Math.abs(n)));
}
