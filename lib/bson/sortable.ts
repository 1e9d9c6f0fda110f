/**
 * BSON order as plain string order.
 *
 * A {@link SortableKey} is a string of characters 0–255. Two keys compare with
 * `<` and `===` exactly as {@link compareValues} orders the tuples they were
 * made of, so chunk bounds, index entries and sort keys live in ordinary
 * arrays and Maps and are searched with ordinary comparisons.
 *
 * A key is the concatenation of its components, and a component is
 *
 *     kind (canonical type + 2: 1 for MinKey … 129 for MaxKey) | payload
 *
 * where each kind's payload is *prefix-free*: no payload is the beginning of
 * another one of the same kind. That has three consequences. Tuples compare
 * component by component, as if the boundaries were marked. A descending
 * component is the ascending one with every character inverted (255 - c). And
 * the key of (a) is the beginning of the key of (a, b): all keys that start
 * with (a) lie in [key(a), key(a) + "\xff"), because no component, ascending
 * or descending, starts with 0 or 255.
 *
 * | kind                  | payload                                                         |
 * | --------------------- | --------------------------------------------------------------- |
 * | number                | see sortableNumber.ts: 10 characters for int32 and doubles      |
 * | string, symbol, code  | bytes, with 0 → 1 1 and 1 → 1 2, then 0                         |
 * | string, collated      | its label (collation.ts), then 0                                |
 * | object                | for each field: kind, name, 0, payload; then 0                  |
 * | array                 | for each element: kind, payload; then 0                         |
 * | binary, DBPointer     | length as 4 bytes big-endian, then the bytes                    |
 * | date, timestamp       | 8 bytes big-endian, the date's sign bit flipped                 |
 * | ObjectId, bool, regex | the bytes                                                       |
 * | code with scope       | code as a string, then the scope as an object                   |
 *
 * Example: `{ x: 5 }` as key of (5): `\x0c \xc0\x14\0\0\0\0\0\0 \0`, and of
 * ("a"): `\x11 a \0`.
 */
import { decodeUtf8, readDouble, readInt32 } from "./bytes.js";
import type { Collation } from "./collation.js";
import { canonicalType } from "./compare.js";
import { hashWords } from "./hash64.js";
import { KeyBuffer } from "./keyBuffer.js";
import type { KeyBytes } from "./keyBytes.js";
import { closingNul, endOfName, endOfValue, startOfScope } from "./raw.js";
import { writeDecimalKey, writeDoubleKey, writeInt64Key } from "./sortableNumber.js";
import { BsonType, type RawValue } from "./value.js";

/** A string of characters 0–255 whose `<` and `===` are BSON order and equality. */
export type SortableKey = string;

const key = new KeyBuffer();
/** The collation of the key under construction: strings wherever they are nested are written as its labels. */
let strings: Collation | undefined;

/**
 * The key of a tuple.
 * @param descending true at the positions that sort from high to low; none when left out.
 * @param collation how strings compare; the key then compares with keys of the same object only
 * @example sortableKey([int32(1)]) < sortableKey([string("a")]) // numbers before strings
 */
export function sortableKey(
  values: readonly RawValue[],
  descending?: readonly boolean[],
  collation?: Collation,
): SortableKey {
  key.clear();
  strings = collation;
  for (let i = 0; i < values.length; i++) {
    const v = values[i]!;
    const start = key.length;
    writeComponent(v.type, v.bytes, v.start, v.end);
    if (descending !== undefined && descending[i] === true) key.invert(start);
  }
  return key.take();
}

/**
 * The key of one value, ascending.
 * @param collation see {@link sortableKey}
 */
export function sortableValue(v: RawValue, collation?: Collation): string {
  key.clear();
  strings = collation;
  writeComponent(v.type, v.bytes, v.start, v.end);
  return key.take();
}

/**
 * `sortableValue(hashedValue(v))` without making the value in between: the key of every entry of a
 * hashed index.
 * @param v a missing field hashes as null
 */
export function sortableHash(v: RawValue | undefined): string {
  key.clear();
  addHashToKey(v);
  return key.take();
}

