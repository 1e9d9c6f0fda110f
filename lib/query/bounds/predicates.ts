/**
 * Bounds of a single predicate on the field it names.
 *
 * The promise: a document that matches has a key within the bounds. `exact`
 * promises the other direction too: every key within them belongs to a match,
 * so that the document need not be looked at again — and so that the bounds of
 * a negation are the complement.
 */
import {
  BsonType,
  NULL,
  UNDEFINED,
  asDocument,
  asNumber,
  double,
  elements,
  hashedValue,
  sameCollation,
  string,
  type Collation,
  type RawValue,
} from "../../bson/index.js";
import { isNaNValue } from "../filter/comparison.js";
import type { PathNode } from "../filter/node.js";
import { mayHoldString } from "../filter/operators.js";
import { regexValue, type Pattern } from "../filter/regex.js";
import { toDecimal } from "../values/decimal.js";
import { ALL_NUMBERS, ALL_STRINGS, bracketOf, rangeOfType } from "./brackets.js";
import { FULL_RANGE, point, unite, type FieldBounds, type Interval } from "./intervals.js";

export interface Bounds {
  readonly intervals: FieldBounds;
  /** A key within the intervals means a match. */
  readonly exact: boolean;
}

/** What bounds depend on beside the filter. */
export interface IndexTraits {
  /** The index has several keys for some documents. */
  readonly multikey: boolean;
  /** How the index orders strings. */
  readonly collation: Collation | undefined;
}

/** Nothing is known. */
export const ANY: Bounds = { intervals: FULL_RANGE, exact: false };
const NOTHING: Bounds = { intervals: [], exact: true };
/** Where documents without the field have their key. */
export const NULL_POINT: FieldBounds = [point(NULL)];

/** Bounds of a predicate on an ascending or descending field. */
export function predicateBounds(node: PathNode, index: IndexTraits): Bounds {
  switch (node.op) {
    case "eq":
    case "gt":
    case "gte":
    case "lt":
    case "lte": {
      if (isForeign(node.value, node.collation, index)) return ANY;
      return node.op === "eq" ? equalityBounds(node.value, index) : rangeBounds(node.op, node.value, index);
    }
    case "in": {
      if (node.values.some((value) => isForeign(value, node.collation, index))) return ANY;
      const parts = [
        ...node.values.map((value) => equalityBounds(value, index)),
        ...node.regexes.map((pattern) => patternBounds(pattern, index)),
      ];
      return {
        intervals: unite(
          parts.flatMap((part) => part.intervals),
          index.collation,
        ),
        exact: parts.every((part) => part.exact),
      };
    }
    case "regex":
      return patternBounds(node.pattern, index);
    case "type": {
      const ranges = node.types.map((type) => (type === BsonType.null ? point(NULL) : rangeOfType(type)));
      if (ranges.some((range) => range === undefined)) return ANY;
      return { intervals: unite(ranges as Interval[]), exact: false };
    }
    case "mod":
      return { intervals: [ALL_NUMBERS], exact: false };
    default:
      return ANY; // exists, size, elemMatch
  }
}

/**
 * True where the index orders a value's strings in another way than the query compares them. Such a predicate has no
 * bounds at all, not even those of its kind: MongoDB doesn't use the index for it.
 */
function isForeign(value: RawValue, collation: Collation | undefined, index: IndexTraits): boolean {
  return mayHoldString(value) && !sameCollation(collation, index.collation);
}

/**
 * Bounds of a predicate on a hashed field: only equalities have any, since
 * hashing keeps no order. Never exact: different values can have one hash.
 */
export function hashedBounds(node: PathNode): Bounds {
  let values: readonly RawValue[];
  if (node.op === "eq") values = [node.value];
  else if (node.op === "in" && node.regexes.length === 0) values = node.values;
  else return ANY;
  // A hashed index has no arrays; an array as operand matches nothing there and needs no point of its own.
  if (values.some((value) => value.type === BsonType.array)) return ANY;
  // Equal by a collation is not equal by hash.
  if (node.collation !== undefined && values.some(mayHoldString)) return ANY;
  return { intervals: hashedPoints(values), exact: false };
}

/** The points of a hashed field where values equal to these are. */
export function hashedPoints(values: readonly RawValue[]): FieldBounds {
  return unite(values.flatMap(equalForms).map((value) => point(hashedValue(value))));
}

/**
 * The forms of a value that are equal to it and yet hash differently: hash64
 * cuts a double's fraction off, but rounds a decimal's (facts §2.1), so that
 * -1.5 hashes as -1 or as -2. MongoDB looks for the operand's own form only
 * and misses the other; here both are found.
 */
