/** Operators on single values: `$set $setOnInsert $unset $inc $mul $min $max $currentDate $bit`. */
import {
  BsonType,
  asBigInt,
  asDocument,
  asString,
  compareValues,
  date,
  describeValue,
  fields,
  int32,
  int64,
  isNumeric,
  valuesIdentical,
  type RawValue,
} from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import { addNumbers, multiplyNumbers } from "../values/numeric.js";
import { typeName } from "../values/types.js";
import { describeId, fieldName, identify, milliseconds, REMOVE, type OperatorParser } from "./context.js";
import { describeTyped } from "./numbers.js";
import { nextTimestamp } from "./replacement.js";

const set: OperatorParser = (argument) => ({
  missing: "create",
  update: (existing) =>
    existing !== undefined && valuesIdentical(existing, argument) ? undefined : argument,
});

const setOnInsert: OperatorParser = (argument) => ({
  missing: "create",
  update: (existing, { context }) =>
    context.isInsert && !(existing !== undefined && valuesIdentical(existing, argument))
      ? argument
      : undefined,
});

const unset: OperatorParser = () => ({
  missing: "ignore",
  update: () => REMOVE,
});

function arithmetic(
  name: "$inc" | "$mul",
  verb: string,
  combine: (a: RawValue, b: RawValue) => RawValue | undefined,
  missing: (argument: RawValue) => RawValue,
): OperatorParser {
  return (argument, path) => {
    if (!isNumeric(argument)) {
      throw new CommandError(
        ErrorCode.TypeMismatch,
        `Cannot ${verb} with non-numeric argument: {${path}: ${describeValue(argument)}}`,
      );
    }
    return {
      missing: "create",
      update(existing, { path: at, doc }) {
        if (existing === undefined) return missing(argument);
        if (!isNumeric(existing)) {
          throw new CommandError(
            ErrorCode.TypeMismatch,
            `Cannot apply ${name} to a value of non-numeric type. ${identify(doc)} has the field '${fieldName(at)}' ` +
              `of non-numeric type ${typeName(existing)}`,
          );
        }
        const result = combine(existing, argument);
        if (result === undefined) {
          throw new CommandError(
            ErrorCode.BadValue,
            `Failed to apply ${name} operations to current value (${describeTyped(existing)}) for document ${identify(doc)}`,
          );
        }
        return valuesIdentical(result, existing) ? undefined : result;
      },
    };
  };
}

/** What `$mul` makes of a missing field: zero, of the argument's type (and exponent, and sign). */
function timesZero(argument: RawValue): RawValue {
  return multiplyNumbers(argument, int32(0))!;
}

function extreme(wanted: -1 | 1): OperatorParser {
  return (argument, _, { collation }) => ({
    missing: "create",
    update: (existing) =>
      existing === undefined || compareValues(argument, existing, collation) * wanted > 0
        ? argument
        : undefined,
  });
}

const currentDate: OperatorParser = (argument) => {
  let type: string | undefined = "date";
  if (argument.type === BsonType.object) {
    type = undefined;
    for (const [name, value] of fields(asDocument(argument))) {
      if (name !== "$type") {
        throw new CommandError(ErrorCode.BadValue, `Unrecognized $currentDate option: ${name}`);
      }
      const text = value.type === BsonType.string ? asString(value) : "";
      if (text === "date" || text === "timestamp") type = text;
    }
    if (type === undefined) {
      throw new CommandError(
        ErrorCode.BadValue,
        "The '$type' string field is required to be 'date' or 'timestamp': {$currentDate: {field : {$type: 'date'}}}",
      );
    }
  } else if (argument.type !== BsonType.bool) {
    throw new CommandError(
      ErrorCode.BadValue,
      `${typeName(argument)} is not valid type for $currentDate. Please use a boolean ('true') or a $type expression ` +
        "({$type: 'timestamp/date'}).",
    );
  }
  return {
    missing: "create",
    update: (_, { context }) => (type === "date" ? date(milliseconds(context.now)) : nextTimestamp(context)),
  };
};

const BIT_OPERATIONS: Readonly<Record<string, (a: bigint, b: bigint) => bigint>> = {
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
};

function isInteger(v: RawValue): boolean {
  return v.type === BsonType.int32 || v.type === BsonType.int64;
}

const bit: OperatorParser = (argument) => {
  if (argument.type !== BsonType.object) {
    throw new CommandError(
      ErrorCode.BadValue,
      `The $bit modifier is not compatible with a ${typeName(argument)}. You must pass in an embedded document: ` +
        "{$bit: {field: {and/or/xor: #}}",
    );
  }
  const steps = fields(asDocument(argument)).map(([name, operand]) => {
    const operation = BIT_OPERATIONS[name];
    if (operation === undefined) {
      throw new CommandError(
        ErrorCode.BadValue,
        `The $bit modifier only supports 'and', 'or', and 'xor', not '${name}' which is an unknown operator: ` +
          `{${name}: ${describeValue(operand)}}`,
      );
    }
    if (!isInteger(operand)) {
      throw new CommandError(
        ErrorCode.BadValue,
        `The $bit modifier field must be an Integer(32/64 bit); a '${typeName(operand)}' is not supported here: ` +
          `{${name}: ${describeValue(operand)}}`,
      );
    }
    return { operation, operand };
  });
  if (steps.length === 0) {
    throw new CommandError(
      ErrorCode.BadValue,
      `You must pass in at least one bitwise operation. The format is: {$bit: {field: {and/or/xor: #}}`,
    );
  }
  return {
    missing: "create",
    update(existing, { path: at, doc }) {
      let value = existing ?? int32(0);
      if (!isInteger(value)) {
        throw new CommandError(
          ErrorCode.BadValue,
          `Cannot apply $bit to a value of non-integral type.${describeId(doc)} has the field ${fieldName(at)} of ` +
            `non-integer type ${typeName(value)}`,
        );
      }
      for (const { operation, operand } of steps) {
        const bits = operation(asBigInt(value), asBigInt(operand));
        const wide = value.type === BsonType.int64 || operand.type === BsonType.int64;
        value = wide ? int64(bits) : int32(Number(BigInt.asIntN(32, bits)));
      }
      return existing !== undefined && valuesIdentical(existing, value) ? undefined : value;
    },
  };
};

export const FIELD_OPERATORS: Readonly<Record<string, OperatorParser>> = {
  $set: set,
  $setOnInsert: setOnInsert,
  $unset: unset,
  $inc: arithmetic("$inc", "increment", addNumbers, (argument) => argument),
  $mul: arithmetic("$mul", "multiply", multiplyNumbers, timesZero),
  $min: extreme(-1),
  $max: extreme(1),
  $currentDate: currentDate,
  $bit: bit,
};
