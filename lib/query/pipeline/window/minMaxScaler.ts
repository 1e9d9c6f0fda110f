/**
 * `$minMaxScaler` (MongoDB 8.2): where a value lies between the least and the
 * greatest of its window, as a number from `min` to `max` (0 to 1).
 *
 *     { $minMaxScaler: { input: "$a", min: 0, max: 100 } }   on 1, 2, 5   →   0, 25, 100
 */
import {
  BsonType,
  asDocument,
  compareValues,
  fields,
  int32,
  isNumeric,
  type RawValue,
} from "../../../bson/index.js";
import { CommandError, ErrorCode } from "../../../protocol/index.js";
import { add, divide, multiply, subtract } from "../../expression/arithmetic.js";
import { compileExpression } from "../../expression/compile.js";
import { typeName } from "../../values/types.js";
import { constantValue } from "../accumulate/arguments.js";
import { WHOLE_PARTITION, boundNumber, parseWindow, type Window } from "./bounds.js";
import { failed, type WindowFunctionParser } from "./spec.js";
import type { WindowSetup } from "./partition.js";
import { SlidingExtreme } from "./sliding.js";

function checkFields(spec: Uint8Array, where: string, allowed: readonly string[], required: string): void {
  const names = fields(spec).map(([name]) => name);
  const unknown = names.find((name) => !allowed.includes(name));
  if (unknown !== undefined) {
    throw new CommandError(
      ErrorCode.IDLUnknownField,
      `BSON field '${where}.${unknown}' is an unknown field.`,
    );
  }
  if (!names.includes(required)) {
    throw new CommandError(
      ErrorCode.IDLFailedToParse,
      `BSON field '${where}.${required}' is missing but a required field`,
    );
  }
}

/** The current document must be within its window. */
function checkWindow(window: Window): Window {
  const tail =
    "as $minMaxScaler must ensure that the current document being processed is always within the configured window.";
  const lower = boundNumber(window.lower);
  const upper = boundNumber(window.upper);
  if (lower !== undefined && lower > 0) {
    throw failed(
      `Lower specified bound cannot be greater than 0 (the current doc), ${tail} Lower specified bound = ${lower.toFixed(6)}`,
    );
  }
  if (upper !== undefined && upper < 0) {
    throw failed(
      `Upper specified bound cannot be less than 0 (the current doc), ${tail} Upper specified bound = ${upper.toFixed(6)}`,
    );
  }
  return window;
}

/** Throws 9 for what is no constant number. */
function limit(v: RawValue, name: "min" | "max", setup: WindowSetup): RawValue {
  const value = constantValue(v, setup.options);
  if (value === undefined) throw failed(`'${name}' argument to $minMaxScaler must be a constant`);
  if (!isNumeric(value)) throw failed(`'${name}' argument to $minMaxScaler must be a numeric type`);
  return value;
}

export const parseMinMaxScaler: WindowFunctionParser = (spec, setup, name) => {
  checkFields(spec, "root", [name, "window"], name);
  const outer = new Map(fields(spec));
  const argument = outer.get(name)!;
  if (argument.type !== BsonType.object) {
    throw new CommandError(
      ErrorCode.TypeMismatch,
      `BSON field 'root.$minMaxScaler' is the wrong type '${typeName(argument)}', expected type 'object'`,
    );
  }
  const windowSpec = outer.get("window");
  const window = windowSpec === undefined ? WHOLE_PARTITION : checkWindow(parseWindow(windowSpec, setup));
  checkFields(asDocument(argument), "root.$minMaxScaler", ["input", "min", "max"], "input");
  const named = new Map(fields(asDocument(argument)));
  const input = compileExpression(named.get("input")!, setup.options);
  const min = named.get("min");
  const max = named.get("max");
  if ((min === undefined) !== (max === undefined)) {
    throw failed(
      "Only one of 'min' and 'max' were specified as an argument to $minMaxScaler. Neither or both must be specified",
    );
  }
  const least = min === undefined ? int32(0) : limit(min, "min", setup);
  const greatest = max === undefined ? int32(1) : limit(max, "max", setup);
  if (compareValues(least, greatest) >= 0) {
    throw failed("the 'max' must be strictly greater than 'min', as arguments to $minMaxScaler");
  }
  const growing = window.lower === "unbounded";
  const code = !growing ? 10487000 : window.kind === "documents" ? 10487001 : 10487004;
  const checked = (v: RawValue | undefined): RawValue => {
    if (v !== undefined && isNumeric(v)) return v;
    throw new CommandError(
      code,
      `'input' argument to $minMaxScaler must evaluate to a numeric type, got: ${typeName(v)}`,
    );
  };
  return {
    start(partition) {
      const frameAt = window.frames(partition);
      const lowest = new SlidingExtreme(-1, growing, undefined);
      const highest = new SlidingExtreme(1, growing, undefined);
      const values: RawValue[] = [];
      let first = 0;
      let last = -1;
      return (index) => {
        const frame = frameAt(index);
        while (last < frame.last) {
          const value = checked(partition.value(input, ++last));
          values[last] = value;
          lowest.add(value);
          highest.add(value);
        }
        for (; first < frame.first; first++) {
          lowest.remove(values[first]);
          highest.remove(values[first]);
        }
        return scale(values[index]!, lowest.result(), highest.result(), least, greatest);
      };
    },
  };
};

function scale(
  v: RawValue,
  lowest: RawValue,
  highest: RawValue,
  least: RawValue,
  greatest: RawValue,
): RawValue | undefined {
  if (compareValues(lowest, highest) === 0) return least;
  const share = divide(subtract(v, lowest), subtract(highest, lowest));
  return add([multiply([share, subtract(greatest, least)]), least]);
}
