/** Calendar arithmetic: `$dateAdd $dateSubtract $dateDiff $dateTrunc` (values/timeUnits.ts does the counting). */
import { NULL, date, describeValue, int64, type RawValue } from "../../bson/index.js";
import { CommandError } from "../../protocol/index.js";
import { int64Of } from "../values/numeric.js";
import { dateAdd, dateDiff, truncateDate } from "../values/timeUnits.js";
import { typeName } from "../values/types.js";
import { compileOptional, isNullish, namedArguments, type OperatorCompiler } from "./arguments.js";
import { compile } from "./compile.js";
import type { Expression, ExpressionContext } from "./context.js";
import { instant, isInstant, startOfWeekOf, unitOf, zoneReader } from "./dateArguments.js";

const SUNDAY = 7;

function step(sign: 1n | -1n): OperatorCompiler {
  return (argument, scope, name) => {
    const needed = `${name} requires startDate, unit, and amount to be present`;
    const unknown = "Expected arguments are startDate, unit, amount, and optionally timezone.";
    const allowed = ["startDate", "unit", "amount", "timezone"];
    const named = namedArguments(argument, allowed, {
      object: [5166400, `${name} expects an object as its argument`],
      unknown: [5166401, `Unrecognized argument to ${name}: {name}. ${unknown}`],
      required: { startDate: [5166402, needed], unit: [5166402, needed], amount: [5166402, needed] },
    });
    const start = compile(named.get("startDate")!, scope);
    const unit = compile(named.get("unit")!, scope);
    const amount = compile(named.get("amount")!, scope);
    const zone = zoneReader(compileOptional(named, "timezone", scope));
    return (context) => {
      const from = start(context);
      if (isNullish(from)) return NULL;
      const unitValue = unit(context);
      if (isNullish(unitValue)) return NULL;
      const units = unitOf(unitValue, name);
      const by = amount(context);
      if (isNullish(by)) return NULL;
      const where = zone(context);
      if (where === undefined) return NULL;
      if (!isInstant(from)) {
        throw new CommandError(5166403, `${name} requires startDate to be convertible to a date`);
      }
      const n = int64Of(by);
      if (n === undefined) {
        throw new CommandError(5166405, `${name} expects integer amount of time units`);
      }
      if (sign === -1n && n === -(2n ** 63n)) {
        throw new CommandError(6045000, `invalid $dateSubtract 'amount' parameter value: ${n}`);
      }
      return date(dateAdd(instant(from), units, sign * n, where));
    };
  };
}

function dateOf(v: RawValue, operator: string, parameter: string): number {
  if (!isInstant(v)) {
    throw new CommandError(
      5166307,
      `${operator} requires '${parameter}' to be a date, but got ${typeName(v)}`,
    );
  }
  return instant(v);
}

/** Reads the first day of a week, Sunday by default; undefined for null. */
function startOfWeekReader(
  week: Expression | undefined,
  operator: string,
): (context: ExpressionContext) => number | undefined {
  return (context) => {
    if (week === undefined) return SUNDAY;
    const day = week(context);
    return isNullish(day) ? undefined : startOfWeekOf(day, operator);
  };
}

const difference: OperatorCompiler = (argument, scope, name) => {
  const named = namedArguments(argument, ["startDate", "endDate", "unit", "timezone", "startOfWeek"], {
    object: [5166301, "$dateDiff only supports an object as its argument"],
    unknown: [5166302, "Unrecognized argument to $dateDiff: "],
    required: {
      startDate: [5166303, "Missing 'startDate' parameter to $dateDiff"],
      endDate: [5166304, "Missing 'endDate' parameter to $dateDiff"],
      unit: [5166305, "Missing 'unit' parameter to $dateDiff"],
    },
  });
  const start = compile(named.get("startDate")!, scope);
  const end = compile(named.get("endDate")!, scope);
  const unit = compile(named.get("unit")!, scope);
  const firstDay = startOfWeekReader(compileOptional(named, "startOfWeek", scope), name);
  const zone = zoneReader(
    compileOptional(named, "timezone", scope),
    "$dateDiff parameter 'timezone' value parsing failed",
  );
  return (context) => {
    const from = start(context);
    if (isNullish(from)) return NULL;
    const to = end(context);
    if (isNullish(to)) return NULL;
    const unitValue = unit(context);
    if (isNullish(unitValue)) return NULL;
    const units = unitOf(unitValue, name);
    const startOfWeek = units === "week" ? firstDay(context) : SUNDAY;
    if (startOfWeek === undefined) return NULL;
    const where = zone(context);
    if (where === undefined) return NULL;
    return int64(
      dateDiff(dateOf(from, name, "startDate"), dateOf(to, name, "endDate"), units, where, startOfWeek),
    );
  };
};

/** `binSize` of `$dateTrunc`. */
function binSizeOf(v: RawValue): bigint {
  const n = int64Of(v);
  if (n === undefined) {
    throw new CommandError(
      5439017,
      `$dateTrunc requires 'binSize' to be a 64-bit integer, but got value '${describeValue(v)}' of type ${typeName(v)}`,
    );
  }
  if (n <= 0n) {
    throw new CommandError(5439018, `$dateTrunc requires 'binSize' to be greater than 0, but got value ${n}`);
  }
  return n;
}

const truncate: OperatorCompiler = (argument, scope, name) => {
  const named = namedArguments(argument, ["date", "unit", "binSize", "timezone", "startOfWeek"], {
    object: [5439007, "$dateTrunc only supports an object as its argument"],
    unknown: [
      5439008,
      "Unrecognized argument to $dateTrunc: {name}. Expected arguments are date, unit, and optionally, binSize, timezone, startOfWeek",
    ],
    required: {
      date: [5439009, "Missing 'date' parameter to $dateTrunc"],
      unit: [5439010, "Missing 'unit' parameter to $dateTrunc"],
    },
  });
  const given = compile(named.get("date")!, scope);
  const unit = compile(named.get("unit")!, scope);
  const bins = compileOptional(named, "binSize", scope);
  const firstDay = startOfWeekReader(compileOptional(named, "startOfWeek", scope), name);
  const zone = zoneReader(
    compileOptional(named, "timezone", scope),
    "$dateTrunc parameter 'timezone' value parsing failed",
  );
  return (context) => {
    const v = given(context);
    if (isNullish(v)) return NULL;
    let binSize = 1n;
    if (bins !== undefined) {
      const size = bins(context);
      if (isNullish(size)) return NULL;
      binSize = binSizeOf(size);
    }
    const unitValue = unit(context);
    if (isNullish(unitValue)) return NULL;
    const units = unitOf(unitValue, name);
    const startOfWeek = units === "week" ? firstDay(context) : SUNDAY;
    if (startOfWeek === undefined) return NULL;
    const where = zone(context);
    if (where === undefined) return NULL;
    return date(truncateDate(dateOf(v, name, "date"), units, binSize, where, startOfWeek));
  };
};

export const DATE_ARITHMETIC: Readonly<Record<string, OperatorCompiler>> = {
  $dateAdd: step(1n),
  $dateSubtract: step(-1n),
  $dateDiff: difference,
  $dateTrunc: truncate,
};
