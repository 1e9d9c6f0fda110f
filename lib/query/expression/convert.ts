/** Between types: `$type $isNumber $convert $toString $toInt $toLong $toDouble $toDecimal $toBool $toDate $toObjectId`. */
import {
  BsonType,
  FALSE,
  NULL,
  TRUE,
  asBigInt,
  asMilliseconds,
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
import { CommandError, notSimulated } from "../../protocol/index.js";
import { decimalFromText, toDecimal } from "../values/decimal.js";
import { fitsInt32, fitsInt64, wholeNumber } from "../values/numeric.js";
import { typeName, typeOfAlias, typeOfNumber } from "../values/types.js";
import { isNullish, unary, type Argument, type OperatorCompiler } from "./arguments.js";
import { compile } from "./compile.js";
import { namedArguments } from "./fieldPath.js";

const CONVERSION_FAILURE = 241;
const SUFFIX = "in $convert with no onError value";

function failure(message: string): CommandError {
  return new CommandError(CONVERSION_FAILURE, message);
}

function unsupported(v: RawValue, target: string): CommandError {
  return failure(`Unsupported conversion from ${typeName(v)} to ${target} ${SUFFIX}`);
}

/** A double as text the way `%.16g` prints it: 2.5, 3, 1e+20. */
export function formatDouble(n: number): string {
  if (Number.isNaN(n)) return "NaN";
  if (!Number.isFinite(n)) return n > 0 ? "Infinity" : "-Infinity";
  if (n === 0) return Object.is(n, -0) ? "-0" : "0";
  const [mantissa, exponentText] = n.toExponential(15).split("e") as [string, string];
  const exponent = Number(exponentText);
  if (exponent < -4 || exponent >= 16) {
    const digits = mantissa.replace(/\.?0+$/, "");
    return `${digits}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
  }
  const fixed = n.toFixed(Math.max(0, 15 - exponent));
  return fixed.includes(".") ? fixed.replace(/\.?0+$/, "") : fixed;
}

/** What string operators make of their argument: null is the empty string. Throws 16007 for objects and their like. */
export function coerceToString(v: Argument, _name: string): string {
  if (isNullish(v)) return "";
  const text = scalarText(v);
  if (text === undefined)
    throw new CommandError(16007, `can't convert from BSON type ${typeName(v)} to String`);
  return text;
}

function scalarText(v: RawValue): string | undefined {
  switch (v.type) {
    case BsonType.string:
    case BsonType.symbol:
    case BsonType.code:
      return asString(v);
    case BsonType.double:
      return formatDouble(asNumber(v));
    case BsonType.int32:
    case BsonType.int64:
    case BsonType.decimal128:
      return describeValue(v);
    case BsonType.date:
      return isoText(v);
    case BsonType.timestamp:
      return describeValue(v);
    default:
      return undefined;
  }
}

function isoText(v: RawValue): string {
  const ms = asMilliseconds(v);
  if (Math.abs(ms) > 8.64e15) throw failure(`the date ${asBigInt(v)} cannot be written as text`);
  return new Date(ms).toISOString();
}

function toText(v: RawValue): RawValue {
  switch (v.type) {
    case BsonType.bool:
      return string(isTruthy(v) ? "true" : "false");
    case BsonType.objectId:
      return string(describeValue(v).slice(10, 34));
    case BsonType.string:
      return v;
    case BsonType.timestamp:
    case BsonType.code:
    case BsonType.symbol:
      throw unsupported(v, "string");
    case BsonType.binary:
      if (v.bytes[v.start + 4] !== 4) throw notSimulated("$toString of binary data other than UUID");
      return string(describeValue(v).slice(6, -2));
    default: {
      const text = scalarText(v);
      if (text === undefined) throw unsupported(v, "string");
      return string(text);
    }
  }
}

function toInteger(v: RawValue, target: "int" | "long"): RawValue {
  const build = (n: bigint): RawValue => {
    const fits = target === "int" ? fitsInt32(Number(n)) : fitsInt64(n);
    if (!fits) throw failure(`Conversion would overflow target type ${SUFFIX}: ${describeValue(v)}`);
    return target === "int" ? int32(Number(n)) : int64(n);
  };
  switch (v.type) {
    case BsonType.bool:
      return build(isTruthy(v) ? 1n : 0n);
    case BsonType.string: {
      const text = asString(v);
      if (!/^[+-]?\d+$/.test(text))
        throw failure(`Failed to parse number '${text}' ${SUFFIX}: Did not consume whole string.`);
      return build(BigInt(text.replace(/^\+/, "")));
    }
    case BsonType.date:
      if (target === "long") return build(asBigInt(v));
      throw unsupported(v, target);
    case BsonType.double:
    case BsonType.decimal128: {
      const n = asNumber(v);
      if (Number.isNaN(n)) throw failure(`Attempt to convert NaN value to integer type ${SUFFIX}`);
      if (!Number.isFinite(n)) throw failure(`Attempt to convert infinity value to integer type ${SUFFIX}`);
      if (Math.abs(n) >= 9223372036854775808) {
        throw failure(`Conversion would overflow target type ${SUFFIX}: ${describeValue(v)}`);
      }
      return build(asBigInt(v));
    }
    case BsonType.int32:
    case BsonType.int64:
      return build(asBigInt(v));
    default:
      throw unsupported(v, target);
  }
}

function toDouble(v: RawValue): RawValue {
  if (isNumeric(v)) return double(asNumber(v));
  switch (v.type) {
    case BsonType.bool:
      return double(isTruthy(v) ? 1 : 0);
    case BsonType.date:
      return double(asMilliseconds(v));
    case BsonType.string: {
      const text = asString(v);
      if (/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text)) return double(Number(text));
      throw failure(`Failed to parse number '${text}' ${SUFFIX}: Did not consume whole string.`);
    }
    default:
      throw unsupported(v, "double");
  }
}

function toDecimalValue(v: RawValue): RawValue {
  if (v.type === BsonType.decimal128) return v;
  if (isNumeric(v)) return toDecimal(v);
  switch (v.type) {
    case BsonType.bool:
      return toDecimal(int32(isTruthy(v) ? 1 : 0));
    case BsonType.date:
      return toDecimal(int64(asBigInt(v)));
    case BsonType.string: {
      const value = decimalFromText(asString(v));
      if (value === undefined) throw failure(`Failed to parse number '${asString(v)}' ${SUFFIX}`);
      return value;
    }
    default:
      throw unsupported(v, "decimal");
  }
}

function toBool(v: RawValue): RawValue {
  switch (v.type) {
    case BsonType.minKey:
    case BsonType.maxKey:
    case BsonType.regex:
      throw unsupported(v, "bool");
    default:
      return bool(isTruthy(v));
  }
}

const ISO =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,3}))?)?)?\s*(Z|[+-]\d{2}(?::?\d{2})?)?$/;

