/**
 * The pairs of types that `$convert` knows.
 *
 *              → double string objectId bool date int long decimal binData
 *     double     =      text   –        ≠0   ms   cut cut  15 dig. 8 bytes
 *     string     parse  =      24 hex   true parse …   …    parse   by format
 *     bool       0/1    text   –        =    –    0/1 0/1  0/1     –
 *     date       ms     ISO    –        true =    –   ms   ms      –
 *     objectId   –      hex    =        true secs –   –    –       –
 *     binData    bytes  format –        true –    bytes …  –       same subtype
 *
 * Fractions are cut off; what doesn't fit is refused rather than wrapped.
 */
import {
  BsonType,
  TRUE,
  asBigInt,
  asNumber,
  asString,
  asTimestamp,
  bool,
  date,
  describeValue,
  double,
  int32,
  int64,
  isNumeric,
  isTruthy,
  objectId,
  string,
  type RawValue,
} from "../../bson/index.js";
import type { CommandError } from "../../protocol/index.js";
import { parseDate } from "../values/dateText.js";
import { decimalFromText, toDecimal, toFinite } from "../values/decimal.js";
import { fitsInt32, fitsInt64 } from "../values/numeric.js";
import { UTC } from "../values/timeZone.js";
import { typeName } from "../values/types.js";
import {
  binaryFromNumber,
  binaryFromText,
  numberFromBinary,
  textFromBinary,
  type BinaryFormat,
} from "./binaryConversions.js";
import { conversionFailure } from "./conversionError.js";
import { formatDouble, isoText, scalarText } from "./text.js";

const SUFFIX = "in $convert with no onError value";

/** What to convert to. */
export interface Target {
  readonly type: BsonType | "missing";
  /** Of numbers in text. @since MongoDB 8.3 */
  readonly base?: 2 | 8 | 10 | 16 | undefined;
  /** Of binary data in text. @since MongoDB 8.0 */
  readonly format?: BinaryFormat | undefined;
  /** Of numbers in binary data. @since MongoDB 8.1 */
  readonly bigEndian: boolean;
  /** Of binary data to make. */
  readonly subtype: number;
}

function unsupported(v: RawValue, target: Target): CommandError {
  const name = target.type === "missing" ? "missing" : typeName({ ...v, type: target.type });
  return conversionFailure(`Unsupported conversion from ${typeName(v)} to ${name} ${SUFFIX}`);
}

function overflow(shown: string): CommandError {
  return conversionFailure(`Conversion would overflow target type ${SUFFIX}: ${shown}`);
}

/**
 * Converts a value that is not null.
 * @throws CommandError 241 where that isn't possible
 */
export function convertValue(v: RawValue, target: Target): RawValue {
  switch (target.type) {
    case BsonType.string:
      return toText(v, target);
    case BsonType.int32:
    case BsonType.int64:
      return toInteger(v, target);
    case BsonType.double:
      return toDouble(v, target);
    case BsonType.decimal128:
      return toDecimalValue(v, target);
    case BsonType.bool:
      return toBool(v);
    case BsonType.date:
      return toDate(v, target);
    case BsonType.objectId:
      return toObjectId(v, target);
    case BsonType.binary:
      return toBinary(v, target);
    default:
      throw unsupported(v, target);
  }
}

function toText(v: RawValue, target: Target): RawValue {
  switch (v.type) {
    case BsonType.string:
      return v;
    case BsonType.bool:
      return string(isTruthy(v) ? "true" : "false");
    case BsonType.objectId:
      return string(describeValue(v).slice(10, 34));
    case BsonType.date:
      return string(isoText(v));
    case BsonType.binary:
      return textFromBinary(v, target.format);
    default:
      if (!isNumeric(v)) throw unsupported(v, target);
      return string(target.base === undefined ? scalarText(v)! : inBase(v, target.base));
  }
}

/** A whole number in another base, letters as capitals. */
function inBase(v: RawValue, base: number): string {
  const d = toFinite(v);
  const whole =
    typeof d !== "number" &&
    d.exponent > -40 &&
    d.coefficient % 10n ** BigInt(Math.max(0, -d.exponent)) === 0n;
  if (!whole) {
    throw conversionFailure(
      `Base conversion is not supported for non-integers in $convert with no onError value: `,
    );
  }
  const n = asNumber(v);
  if (Math.abs(n) >= 2 ** 63 && v.type !== BsonType.int64) {
    throw conversionFailure(
      "Magnitude of the number provided for base conversion is too large in $convert with no onError value: ",
    );
  }
  return asBigInt(v).toString(base).toUpperCase();
}

