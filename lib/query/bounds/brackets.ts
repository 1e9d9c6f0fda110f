/**
 * The range of a value's own kind, for comparisons with type bracketing.
 *
 * `{ n: { $gt: 5 } }` is about numbers only, so it ends at Infinity; a string
 * comparison ends where objects begin, at `{}` exclusive, because no string is
 * the greatest. NaN is the lowest number in BSON order but no number's lesser
 * in a filter, so number ranges start at -Infinity.
 */
import {
  BsonType,
  FALSE,
  EMPTY_DOCUMENT,
  TRUE,
  array,
  binary,
  date,
  document,
  double,
  objectId,
  string,
  timestamp,
  type RawValue,
} from "../../bson/index.js";
import type { Interval } from "./intervals.js";

const NUMBERS = closed(double(-Infinity), double(Infinity));
const NAN_TO_INFINITY = closed(double(NaN), double(Infinity));
const STRINGS = halfOpen(string(""), document(EMPTY_DOCUMENT));
const OBJECTS = halfOpen(document(EMPTY_DOCUMENT), array([]));
const BINARY = halfOpen(binary(new Uint8Array(0)), objectId(new Uint8Array(12)));
const OBJECT_IDS = closed(objectId(new Uint8Array(12)), objectId(new Uint8Array(12).fill(255)));
const BOOLS = closed(FALSE, TRUE);
const DATES = closed(date(-(2n ** 63n)), date(2n ** 63n - 1n));
const TIMESTAMPS = closed(timestamp(0, 0), timestamp(0xffffffff, 0xffffffff));

function closed(low: RawValue, high: RawValue): Interval {
  return { low, lowInclusive: true, high, highInclusive: true };
}

function halfOpen(low: RawValue, high: RawValue): Interval {
  return { low, lowInclusive: true, high, highInclusive: false };
}

/** The values that may be less or greater than one of this type; undefined where that isn't a simple range. */
export function bracketOf(type: BsonType): Interval | undefined {
  switch (type) {
    case BsonType.int32:
    case BsonType.int64:
    case BsonType.double:
    case BsonType.decimal128:
      return NUMBERS;
    case BsonType.string:
    case BsonType.symbol:
      return STRINGS;
    case BsonType.object:
      return OBJECTS;
    case BsonType.binary:
      return BINARY;
    case BsonType.objectId:
      return OBJECT_IDS;
    case BsonType.bool:
      return BOOLS;
    case BsonType.date:
      return DATES;
    case BsonType.timestamp:
      return TIMESTAMPS;
    default:
      return undefined;
  }
}

/** All values of a type, NaN among the numbers; undefined where that isn't a simple range. */
export function rangeOfType(type: BsonType): Interval | undefined {
  const bracket = bracketOf(type);
  return bracket === NUMBERS ? NAN_TO_INFINITY : bracket;
}

/** All numbers, NaN included. */
export const ALL_NUMBERS: Interval = NAN_TO_INFINITY;
/** All strings. */
export const ALL_STRINGS: Interval = STRINGS;
