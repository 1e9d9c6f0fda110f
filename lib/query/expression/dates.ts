/**
 * Dates: the parts (`$year $month …`), `$dateToString`, `$dateTrunc`.
 *
 * A date is milliseconds since 1970 in UTC. With a time zone its parts are
 * those of the local clock there: the instant is shifted by the zone's offset
 * and read as if it were UTC.
 */
import {
  BsonType,
  NULL,
  asDocument,
  asMilliseconds,
  asString,
  asTimestamp,
  date,
  fields,
  int32,
  int64,
  string,
  type RawValue,
} from "../../bson/index.js";
import { CommandError, notSimulated } from "../../protocol/index.js";
import { wholeNumber } from "../values/numeric.js";
import { typeName } from "../values/types.js";
import { compileArguments, isNullish, type Argument, type OperatorCompiler } from "./arguments.js";
import { compile } from "./compile.js";
import type { Expression } from "./context.js";
import { objectIdSeconds, offsetMinutes } from "./convert.js";
import { namedArguments } from "./fieldPath.js";

const DAY = 86_400_000;

/** Milliseconds of a date, timestamp or ObjectId. Throws 16006 for all else. */
function instant(v: RawValue): number {
  switch (v.type) {
    case BsonType.date:
      return asMilliseconds(v);
    case BsonType.timestamp:
      return asTimestamp(v).high * 1000;
    case BsonType.objectId:
      return objectIdSeconds(v) * 1000;
    default:
      throw new CommandError(16006, `can't convert from BSON type ${typeName(v)} to Date`);
  }
}

const formatters = new Map<string, Intl.DateTimeFormat>();

/** The offset of a zone at an instant, in milliseconds east of UTC. Throws 40485 for an unknown zone. */
function zoneOffset(zone: string, ms: number): number {
  if (zone === "UTC" || zone === "GMT" || zone === "Z") return 0;
  const minutes = offsetMinutes(zone);
  if (minutes !== undefined) return minutes * 60_000;
  let formatter = formatters.get(zone);
  if (formatter === undefined) {
    try {
      formatter = new Intl.DateTimeFormat("en-US", {
        timeZone: zone,
        hourCycle: "h23",
        year: "numeric",
        month: "numeric",
        day: "numeric",
        hour: "numeric",
        minute: "numeric",
        second: "numeric",
      });
    } catch {
      throw new CommandError(40485, `unrecognized time zone identifier: "${zone}"`);
    }
    if (formatters.size > 50) formatters.clear();
    formatters.set(zone, formatter);
  }
  const part: Record<string, number> = {};
  for (const { type, value } of formatter.formatToParts(ms)) part[type] = Number(value);
  const local = Date.UTC(
    part["year"]!,
    part["month"]! - 1,
    part["day"]!,
    part["hour"]!,
    part["minute"]!,
    part["second"]!,
  );
  return local - Math.floor(ms / 1000) * 1000;
}

function zoneOf(v: Argument): string {
  if (v?.type !== BsonType.string) {
    throw new CommandError(40517, `timezone must evaluate to a string, found ${typeName(v)}`);
  }
  return asString(v);
}

/** The argument of a part operator: a date, or `{ date, timezone }`. */
function localTime(
  argument: RawValue,
  scope: Parameters<OperatorCompiler>[1],
  name: string,
): (context: Parameters<Expression>[0]) => Date | undefined {
  let dateExpression: Expression;
  let zoneExpression: Expression | undefined;
  const named =
    argument.type === BsonType.object &&
    !fields(asDocument(argument)).some(([field]) => field.startsWith("$"));
  if (named) {
    const map = namedArguments(name, argument, ["date", "timezone"], 40535);
    const given = map.get("date");
    if (given === undefined) throw new CommandError(40539, `missing 'date' argument to ${name}`);
    dateExpression = compile(given, scope);
    const zone = map.get("timezone");
    zoneExpression = zone === undefined ? undefined : compile(zone, scope);
  } else {
    [dateExpression] = compileArguments(argument, scope, name, 1) as [Expression];
  }
  return (context) => {
    const v = dateExpression(context);
    if (isNullish(v)) return undefined;
    const ms = instant(v);
    if (zoneExpression === undefined) return new Date(ms);
    const zone = zoneExpression(context);
    return isNullish(zone) ? undefined : new Date(ms + zoneOffset(zoneOf(zone), ms));
  };
}

