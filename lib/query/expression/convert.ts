/**
 * Between types: `$convert` and its short forms `$toInt`, `$toString`, …, and
 * the questions `$type $isNumber $subtype`.
 *
 * The conversions themselves are in conversions.ts (numbers, text, dates) and
 * binaryConversions.ts. What cannot be converted is error 241, which `onError`
 * catches; a mistake in the arguments (an unknown type, a bad format) is not.
 */
import {
  BsonType,
  FALSE,
  NULL,
  TRUE,
  asString,
  describeValue,
  int32,
  isNumeric,
  string,
  type RawValue,
} from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import { int32Of } from "../values/numeric.js";
import { typeName, typeOfAlias, typeOfNumber } from "../values/types.js";
import {
  argumentList,
  compileOptional,
  isNullish,
  namedArguments,
  unary,
  type Argument,
  type OperatorCompiler,
} from "./arguments.js";
import { BINARY_FORMATS, type BinaryFormat } from "./binaryConversions.js";
import { compile } from "./compile.js";
import { CONVERSION_FAILURE } from "./conversionError.js";
import { convertValue, type Target } from "./conversions.js";

const FAILED = ErrorCode.FailedToParse;

/** The type that a short form such as `$toInt` converts to, and its format. */
function shortForm(target: Target): OperatorCompiler {
  return (argument, scope, name) => {
    const list = argumentList(argument);
    if (list.length !== 1) {
      throw new CommandError(50723, `${name} requires a single argument, got ${list.length}`);
    }
    const input = compile(list[0]!, scope);
    return (context) => {
      const v = input(context);
      return isNullish(v) ? NULL : convertValue(v, target);
    };
  };
}

const convert: OperatorCompiler = (argument, scope) => {
  const named = namedArguments(
    argument,
    ["input", "to", "base", "format", "onError", "onNull", "byteOrder"],
    {
      object: [FAILED, "$convert expects an object of named arguments but found: {type}"],
      unknown: [FAILED, "$convert found an unknown argument: "],
      required: {
        input: [FAILED, "Missing 'input' parameter to $convert"],
        to: [FAILED, "Missing 'to' parameter to $convert"],
      },
    },
  );
  const input = compile(named.get("input")!, scope);
  const to = targetOf(named.get("to")!, scope);
  const [base, format, onError, onNull, byteOrder] = ["base", "format", "onError", "onNull", "byteOrder"].map(
    (part) => compileOptional(named, part, scope),
  );
  return (context) => {
    const type = targetType(to.type(context));
    const v = input(context);
    const options = { base: base?.(context), format: format?.(context), byteOrder: byteOrder?.(context) };
    if (isNullish(v)) return onNull === undefined ? NULL : onNull(context);
    if (type === undefined) return NULL;
    const target: Target = {
      type,
      base: baseOf(options.base),
      format: formatOf(options.format),
      bigEndian: isBigEndian(options.byteOrder),
      subtype: type === BsonType.binary ? subtypeOf(to.subtype?.(context)) : 0,
    };
    try {
      return convertValue(v, target);
    } catch (error) {
      if (onError !== undefined && error instanceof CommandError && error.code === CONVERSION_FAILURE) {
        return onError(context);
      }
      throw error;
    }
  };
};

interface TargetExpressions {
  readonly type: ReturnType<typeof compile>;
  readonly subtype?: ReturnType<typeof compile>;
}

/** `to` is a type's name or number, or `{ type, subtype }`. */
function targetOf(v: RawValue, scope: Parameters<typeof compile>[1]): TargetExpressions {
  if (v.type === BsonType.object && !describeValue(v).startsWith("{ $")) {
    const named = namedArguments(v, ["type", "subtype"], {
      object: [FAILED, ""],
      unknown: [FAILED, "$convert's 'to' argument has an unknown field: "],
      required: { type: [FAILED, "Missing 'type' parameter to $convert's 'to' argument"] },
    });
    const subtype = compileOptional(named, "subtype", scope);
    return { type: compile(named.get("type")!, scope), ...(subtype && { subtype }) };
  }
  return { type: compile(v, scope) };
}

