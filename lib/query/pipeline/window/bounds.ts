/**
 * Bounds of windows: which documents of the partition a function sees.
 *
 *     { documents: ["unbounded", "current"] }         by their places
 *     { documents: [-2, 2] }
 *     { range: [-10, 10] }                            by the value of the sort's field
 *     { range: [-1, "current"], unit: "month" }       … where that is a date
 *
 * Both ends are included. In a range `"current"` is the document itself, not
 * all that have the same value.
 */
import {
  BsonType,
  asDocument,
  asString,
  compareValues,
  date,
  describeValue,
  double,
  elements,
  fields,
  int32,
  isNumeric,
  asNumber,
  type RawValue,
} from "../../../bson/index.js";
import { CommandError, ErrorCode } from "../../../protocol/index.js";
import { instant } from "../../expression/dateArguments.js";
import type { Expression } from "../../expression/context.js";
import { addDecimals } from "../../values/decimal.js";
import { int32Of, int64Of } from "../../values/numeric.js";
import { dateAdd, timeUnit, type TimeUnit } from "../../values/timeUnits.js";
import { UTC } from "../../values/timeZone.js";
import { typeName } from "../../values/types.js";
import { constantValue } from "../accumulate/arguments.js";
import type { Partition, WindowSetup } from "./partition.js";

/** One end of a window; a number counts from the current document or from its value. */
export type Bound = "unbounded" | "current" | RawValue;

/** Places of a window's first and last document; `last < first` where it is empty. */
export interface Frame {
  readonly first: number;
  readonly last: number;
}

export interface Window {
  readonly kind: "documents" | "range";
  readonly lower: Bound;
  readonly upper: Bound;
  /** Finds the windows of a partition's documents, asked for one after another. */
  frames(partition: Partition): (index: number) => Frame;
}

/** All documents of the partition. */
export const WHOLE_PARTITION: Window = documentWindow("unbounded", "unbounded");
function failed(message: string): CommandError {
  return new CommandError(ErrorCode.FailedToParse, message);
}

/**
 * Parses the value of `window`.
 * @throws CommandError 9 for what is malformed, 5339900 for ends in the wrong order, 5339901, 5339902 and 8947401 for
 *   a `sortBy` that doesn't fit
 */
export function parseWindow(spec: RawValue, setup: WindowSetup): Window {
  if (spec.type !== BsonType.object) throw failed("'window' field must be an object");
  const list = fields(asDocument(spec));
  const named = new Map(list);
  const documents = named.get("documents");
  const range = named.get("range");
  const unit = named.get("unit");
  if (documents && range) throw failed("Window bounds can specify either 'documents' or 'unit', not both.");
  if (!range && unit) throw failed("Window bounds can only specify 'unit' with range-based bounds.");
  if (documents) {
    if (list.length > 1) throw failed("'window' field that specifies documents cannot have other fields");
    return parseDocuments(documents, setup);
  }
  if (range) {
    if (list.length > (unit ? 2 : 1)) {
      throw failed(
        unit
          ? "'window' field that specifies unit cannot have other fields besides 'range'"
          : "'window' field that specifies range cannot have other fields besides 'unit'",
      );
    }
    return parseRange(range, unit, setup);
  }
  if (list.length > 0) {
    throw failed(
      "'window' field can only contain 'documents' as the only argument or 'range' with an optional 'unit' field",
    );
  }
  return WHOLE_PARTITION;
}

function pair(name: string, value: RawValue): [RawValue, RawValue] {
  const list = value.type === BsonType.array ? elements(asDocument(value)) : [];
  if (list.length !== 2) {
    throw failed(`Window bounds must be a 2-element array: ${name}: ${describeValue(value)}`);
  }
  return [list[0]!, list[1]!];
}

function parseBound(v: RawValue, { options }: WindowSetup, check: (v: RawValue) => void): Bound {
  if (v.type === BsonType.string) {
    const text = asString(v);
    if (text === "unbounded" || text === "current") return text;
    throw failed("Window bounds must be 'unbounded', 'current', or a number.");
  }
  const value = constantValue(v, options);
  if (value === undefined) throw failed("Window bounds expression must be a constant.");
  check(value);
  return value;
}

const ZERO = int32(0);

function checkOrder(lower: Bound, upper: Bound): void {
  if (lower === "unbounded" || upper === "unbounded") return;
  const low = lower === "current" ? ZERO : lower;
  const high = upper === "current" ? ZERO : upper;
  if (compareValues(low, high) <= 0) return;
  throw new CommandError(
    5339900,
    `Lower bound must not exceed upper bound: [${describeValue(low)}, ${describeValue(high)}]`,
  );
}