function parseFailure(text: string, why: string): CommandError {
  return conversionFailure(`Failed to parse number '${text}' ${SUFFIX}: ${why}`);
}

function checkHexadecimal(text: string): void {
  if (/^0x/i.test(text)) {
    throw conversionFailure(`Illegal hexadecimal input ${SUFFIX}: ${text}`);
  }
}

/** A whole number in text, in any base. */
function parseInteger(text: string, base: number): bigint {
  checkHexadecimal(text);
  const digits = { 2: "[01]", 8: "[0-7]", 10: "[0-9]", 16: "[0-9a-fA-F]" }[base]!;
  const match = new RegExp(`^([+-]?)(${digits}+)(.*)$`, "s").exec(text);
  if (!match)
    throw parseFailure(text, text === "" ? "No digits" : `Bad digit "${text[0]!}" while parsing ${text}`);
  if (match[3] !== "") throw parseFailure(text, "Did not consume whole string.");
  const prefix = { 2: "0b", 8: "0o", 10: "", 16: "0x" }[base]!;
  const significant = match[2]!.replace(/^0+(?=.)/, "");
  if (significant.length > 70) throw parseFailure(text, "Overflow");
  const n = BigInt(prefix + significant);
  return match[1] === "-" ? -n : n;
}

function toInteger(v: RawValue, target: Target): RawValue {
  const build = (n: bigint, refuse: () => CommandError): RawValue => {
    const narrow = target.type === BsonType.int32;
    if (narrow ? !fitsInt32(Number(n)) : !fitsInt64(n)) throw refuse();
    return narrow ? int32(Number(n)) : int64(n);
  };
  switch (v.type) {
    case BsonType.bool:
      return build(isTruthy(v) ? 1n : 0n, () => overflow(""));
    case BsonType.string: {
      const text = asString(v);
      return build(parseInteger(text, target.base ?? 10), () => parseFailure(text, "Overflow"));
    }
    case BsonType.date:
      if (target.type === BsonType.int64) return int64(asBigInt(v));
      throw unsupported(v, target);
    case BsonType.double:
    case BsonType.decimal128: {
      const n = asNumber(v);
      if (Number.isNaN(n)) throw conversionFailure(`Attempt to convert NaN value to integer type ${SUFFIX}`);
      const shown = v.type === BsonType.double ? formatDouble(n) : describeValue(v);
      const d = toFinite(v);
      if (typeof d === "number") {
        throw conversionFailure(`Attempt to convert infinity value to integer type ${SUFFIX}`);
      }
      if (Math.abs(n) > 2 ** 64) throw overflow(shown);
      const whole = v.type === BsonType.double ? BigInt(Math.trunc(n)) : truncated(d.coefficient, d.exponent);
      return build(whole, () => overflow(shown));
    }
    case BsonType.int32:
    case BsonType.int64:
      return build(asBigInt(v), () => overflow(""));
    case BsonType.binary:
      return numberFromBinary(v, target.type === BsonType.int32 ? "int" : "long", target.bigEndian);
    default:
      throw unsupported(v, target);
  }
}

function truncated(coefficient: bigint, exponent: number): bigint {
  if (exponent >= 0) return coefficient * 10n ** BigInt(exponent);
  return exponent < -40 ? 0n : coefficient / 10n ** BigInt(-exponent);
}

