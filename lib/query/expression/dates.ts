/**
 * Parts of dates: `$year $month …`, `$dateToParts`, `$dateFromParts`, and the
 * halves of timestamps, `$tsSecond $tsIncrement`.
 *
 * A date is milliseconds since 1970 in UTC. With a time zone its parts are
 * those of the local clock there: the instant is shifted by the zone's offset
 * and read as if it were UTC.
 */
import {
  BsonType,
  DocumentWriter,
  NULL,
  asDocument,
  asTimestamp,
  date,
  describeDocument,
  describeValue,
  document,
  fields,
  int32,
  int64,
  isTruthy,
  type RawValue,
} from "../../bson/index.js";
import { CommandError } from "../../protocol/index.js";
import {
  MS_PER_DAY,
  civilDate,
  dayNumber,
  dayOfIsoWeek,
  dayOfYear,
  isoWeek,
  isoWeekday,
} from "../values/calendar.js";
import { int64Of } from "../values/numeric.js";
import { instantOf } from "../values/timeZone.js";
import { typeName } from "../values/types.js";
import {
  compileOptional,
  isNullish,
  namedArguments,
  unary,
  type Argument,
  type OperatorCompiler,
} from "./arguments.js";
import { compile } from "./compile.js";
import type { Expression, ExpressionContext } from "./context.js";
import { instant, zoneReader, type ZoneReader } from "./dateArguments.js";

/** Day number and milliseconds of the day on a local clock. */
export interface LocalTime {
  readonly days: number;
  readonly time: number;
}

/** Splits local milliseconds since 1970 into whole days and the time of the day. */
export function localTime(localMs: number): LocalTime {
  const days = Math.floor(localMs / MS_PER_DAY);
  return { days, time: localMs - days * MS_PER_DAY };
}

/** The argument of a part operator: a date, or `{ date, timezone }`. */
function partArguments(
  argument: RawValue,
  scope: Parameters<OperatorCompiler>[1],
  name: string,
): { given: Expression; zone: ZoneReader } {
  if (argument.type === BsonType.array) {
    const list = fields(asDocument(argument));
    if (list.length !== 1) {
      throw new CommandError(
        40536,
        `${name} accepts exactly one argument if given an array, but was given ${list.length}`,
      );
    }
    return { given: compile(list[0]![1], scope), zone: zoneReader(undefined) };
  }
  if (argument.type !== BsonType.object)
    return { given: compile(argument, scope), zone: zoneReader(undefined) };
  const doc = asDocument(argument);
  const list = fields(doc);
  if (list[0]?.[0].startsWith("$")) return { given: compile(argument, scope), zone: zoneReader(undefined) };
  for (const [field] of list) {
    if (field !== "date" && field !== "timezone") {
      throw new CommandError(40535, `unrecognized option to ${name}: "${field}"`);
    }
  }
  const named = new Map(list);
  const given = named.get("date");
  if (given === undefined) {
    throw new CommandError(
      40539,
      `missing 'date' argument to ${name}, provided: ${name}: ${describeDocument(doc)}`,
    );
  }
  return { given: compile(given, scope), zone: zoneReader(compileOptional(named, "timezone", scope)) };
}

function part(read: (local: LocalTime) => number, wrap: (n: number) => RawValue = int32): OperatorCompiler {
  return (argument, scope, name) => {
    const { given, zone } = partArguments(argument, scope, name);
    return (context) => {
      const v = given(context);
      if (isNullish(v)) return NULL;
      const ms = instant(v);
      const where = zone(context);
      return where === undefined ? NULL : wrap(read(localTime(ms + where.offsetAt(ms))));
    };
  };
}

const hour = ({ time }: LocalTime): number => Math.floor(time / 3_600_000);
const minute = ({ time }: LocalTime): number => Math.floor(time / 60_000) % 60;
const second = ({ time }: LocalTime): number => Math.floor(time / 1000) % 60;
const millisecond = ({ time }: LocalTime): number => time % 1000;

/** Sunday 1 – Saturday 7. */
export const dayOfWeek = ({ days }: LocalTime): number => (isoWeekday(days) % 7) + 1;

/** Week of the year from 0, weeks begin on Sundays. */
export const weekOfYear = (local: LocalTime): number =>
  Math.floor((dayOfYear(local.days) - dayOfWeek(local) + 7) / 7);

const dateToParts: OperatorCompiler = (argument, scope) => {
  const named = namedArguments(argument, ["date", "timezone", "iso8601"], {
    object: [40524, "$dateToParts only supports an object as its argument"],
    unknown: [40520, "Unrecognized argument to $dateToParts: "],
    required: { date: [40522, "Missing 'date' parameter to $dateToParts"] },
  });
  const given = compile(named.get("date")!, scope);
  const zone = zoneReader(compileOptional(named, "timezone", scope));
  const isoFlag = compileOptional(named, "iso8601", scope);
  return (context) => {
    const v = given(context);
    const where = zone(context);
    const iso = isoFlag === undefined ? undefined : isoFlag(context);
    if (where === undefined || (isoFlag !== undefined && isNullish(iso))) return NULL;
    if (iso !== undefined && iso.type !== BsonType.bool) {
      throw new CommandError(40521, `iso8601 must evaluate to a bool, found ${typeName(iso)}`);
    }
    if (isNullish(v)) return NULL;
    const ms = instant(v);
    const local = localTime(ms + where.offsetAt(ms));
    const writer = new DocumentWriter();
    if (isTruthy(iso)) {
      const { year, week } = isoWeek(local.days);
      writer.int32("isoWeekYear", year).int32("isoWeek", week).int32("isoDayOfWeek", isoWeekday(local.days));
    } else {
      const { year, month, day } = civilDate(local.days);
      writer.int32("year", year).int32("month", month).int32("day", day);
    }
    return document(
      writer
        .int32("hour", hour(local))
        .int32("minute", minute(local))
        .int32("second", second(local))
        .int32("millisecond", millisecond(local))
        .finish(),
    );
  };
};

