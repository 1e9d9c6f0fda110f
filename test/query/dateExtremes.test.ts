/**
 * Dates at the ends of time, with time zones. The clock of a zone lies ahead of
 * UTC or behind it, so near the last instant that the runtime's calendar knows
 * (8.64e15 ms, in the year 275760) the local time is beyond it.
 */
import { Long } from "bson";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { asBigInt, BsonType } from "shardlab/bson";
import { CommandError } from "../../lib/protocol/index.js";
import { compileExpression, expressionContext } from "../../lib/query/index.js";
import { bson, value } from "./support.js";

const LAST = 8.64e15;
const evaluate = (expression: unknown) =>
  compileExpression(value(expression), { now: () => 0, random: () => 0 })(expressionContext(bson({})));
/** `new Date` ends at ±8.64e15; BSON's dates don't. */
const at = (ms: number): object => ({ $toDate: Long.fromString(String(ms)) });

const instants = fc.oneof(
  fc.constantFrom(LAST, -LAST, LAST - 1, -LAST + 1, LAST - 3_600_000, -LAST + 3_600_000, 0),
  fc.constantFrom(Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER, LAST + 86_400_000, -LAST - 86_400_000),
  fc.integer({ min: -LAST, max: LAST }),
);
const zones = fc.constantFrom(
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "Pacific/Kiritimati",
  "+14:00",
  "-12:00",
);
const units = fc.constantFrom(
  "year",
  "quarter",
  "month",
  "week",
  "day",
  "hour",
  "minute",
  "second",
  "millisecond",
);
const amounts = fc.oneof(
  fc.integer({ min: -1000, max: 1000 }).map((n) => Long.fromNumber(n)),
  fc.constantFrom(
    Long.MAX_VALUE,
    Long.MIN_VALUE,
    Long.fromNumber(2 ** 31),
    Long.fromString("9223372036854775"),
  ),
);

test("whatever the dates, zones and units: a value of the right type, or a coded error", () => {
  const cases = fc.record({
    a: instants,
    b: instants,
    timezone: zones,
    unit: units,
    amount: amounts,
    binSize: amounts,
  });
  fc.assert(
    fc.property(cases, ({ a, b, timezone, unit, amount, binSize }) => {
      const expressions: [object, BsonType][] = [
        [{ $dateDiff: { startDate: at(a), endDate: at(b), unit, timezone } }, BsonType.int64],
        [{ $dateAdd: { startDate: at(a), unit, amount, timezone } }, BsonType.date],
        [{ $dateSubtract: { startDate: at(a), unit, amount, timezone } }, BsonType.date],
        [{ $dateTrunc: { date: at(a), unit, binSize, timezone } }, BsonType.date],
        [{ $dateToParts: { date: at(a), timezone } }, BsonType.object],
        [{ $dateToParts: { date: at(a), timezone, iso8601: true } }, BsonType.object],
        [{ $dateToString: { date: at(a), timezone } }, BsonType.string],
        [{ $year: { date: at(a), timezone } }, BsonType.int32],
        [{ $hour: { date: at(a), timezone } }, BsonType.int32],
      ];
      for (const [expression, type] of expressions) {
        try {
          expect(evaluate(expression)?.type, JSON.stringify(expression)).toBe(type);
        } catch (error) {
          if (!(error instanceof CommandError)) throw new Error(JSON.stringify(expression), { cause: error });
          expect(error.code, `${JSON.stringify(expression)}: ${error.message}`).not.toBe(8);
        }
      }
    }),
    { numRuns: 300 },
  );
});

describe("between the first and the last date", () => {
  const difference = (startDate: object, endDate: object, unit: string, timezone = "UTC"): bigint =>
    asBigInt(evaluate({ $dateDiff: { startDate, endDate, unit, timezone } })!);
  test.each<[string, bigint]>([
    // From -271821-04-20 to +275760-09-13: 200,000,000 days in all.
    ["day", 200000000n],
    ["hour", 4800000000n],
    ["millisecond", 17280000000000000n],
    ["year", 547581n],
  ])("%ss, also in a zone", (unit, expected) => {
    expect(difference(at(-LAST), at(LAST), unit)).toBe(expected);
    expect(difference(at(-LAST), at(LAST), unit, "+02:00")).toBe(expected);
  });

  test("milliseconds are exact beyond 2^53", () => {
    const [first, last] = [at(-Number.MAX_SAFE_INTEGER), at(Number.MAX_SAFE_INTEGER - 1)];
    expect(difference(first, last, "millisecond")).toBe(18014398509481981n);
  });
});
