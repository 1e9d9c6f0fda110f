/** What MongoDB documents for expressions on dates. */
import { Double, ObjectId, Timestamp } from "bson";
import { of } from "./expressionRows.js";
import type { ExpressionRow } from "./row.js";

/** A Thursday. */
const T = new Date(Date.UTC(2024, 1, 29, 13, 14, 15, 16));
const utc = (...parts: Parameters<typeof Date.UTC>) => `new Date(${Date.UTC(...parts)})`;
const on = (...parts: Parameters<typeof Date.UTC>) => new Date(Date.UTC(...parts));

/** The same three kinds for each part of a date. */
const parts = (
  [
    ["$year", "int 2024"],
    ["$month", "int 2"],
    ["$dayOfMonth", "int 29"],
    ["$hour", "int 13"],
    ["$minute", "int 14"],
    ["$second", "int 15"],
    ["$millisecond", "int 16"],
    ["$dayOfYear", "int 60"],
    ["$dayOfWeek", "int 5"],
    ["$week", "int 8"],
    ["$isoDayOfWeek", "int 4"],
    ["$isoWeek", "int 9"],
    ["$isoWeekYear", "long 2024"],
  ] as const
).flatMap(([op, gives]) =>
  of(
    op,
    op.slice(1),
    ["scalar", { [op]: T }, {}, gives],
    ["null", { [op]: "$a" }, { a: null }, "null"],
    ["array", { [op]: "$a" }, { a: [T, T] }, 16006],
    ["array", { [op]: [T] }, {}, gives],
  ),
);

