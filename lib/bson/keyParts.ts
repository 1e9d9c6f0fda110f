/**
 * Taking a sortable key apart again: not into values, but into components.
 *
 *     key of (1, "a")   0c c014000000000000 00 | 11 61 00
 *                       └──── component 0 ───┘ └── 1 ──┘
 *
 * A component's payload says itself where it ends (see sortable.ts), so an
 * index scan can look at the second field of a key that it met. The values are
 * not in there: 1, 1.0 and NumberLong(1) have one key.
 */
import { canonicalType } from "./compare.js";
import { BsonType } from "./value.js";

const kindOf = (type: BsonType): number => canonicalType(type) + 2;

const NUMBER = kindOf(BsonType.int32);
const STRING = kindOf(BsonType.string);
const OBJECT = kindOf(BsonType.object);
const ARRAY = kindOf(BsonType.array);
const BINARY = kindOf(BsonType.binary);
const OBJECT_ID = kindOf(BsonType.objectId);
const BOOL = kindOf(BsonType.bool);
const DATE = kindOf(BsonType.date);
const TIMESTAMP = kindOf(BsonType.timestamp);
const REGEX = kindOf(BsonType.regex);
const DB_POINTER = kindOf(BsonType.dbPointer);
const CODE = kindOf(BsonType.code);
const CODE_WITH_SCOPE = kindOf(BsonType.codeWithScope);

/**
 * Where a component of a key ends.
 * @param key a sortable key
 * @param at where the component starts
 * @param descending whether the component is stored upside down
 * @returns the position behind it
 */
export function componentEnd(key: string, at: number, descending = false): number {
  return endOfPayload(key, at + 1, key.charCodeAt(at) ^ (descending ? 255 : 0), descending ? 255 : 0);
}

/** @param flip 255 in a descending component, whose characters are all inverted, else 0 */
function endOfPayload(key: string, at: number, kind: number, flip: number): number {
  switch (kind) {
    case NUMBER:
      return endOfNumber(key, at, flip);
    case STRING:
    case CODE:
      return behindZero(key, at, flip);
    case OBJECT:
    case ARRAY:
      return endOfElements(key, at, flip, kind === OBJECT);
    case BINARY:
      return at + 5 + wordAt(key, at, flip);
    case DB_POINTER:
      return at + 4 + wordAt(key, at, flip);
    case OBJECT_ID:
      return at + 12;
    case BOOL:
      return at + 1;
    case DATE:
    case TIMESTAMP:
      return at + 8;
    case REGEX:
      return behindZero(key, behindZero(key, at, flip), flip);
    case CODE_WITH_SCOPE:
      return endOfElements(key, behindZero(key, at, flip), flip, true);
    default:
      return at; // MinKey, undefined, null, MaxKey
  }
}

/** Eight characters of head; a tail of one character where it is exact, else with two more and digits up to a zero. */
function endOfNumber(key: string, at: number, flip: number): number {
  const tail = key.charCodeAt(at + 8) ^ flip;
  if (tail === 0 || tail === 255) return at + 9;
  // The tail of a negative number is inverted on its own account: 254 instead of 1.
  return behindZero(key, at + 11, tail === 1 ? flip : flip ^ 255);
}

function endOfElements(key: string, at: number, flip: number, named: boolean): number {
  for (;;) {
    const kind = key.charCodeAt(at) ^ flip;
    if (kind === 0 || at >= key.length) return at + 1;
    const payload = named ? behindZero(key, at + 1, flip) : at + 1;
    at = endOfPayload(key, payload, kind, flip);
  }
}

function behindZero(key: string, at: number, flip: number): number {
  let end = at;
  while (end < key.length && key.charCodeAt(end) !== flip) end++;
  return end + 1;
}

function wordAt(key: string, at: number, flip: number): number {
  let word = 0;
  for (let i = 0; i < 4; i++) word = word * 256 + (key.charCodeAt(at + i) ^ flip);
  return word;
}
