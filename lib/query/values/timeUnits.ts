/**
 * Calendar arithmetic: adding units of time, counting them between two dates,
 * and cutting a date down to a bin of them.
 *
 * Units up to the hour are spans of time and don't care about clocks. From
 * the day on they are steps in a calendar, taken on the local clock: a day
 * later is the same time on the clock, even where that are 23 hours. A month
 * after January 31 is the last day of February.
 *
 *     dateAdd(2024-01-31T10:00Z, "month", 1)                   → 2024-02-29T10:00Z
 *     dateDiff(2023-12-31T23:59Z, 2024-01-01T00:00Z, "year")   → 1      borders crossed, not years passed
 *     truncateDate(2024-05-17T…, "week", 1, zone, monday)      → 2024-05-13
 */
import { CommandError, ErrorCode, notSimulated } from "../../protocol/index.js";
import { civilDate, dayNumber, daysInMonth, isoWeekday, MS_PER_DAY } from "./calendar.js";
import { instantOf, type TimeZone } from "./timeZone.js";

const TIME_UNITS = [
  "year",
  "quarter",
  "month",
  "week",
  "day",
  "hour",
  "minute",
  "second",
  "millisecond",
] as const;
export type TimeUnit = (typeof TIME_UNITS)[number];

/** Lengths in milliseconds; of a month and its multiples, what MongoDB calls typical. */
export const TYPICAL_MS: Readonly<Record<TimeUnit, number>> = {
  year: 365 * MS_PER_DAY,
  quarter: 90 * MS_PER_DAY,
  month: 30 * MS_PER_DAY,
  week: 7 * MS_PER_DAY,
  day: MS_PER_DAY,
  hour: 3_600_000,
  minute: 60_000,
  second: 1000,
  millisecond: 1,
};

const MONTHS: Partial<Record<TimeUnit, number>> = { year: 12, quarter: 3, month: 1 };

/** The unit of a name. Throws 9 (FailedToParse) for any other. */
export function timeUnit(name: string): TimeUnit {
  if (!(TIME_UNITS as readonly string[]).includes(name)) {
    throw new CommandError(ErrorCode.FailedToParse, `unknown time unit value: ${name}`);
  }
  return name as TimeUnit;
}

const WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/** Monday 1 – Sunday 7, from a name or its first three letters in any case; undefined for all else. */
export function weekday(name: string): number | undefined {
  const lower = name.toLowerCase();
  const at = WEEKDAYS.findIndex((day) => day === lower || day.slice(0, 3) === lower);
  return at === -1 ? undefined : at + 1;
}

/** Dates are exact as JavaScript numbers up to here, some years beyond 287,000 on both sides. */
function checked(ms: bigint, overflow: () => CommandError): number {
  if (BigInt.asIntN(64, ms) !== ms) throw overflow();
  const n = Number(ms);
  if (!Number.isSafeInteger(n)) throw notSimulated("dates beyond the year 287000");
  return n;
}

const MAX_DAYS = 213_503_982_336n;
/** Amounts beyond these cannot lead from one date to another. */
const MAX_AMOUNT: Readonly<Record<TimeUnit, bigint>> = {
  year: MAX_DAYS / 365n + 1n,
  quarter: (MAX_DAYS / 365n + 1n) * 4n,
  month: (MAX_DAYS / 365n + 1n) * 12n,
  week: MAX_DAYS / 7n,
  day: MAX_DAYS,
  hour: MAX_DAYS * 24n,
  minute: MAX_DAYS * 1440n,
  second: MAX_DAYS * 86_400n,
  millisecond: 2n ** 63n,
};

/**
 * A date `amount` units later.
 * @param ms milliseconds since 1970
 * @throws CommandError 5976500 for an amount out of all range, 5166406 where the result is no date
 */
