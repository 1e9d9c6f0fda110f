/** The calendar, time zones and dates in text, against dates that can be looked up. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CommandError } from "../../lib/protocol/index.js";
import {
  MS_PER_DAY,
  civilDate,
  dayNumber,
  dayOfIsoWeek,
  isoWeek,
  isoWeekday,
} from "../../lib/query/values/calendar.js";
import { parseDate, parseDateByFormat } from "../../lib/query/values/dateText.js";
import { UTC, instantOf, timeZone } from "../../lib/query/values/timeZone.js";
import { dateAdd, dateDiff, truncateDate } from "../../lib/query/values/timeUnits.js";

const iso = (ms: number) => new Date(ms).toISOString();
const code = (call: () => unknown): number | undefined => {
  try {
    call();
    return undefined;
  } catch (error) {
    return error instanceof CommandError ? error.code : -1;
  }
};

describe("the calendar", () => {
  test("day numbers and civil dates belong together, as Date counts them", () => {
    fc.assert(
      fc.property(fc.integer({ min: -1_000_000, max: 3_000_000 }), (days) => {
        const { year, month, day } = civilDate(days);
        expect(dayNumber(year, month, day)).toBe(days);
        const date = new Date(days * MS_PER_DAY);
        expect([year, month, day]).toEqual([
          date.getUTCFullYear(),
          date.getUTCMonth() + 1,
          date.getUTCDate(),
        ]);
      }),
    );
  });

  test.each([
    [2021, 1, 1, 2020, 53, 5],
    [2016, 1, 4, 2016, 1, 1],
    [2018, 12, 31, 2019, 1, 1],
    [2024, 2, 29, 2024, 9, 4],
  ])("%d-%d-%d is in ISO week %d-W%d-%d", (y, m, d, year, week, weekday) => {
    const days = dayNumber(y, m, d);
    expect(isoWeek(days)).toMatchObject({ year, week });
    expect(isoWeekday(days)).toBe(weekday);
    expect(dayOfIsoWeek(year, week, weekday)).toBe(days);
  });
});

describe("time zones", () => {
  test.each([
    ["UTC", 0, 0],
    ["GMT", 0, 0],
    ["+05:30", 0, 330],
    ["-0330", 0, -210],
    ["+14", 0, 840],
    ["America/New_York", Date.UTC(2024, 0, 1), -300],
    ["America/New_York", Date.UTC(2024, 6, 1), -240],
    ["Asia/Kolkata", Date.UTC(2024, 6, 1), 330],
    ["Europe/Berlin", Date.UTC(2024, 2, 31, 0, 59, 59), 60],
    ["Europe/Berlin", Date.UTC(2024, 2, 31, 1), 120],
  ])("%s at %d is %d minutes east", (id, ms, minutes) => {
    expect(timeZone(id).offsetAt(ms)).toBe(minutes * 60_000);
  });

  test.each(["Nowhere/City", "+5:3", "", "+24:61x"])("%j is none", (id) => {
    expect(code(() => timeZone(id))).toBe(40485);
  });

  test("a local time is looked up, also next to a change of the clocks", () => {
    const berlin = timeZone("Europe/Berlin");
    expect(iso(instantOf(Date.UTC(2024, 2, 31, 12), berlin))).toBe("2024-03-31T10:00:00.000Z");
    // Half past two doesn't exist on that day: it is half past three.
    expect(iso(instantOf(Date.UTC(2024, 2, 31, 2, 30), berlin))).toBe("2024-03-31T01:30:00.000Z");
  });
});

describe("dates in text", () => {
  test.each([
    ["2018-03-20", "2018-03-20T00:00:00.000Z"],
    ["2018-03-20T11:00:06.5Z", "2018-03-20T11:00:06.500Z"],
    ["2018-03-20 11:00 +0500", "2018-03-20T06:00:00.000Z"],
    ["20180320T110006Z", "2018-03-20T11:00:06.000Z"],
    ["2018-079", "2018-03-20T00:00:00.000Z"],
    ["2018-W12-2", "2018-03-20T00:00:00.000Z"],
    ["3/20/2018", "2018-03-20T00:00:00.000Z"],
    ["March 20th, 2018 5pm", "2018-03-20T17:00:00.000Z"],
    ["Tue, 20 Mar 2018 11:00:06 GMT", "2018-03-20T11:00:06.000Z"],
    ["@1521543606", "2018-03-20T11:00:06.000Z"],
  ])("%s", (text, expected) => expect(iso(parseDate(text, UTC))).toBe(expected));

  test.each([
    ["nonsense", 241],
    ["2018-02-30", 241],
    ["20177-02-09T03:35:02.055", 241],
    ["", 241],
    // MongoDB may read it: better refused than taken for no date
    ["last monday of march 2018", 238],
  ])("%j → %d", (text, expected) => expect(code(() => parseDate(text, UTC))).toBe(expected));

  test.each([
    ["06-15-2018", "%m-%d-%Y", "2018-06-15T00:00:00.000Z"],
    ["15/06/2018 13:14:15.016 +02:00", "%d/%m/%Y %H:%M:%S.%L %z", "2018-06-15T11:14:15.016Z"],
    ["5 of Jun 2018", "%d of %b %Y", "2018-06-05T00:00:00.000Z"],
    ["2018 W24 5", "%G W%V %u", "2018-06-15T00:00:00.000Z"],
    ["2018 166", "%Y %j", "2018-06-15T00:00:00.000Z"],
  ])("%s as %s", (text, format, expected) =>
    expect(iso(parseDateByFormat(text, format, UTC))).toBe(expected),
  );

  test.each([
    ["06-15", "%m-%d-%Y"],
    ["2018-13-01", "%Y-%m-%d"],
    ["2018-06-15 x", "%Y-%m-%d"],
  ])("%s as %s is none", (text, format) =>
    expect(code(() => parseDateByFormat(text, format, UTC))).toBe(241),
  );
});

describe("units of time", () => {
  const zone = timeZone("America/New_York");

  test("adding days keeps the local clock", () => {
    const before = Date.UTC(2024, 2, 9, 17);
    expect(iso(dateAdd(before, "day", 1n, zone))).toBe("2024-03-10T16:00:00.000Z");
    expect(iso(dateAdd(before, "hour", 24n, zone))).toBe("2024-03-10T17:00:00.000Z");
  });

  test("months end where they do", () => {
    expect(iso(dateAdd(Date.UTC(2024, 0, 31), "month", 1n, UTC))).toBe("2024-02-29T00:00:00.000Z");
    expect(iso(dateAdd(Date.UTC(2024, 1, 29), "year", -1n, UTC))).toBe("2023-02-28T00:00:00.000Z");
  });

  test("a difference counts the borders between", () => {
    const [from, to] = [Date.UTC(2023, 11, 31, 23, 59), Date.UTC(2024, 0, 1)];
    const units = ["year", "quarter", "month", "week", "day", "hour", "minute", "second"] as const;
    expect(units.map((unit) => dateDiff(from, to, unit, UTC, 7))).toEqual([1n, 1n, 1n, 0n, 1n, 1n, 1n, 60n]);
    expect(dateDiff(from, to, "week", UTC, 1)).toBe(1n);
  });

  test("truncating gives a border at or before, less than a bin away", () => {
    const unit = fc.constantFrom(
      "hour" as const,
      "day" as const,
      "week" as const,
      "month" as const,
      "year" as const,
    );
    fc.assert(
      fc.property(
        fc.integer({ min: -2e12, max: 4e12 }),
        unit,
        fc.integer({ min: 1, max: 5 }),
        (ms, each, bins) => {
          const start = truncateDate(ms, each, BigInt(bins), UTC, 7);
          expect(start).toBeLessThanOrEqual(ms);
          expect(dateAdd(start, each, BigInt(bins), UTC)).toBeGreaterThan(ms);
          expect(truncateDate(start, each, BigInt(bins), UTC, 7)).toBe(start);
        },
      ),
    );
  });
});
