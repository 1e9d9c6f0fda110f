/** Keywords of JSON Schema about strings, numbers and types. */
import {
  BsonType,
  DocumentWriter,
  asDocument,
  asNumber,
  asString,
  elements,
  isNumeric,
  isTruthy,
  type RawValue,
} from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import { remainderOfDecimals } from "../values/decimal.js";
import { NUMBER_TYPES, typeOfAlias } from "../values/types.js";
import { comparisonTest } from "./comparison.js";
import { consideredTypes, specification } from "./failureDocument.js";
import { nonNegativeInteger } from "./integers.js";
import { malformed, mismatch, type Keyword, type KeywordArgument } from "./jsonSchema.js";
import { compilePattern } from "./regex.js";

/** `pattern`: a regular expression without options, searched in strings. */
export function pattern({ name, value }: KeywordArgument): Keyword {
  if (value.type !== BsonType.string) throw mismatch(name, "must be a string");
  const compiled = compilePattern(asString(value), "");
  return {
    matches: (v) => v.type !== BsonType.string || compiled.test(asString(v)),
    failures: (v, failures) => [
      failures.about(name, specification(name, value), "regular expression did not match", v).finish(),
    ],
  };
}

/** `minLength`, `maxLength`: in code points. */
export function stringLength({ name, value }: KeywordArgument): Keyword {
  const length = nonNegativeInteger(name, value);
  const holds = name === "minLength" ? (n: number) => n >= length : (n: number) => n <= length;
  return {
    matches: (v) => v.type !== BsonType.string || holds(codePoints(v)),
    failures: (v, failures) => [
      failures
        .about(name, specification(name, value), "specified string length was not satisfied", v)
        .finish(),
    ],
  };
}

/** Characters of a string: bytes of UTF-8 that do not continue one. */
function codePoints({ bytes, start, end }: RawValue): number {
  let count = 0;
  for (let at = start + 4; at < end - 1; at++) if ((bytes[at]! & 0xc0) !== 0x80) count++;
  return count;
}

/** `multipleOf`, computed in decimals, so that 0.3 is a multiple of 0.1. */
export function multipleOf({ name, value }: KeywordArgument): Keyword {
  if (!isNumeric(value)) throw mismatch(name, "must be a number");
  const divisor = asNumber(value);
  if (divisor <= 0) throw malformed(`$jsonSchema keyword '${name}' must have a positive value`);
  return {
    matches: (v) => !isNumeric(v) || asNumber(remainderOfDecimals(v, value)) === 0,
    failures: (v, failures) => [
      failures
        .about(
          name,
          specification(name, value),
          "considered value is not a multiple of the specified value",
          v,
        )
        .finish(),
    ],
  };
}

/** `minimum`, `maximum`, with `exclusiveMinimum: true` and its like. */
export function limit({ name, value, siblings }: KeywordArgument): Keyword {
  const exclusiveName = name === "minimum" ? "exclusiveMinimum" : "exclusiveMaximum";
  const exclusive = siblings.get(exclusiveName);
  if (exclusive !== undefined && exclusive.type !== BsonType.bool) {
    throw mismatch(exclusiveName, "must be a boolean");
  }
  if (!isNumeric(value)) throw mismatch(name, "must be a number");
  const strict = isTruthy(exclusive);
  const test = comparisonTest(name === "minimum" ? (strict ? "gt" : "gte") : strict ? "lt" : "lte", value);
  const specified = new DocumentWriter().field(name, value);
  if (exclusive !== undefined) specified.field(exclusiveName, exclusive);
  const specifiedAs = specified.finish();
  return {
    matches: (v) => !isNumeric(v) || test(v),
    failures: (v, failures) => [failures.about(name, specifiedAs, "comparison failed", v).finish()],
  };
}

const JSON_TYPES: ReadonlyMap<string, readonly BsonType[]> = new Map<string, readonly BsonType[]>([
  ["array", [BsonType.array]],
  ["boolean", [BsonType.bool]],
  ["null", [BsonType.null]],
  ["number", NUMBER_TYPES],
  ["object", [BsonType.object]],
  ["string", [BsonType.string]],
]);

/** `type` with JSON's names, `bsonType` with those of `$type`. */
export function typeKeyword({ name, value }: KeywordArgument): Keyword {
  const types = new Set(aliases(name, value).flatMap((alias) => typesOf(name, alias)));
  if (types.size === 0) throw malformed(`$jsonSchema keyword '${name}' must name at least one type`);
  return {
    matches: (v) => types.has(v.type),
    failures: (v, failures) => {
      const writer = failures.about(name, specification(name, value), "type did not match", v);
      return [consideredTypes(writer, [v]).finish()];
    },
  };
}

function aliases(name: string, value: RawValue): string[] {
  if (value.type === BsonType.string) return [asString(value)];
  if (value.type !== BsonType.array) throw mismatch(name, "must be either a string or an array of strings");
  const list = elements(asDocument(value)).map((element) => {
    if (element.type !== BsonType.string) throw mismatch(name, "array elements must be strings");
    return asString(element);
  });
  const twice = list.find((alias, i) => list.indexOf(alias) < i);
  if (twice !== undefined) throw malformed(`$jsonSchema keyword '${name}' has duplicate value: ${twice}`);
  return list;
}

function typesOf(name: string, alias: string): readonly BsonType[] {
  if (alias === "integer") throw malformed("$jsonSchema type 'integer' is not currently supported.");
  if (alias === "number") return NUMBER_TYPES;
  const bsonType = typeOfAlias(alias);
  const types = name === "type" ? JSON_TYPES.get(alias) : bsonType === undefined ? undefined : [bsonType];
  if (types === undefined) throw new CommandError(ErrorCode.BadValue, `Unknown type name alias: ${alias}`);
  return types;
}