const NATURAL = ["year", "month", "day"] as const;
const ISO = ["isoWeekYear", "isoWeek", "isoDayOfWeek"] as const;
const CLOCK = ["hour", "minute", "second", "millisecond"] as const;
const LENGTHS = [3_600_000, 60_000, 1000, 1];
/** Parts other than these must lie within 16 bits, so that nobody counts to the end of time. */
const UNBOUNDED: readonly string[] = ["year", "isoWeekYear", "second", "millisecond"];

/** An integer part; undefined where it is null. */
function datePart(
  expression: Expression | undefined,
  name: string,
  otherwise: number,
  context: ExpressionContext,
): number | undefined {
  if (expression === undefined) return otherwise;
  const v = expression(context);
  if (isNullish(v)) return undefined;
  const n = int64Of(v);
  if (n === undefined) {
    throw new CommandError(
      40515,
      `'${name}' must evaluate to an integer, found ${typeName(v)} with value ${describeValue(v)}`,
    );
  }
  if (!UNBOUNDED.includes(name) && (n < -32768n || n > 32767n)) {
    throw new CommandError(
      31034,
      `'${name}' must evaluate to a value in the range [-32768, 32767]; value ${n} is not in range`,
    );
  }
  return Number(n);
}

/** Parts may lie outside their ranges and carry over: month 14 is February of the next year. */
const dateFromParts: OperatorCompiler = (argument, scope) => {
  const named = namedArguments(argument, [...NATURAL, ...ISO, ...CLOCK, "timezone"], {
    object: [40519, "$dateFromParts only supports an object as its argument"],
    unknown: [40518, "Unrecognized argument to $dateFromParts: "],
  });
  const has = (name: string) => named.has(name);
  if (!has("year") && !has("isoWeekYear")) {
    throw new CommandError(40516, "$dateFromParts requires either 'year' or 'isoWeekYear' to be present");
  }
  if (has("year") && ISO.some(has)) {
    throw new CommandError(40489, "$dateFromParts does not allow mixing natural dates with ISO dates");
  }
  if (has("isoWeekYear") && NATURAL.some(has)) {
    throw new CommandError(40525, "$dateFromParts does not allow mixing ISO dates with natural dates");
  }
  const isIso = has("isoWeekYear");
  const names = isIso ? ISO : NATURAL;
  const dayParts = names.map((name) => compileOptional(named, name, scope));
  const clockParts = CLOCK.map((name) => compileOptional(named, name, scope));
  const zone = zoneReader(compileOptional(named, "timezone", scope));
  return (context) => {
    let time = 0;
    for (const [i, expression] of clockParts.entries()) {
      const n = datePart(expression, CLOCK[i]!, 0, context);
      if (n === undefined) return NULL;
      time += n * LENGTHS[i]!;
    }
    const where = zone(context);
    if (where === undefined) return NULL;
    const parts: number[] = [];
    for (const [i, expression] of dayParts.entries()) {
      const n = datePart(expression, names[i]!, i === 0 ? 1970 : 1, context);
      if (n === undefined) return NULL;
      parts.push(n);
    }
    const [year, middle, last] = parts as [number, number, number];
    if (year < 1 || year > 9999) {
      throw new CommandError(
        isIso ? 31095 : 40523,
        `'${names[0]}' must evaluate to an integer in the range 1 to 9999, found ${year}`,
      );
    }
    const days = isIso ? dayOfIsoWeek(year, middle, last) : dayNumber(year, middle, last);
    const local = days * MS_PER_DAY + time;
    if (!Number.isSafeInteger(local)) {
      throw new CommandError(5166406, "the parts are too large for a date");
    }
    return date(instantOf(local, where));
  };
};

function timestampPart(code: number, read: (ts: { high: number; low: number }) => number): OperatorCompiler {
  return unary((v: Argument, name) => {
    if (isNullish(v)) return NULL;
    if (v.type !== BsonType.timestamp) {
      throw new CommandError(code, ` Argument to ${name} must be a timestamp, but is ${typeName(v)}`);
    }
    return int64(read(asTimestamp(v)));
  });
}

export const DATES: Readonly<Record<string, OperatorCompiler>> = {
  $year: part(({ days }) => civilDate(days).year),
  $month: part(({ days }) => civilDate(days).month),
  $dayOfMonth: part(({ days }) => civilDate(days).day),
  $hour: part(hour),
  $minute: part(minute),
  $second: part(second),
  $millisecond: part(millisecond),
  $dayOfYear: part(({ days }) => dayOfYear(days)),
  $dayOfWeek: part(dayOfWeek),
  $week: part(weekOfYear),
  $isoDayOfWeek: part(({ days }) => isoWeekday(days)),
  $isoWeek: part(({ days }) => isoWeek(days).week),
  $isoWeekYear: part(({ days }) => isoWeek(days).year, int64),
  $dateToParts: dateToParts,
  $dateFromParts: dateFromParts,
  $tsSecond: timestampPart(5687301, ({ high }) => high),
  $tsIncrement: timestampPart(5687302, ({ low }) => low),
};
