/** Operators on single values: `$set $setOnInsert $unset $inc $mul $min $max $currentDate $bit`. */
import {
  BsonType,
  asBigInt,
  asDocument,
  asString,
  compareValues,
  date,
  describeValue,
  double,
  fields,
  int32,
  int64,
  isNumeric,
  timestamp,
  valuesIdentical,
  type RawValue,
} from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import { toDecimal } from "../values/decimal.js";
import { addNumbers, multiplyNumbers } from "../values/numeric.js";
import { typeName } from "../values/types.js";
import { identify, milliseconds, REMOVE, type FieldOperator, type OperatorParser } from "./context.js";

const set: OperatorParser = (argument) => ({
  creates: true,
  update: (existing) =>
    existing !== undefined && valuesIdentical(existing, argument) ? undefined : argument,
});

const setOnInsert: OperatorParser = (argument) => ({
  creates: true,
  update: (_, { context }) => (context.isInsert ? argument : undefined),
});

const unset: OperatorParser = () => ({
  creates: false,
  update: (existing) => (existing === undefined ? undefined : REMOVE),
});

/** The last component of a path: what MongoDB's messages call "the field". */
function fieldName(path: string): string {
  return path.slice(path.lastIndexOf(".") + 1);
}

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
      creates: true,
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
            `Failed to apply ${name} operations to current value (${describeValue(existing)}) for document ${identify(doc)}`,
          );
        }
        return valuesIdentical(result, existing) ? undefined : result;
      },
    };
  };
}

/** Zero of the argument's type: what `$mul` makes of a missing field. */
function zeroLike(argument: RawValue): RawValue {
  switch (argument.type) {
    case BsonType.int32:
      return int32(0);
    case BsonType.int64:
      return int64(0);
    case BsonType.double:
      return double(0);
    default:
      return toDecimal(int32(0));
  }
}

function extreme(wanted: -1 | 1): OperatorParser {
  return (argument) => ({
    creates: true,
    update: (existing) =>
      existing === undefined || compareValues(argument, existing) === wanted ? argument : undefined,
  });
}

const currentDate: OperatorParser = (argument) => {
  let type = "date";
  if (argument.type === BsonType.object) {
    for (const [name, value] of fields(asDocument(argument))) {
      if (name !== "$type") {
        throw new CommandError(ErrorCode.BadValue, `Unrecognized $currentDate option: ${name}`);
      }
      type = value.type === BsonType.string ? asString(value) : "";
    }
    if (type !== "date" && type !== "timestamp") {
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
    creates: true,
    update(_, { context }) {
      const now = milliseconds(context.now);
      return type === "date" ? date(now) : timestamp(Math.floor(now / 1000), 1);
    },
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

const bit: OperatorParser = (argument, path) => {
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
  const result: FieldOperator = {
    creates: true,
    update(existing, { path: at, doc }) {
      let value = existing ?? int32(0);
      if (!isInteger(value)) {
        throw new CommandError(
          ErrorCode.BadValue,
          `Cannot apply $bit to a value of non-integral type.${identify(doc)} has the field ${fieldName(at || path)} of ` +
            `non-integer type ${typeName(value)}`,
        );
      }
      for (const { operation, operand } of steps) {
        const bits = operation(asBigInt(value), asBigInt(operand));
        const wide = value.type === BsonType.int64 || operand.type === BsonType.int64;
        value = wide ? int64(bits) : int32(Number(bits));
      }
      return existing !== undefined && valuesIdentical(existing, value) ? undefined : value;
    },
  };
  return result;
};

export const FIELD_OPERATORS: Readonly<Record<string, OperatorParser>> = {
  $set: set,
  $setOnInsert: setOnInsert,
  $unset: unset,
  $inc: arithmetic("$inc", "increment", addNumbers, (argument) => argument),
  $mul: arithmetic("$mul", "multiply", multiplyNumbers, zeroLike),
  $min: extreme(-1),
  $max: extreme(1),
  $currentDate: currentDate,
  $bit: bit,
};
