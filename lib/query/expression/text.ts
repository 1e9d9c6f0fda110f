/** Values as text: what `$toString` and the string operators make of a value that is no string. */
import {
  BsonType,
  asBigInt,
  asMilliseconds,
  asNumber,
  asString,
  describeValue,
  type RawValue,
} from "../../bson/index.js";
import { CommandError } from "../../protocol/index.js";
import { MS_PER_DAY, civilDate } from "../values/calendar.js";
import { typeName } from "../values/types.js";
import { isNullish, type Argument } from "./arguments.js";

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

const pad = (n: number, width = 2): string => String(n).padStart(width, "0");

/** `2024-02-29T13:14:15.016Z`. Throws 18537 for years beyond four digits. */
export function isoText(v: RawValue): string {
  const ms = asMilliseconds(v);
  const days = Math.floor(ms / MS_PER_DAY);
  const { year, month, day } = civilDate(days);
  if (year < 0 || year > 9999 || !Number.isSafeInteger(ms)) throw yearOutOfRange(year);
  const time = ms - days * MS_PER_DAY;
  const clock = `${pad(Math.floor(time / 3_600_000))}:${pad(Math.floor(time / 60_000) % 60)}:${pad(Math.floor(time / 1000) % 60)}.${pad(time % 1000, 3)}`;
  return `${pad(year, 4)}-${pad(month)}-${pad(day)}T${clock}Z`;
}

/** `$dateToString` and its like know four digits of a year. */
export function yearOutOfRange(year: number): CommandError {
  return new CommandError(
    18537,
    `Could not convert date to string: date component was outside the supported range of 0-9999: ${year}`,
  );
}

/** Text of a string, number, date or timestamp; undefined for all else. */
export function scalarText(v: RawValue): string | undefined {
  switch (v.type) {
    case BsonType.string:
    case BsonType.symbol:
    case BsonType.code:
      return asString(v);
    case BsonType.double:
      return formatDouble(asNumber(v));
    case BsonType.int32:
    case BsonType.int64:
      return String(asBigInt(v));
    case BsonType.decimal128:
    case BsonType.timestamp:
      return describeValue(v);
    case BsonType.date:
      return isoText(v);
    default:
      return undefined;
  }
}

/** What string operators make of their argument: null is the empty string. Throws 16007 for objects and their like. */
export function coerceToString(v: Argument): string {
  if (isNullish(v)) return "";
  const text = scalarText(v);
  if (text === undefined) {
    throw new CommandError(16007, `can't convert from BSON type ${typeName(v)} to String`);
  }
  return text;
}

/** True for a string. */
export function isString(v: Argument): v is RawValue & { readonly type: 2 } {
  return v !== undefined && v.type === BsonType.string;
}

/** Text of a string argument, or an error that names the type found instead. */
export function textOf(v: Argument, code: number, message: (type: string) => string): string {
  if (!isString(v)) throw new CommandError(code, message(typeName(v)));
  return asString(v);
}