/** The type to convert to; undefined where it is null. `"missing"`, which `$type` may say, converts to nothing. */
function targetType(v: Argument): BsonType | "missing" | undefined {
  if (isNullish(v)) return undefined;
  if (v.type === BsonType.string) {
    const name = asString(v);
    if (name === "missing") return name;
    const type = typeOfAlias(name);
    if (type === undefined) throw new CommandError(ErrorCode.BadValue, `Unknown type name: ${name}`);
    return type;
  }
  if (!isNumeric(v)) {
    throw new CommandError(
      FAILED,
      `$convert's 'to' argument must be a string or number, but is ${typeName(v)}`,
    );
  }
  const code = int32Of(v);
  if (code === undefined) {
    throw new CommandError(FAILED, "In $convert, numeric 'to' argument is not an integer");
  }
  const type = code === 0 ? "missing" : typeOfNumber(code);
  if (type === undefined) {
    throw new CommandError(
      FAILED,
      `In $convert, numeric value for 'to' does not correspond to a BSON type: ${code}`,
    );
  }
  return type;
}

function baseOf(v: Argument): 2 | 8 | 10 | 16 | undefined {
  if (isNullish(v)) return undefined;
  const base = int32Of(v);
  if (base === undefined) throw new CommandError(3501300, "In $convert, 'base' argument is not an integer");
  if (base !== 2 && base !== 8 && base !== 10 && base !== 16) {
    throw new CommandError(3501301, "In $convert, 'base' argument is not a valid base");
  }
  return base;
}

function formatOf(v: Argument): BinaryFormat | undefined {
  if (isNullish(v)) return undefined;
  if (v.type !== BsonType.string) {
    throw new CommandError(
      4341114,
      `$convert requires that 'format' be a string, found: ${typeName(v)} with value ${describeValue(v)}`,
    );
  }
  const name = asString(v);
  if (!(BINARY_FORMATS as readonly string[]).includes(name)) {
    throw new CommandError(4341125, `Invalid 'format' argument for $convert: ${name}`);
  }
  return name as BinaryFormat;
}

function isBigEndian(v: Argument): boolean {
  if (isNullish(v)) return false;
  if (v.type !== BsonType.string) {
    throw new CommandError(
      9130001,
      `$convert requires that 'byteOrder' be a string, found: ${typeName(v)} with value ${describeValue(v)}`,
    );
  }
  const name = asString(v);
  if (name !== "big" && name !== "little") {
    throw new CommandError(9130002, `Invalid 'byteOrder' argument for $convert: ${name}`);
  }
  return name === "big";
}

/** Subtypes 0–9 are defined, 128–255 free for users. */
function subtypeOf(v: Argument): number {
  if (v === undefined) return 0;
  if (!isNumeric(v)) {
    throw new CommandError(
      4341108,
      `For BinData, $convert's 'subtype' argument must be a number, but is ${typeName(v)}`,
    );
  }
  const code = int32Of(v);
  if (code === undefined) {
    throw new CommandError(4341106, "In $convert, numeric 'subtype' argument is not an integer");
  }
  if (code < 0 || (code > 9 && code < 128) || code > 255) {
    throw new CommandError(
      4341107,
      `In $convert, numeric value for 'subtype' does not correspond to a BinData type: ${code}`,
    );
  }
  return code;
}

/** @since MongoDB 8.3 */
function subtype(v: Argument): Argument {
  if (isNullish(v)) return NULL;
  if (v.type === BsonType.binary) return int32(v.bytes[v.start + 4]!);
  throw new CommandError(
    10389300,
    `Provided value: ${describeValue(v)}, does not have a subtype, but $subtype was used.`,
  );
}

const plain = (type: BsonType): Target => ({ type, bigEndian: false, subtype: 0 });

export const CONVERSIONS: Readonly<Record<string, OperatorCompiler>> = {
  $type: unary((v) => string(typeName(v))),
  $isNumber: unary((v) => (v !== undefined && isNumeric(v) ? TRUE : FALSE)),
  $subtype: unary(subtype),
  $convert: convert,
  $toString: shortForm({ ...plain(BsonType.string), format: "auto" }),
  $toInt: shortForm(plain(BsonType.int32)),
  $toLong: shortForm(plain(BsonType.int64)),
  $toDouble: shortForm(plain(BsonType.double)),
  $toDecimal: shortForm(plain(BsonType.decimal128)),
  $toBool: shortForm(plain(BsonType.bool)),
  $toDate: shortForm(plain(BsonType.date)),
  $toObjectId: shortForm(plain(BsonType.objectId)),
  $toUUID: shortForm({ ...plain(BsonType.binary), subtype: 4, format: "uuid" }),
};