function part(read: (local: Date) => number): OperatorCompiler {
  return (argument, scope, name) => {
    const local = localTime(argument, scope, name);
    return (context) => {
      const time = local(context);
      return time === undefined ? NULL : int32(read(time));
    };
  };
}

function dayOfYear(time: Date): number {
  const start = Date.UTC(time.getUTCFullYear(), 0, 1);
  return Math.floor((time.getTime() - start) / DAY) + 1;
}

/** Week of the year from 0, weeks begin on Sundays. */
function week(time: Date): number {
  return Math.floor((dayOfYear(time) + 6 - time.getUTCDay()) / 7);
}

/** Week and its year by ISO 8601: weeks begin on Mondays, week 1 has the year's first Thursday. */
function isoWeek(time: Date): { year: number; week: number } {
  const weekday = (time.getUTCDay() + 6) % 7;
  const thursday = new Date(time.getTime() + (3 - weekday) * DAY);
  return { year: thursday.getUTCFullYear(), week: Math.floor((dayOfYear(thursday) - 1) / 7) + 1 };
}

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

function offsetText(offset: number): string {
  const minutes = Math.abs(offset) / 60_000;
  const digits = (n: number) => String(Math.floor(n)).padStart(2, "0");
  return `${offset < 0 ? "-" : "+"}${digits(minutes / 60)}${digits(minutes % 60)}`;
}

function formatted(format: string, time: Date, offset: number): string {
  const pad = (n: number, width = 2) => String(n).padStart(width, "0");
  return format.replace(/%(.?)/g, (_, specifier: string) => {
    switch (specifier) {
      case "Y":
        return pad(time.getUTCFullYear(), 4);
      case "m":
        return pad(time.getUTCMonth() + 1);
      case "d":
        return pad(time.getUTCDate());
      case "H":
        return pad(time.getUTCHours());
      case "M":
        return pad(time.getUTCMinutes());
      case "S":
        return pad(time.getUTCSeconds());
      case "L":
        return pad(time.getUTCMilliseconds(), 3);
      case "j":
        return pad(dayOfYear(time), 3);
      case "w":
        return String(time.getUTCDay() + 1);
      case "u":
        return String(((time.getUTCDay() + 6) % 7) + 1);
      case "U":
        return pad(week(time));
      case "V":
        return pad(isoWeek(time).week);
      case "G":
        return pad(isoWeek(time).year, 4);
      case "b":
        return MONTHS[time.getUTCMonth()]!.slice(0, 3);
      case "B":
        return MONTHS[time.getUTCMonth()]!;
      case "z":
        return offsetText(offset);
      case "Z":
        return String(offset / 60_000);
      case "%":
        return "%";
      default:
        throw new CommandError(18536, `Invalid format character '%${specifier}' in format string`);
    }
  });
}

const dateToString: OperatorCompiler = (argument, scope, name) => {
  const named = namedArguments(name, argument, ["date", "format", "timezone", "onNull"], 18534);
  const [given, format, timezone, onNull] = ["date", "format", "timezone", "onNull"].map((key) => {
    const value = named.get(key);
    return value === undefined ? undefined : compile(value, scope);
  });
  if (given === undefined) throw new CommandError(18628, "Missing 'date' parameter to $dateToString");
  return (context) => {
    const v = given(context);
    if (isNullish(v)) return onNull === undefined ? NULL : onNull(context);
    const ms = instant(v);
    let pattern = "%Y-%m-%dT%H:%M:%S.%LZ";
    if (format !== undefined) {
      const text = format(context);
      if (isNullish(text)) return NULL;
      if (text.type !== BsonType.string)
        throw new CommandError(18533, "$dateToString requires that 'format' be a string");
      pattern = asString(text);
    }
    let offset = 0;
    if (timezone !== undefined) {
      const zone = timezone(context);
      if (isNullish(zone)) return NULL;
      offset = zoneOffset(zoneOf(zone), ms);
      if (format === undefined && offset !== 0) pattern = "%Y-%m-%dT%H:%M:%S.%L%z";
    }
    return string(formatted(pattern, new Date(ms + offset), offset));
  };
};

