/**
 * `$eq $gt $gte $lt $lte`: a value against the operand.
 *
 * Filters compare within one kind of value (*type bracketing*): `{ $gt: 5 }`
 * is about numbers, a string is neither greater nor less. The exceptions:
 *
 * - a missing field counts as null for `$eq $gte $lte`; since 8.0 the
 *   deprecated type undefined no longer does;
 * - MinKey and MaxKey as operands compare with everything;
 * - NaN equals NaN and is neither greater nor less than any number.
 */
import {
  BsonType,
  asNumber,
  canonicalType,
  compareValues,
  isNumeric,
  numericValue,
  readDouble,
  readInt32,
  type Collation,
  type RawValue,
} from "../../bson/index.js";
import type { ValueTest } from "./paths.js";

export type ComparisonOp = "eq" | "gt" | "gte" | "lt" | "lte";

/** True for the number NaN, as double or decimal. */
export function isNaNValue(v: RawValue): boolean {
  return isNumeric(v) && Number.isNaN(numericValue(v));
}

/**
 * Makes the test `value <op> operand`.
 * @param collation how strings compare, also those within objects and arrays
 */
export function comparisonTest(op: ComparisonOp, operand: RawValue, collation?: Collation): ValueTest {
  const includesEqual = op === "eq" || op === "gte" || op === "lte";
  if (operand.type === BsonType.null) {
    return (v) => includesEqual && (v === undefined || v.type === BsonType.null);
  }
  if (operand.type === BsonType.minKey || operand.type === BsonType.maxKey) {
    // Everything else lies above MinKey and below MaxKey, a missing field included.
    const others =
      operand.type === BsonType.minKey ? op === "gt" || op === "gte" : op === "lt" || op === "lte";
    return (v) => (v?.type === operand.type ? includesEqual : others);
  }
  if (isNaNValue(operand)) return (v) => includesEqual && v !== undefined && isNaNValue(v);
  if (operand.type === BsonType.int32 || operand.type === BsonType.double) return numberTest(op, operand);
  const kind = canonicalType(operand.type);
  if (op === "eq") {
    return (v) =>
      v !== undefined && canonicalType(v.type) === kind && compareValues(v, operand, collation) === 0;
  }
  const wanted = op === "gt" || op === "gte" ? 1 : -1;
  return (v) => {
    if (v === undefined || canonicalType(v.type) !== kind) return false;
    const order = compareValues(v, operand, collation);
    return order === 0 ? includesEqual : order === wanted && !isNaNValue(v);
  };
}

/** What a comparison says for the orders -1, 0 and 1 of value and operand. */
const HOLDS: Readonly<Record<ComparisonOp, readonly [boolean, boolean, boolean]>> = {
  eq: [false, true, false],
  gt: [false, false, true],
  gte: [false, true, true],
  lt: [true, false, false],
  lte: [true, true, false],
};

/** The common case, made fast: int32 and double are exact as JavaScript numbers. */
function numberTest(op: ComparisonOp, operand: RawValue): ValueTest {
  const n = asNumber(operand);
  const [less, equal, greater] = HOLDS[op];
  return (v) => {
    if (v === undefined) return false;
    let m: number;
    switch (v.type) {
      case BsonType.int32:
        m = readInt32(v.bytes, v.start);
        break;
      case BsonType.double:
        m = readDouble(v.bytes, v.start);
        break;
      case BsonType.int64:
      case BsonType.decimal128: {
        if (isNaNValue(v)) return false;
        const order = compareValues(v, operand);
        return order === 0 ? equal : order < 0 ? less : greater;
      }
      default:
        return false;
    }
    return m < n ? less : m > n ? greater : m === n && equal; // none of them for NaN
  };
}