function equalForms(v: RawValue): RawValue[] {
  if (v.type !== BsonType.double && v.type !== BsonType.decimal128) return [v];
  const n = asNumber(v);
  if (Number.isSafeInteger(n) || Number.isNaN(n)) return [v];
  // A whole double hashes as the integer that it is, as every number does that equals it: until there is no such int64.
  if (v.type === BsonType.double && Number.isInteger(n) && Math.abs(n) < 2 ** 63) return [v];
  return [v, double(n), toDecimal(v)];
}

/** The point where a missing field is hashed to. */
export function hashedNullPoint(): FieldBounds {
  return [point(hashedValue(NULL))];
}

function equalityBounds(value: RawValue, { multikey, collation }: IndexTraits): Bounds {
  if (value.type === BsonType.array) {
    return { intervals: unite(arrayPoints(value), collation), exact: false };
  }
  // In a multikey index null also stands for "missing in one element", which is not always a match.
  const exact = !(multikey && value.type === BsonType.null);
  return { intervals: [point(value)], exact };
}

/**
 * Keys that documents equal to an array may have: an index spreads an array,
 * so its first element is one (undefined for the empty array); an array
 * within an array is kept whole.
 */
function arrayPoints(value: RawValue): Interval[] {
  return [point(elements(asDocument(value))[0] ?? UNDEFINED), point(value)];
}

function rangeBounds(op: "gt" | "gte" | "lt" | "lte", value: RawValue, index: IndexTraits): Bounds {
  const { multikey, collation } = index;
  const inclusive = op === "gte" || op === "lte";
  const upwards = op === "gt" || op === "gte";
  const { type } = value;
  // The key of an array is one of its elements, which may be of any kind.
  if (type === BsonType.array) return ANY;
  if (type === BsonType.null) return inclusive ? equalityBounds(value, index) : NOTHING;
  if (type === BsonType.minKey || type === BsonType.maxKey) {
    return extremeBounds(value, upwards === (type === BsonType.minKey), inclusive, multikey);
  }
  if (isNaNValue(value)) return inclusive ? { intervals: [point(value)], exact: true } : NOTHING;
  const bracket = bracketOf(value.type);
  if (bracket === undefined) {
    return { intervals: upwards ? above(value, inclusive) : below(value, inclusive), exact: false };
  }
  const interval: Interval = upwards
    ? { ...bracket, low: value, lowInclusive: inclusive }
    : { ...bracket, high: value, highInclusive: inclusive };
  return { intervals: unite([interval], collation), exact: true };
}

/** MinKey and MaxKey as operands compare with values of all kinds. */
function extremeBounds(value: RawValue, everything: boolean, inclusive: boolean, multikey: boolean): Bounds {
  if (!everything) return inclusive ? { intervals: [point(value)], exact: true } : NOTHING;
  // An array is greater than MinKey as a whole even where its only element is MinKey.
  if (multikey) return ANY;
  if (inclusive) return { intervals: FULL_RANGE, exact: true };
  return {
    intervals: value.type === BsonType.minKey ? above(value, false) : below(value, false),
    exact: true,
  };
}

function above(low: RawValue, lowInclusive: boolean): FieldBounds {
  return unite([{ ...FULL_RANGE[0]!, low, lowInclusive }]);
}

function below(high: RawValue, highInclusive: boolean): FieldBounds {
  return unite([{ ...FULL_RANGE[0]!, high, highInclusive }]);
}

/** Strings with the pattern's prefix (all strings without one), and the regular expression itself as a value. */
function patternBounds(pattern: Pattern, { collation }: IndexTraits): Bounds {
  const itself = point(regexValue(pattern));
  // A collation's order says nothing about characters.
  if (pattern.prefix === undefined || collation !== undefined)
    return { intervals: [ALL_STRINGS, itself], exact: false };
  const next = successor(pattern.prefix);
  const high = next === undefined ? ALL_STRINGS.high : string(next);
  const strings: Interval = { low: string(pattern.prefix), lowInclusive: true, high, highInclusive: false };
  return { intervals: [strings, itself], exact: pattern.prefixOnly };
}

/** The least string above all that start with `prefix`: its last code point one further. UTF-8 keeps code point order. */
function successor(prefix: string): string | undefined {
  const points = [...prefix];
  for (let i = points.length - 1; i >= 0; i--) {
    const code = points[i]!.codePointAt(0)!;
    if (code >= 0x10ffff) continue;
    const next = code + 1 === 0xd800 ? 0xe000 : code + 1;
    return points.slice(0, i).join("") + String.fromCodePoint(next);
  }
  return undefined;
}
