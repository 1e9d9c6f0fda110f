/** Numbers as arguments of update operators. */
import { BsonType, asNumber, describeValue, isNumeric, readDouble, type RawValue } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";

/**
 * A whole number of any numeric type; an int64 beyond 2^53 loses its last digits, which no array can tell.
 * @param field what the number is for, as messages show it
 * @throws CommandError FailedToParse (9)
 */
export function integer(field: string, v: RawValue): number {
  const text = `${field}: ${describeValue(v)}`;
  const fail = (message: string): never => {
    throw new CommandError(ErrorCode.FailedToParse, message);
  };
  if (!isNumeric(v)) return fail(`Expected a number in: ${text}`);
  const n = asNumber(v);
  if (v.type === BsonType.int32 || v.type === BsonType.int64) return n;
  if (Number.isNaN(n)) return fail(`Expected an integer, but found NaN in: ${text}`);
  if (n >= 2 ** 63 || n < -(2 ** 63)) return fail(`Cannot represent as a 64-bit integer: ${text}`);
  return Number.isInteger(n) ? n : fail(`Expected an integer: ${text}`);
}

/** {@link integer}, or undefined where it is none. */
export function integerOrNone(v: RawValue): number | undefined {
  if (!isNumeric(v)) return undefined;
  const n = asNumber(v);
  if (v.type === BsonType.int32 || v.type === BsonType.int64) return n;
  return Number.isInteger(n) && n < 2 ** 63 && n >= -(2 ** 63) ? n : undefined;
}

const NAMES = new Map<BsonType, string>([
  [BsonType.int32, "NumberInt"],
  [BsonType.int64, "NumberLong"],
  [BsonType.double, "NumberDouble"],
  [BsonType.decimal128, "NumberDecimal"],
]);

/** `(NumberLong)9223372036854775807`: a number with its type, as overflow errors show it. */
export function describeTyped(v: RawValue): string {
  const text = v.type === BsonType.double ? String(readDouble(v.bytes, v.start)) : describeValue(v);
  return `(${NAMES.get(v.type)!})${text}`;
}
