/** Dates and text: `$dateToString`, `$dateFromString`. */
import { BsonType, NULL, asString, date, describeValue, string } from "../../bson/index.js";
import { CommandError } from "../../protocol/index.js";
import { civilDate, dayOfYear, isoWeek, isoWeekday } from "../values/calendar.js";
import { PARSE_LETTERS, checkFormat, parseDate, parseDateByFormat } from "../values/dateText.js";
import { typeName } from "../values/types.js";
import {
  compileOptional,
  isNullish,
  namedArguments,
  type Argument,
  type OperatorCompiler,
} from "./arguments.js";
import { compile } from "./compile.js";
import { conversionFailure, CONVERSION_FAILURE } from "./conversionError.js";
import { instant, zoneReader } from "./dateArguments.js";
import { dayOfWeek, localTime, weekOfYear, type LocalTime } from "./dates.js";
import { yearOutOfRange } from "./text.js";

const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

const pad = (n: number, width = 2): string => String(n).padStart(width, "0");

function offsetText(offset: number): string {
  const minutes = Math.floor(Math.abs(offset) / 60_000);
  return `${offset < 0 ? "-" : "+"}${pad(Math.floor(minutes / 60))}${pad(minutes % 60)}`;
}

/** What each specifier writes; `offset` is the zone's, in milliseconds. */
const WRITERS: Readonly<Record<string, (local: LocalTime, offset: number) => string>> = {
  Y: ({ days }) => pad(civilDate(days).year, 4),
  m: ({ days }) => pad(civilDate(days).month),
  d: ({ days }) => pad(civilDate(days).day),
  H: ({ time }) => pad(Math.floor(time / 3_600_000)),
  M: ({ time }) => pad(Math.floor(time / 60_000) % 60),
  S: ({ time }) => pad(Math.floor(time / 1000) % 60),
  L: ({ time }) => pad(time % 1000, 3),
  j: ({ days }) => pad(dayOfYear(days), 3),
  w: (local) => String(dayOfWeek(local)),
  u: ({ days }) => String(isoWeekday(days)),
  U: (local) => pad(weekOfYear(local)),
  V: ({ days }) => pad(isoWeek(days).week),
  G: ({ days }) => pad(isoWeek(days).year, 4),
  b: ({ days }) => MONTHS[civilDate(days).month - 1]!.slice(0, 3),
  B: ({ days }) => MONTHS[civilDate(days).month - 1]!,
  z: (_, offset) => offsetText(offset),
  Z: (_, offset) => String(Math.trunc(offset / 60_000)),
};
const LETTERS = Object.keys(WRITERS).join("");

function formatted(format: string, local: LocalTime, offset: number): string {
  const { year } = civilDate(local.days);
  if ((year < 0 || year > 9999) && /%[YGmdjbB]/.test(format)) throw yearOutOfRange(year);
  return format.replace(/%(.)/gs, (_, letter: string) => WRITERS[letter]?.(local, offset) ?? "%");
}

/** A format that is given: undefined where it is null. Throws the code for anything but a string. */
function formatText(v: Argument, code: number, operator: string, letters: string): string | undefined {
  if (isNullish(v)) return undefined;
  if (v.type !== BsonType.string) {
    throw new CommandError(
      code,
      `${operator} requires that 'format' be a string, found: ${typeName(v)} with value ${describeValue(v)}`,
    );
  }
  const format = asString(v);
  checkFormat(format, letters);
  return format;
}

const dateToString: OperatorCompiler = (argument, scope, name) => {
  const named = namedArguments(argument, ["date", "format", "timezone", "onNull"], {
    object: [18629, "$dateToString only supports an object as its argument"],
    unknown: [18534, "Unrecognized argument to $dateToString: "],
    required: { date: [18628, "Missing 'date' parameter to $dateToString"] },
  });
  const given = compile(named.get("date")!, scope);
  const format = compileOptional(named, "format", scope);
  const zone = zoneReader(compileOptional(named, "timezone", scope));
  const onNull = compileOptional(named, "onNull", scope);
  return (context) => {
    const v = given(context);
    const wanted = format && formatText(format(context), 18533, name, LETTERS);
    const where = zone(context);
    if (isNullish(v)) return onNull === undefined ? NULL : onNull(context);
    if (where === undefined || (format !== undefined && wanted === undefined)) return NULL;
    const ms = instant(v);
    const offset = where.offsetAt(ms);
    const pattern = wanted ?? (where.isUtc ? "%Y-%m-%dT%H:%M:%S.%LZ" : "%Y-%m-%dT%H:%M:%S.%L");
    return string(formatted(pattern, localTime(ms + offset), offset));
  };
};

const dateFromString: OperatorCompiler = (argument, scope, name) => {
  const named = namedArguments(argument, ["dateString", "format", "timezone", "onNull", "onError"], {
    object: [40540, "$dateFromString only supports an object as an argument, found: {type}"],
    unknown: [40541, "Unrecognized argument to $dateFromString: "],
    required: { dateString: [40542, "Missing 'dateString' parameter to $dateFromString"] },
  });
  const given = compile(named.get("dateString")!, scope);
  const format = compileOptional(named, "format", scope);
  const zone = zoneReader(compileOptional(named, "timezone", scope));
  const onNull = compileOptional(named, "onNull", scope);
  const onError = compileOptional(named, "onError", scope);
  return (context) => {
    const v = given(context);
    const wanted = format && formatText(format(context), 40684, name, PARSE_LETTERS);
    const where = zone(context);
    if (isNullish(v)) return onNull === undefined ? NULL : onNull(context);
    try {
      if (v.type !== BsonType.string) {
        throw conversionFailure(
          `$dateFromString requires that 'dateString' be a string, found: ${typeName(v)} with value ${describeValue(v)}`,
        );
      }
      if (where === undefined || (format !== undefined && wanted === undefined)) return NULL;
      const text = asString(v);
      return date(wanted === undefined ? parseDate(text, where) : parseDateByFormat(text, wanted, where));
    } catch (error) {
      if (onError !== undefined && error instanceof CommandError && error.code === CONVERSION_FAILURE) {
        return onError(context);
      }
      throw error;
    }
  };
};

export const DATE_STRINGS: Readonly<Record<string, OperatorCompiler>> = {
  $dateToString: dateToString,
  $dateFromString: dateFromString,
};