const FIXED_UNITS: Readonly<Record<string, number>> = {
  millisecond: 1,
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: DAY,
  week: 7 * DAY,
};
const MONTH_UNITS: Readonly<Record<string, number>> = { month: 1, quarter: 3, year: 12 };
const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
/** Bins are counted from here. */
const REFERENCE = Date.UTC(2000, 0, 1);
const REFERENCE_WEEKDAY = 6;

/** `$dateTrunc`: the start of the bin that a date lies in, for UTC and fixed offsets. */
const dateTrunc: OperatorCompiler = (argument, scope, name) => {
  const named = namedArguments(
    name,
    argument,
    ["date", "unit", "binSize", "timezone", "startOfWeek"],
    5439008,
  );
  const [given, unit, binSize, timezone, startOfWeek] = [
    "date",
    "unit",
    "binSize",
    "timezone",
    "startOfWeek",
  ].map((key) => {
    const value = named.get(key);
    return value === undefined ? undefined : compile(value, scope);
  });
  if (given === undefined) throw new CommandError(5439009, "Missing 'date' parameter to $dateTrunc");
  if (unit === undefined) throw new CommandError(5439010, "Missing 'unit' parameter to $dateTrunc");
  return (context) => {
    const values = [given, unit, binSize, timezone, startOfWeek].map((expression) => expression?.(context));
    const [v, unitValue, sizeValue, zoneValue, weekValue] = values;
    if (isNullish(v) || isNullish(unitValue)) return NULL;
    if (unitValue.type !== BsonType.string)
      throw new CommandError(5439013, "$dateTrunc requires 'unit' to be a string");
    const unitName = asString(unitValue);
    const size = sizeValue === undefined ? 1 : wholeNumber(sizeValue);
    if (size === undefined || size <= 0)
      throw new CommandError(5439018, "$dateTrunc requires 'binSize' to be greater than 0");
    const ms = instant(v);
    const zone = zoneValue === undefined ? "UTC" : zoneOf(zoneValue);
    if (zone !== "UTC" && zone !== "GMT" && offsetMinutes(zone) === undefined) {
      throw notSimulated("$dateTrunc in a time zone with daylight saving");
    }
    const offset = zoneOffset(zone, ms);
    const months = MONTH_UNITS[unitName];
    if (months !== undefined) return date(truncateMonths(ms + offset, months * size) - offset);
    const fixed = FIXED_UNITS[unitName];
    if (fixed === undefined) throw new CommandError(9, `unknown time unit value: ${unitName}`);
    let reference = REFERENCE;
    if (unitName === "week") {
      if (size > 1) throw notSimulated("$dateTrunc to more than one week");
      const first = weekValue === undefined ? "sunday" : asString(weekValue).toLowerCase();
      const day = WEEKDAYS.findIndex((weekday) => weekday === first || weekday.slice(0, 3) === first);
      if (day === -1) throw new CommandError(9, `unknown day of week value: ${first}`);
      reference += (day - REFERENCE_WEEKDAY) * DAY;
    }
    const length = fixed * size;
    return date(reference + Math.floor((ms + offset - reference) / length) * length - offset);
  };
};

function truncateMonths(localMs: number, length: number): number {
  const local = new Date(localMs);
  const months = (local.getUTCFullYear() - 2000) * 12 + local.getUTCMonth();
  return Date.UTC(2000, Math.floor(months / length) * length, 1);
}

export const DATES: Readonly<Record<string, OperatorCompiler>> = {
  $year: part((time) => time.getUTCFullYear()),
  $month: part((time) => time.getUTCMonth() + 1),
  $dayOfMonth: part((time) => time.getUTCDate()),
  $hour: part((time) => time.getUTCHours()),
  $minute: part((time) => time.getUTCMinutes()),
  $second: part((time) => time.getUTCSeconds()),
  $millisecond: part((time) => time.getUTCMilliseconds()),
  $dayOfYear: part(dayOfYear),
  $dayOfWeek: part((time) => time.getUTCDay() + 1),
  $week: part(week),
  $isoDayOfWeek: part((time) => ((time.getUTCDay() + 6) % 7) + 1),
  $isoWeek: part((time) => isoWeek(time).week),
  $isoWeekYear: (argument, scope, name) => {
    const local = localTime(argument, scope, name);
    return (context) => {
      const time = local(context);
      return time === undefined ? NULL : int64(isoWeek(time).year);
    };
  },
  $dateToString: dateToString,
  $dateTrunc: dateTrunc,
};