// prettier-ignore
export const dateRows: ExpressionRow[] = [
  ...parts,
  ...of("$hour", "hour",
    ["scalar", { $hour: { date: T, timezone: "America/New_York" } }, {}, "int 8", "gap"],
    ["scalar", { $hour: { date: T, timezone: "+0530" } }, {}, "int 18"],
    ["scalar", { $hour: { date: T, timezone: "Nowhere/City" } }, {}, 40485],
    ["null", { $hour: { date: T, timezone: null } }, {}, "null"]),
  ...of("$year", "year",
    ["scalar", { $year: new ObjectId("507f1f77bcf86cd799439011") }, {}, "int 2012", "gap"],
    ["scalar", { $year: new Timestamp({ t: 1622731060, i: 1 }) }, {}, "int 2021", "gap"],
    ["scalar", { $year: "March 28, 1976" }, {}, 16006]),
  ...of("$isoWeekYear", "isoWeekYear", ["scalar", { $isoWeekYear: on(2016, 0, 1) }, {}, "long 2015"]),
  ...of("$week", "week", ["scalar", { $week: on(2016, 0, 1) }, {}, "int 0"]),
  ...of("$dateToParts", "dateToParts",
    ["scalar", { $dateToParts: { date: T } }, {}, "{ year: 2024, month: 2, day: 29, hour: 13, minute: 14, second: 15, millisecond: 16 }"],
    ["scalar", { $dateToParts: { date: T, iso8601: true, timezone: "+12" } }, {}, "{ isoWeekYear: 2024, isoWeek: 9, isoDayOfWeek: 5, hour: 1, minute: 14, second: 15, millisecond: 16 }"],
    ["null", { $dateToParts: { date: "$a" } }, {}, "null"],
    ["array", { $dateToParts: { date: [1] } }, {}, 16006]),
  ...of("$dateFromParts", "dateFromParts",
    ["scalar", { $dateFromParts: { year: 2017, month: 2, day: 8, hour: 12 } }, {}, utc(2017, 1, 8, 12)],
    ["scalar", { $dateFromParts: { year: 2017, month: 14, day: 1 } }, {}, utc(2018, 1, 1)],
    ["scalar", { $dateFromParts: { year: 2017, month: 0, day: 1 } }, {}, utc(2016, 11, 1)],
    ["scalar", { $dateFromParts: { isoWeekYear: 2017, isoWeek: 6, isoDayOfWeek: 3, hour: 12 } }, {}, utc(2017, 1, 8, 12)],
    ["scalar", { $dateFromParts: { year: 2016, month: 12, day: 31, hour: 23, minute: 46, second: 12, timezone: "America/New_York" } }, {}, utc(2017, 0, 1, 4, 46, 12), "gap"],
    ["scalar", { $dateFromParts: { month: 2 } }, {}, 40516],
    ["null", { $dateFromParts: { year: 2017, month: "$a" } }, {}, "null"],
    ["array", { $dateFromParts: { year: [2017] } }, {}, 40515]),
  ...of("$dateAdd", "dateAdd",
    ["scalar", { $dateAdd: { startDate: on(2020, 9, 31), unit: "month", amount: 1 } }, {}, utc(2020, 10, 30)],
    ["scalar", { $dateAdd: { startDate: on(2021, 2, 14, 4), unit: "day", amount: 1, timezone: "America/New_York" } }, {}, utc(2021, 2, 15, 3), "gap"],
    ["scalar", { $dateAdd: { startDate: T, unit: "nosuch", amount: 1 } }, {}, 9],
    ["scalar", { $dateAdd: { startDate: T, unit: "day", amount: new Double(1.5) } }, {}, 5166405],
    ["null", { $dateAdd: { startDate: "$a", unit: "day", amount: 1 } }, {}, "null"],
    ["array", { $dateAdd: { startDate: [T], unit: "day", amount: 1 } }, {}, 5166403]),
  ...of("$dateSubtract", "dateSubtract",
    ["scalar", { $dateSubtract: { startDate: on(2021, 0, 31), unit: "quarter", amount: 1 } }, {}, utc(2020, 9, 31)],
    ["scalar", { $dateSubtract: { startDate: T, unit: "day" } }, {}, 5166402],
    ["null", { $dateSubtract: { startDate: T, unit: "day", amount: null } }, {}, "null"],
    ["array", { $dateSubtract: { startDate: T, unit: ["day"], amount: 1 } }, {}, 5439013]),
  ...of("$dateDiff", "dateDiff",
    ["scalar", { $dateDiff: { startDate: on(2021, 11, 31, 23, 59), endDate: on(2022, 0, 1), unit: "year" } }, {}, "long 1"],
    ["scalar", { $dateDiff: { startDate: on(2021, 0, 2), endDate: on(2021, 0, 3), unit: "week" } }, {}, "long 1"],
    ["scalar", { $dateDiff: { startDate: on(2021, 0, 2), endDate: on(2021, 0, 3), unit: "week", startOfWeek: "Monday" } }, {}, "long 0"],
    ["scalar", { $dateDiff: { startDate: T, endDate: T, unit: "nosuch" } }, {}, 9],
    ["null", { $dateDiff: { startDate: "$a", endDate: T, unit: "day" } }, {}, "null"],
    ["array", { $dateDiff: { startDate: [T], endDate: T, unit: "day" } }, {}, 5166307]),
  ...of("$dateTrunc", "dateTrunc",
    ["scalar", { $dateTrunc: { date: on(2021, 2, 20, 11, 30, 5), unit: "month", binSize: 2, timezone: "America/Los_Angeles" } }, {}, utc(2021, 2, 1, 8), "gap"],
    ["scalar", { $dateTrunc: { date: on(2021, 2, 20, 11, 30, 5), unit: "week", startOfWeek: "Monday" } }, {}, utc(2021, 2, 15)],
    ["scalar", { $dateTrunc: { date: on(2021, 2, 20, 11, 30, 5), unit: "hour", binSize: 6 } }, {}, utc(2021, 2, 20, 6)],
    ["scalar", { $dateTrunc: { date: T, unit: "day", binSize: 0 } }, {}, 5439018],
    ["null", { $dateTrunc: { date: "$a", unit: "day" } }, {}, "null"],
    ["array", { $dateTrunc: { date: [T], unit: "day" } }, {}, 5166307]),
  ...of("$dateToString", "dateToString",
    ["scalar", { $dateToString: { date: T } }, {}, '"2024-02-29T13:14:15.016Z"'],
    ["scalar", { $dateToString: { date: T, format: "%Y-%m-%dT%H:%M:%S.%L%z %j %u %V %U %G %w %b %B %%" } }, {}, '"2024-02-29T13:14:15.016+0000 060 4 09 08 2024 5 Feb February %"', "gap"],
    ["scalar", { $dateToString: { date: T, format: "%H:%M%z %Z", timezone: "America/New_York" } }, {}, '"08:14-0500 -300"', "gap"],
    ["scalar", { $dateToString: { date: T, format: "%n" } }, {}, 18536],
    ["null", { $dateToString: { date: "$a", onNull: "none" } }, {}, '"none"'],
    ["null", { $dateToString: { date: "$a" } }, {}, "null"],
    ["array", { $dateToString: { date: [T] } }, {}, 16006]),
  ...of("$dateFromString", "dateFromString",
    ["scalar", { $dateFromString: { dateString: "2017-02-08T12:10:40.787" } }, {}, utc(2017, 1, 8, 12, 10, 40, 787)],
    ["scalar", { $dateFromString: { dateString: "2017-02-08T12:10:40.787", timezone: "America/New_York" } }, {}, utc(2017, 1, 8, 17, 10, 40, 787), "gap"],
    ["scalar", { $dateFromString: { dateString: "06-15-2018", format: "%m-%d-%Y" } }, {}, utc(2018, 5, 15)],
    ["scalar", { $dateFromString: { dateString: "nonsense", onError: "bad" } }, {}, '"bad"'],
    ["scalar", { $dateFromString: { dateString: "20177-02-09T03:35:02.055" } }, {}, 241],
    ["null", { $dateFromString: { dateString: "$a", onNull: new Date(0) } }, {}, "new Date(0)"],
    ["array", { $dateFromString: { dateString: ["2017-02-08"] } }, {}, 241]),
];