function toDate(v: RawValue): RawValue {
  switch (v.type) {
    case BsonType.date:
      return v;
    case BsonType.int64:
      return date(asBigInt(v));
    case BsonType.double:
    case BsonType.decimal128: {
      const n = asNumber(v);
      if (!(Math.abs(n) < 9223372036854775808)) {
        throw failure(`Conversion would overflow target type ${SUFFIX}: ${describeValue(v)}`);
      }
      return date(Math.trunc(n));
    }
    case BsonType.timestamp:
      return date(asTimestamp(v).high * 1000);
    case BsonType.objectId:
      return date(objectIdSeconds(v) * 1000);
    case BsonType.string: {
      const text = asString(v);
      const match = ISO.exec(text);
      if (!match) {
        if (!/\d/.test(text)) throw failure(`Error parsing date string '${text}'; 0: Unexpected character`);
        throw notSimulated(`the date format of "${text}"`);
      }
      const zone = match[8] === undefined || match[8] === "Z" ? 0 : offsetMinutes(match[8])!;
      const [year, month, day, hour, minute, second] = [1, 2, 3, 4, 5, 6].map((i) => Number(match[i] ?? 0));
      const ms = Number((match[7] ?? "0").padEnd(3, "0"));
      return date(Date.UTC(year!, month! - 1, day, hour, minute, second, ms) - zone * 60_000);
    }
    default:
      throw unsupported(v, "date");
  }
}

/** The seconds in front of an ObjectId. */
export function objectIdSeconds(v: RawValue): number {
  const [a, b, c, d] = v.bytes.subarray(v.start, v.start + 4);
  return ((a! << 24) | (b! << 16) | (c! << 8) | d!) >>> 0;
}

