/** Integers as operands, with MongoDB's words for what is not one. */
import {
  BsonType,
  asBigInt,
  asNumber,
  compareValues,
  describeValue,
  int64,
  isNumeric,
  type RawValue,
} from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";

/** The value of a number of any type that is a whole 64-bit integer, exactly; undefined for all else. */
export function exactInt64(v: RawValue): bigint | undefined {
  if (!isNumeric(v)) return undefined;
  const n = asBigInt(v); // cut off and limited: not the same number then
  return compareValues(v, int64(n)) === 0 ? n : undefined;
}

/**
 * Reads a non-negative integer.
 * @param name the operator or keyword, for the message
 * @param bits 32 or 64 (read exactly up to 2^53)
 * @returns the number, or what is wrong
 */
export function readNonNegative(name: string, v: RawValue, bits: 32 | 64): number | string {
  const shown = `${name}: ${describeValue(v)}`;
  if (!isNumeric(v)) return `Expected a number in: ${shown}`;
  const n = exactInt64(v);
  if (n === undefined) {
    const double = v.type === BsonType.double ? asNumber(v) : Infinity;
    if (Number.isNaN(double)) return `Expected an integer, but found NaN in: ${shown}`;
    return Math.abs(double) < 2 ** 63
      ? `Expected an integer: ${shown}`
      : `Cannot represent as a 64-bit integer: ${shown}`;
  }
  if (n < 0n) return `Expected a non-negative number in: ${shown}`;
  if (bits === 32 && n > 2147483647n) return `Cannot represent in an int: ${shown}`;
  return Number(n);
}

/** A non-negative 64-bit integer. Throws {@link CommandError} 9 for all else. */
export function nonNegativeInteger(name: string, v: RawValue): number {
  const n = readNonNegative(name, v, 64);
  if (typeof n === "string") throw new CommandError(ErrorCode.FailedToParse, n);
  return n;
}