function toDouble(v: RawValue, target: Target): RawValue {
  if (v.type === BsonType.decimal128) {
    const n = asNumber(v);
    const d = toFinite(v);
    // Too large for a double, or too small to be told from 0.
    if (typeof d !== "number" && (!Number.isFinite(n) || (n === 0 && d.coefficient !== 0n))) {
      throw overflow(describeValue(v));
    }
    return double(n);
  }
  if (isNumeric(v)) return double(asNumber(v));
  switch (v.type) {
    case BsonType.bool:
      return double(isTruthy(v) ? 1 : 0);
    case BsonType.date:
      return double(Number(asBigInt(v)));
    case BsonType.string: {
      const text = asString(v);
      if (target.base !== undefined) return double(Number(longInBase(text, target.base)));
      checkHexadecimal(text);
      if (/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text)) {
        const n = Number(text);
        if (!Number.isFinite(n)) throw parseFailure(text, "Out of range");
        return double(n);
      }
      const special = /^([+-]?)(?:inf(?:inity)?|(nan))$/i.exec(text);
      if (special) return double(special[2] ? NaN : special[1] === "-" ? -Infinity : Infinity);
      throw parseFailure(text, text === "" ? "Empty string" : "Did not consume whole string.");
    }
    case BsonType.binary:
      return numberFromBinary(v, "double", target.bigEndian);
    default:
      throw unsupported(v, target);
  }
}

function longInBase(text: string, base: number): bigint {
  const n = parseInteger(text, base);
  if (!fitsInt64(n)) throw parseFailure(text, "Overflow");
  return n;
}

function toDecimalValue(v: RawValue, target: Target): RawValue {
  if (v.type === BsonType.decimal128) return v;
  if (isNumeric(v)) return toDecimal(v);
  switch (v.type) {
    case BsonType.bool:
      return toDecimal(int32(isTruthy(v) ? 1 : 0));
    case BsonType.date:
      return toDecimal(int64(asBigInt(v)));
    case BsonType.string: {
      const text = asString(v);
      if (target.base !== undefined) return toDecimal(int64(longInBase(text, target.base)));
      checkHexadecimal(text);
      const value = decimalFromText(text);
      if (value === undefined) {
        throw parseFailure(text, text === "" ? "Empty string" : "Failed to parse string to decimal");
      }
      return value;
    }
    default:
      throw unsupported(v, target);
  }
}

/** All that is neither false nor zero is true, MinKey and a regular expression included. */
function toBool(v: RawValue): RawValue {
  return v.type === BsonType.bool || isNumeric(v) ? bool(isTruthy(v)) : TRUE;
}

function toDate(v: RawValue, target: Target): RawValue {
  switch (v.type) {
    case BsonType.date:
      return v;
    case BsonType.int64:
      return date(asBigInt(v));
    case BsonType.double:
    case BsonType.decimal128:
      return date(asBigInt(toInteger(v, { ...target, type: BsonType.int64 })));
    case BsonType.timestamp:
      return date(asTimestamp(v).high * 1000);
    case BsonType.objectId:
      return date(objectIdSeconds(v) * 1000);
    case BsonType.string:
      return date(parseDate(asString(v), UTC));
    default:
      throw unsupported(v, target);
  }
}

/** The seconds in front of an ObjectId. */
export function objectIdSeconds(v: RawValue): number {
  const [a, b, c, d] = v.bytes.subarray(v.start, v.start + 4);
  return ((a! << 24) | (b! << 16) | (c! << 8) | d!) >>> 0;
}

function toObjectId(v: RawValue, target: Target): RawValue {
  if (v.type === BsonType.objectId) return v;
  if (v.type !== BsonType.string) throw unsupported(v, target);
  const text = asString(v);
  if (text.length !== 24) {
    throw conversionFailure(
      `Failed to parse objectId '${text}' ${SUFFIX}: Invalid string length for parsing to OID, expected 24 but found ${text.length}`,
    );
  }
  if (!/^[0-9a-fA-F]{24}$/.test(text)) {
    throw conversionFailure(
      `Failed to parse objectId '${text}' ${SUFFIX}: Invalid character found in hex string`,
    );
  }
  return objectId(Uint8Array.from({ length: 12 }, (_, i) => parseInt(text.slice(2 * i, 2 * i + 2), 16)));
}

function toBinary(v: RawValue, target: Target): RawValue {
  switch (v.type) {
    case BsonType.binary:
      if (v.bytes[v.start + 4] !== target.subtype) {
        throw conversionFailure("Conversions between different BinData subtypes are not supported");
      }
      return v;
    case BsonType.string:
      return binaryFromText(asString(v), target.format, target.subtype);
    case BsonType.int32:
    case BsonType.int64:
    case BsonType.double:
      return binaryFromNumber(v, target.bigEndian, target.subtype);
    default:
      throw unsupported(v, target);
  }
}
