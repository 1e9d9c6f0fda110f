/**
 * Window functions over a curve, `sortBy` being its x axis: `$derivative`
 * (slope from the window's first to its last point), `$integral` (area under
 * straight lines between points), `$linearFill` (points on such a line).
 *
 * On dates as x, a `unit` says in what to express "per time" and "times time";
 * without one x must be a number.
 */
import {
  BsonType,
  NULL,
  asNumber,
  compareValues,
  double,
  int64,
  isNumeric,
  type RawValue,
} from "../../../bson/index.js";
import { CommandError, ErrorCode } from "../../../protocol/index.js";
import { add, divide, multiply, subtract } from "../../expression/arithmetic.js";
import type { Expression } from "../../expression/context.js";
import { NumberTotal } from "../../values/sum.js";
import { isNullish, typeName } from "../../values/types.js";
import type { Window } from "./bounds.js";
import type { Partition, WindowFunction } from "./partition.js";
import { foldFor } from "./sliding.js";

/** @param unitMs length of the unit in milliseconds */
export function derivative(
  input: Expression,
  sortValue: Expression,
  window: Window,
  unitMs: number | undefined,
): WindowFunction {
  return {
    start(partition) {
      const frameAt = window.frames(partition);
      return (index) => {
        const { first, last } = frameAt(index);
        if (first > last) return NULL;
        const run = runBetween(partition.value(sortValue, first), partition.value(sortValue, last), unitMs);
        const rise = subtract(partition.value(input, last), partition.value(input, first));
        if (isNullish(rise)) {
          throw new CommandError(5624903, "$derivative input must not be null or missing");
        }
        if (asNumber(run) === 0) return NULL;
        const slope = divide(rise, run);
        return unitMs === undefined ? slope : multiply([slope, int64(unitMs)]);
      };
    },
  };
}

function runBetween(
  from: RawValue | undefined,
  to: RawValue | undefined,
  unitMs: number | undefined,
): RawValue {
  const dates = [from, to].filter((v) => v?.type === BsonType.date).length;
  if (unitMs !== undefined) {
    if (dates < 2) {
      throw new CommandError(5624900, "$derivative with 'unit' expects the sortBy field to be a Date");
    }
  } else if (dates > 0) {
    throw new CommandError(5624901, "$derivative where the sortBy is a Date requires an 'unit'");
  } else if (from === undefined || to === undefined || !isNumeric(from) || !isNumeric(to)) {
    throw new CommandError(5624902, "$derivative (with no 'unit') expects the sortBy field to be numeric");
  }
  return subtract(to, from)!;
}

interface Point {
  readonly x: RawValue;
  readonly y: RawValue;
}

function isNaNPoint({ x, y }: Point): boolean {
  return (isNumeric(x) && Number.isNaN(asNumber(x))) || Number.isNaN(asNumber(y));
}

function pointAt(
  partition: Partition,
  index: number,
  input: Expression,
  sortValue: Expression,
  unitMs: number | undefined,
): Point {
  const x = partition.value(sortValue, index);
  const y = partition.value(input, index);
  const isDate = x?.type === BsonType.date;
  if (x === undefined || y === undefined || !isNumeric(y) || !(isDate || isNumeric(x))) {
    throw new CommandError(
      5423900,
      "The input value of $integral window function must be a vector of 2 value, the first value must be numeric or date type and the second must be numeric.",
    );
  }
  if (unitMs !== undefined && !isDate) {
    throw new CommandError(5423901, "$integral with 'unit' expects the sortBy field to be a Date");
  }
  if (unitMs === undefined && isDate) {
    throw new CommandError(5423902, "$integral (with no 'unit') expects the sortBy field to be numeric");
  }
  return { x, y };
}

/** Area between two neighbouring points; one with NaN has none. */
function trapezoid(a: Point, b: Point): NumberTotal {
  const total = new NumberTotal();
  if (!isNaNPoint(a) && !isNaNPoint(b)) {
    total.add(divide(multiply([add([a.y, b.y]), subtract(b.x, a.x)]), double(2)));
  }
  return total;
}

/**
 * The area below the line through the documents of the window.
 *
 * @param unitMs length of the unit in milliseconds
 */
export function integral(
  input: Expression,
  sortValue: Expression,
  window: Window,
  unitMs: number | undefined,
): WindowFunction {
  return {
    start(partition) {
      const frameAt = window.frames(partition);
      // One area for each pair of neighbours in the window.
      const areas = foldFor<NumberTotal>(window.lower === "unbounded", (a, b) => a.plus(b));
      let first = 0;
      let last = -1;
      let previous: Point | undefined;
      let nans = 0;
      const isNaNAt = (index: number): boolean =>
        isNaNPoint(pointAt(partition, index, input, sortValue, unitMs));
      return (index) => {
        const frame = frameAt(index);
        while (last < frame.last) {
          last++;
          const point = pointAt(partition, last, input, sortValue, unitMs);
          if (isNaNPoint(point)) nans++;
          if (previous !== undefined && last > first) areas.push(trapezoid(previous, point));
          previous = point;
        }
        while (first < frame.first && first <= last) {
          if (isNaNAt(first)) nans--;
          if (first < last) areas.shift();
          first++;
        }
        if (first > last) return NULL;
        if (nans > 0) return double(NaN);
        const area = (areas.total() ?? new NumberTotal()).total();
        return unitMs === undefined ? area : divide(area, int64(unitMs));
      };
    },
  };
}

function mismatch(message: string): CommandError {
  return new CommandError(ErrorCode.TypeMismatch, message);
}

/** Checks that x goes on: a number or a date as before, and another one than before. */
function checkNextX(x: RawValue | undefined, before: RawValue | undefined): RawValue {
  const isDate = x?.type === BsonType.date;
  if (x === undefined || !(isDate || isNumeric(x))) {
    throw mismatch(`Value of the sortBy field must be numeric or a date, but found ${typeName(x)}`);
  }
  if (before === undefined) return x;
  if (compareValues(x, before) === 0) {
    throw new CommandError(6050106, "There can be no repeated values in the sort field");
  }
  if (isDate !== (before.type === BsonType.date)) {
    throw mismatch(
      `Conflicting sort value types, previously received type ${typeName(before)}, but found ${typeName(x)}`,
    );
  }
  return x;
}

/** Values that are null or missing, on the line between the nearest ones that aren't; null before and behind those. */
export function linearFill(input: Expression, sortValue: Expression): WindowFunction {
  return {
    start(partition) {
      let lastX: RawValue | undefined;
      let left: Point | undefined;
      let right: Point | undefined;
      /** Documents before this place have been looked at for `right`. */
      let searched = 0;
      const findRight = (from: number): void => {
        for (searched = Math.max(searched, from); searched < partition.size; searched++) {
          const y = partition.value(input, searched);
          if (isNullish(y)) continue;
          const x = partition.value(sortValue, searched);
          if (isNullish(x)) continue;
          right = { x, y };
          return;
        }
      };
      return (index) => {
        const y = partition.value(input, index);
        if (!isNullish(y) && !isNumeric(y)) {
          throw mismatch(`Value to be filled must be numeric or nullish, but found ${typeName(y)}`);
        }
        const x = (lastX = checkNextX(partition.value(sortValue, index), lastX));
        if (!isNullish(y)) {
          left = { x, y };
          right = undefined;
          return y;
        }
        if (left === undefined) return NULL;
        if (right === undefined) findRight(index + 1);
        if (right === undefined) return NULL;
        const slope = divide(subtract(right.y, left.y), subtract(right.x, left.x));
        return add([left.y, multiply([subtract(x, left.x), slope])]);
      };
    },
  };
}