/** Minutes of an offset such as `+02:00`, `-0330` or `+05`; undefined for anything else. */
export function offsetMinutes(text: string): number | undefined {
  const match = /^([+-])(\d{2}):?(\d{2})?$/.exec(text);
  if (!match) return undefined;
  const minutes = Number(match[2]) * 60 + Number(match[3] ?? 0);
  return match[1] === "-" ? -minutes : minutes;
}

function toObjectId(v: RawValue): RawValue {
  if (v.type === BsonType.objectId) return v;
  if (v.type !== BsonType.string) throw unsupported(v, "objectId");
  const text = asString(v);
  if (text.length !== 24) {
    throw failure(
      `Failed to parse objectId '${text}' ${SUFFIX}: Invalid string length for parsing to OID, expected 24 but found ${text.length}`,
    );
  }
  if (!/^[0-9a-fA-F]{24}$/.test(text)) {
    throw failure(`Failed to parse objectId '${text}' ${SUFFIX}: Invalid character found in hex string`);
  }
  return objectId(Uint8Array.from({ length: 12 }, (_, i) => parseInt(text.slice(2 * i, 2 * i + 2), 16)));
}

const CONVERTERS: ReadonlyMap<BsonType, (v: RawValue) => RawValue> = new Map([
  [BsonType.string, toText],
  [BsonType.int32, (v: RawValue) => toInteger(v, "int")],
  [BsonType.int64, (v: RawValue) => toInteger(v, "long")],
  [BsonType.double, toDouble],
  [BsonType.decimal128, toDecimalValue],
  [BsonType.bool, toBool],
  [BsonType.date, toDate],
  [BsonType.objectId, toObjectId],
] as Array<[BsonType, (v: RawValue) => RawValue]>);

function conversion(type: BsonType): OperatorCompiler {
  const convert = CONVERTERS.get(type)!;
  return unary((v) => (isNullish(v) ? NULL : convert(v)));
}

const convert: OperatorCompiler = (argument, scope, name) => {
  const named = namedArguments(name, argument, ["input", "to", "onError", "onNull"], 9);
  const [input, to, onError, onNull] = ["input", "to", "onError", "onNull"].map((part) => {
    const value = named.get(part);
    return value === undefined ? undefined : compile(value, scope);
  });
  if (input === undefined) throw new CommandError(9, "Missing 'input' parameter to $convert");
  if (to === undefined) throw new CommandError(9, "Missing 'to' parameter to $convert");
  return (context) => {
    const target = to(context);
    const v = input(context);
    if (isNullish(v)) return onNull === undefined ? NULL : onNull(context);
    if (isNullish(target)) return NULL;
    try {
      return targetConverter(target)(v);
    } catch (error) {
      if (onError !== undefined && error instanceof CommandError && error.code === CONVERSION_FAILURE) {
        return onError(context);
      }
      throw error;
    }
  };
};

function targetConverter(target: RawValue): (v: RawValue) => RawValue {
  const type =
    target.type === BsonType.string
      ? typeOfAlias(asString(target))
      : typeOfNumber(wholeNumber(target) ?? NaN);
  const converter = type === undefined ? undefined : CONVERTERS.get(type);
  if (converter !== undefined) return converter;
  if (type !== undefined) throw notSimulated(`$convert to ${describeValue(target)}`);
  throw new CommandError(
    2,
    `Unknown type name: ${target.type === BsonType.string ? asString(target) : describeValue(target)}`,
  );
}

export const CONVERSIONS: Readonly<Record<string, OperatorCompiler>> = {
  $type: unary((v) => string(typeName(v))),
  $isNumber: unary((v) => (v !== undefined && isNumeric(v) ? TRUE : FALSE)),
  $convert: convert,
  $toString: conversion(BsonType.string),
  $toInt: conversion(BsonType.int32),
  $toLong: conversion(BsonType.int64),
  $toDouble: conversion(BsonType.double),
  $toDecimal: conversion(BsonType.decimal128),
  $toBool: conversion(BsonType.bool),
  $toDate: conversion(BsonType.date),
  $toObjectId: conversion(BsonType.objectId),
};
