/**
 * Window functions that go by places: `$first $last $firstN $lastN $shift`, the
 * ranks, `$locf`, and `$expMovingAvg`, which runs on from the document before.
 */
import {
  BsonType,
  NULL,
  array,
  asNumber,
  double,
  int32,
  isNumeric,
  type RawValue,
} from "../../../bson/index.js";
import type { Expression } from "../../expression/context.js";
import type { Sort } from "../../sort/index.js";
import { addDecimals, multiplyDecimals, toDecimal } from "../../values/decimal.js";
import { isNullish } from "../../values/types.js";
import type { Window } from "./bounds.js";
import type { WindowFunction } from "./partition.js";

/** The value of the window's first or last document; null where it is empty. */
export function endOfWindow(input: Expression, window: Window, end: "first" | "last"): WindowFunction {
  return {
    start(partition) {
      const frameAt = window.frames(partition);
      return (index) => {
        const frame = frameAt(index);
        return frame.first > frame.last ? NULL : partition.value(input, frame[end]);
      };
    },
  };
}

/** The values of its first or last `n` documents, missing ones as null. */
export function endsOfWindow(
  input: Expression,
  window: Window,
  end: "first" | "last",
  count: () => number,
): WindowFunction {
  return {
    start(partition) {
      const n = count();
      const frameAt = window.frames(partition);
      return (index) => {
        const { first, last } = frameAt(index);
        const from = end === "first" ? first : Math.max(first, last - n + 1);
        const to = end === "first" ? Math.min(last, first + n - 1) : last;
        const values: RawValue[] = [];
        for (let i = from; i <= to; i++) values.push(partition.value(input, i) ?? NULL);
        return array(values);
      };
    },
  };
}

/** The value of the document `by` places further on, or `otherwise` where there is none. */
export function shift(output: Expression, by: number, otherwise: RawValue): WindowFunction {
  return {
    start: (partition) => (index) => {
      const place = index + by;
      return place < 0 || place >= partition.size ? otherwise : partition.value(output, place);
    },
  };
}

export type RankKind = "$rank" | "$denseRank" | "$documentNumber";

/** The place in the order: equal ones share it with a gap behind them, without a gap, or have one each. */
export function rank(kind: RankKind, sort: Sort): WindowFunction {
  return {
    start(partition) {
      let lastKey: string | undefined;
      let place = 0;
      return (index) => {
        const key = sort.key(partition.docs[index]!);
        if (kind === "$documentNumber" || key !== lastKey) place = kind === "$rank" ? index + 1 : place + 1;
        lastKey = key;
        return int32(place);
      };
    },
  };
}

/** The last value that wasn't null. */
export function lastObservation(input: Expression): WindowFunction {
  return {
    start(partition) {
      let last: RawValue = NULL;
      return (index) => {
        const v = partition.value(input, index);
        if (!isNullish(v)) last = v;
        return last;
      };
    },
  };
}

/**
 * `alpha * value + (1 - alpha) * what came before`, in decimals, as MongoDB calculates it; a double unless a decimal
 * was among the values.
 */
export function exponentialAverage(input: Expression, alpha: RawValue, beta: RawValue): WindowFunction {
  return {
    start(partition) {
      let average: RawValue | undefined;
      let isDecimal = false;
      return (index) => {
        const v = partition.value(input, index);
        if (v !== undefined && isNumeric(v)) {
          isDecimal ||= v.type === BsonType.decimal128;
          const value = toDecimal(v);
          average =
            average === undefined
              ? value
              : addDecimals(multiplyDecimals(value, alpha), multiplyDecimals(average, beta));
        }
        if (average === undefined) return NULL;
        return isDecimal ? average : double(asNumber(average));
      };
    },
  };
}
