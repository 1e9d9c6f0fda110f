/** What the date operators share: dates, time zones and units among their arguments. */
import { BsonType, asBigInt, asString, asTimestamp, type RawValue } from "../../bson/index.js";
import { CommandError, notSimulated } from "../../protocol/index.js";
import { timeUnit, weekday, type TimeUnit } from "../values/timeUnits.js";
import { UTC, timeZone, type TimeZone } from "../values/timeZone.js";
import { typeName } from "../values/types.js";
import { isNullish, type Argument } from "./arguments.js";
import { constantOf } from "./compile.js";
import type { Expression, ExpressionContext } from "./context.js";
import { objectIdSeconds } from "./conversions.js";

/** True for dates, timestamps and ObjectIds. */
export function isInstant(v: RawValue): boolean {
  return v.type === BsonType.date || v.type === BsonType.timestamp || v.type === BsonType.objectId;
}

/** Milliseconds of a date, timestamp or ObjectId. Throws 16006 for all else. */
export function instant(v: RawValue): number {
  switch (v.type) {
    case BsonType.date: {
      const ms = Number(asBigInt(v));
      if (!Number.isSafeInteger(ms)) throw notSimulated("dates beyond the year 287000");
      return ms;
    }
    case BsonType.timestamp:
      return asTimestamp(v).high * 1000;
    case BsonType.objectId:
      return objectIdSeconds(v) * 1000;
    default:
      throw new CommandError(16006, `can't convert from BSON type ${typeName(v)} to Date`);
  }
}

/** The zone of a `timezone` argument; undefined where it is null. Absent means UTC. */
export type ZoneReader = (context: ExpressionContext) => TimeZone | undefined;

/** Throws 40517 for a zone that isn't a string, 40485 for an unknown one; `prefix` goes in front of either. */
export function zoneReader(expression: Expression | undefined, prefix = ""): ZoneReader {
  if (expression === undefined) return () => UTC;
  const read = (v: Argument): TimeZone | undefined => {
    if (isNullish(v)) return undefined;
    try {
      if (v.type !== BsonType.string) {
        throw new CommandError(40517, `timezone must evaluate to a string, found ${typeName(v)}`);
      }
      return timeZone(asString(v));
    } catch (error) {
      if (prefix === "" || !(error instanceof CommandError)) throw error;
      throw new CommandError(error.code, `${prefix} :: caused by :: ${error.message}`);
    }
  };
  const fixed = constantOf(expression);
  if (fixed !== undefined) {
    let zone: TimeZone | undefined;
    let isRead = false;
    return () => {
      if (!isRead) zone = read(fixed);
      isRead = true;
      return zone;
    };
  }
  return (context) => read(expression(context));
}

/** The unit of a `unit` argument that is not null. Throws 5439013 or 9. */
export function unitOf(v: RawValue, operator: string): TimeUnit {
  if (v.type !== BsonType.string) {
    throw new CommandError(5439013, `${operator} requires 'unit' to be a string, but got ${typeName(v)}`);
  }
  try {
    return timeUnit(asString(v));
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw new CommandError(
      error.code,
      `${operator} parameter 'unit' value parsing failed :: caused by :: ${error.message}`,
    );
  }
}

/** The first day of the week, Monday 1 – Sunday 7. Throws 5439015 or 5439016. */
export function startOfWeekOf(v: RawValue, operator: string): number {
  if (v.type !== BsonType.string) {
    throw new CommandError(
      5439015,
      `${operator} requires 'startOfWeek' to be a string, but got ${typeName(v)}`,
    );
  }
  const day = weekday(asString(v));
  if (day === undefined) {
    throw new CommandError(
      5439016,
      `${operator} parameter 'startOfWeek' value cannot be recognized as a day of a week: ${asString(v)}`,
    );
  }
  return day;
}
