/**
 * How a command's arguments are read: by name and type, with MongoDB's refusals.
 *
 * A command declares the fields it understands. Everything else is refused
 * (`BSON field 'find.foo' is an unknown field.`, 40415), and fields that MongoDB
 * understands but the engine doesn't are refused with code 238: nothing that
 * would change an answer is ignored.
 */
import type { RawValue } from "../bson/index.js";
import {
  asBigInt,
  asDocument,
  asNumber,
  asString,
  BsonType,
  forEachField,
  isNumeric,
  isTruthy,
  nameOfType,
} from "../bson/index.js";
import { CommandError, ErrorCode, notSimulated } from "./errors.js";

/** What a command, or a part of one, accepts. */
export interface ArgumentsDefinition {
  /** Fields beside the name and the generic ones. */
  readonly fields: readonly string[];
  /** Fields of MongoDB that are refused unless they say nothing: name → what is not simulated. */
  readonly refused?: Readonly<Record<string, string>>;
  /** Accept any field that isn't refused. */
  readonly lenient?: boolean;
}

/** Fields that any command may carry and that have no influence on a one-member engine's answer. */
const GENERIC: ReadonlySet<string> = new Set([
  "$db",
  "lsid",
  "txnNumber",
  "stmtId",
  "stmtIds",
  "autocommit",
  "startTransaction",
  "coordinator",
  "$clusterTime",
  "$configServerState",
  "$configTime",
  "$topologyTime",
  "$readPreference",
  "$audit",
  "$client",
  "$queryOptions",
  "$replData",
  "$oplogQueryData",
  "apiVersion",
  "apiStrict",
  "apiDeprecationErrors",
  "comment",
  "maxTimeMS",
  "maxTimeMSOpOnly",
  "clientOperationKey",
  "readConcern",
  "writeConcern",
  "rawData",
]);

/** Whether any command may carry a field of this name. */
export function isGeneric(name: string): boolean {
  return GENERIC.has(name);
}

/** A command's fields, read by type. */
export class Arguments {
  private readonly values = new Map<string, RawValue>();

  /**
   * @param command the command's name, for messages
   * @param body the raw command document
   * @param definition what the command accepts
   * @param isCommand false for a part of a command (an element of `updates`): its first field is no name
   * @throws CommandError 40415 for an unknown field, 238 for a refused one
   */
  constructor(
    readonly command: string,
    readonly body: Uint8Array,
    definition: ArgumentsDefinition,
    isCommand = true,
  ) {
    let first = isCommand;
    forEachField(body, (name, value) => {
      if (!first && !GENERIC.has(name) && !definition.fields.includes(name)) {
        const refused = definition.refused?.[name];
        if (refused === undefined && !definition.lenient) {
          throw new CommandError(
            ErrorCode.IDLUnknownField,
            `BSON field '${command}.${name}' is an unknown field.`,
          );
        }
        if (refused !== undefined && !saysNothing(value)) throw notSimulated(refused);
      }
      if (!first && this.values.has(name)) {
        throw new CommandError(40413, `BSON field '${command}.${name}' is a duplicate field`);
      }
      first = false;
      this.values.set(name, value);
    });
  }

  /** The value of a field; undefined when it is absent or null. */
  get(name: string): RawValue | undefined {
    const value = this.values.get(name);
    return value?.type === BsonType.null || value?.type === BsonType.undefined ? undefined : value;
  }

  /** The value of the first field: the command's own argument. */
  get main(): RawValue {
    return this.values.values().next().value as RawValue;
  }

  /** An object field, raw. */
  document(name: string): Uint8Array | undefined {
    const value = this.get(name);
    if (value === undefined) return undefined;
    if (value.type !== BsonType.object) throw this.wrongType(name, value, "object");
    return asDocument(value);
  }

  /** An object field that must be there. */
  requiredDocument(name: string): Uint8Array {
    return this.document(name) ?? this.missing(name);
  }

  string(name: string): string | undefined {
    const value = this.get(name);
    if (value === undefined) return undefined;
    if (value.type !== BsonType.string) throw this.wrongType(name, value, "string");
    return asString(value);
  }

  boolean(name: string, absent = false): boolean {
    const value = this.get(name);
    if (value === undefined) return absent;
    if (value.type !== BsonType.bool && !isNumeric(value)) throw this.wrongType(name, value, "bool");
    return isTruthy(value);
  }

  /**
   * A whole number ≥ 0.
   * @throws CommandError TypeMismatch (14), or 51024 for a negative number
   */
  count(name: string): number | undefined {
    const number = this.number(name);
    if (number !== undefined && number < 0) {
      throw new CommandError(51024, `BSON field '${name}' value must be >= 0, actual value '${number}'`);
    }
    return number;
  }

  /** A number without its fraction. */
  number(name: string): number | undefined {
    const value = this.get(name);
    if (value === undefined) return undefined;
    if (!isNumeric(value)) throw this.wrongType(name, value, "long");
    return Math.trunc(asNumber(value));
  }

  bigint(name: string): bigint | undefined {
    const value = this.get(name);
    if (value === undefined) return undefined;
    if (!isNumeric(value)) throw this.wrongType(name, value, "long");
    return asBigInt(value);
  }

  /** The failure for a field that must be there and isn't. */
  missing(name: string): never {
    throw new CommandError(
      ErrorCode.IDLFailedToParse,
      `BSON field '${this.command}.${name}' is missing but a required field`,
    );
  }

  wrongType(name: string, value: RawValue, expected: string): CommandError {
    return new CommandError(
      ErrorCode.TypeMismatch,
      `BSON field '${this.command}.${name}' is the wrong type '${nameOfType(value.type)}', expected type '${expected}'`,
    );
  }
}

/** Null, false, zero, or an empty document or array: values with which a field asks for nothing. */
function saysNothing(value: RawValue): boolean {
  if (value.type === BsonType.object || value.type === BsonType.array) return value.end - value.start === 5;
  return !isTruthy(value);
}
