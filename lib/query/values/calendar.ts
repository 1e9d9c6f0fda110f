/**
 * The proleptic Gregorian calendar as arithmetic on day numbers.
 *
 * Day 0 is 1970-01-01, a Thursday. JavaScript's Date would do, but it ends in
 * the year ±275760, makes an object for every question, and knows neither
 * ISO weeks nor months out of range. Years start in March here, so that the
 * leap day is the last of its year; 400 years are a cycle of 146097 days.
 *
 *     dayNumber(2024, 2, 29) → 19782        civilDate(19782) → 2024-02-29
 *     dayNumber(2023, 14, 1) → 19754        month 14 of 2023 is February 2024
 */

export const MS_PER_DAY = 86_400_000;

export interface CivilDate {
  readonly year: number;
  /** 1–12 */
  readonly month: number;
  /** 1–31 */
  readonly day: number;
}

/** Days since 1970 of a date; month and day may lie outside their ranges and carry over. */
export function dayNumber(year: number, month: number, day: number): number {
  const carried = year + Math.floor((month - 1) / 12);
  const m = month - 1 - 12 * Math.floor((month - 1) / 12); // 0–11
  const y = m < 2 ? carried - 1 : carried;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * ((m + 10) % 12) + 2) / 5);
  const dayOfEra =
    yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear + day - 1;
  return era * 146_097 + dayOfEra - 719_468;
}

/** Year, month and day of a day number. */
export function civilDate(days: number): CivilDate {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1;
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

/** 28–31; month 1–12. */
export function daysInMonth(year: number, month: number): number {
  return dayNumber(year, month + 1, 1) - dayNumber(year, month, 1);
}

/** 1–366 */
export function dayOfYear(days: number): number {
  return days - dayNumber(civilDate(days).year, 1, 1) + 1;
}

/** Monday 1 – Sunday 7. */
export function isoWeekday(days: number): number {
  return ((((days + 3) % 7) + 7) % 7) + 1;
}

/** Week and its year by ISO 8601: weeks begin on Mondays, week 1 has the year's first Thursday. */
export function isoWeek(days: number): { year: number; week: number } {
  const thursday = days + 4 - isoWeekday(days);
  return { year: civilDate(thursday).year, week: Math.floor((dayOfYear(thursday) - 1) / 7) + 1 };
}

/** The day of an ISO year, week and weekday; week and weekday may carry over. */
export function dayOfIsoWeek(year: number, week: number, weekday: number): number {
  const fourth = dayNumber(year, 1, 4); // always in week 1
  return fourth - isoWeekday(fourth) + 1 + (week - 1) * 7 + weekday - 1;
}