export function dateAdd(ms: number, unit: TimeUnit, amount: bigint, zone: TimeZone): number {
  const limit = MAX_AMOUNT[unit];
  if (amount <= -limit || amount >= limit) {
    throw new CommandError(5976500, `invalid dateAdd 'amount' parameter value: ${amount} ${unit}`);
  }
  const overflow = () => new CommandError(5166406, "dateAdd overflowed");
  if (unit === "week" || unit === "day") {
    const local = BigInt(ms + zone.offsetAt(ms)) + amount * BigInt(TYPICAL_MS[unit]);
    return instantOf(checked(local, overflow), zone);
  }
  const months = MONTHS[unit];
  if (months === undefined) return checked(BigInt(ms) + amount * BigInt(TYPICAL_MS[unit]), overflow);
  const local = ms + zone.offsetAt(ms);
  const days = Math.floor(local / MS_PER_DAY);
  const { year, month, day } = civilDate(days);
  const ahead = year * 12 + month - 1 + Number(amount) * months;
  const targetYear = Math.floor(ahead / 12);
  const targetMonth = ahead - targetYear * 12 + 1;
  const target = dayNumber(targetYear, targetMonth, Math.min(day, daysInMonth(targetYear, targetMonth)));
  const shifted = BigInt(target) * BigInt(MS_PER_DAY) + BigInt(local - days * MS_PER_DAY);
  return instantOf(checked(shifted, overflow), zone);
}

/**
 * How many borders of a unit lie between two dates; negative where the end is the earlier one.
 * @param startOfWeek Monday 1 – Sunday 7
 */
export function dateDiff(
  start: number,
  end: number,
  unit: TimeUnit,
  zone: TimeZone,
  startOfWeek: number,
): bigint {
  if (unit === "millisecond") return BigInt(end) - BigInt(start);
  return BigInt(bordersBetween(start, end, unit, zone, startOfWeek));
}

function bordersBetween(
  start: number,
  end: number,
  unit: TimeUnit,
  zone: TimeZone,
  startOfWeek: number,
): number {
  const from = start + zone.offsetAt(start);
  const to = end + zone.offsetAt(end);
  const fromDay = Math.floor(from / MS_PER_DAY);
  const toDay = Math.floor(to / MS_PER_DAY);
  const months = MONTHS[unit];
  if (months !== undefined) return monthBin(toDay, months) - monthBin(fromDay, months);
  if (unit === "day") return toDay - fromDay;
  if (unit === "week") return weekNumber(toDay, startOfWeek) - weekNumber(fromDay, startOfWeek);
  const length = TYPICAL_MS[unit];
  const clockChange = Math.trunc((from - start - (to - end)) / length);
  return Math.floor(to / length) - Math.floor(from / length) + clockChange;
}

/** Months, quarters or years since the year 0. */
function monthBin(days: number, length: number): number {
  const { year, month } = civilDate(days);
  return Math.floor((year * 12 + month - 1) / length);
}

function weekNumber(days: number, startOfWeek: number): number {
  return Math.floor((days - ((isoWeekday(days) - startOfWeek + 7) % 7)) / 7);
}

/** Bins are counted from the start of 2000 on the local clock. */
const REFERENCE_DAY = dayNumber(2000, 1, 1);

/**
 * The start of the bin that a date lies in.
 * @param binSize units of a bin, a positive integer
 * @throws CommandError 5439006 and 5439002 for bins larger than all time
 */
export function truncateDate(
  ms: number,
  unit: TimeUnit,
  binSize: bigint,
  zone: TimeZone,
  startOfWeek: number,
): number {
  let day = REFERENCE_DAY;
  if (unit === "week") day += (7 - ((isoWeekday(day) - startOfWeek + 7) % 7)) % 7;
  const midnight = REFERENCE_DAY * MS_PER_DAY;
  const reference = midnight - zone.offsetAt(midnight) + (day - REFERENCE_DAY) * MS_PER_DAY;
  if (MONTHS[unit] === undefined && unit !== "day" && unit !== "week") {
    const length = binSize * BigInt(TYPICAL_MS[unit]);
    if (BigInt.asIntN(64, length) !== length) throw new CommandError(5439002, "dateTrunc overflowed");
    return checked(
      BigInt(ms) - floorRemainder(BigInt(ms - reference), length),
      () => new CommandError(5439001, "dateTrunc overflowed"),
    );
  }
  if (binSize > 100_000_000_000n) throw new CommandError(5439006, "dateTrunc unsupported binSize value");
  const distance = dateDiff(reference, ms, unit, zone, startOfWeek);
  return dateAdd(reference, unit, distance - floorRemainder(distance, binSize), zone);
}

function floorRemainder(n: bigint, divisor: bigint): bigint {
  const remainder = n % divisor;
  return remainder < 0n ? remainder + divisor : remainder;
}