/**
 * A key that is made component by component and goes, without a string in between, where it is used as bytes:
 * {@link beginKey}, then {@link addToKey} or {@link addHashToKey} for each component, then {@link keyInto}.
 * No other key may be made meanwhile.
 * @param collation see {@link sortableKey}
 */
export function beginKey(collation?: Collation): void {
  key.clear();
  strings = collation;
}

/** Adds a value as the next component. */
export function addToKey(v: RawValue, descending: boolean): void {
  const start = key.length;
  writeComponent(v.type, v.bytes, v.start, v.end);
  if (descending) key.invert(start);
}

/** Adds the hash of a value, or of a missing field, as the next component. */
export function addHashToKey(v: RawValue | undefined): void {
  const words = hashWords(v);
  addHashWordsToKey(words[1]!, words[0]!);
}

/** The same for a hash that is known. */
export function addHashWordsToKey(high: number, low: number): void {
  key.byte(canonicalType(BsonType.int64) + 2);
  writeInt64Key(key, high, low);
}

/** Ends the key. */
export function keyInto(target: KeyBytes): void {
  key.copyInto(target);
}

/**
 * The key of a bound's values in order, names left aside: of (1, MinKey) for `{ x: 1, y: MinKey }`.
 * @param collation see {@link sortableKey}
 */
export function documentSortableKey(boundDoc: Uint8Array, collation?: Collation): SortableKey {
  key.clear();
  strings = collation;
  writeElements(boundDoc, 0, false);
  return key.take();
}

function writeComponent(type: BsonType, bytes: Uint8Array, start: number, end: number): void {
  key.byte(canonicalType(type) + 2);
  writePayload(type, bytes, start, end);
}

function writePayload(type: BsonType, bytes: Uint8Array, start: number, end: number): void {
  switch (type) {
    case BsonType.int32:
      writeDoubleKey(key, readInt32(bytes, start));
      return;
    case BsonType.double:
      writeDoubleKey(key, readDouble(bytes, start));
      return;
    case BsonType.int64:
      writeInt64Key(key, readInt32(bytes, start + 4), readInt32(bytes, start));
      return;
    case BsonType.decimal128:
      writeDecimalKey(key, bytes, start);
      return;
    case BsonType.string:
      if (strings !== undefined) {
        key.text(strings.key(decodeUtf8(bytes, start + 4, end - 1)));
        return;
      }
      key.escaped(bytes, start + 4, end - 1);
      return;
    case BsonType.symbol:
    case BsonType.code:
      key.escaped(bytes, start + 4, end - 1);
      return;
    case BsonType.object:
    case BsonType.array:
      writeElements(bytes, start, type === BsonType.object);
      key.byte(0);
      return;
    case BsonType.binary:
      key.word(readInt32(bytes, start));
      key.copy(bytes, start + 4, end);
      return;
    case BsonType.dbPointer:
      key.word(end - start);
      key.copy(bytes, start, end);
      return;
    case BsonType.date:
      key.word(readInt32(bytes, start + 4) ^ 0x80000000);
      key.word(readInt32(bytes, start));
      return;
    case BsonType.timestamp:
      key.word(readInt32(bytes, start + 4));
      key.word(readInt32(bytes, start));
      return;
    case BsonType.codeWithScope: {
      const scope = startOfScope(bytes, start, end);
      key.escaped(bytes, start + 8, scope - 1);
      writeElements(bytes, scope, true);
      key.byte(0);
      return;
    }
    default:
      key.copy(bytes, start, end);
  }
}

function writeElements(bytes: Uint8Array, offset: number, named: boolean): void {
  const limit = closingNul(bytes, offset);
  let at = offset + 4;
  while (at < limit) {
    const type = bytes[at]! as BsonType;
    const nameEnd = endOfName(bytes, at + 1, limit);
    const end = endOfValue(bytes, type, nameEnd + 1, limit);
    key.byte(canonicalType(type) + 2);
    if (named) key.copy(bytes, at + 1, nameEnd + 1);
    writePayload(type, bytes, nameEnd + 1, end);
    at = end;
  }
}