function parseDocuments(spec: RawValue, setup: WindowSetup): Window {
  const [low, high] = pair("documents", spec);
  const check = (v: RawValue): void => {
    if (int32Of(v) === undefined) throw failed("Numeric document-based bounds must be an integer");
  };
  const lower = parseBound(low, setup, check);
  const upper = parseBound(high, setup, check);
  checkOrder(lower, upper);
  if (setup.sort === undefined && !(lower === "unbounded" && upper === "unbounded")) {
    throw new CommandError(5339901, "Document-based bounds require a sortBy");
  }
  return documentWindow(lower, upper);
}

/** A bound as a distance in documents; undefined for `"unbounded"`. */
function distance(bound: Bound): number | undefined {
  if (bound === "unbounded") return undefined;
  return bound === "current" ? 0 : int32Of(bound)!;
}

function documentWindow(lower: Bound, upper: Bound): Window {
  const from = distance(lower);
  const to = distance(upper);
  return {
    kind: "documents",
    lower,
    upper,
    frames:
      ({ size }) =>
      (index) => ({
        first: from === undefined ? 0 : Math.max(0, index + from),
        last: to === undefined ? size - 1 : Math.min(size - 1, index + to),
      }),
  };
}

function parseRange(spec: RawValue, unit: RawValue | undefined, setup: WindowSetup): Window {
  const [low, high] = pair("range", spec);
  if (unit && unit.type !== BsonType.string) throw failed("'unit' must be a string");
  const check = (v: RawValue): void => {
    if (unit && int32Of(v) === undefined) throw failed("With 'unit', range-based bounds must be an integer");
    if (!isNumeric(v)) throw failed("Range-based bounds expression must be a number");
  };
  const lower = parseBound(low, setup, check);
  const upper = parseBound(high, setup, check);
  checkOrder(lower, upper);
  const units = unit && timeUnit(asString(unit));
  if (setup.sort?.fields.length !== 1) {
    throw new CommandError(5339902, "Range-based bounds require sortBy a single field");
  }
  if (setup.sortValue === undefined) {
    throw new CommandError(8947400, "Range-based bounds require a non-expression sortBy");
  }
  if (setup.sort.fields[0]!.direction !== 1) {
    throw new CommandError(8947401, "Range-based bounds require an ascending sortBy");
  }
  return rangeWindow(lower, upper, units, setup.sortValue);
}

/** Checks the value that a range counts from. Throws 5429513, 5429413 or 5429414. */
function checkBase(v: RawValue | undefined, unit: TimeUnit | undefined): RawValue {
  const isDate = v?.type === BsonType.date;
  if (unit !== undefined) {
    if (isDate) return v;
    throw new CommandError(
      5429513,
      `Invalid range: Expected the sortBy field to be a Date, but it was ${typeName(v)}`,
    );
  }
  if (isDate) {
    throw new CommandError(
      5429413,
      "Invalid range: For windows that involve date or time ranges, a unit must be provided.",
    );
  }
  if (v === undefined || !isNumeric(v)) {
    throw new CommandError(
      5429414,
      `Invalid range: Expected the sortBy field to be a number, but it was ${typeName(v)}`,
    );
  }
  return v;
}

/** `base + delta`, exactly enough to compare with. */
function threshold(base: RawValue, delta: RawValue, unit: TimeUnit | undefined): RawValue {
  if (unit !== undefined) return date(dateAdd(instant(base), unit, int64Of(delta)!, UTC));
  if (base.type === BsonType.int32 && delta.type === BsonType.int32) {
    return double(asNumber(base) + asNumber(delta));
  }
  return addDecimals(base, delta);
}

/**
 * As every document is the current one at some time, all of a partition must have numbers (or dates) to sort by. In
 * their order both ends of the window only ever move on, so that finding them all takes one walk.
 */
function rangeWindow(lower: Bound, upper: Bound, unit: TimeUnit | undefined, sortValue: Expression): Window {
  return {
    kind: "range",
    lower,
    upper,
    frames: (partition) => {
      const { size } = partition;
      const known: RawValue[] = [];
      const valueAt = (index: number): RawValue =>
        (known[index] ??= checkBase(partition.value(sortValue, index), unit));
      let first = 0;
      let end = 0;
      return (index) => {
        const base = valueAt(index);
        if (lower === "current") first = index;
        else if (lower !== "unbounded") {
          const limit = threshold(base, lower, unit);
          while (first < size && compareValues(valueAt(first), limit) < 0) first++;
        }
        if (upper === "current") end = index + 1;
        else if (upper === "unbounded") end = size;
        else {
          const limit = threshold(base, upper, unit);
          while (end < size && compareValues(valueAt(end), limit) <= 0) end++;
        }
        return { first, last: end - 1 };
      };
    },
  };
}

/** A bound's number; undefined for `"unbounded"` and `"current"`. */
export function boundNumber(bound: Bound): number | undefined {
  return typeof bound === "string" ? undefined : asNumber(bound);
}
