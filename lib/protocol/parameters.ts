/**
 * Server parameters: what `getParameter` shows and `setParameter` changes.
 *
 * Shard and router have a table each. Three kinds share it. Some steer this engine (`ttlMonitorEnabled`,
 * `cursorTimeoutMillis`): whoever they concern reads them at every use. Some
 * are kept so that administrators' scripts find them, and say nothing here
 * (`logLevel`): they come back as they were set. A few would change answers in
 * a way that is not simulated (`notablescan: true`): setting those is refused.
 */
import type { RawValue } from "../bson/index.js";
import {
  asNumber,
  asString,
  bool,
  BsonType,
  describeValue,
  double,
  encodeValue,
  int32,
  int64,
  isNumeric,
  isTruthy,
  string,
} from "../bson/index.js";
import { CommandError, ErrorCode, notSimulated } from "./errors.js";

/** What a parameter holds; `fixed` can't be set. */
type Kind = "bool" | "int" | "long" | "double" | "string" | "fixed";

/** When a parameter can be set. */
export interface Settable {
  readonly runtime: boolean;
  readonly startup: boolean;
}

/** A parameter of a table. */
export interface ParameterDefinition {
  readonly kind: Kind;
  readonly initial: RawValue;
  readonly settable: Settable;
  /** Smallest value it takes. */
  readonly min?: number;
  readonly max?: number;
  /** Values that would change something that is not simulated. */
  readonly refuse?: (value: RawValue) => boolean;
}

export const ANYTIME: Settable = { runtime: true, startup: true };
export const STARTUP: Settable = { runtime: false, startup: true };
const NEVER: Settable = { runtime: false, startup: false };

/** A parameter that is true or false. */
export const flag = (value: boolean, settable = ANYTIME): ParameterDefinition => ({
  kind: "bool",
  initial: bool(value),
  settable,
});
/** A 32-bit number. */
export const int = (value: number, settable = ANYTIME, min?: number, max?: number): ParameterDefinition => ({
  kind: "int",
  initial: int32(value),
  settable,
  ...(min !== undefined && { min }),
  ...(max !== undefined && { max }),
});
/** A 64-bit number. */
export const long = (value: number, settable = ANYTIME, min?: number): ParameterDefinition => ({
  kind: "long",
  initial: int64(value),
  settable,
  ...(min !== undefined && { min }),
});
/** A string. */
export const text = (value: string, settable = ANYTIME): ParameterDefinition => ({
  kind: "string",
  initial: string(value),
  settable,
});
/** A value that no command sets. */
export const fixed = (value: unknown): ParameterDefinition => ({
  kind: "fixed",
  initial: encodeValue(value),
  settable: NEVER,
});

/** What is known of a parameter, for `getParameter: {showDetails: true}`. */
export interface ParameterDetails extends Settable {
  readonly name: string;
  readonly value: RawValue;
}

/** The parameters of one server. */
export class ParameterSet {
  private readonly values = new Map<string, RawValue>();

  /** @param definitions the table, by name */
  constructor(private readonly definitions: Readonly<Record<string, ParameterDefinition>>) {}

  /** All parameters by name. */
  all(): ParameterDetails[] {
    return Object.entries(this.definitions).map(([name, { settable }]) => ({
      name,
      value: this.get(name),
      ...settable,
    }));
  }

  /** The value of a parameter of the table. */
  get(name: string): RawValue {
    return this.values.get(name) ?? this.definition(name).initial;
  }

  /** The value of a number. */
  number(name: string): number {
    return asNumber(this.get(name));
  }

  /** The value of a flag. */
  flag(name: string): boolean {
    return isTruthy(this.get(name));
  }

  /**
   * Whether a parameter may be changed now.
   * @throws CommandError InvalidOptions (72) for an unknown one, IllegalOperation (20) for one of start-up only
   */
  checkSettable(name: string): void {
    if (!Object.hasOwn(this.definitions, name)) {
      throw new CommandError(
        ErrorCode.InvalidOptions,
        `attempted to set unrecognized parameter [${name}], use help:true to see options `,
      );
    }
    if (!this.definition(name).settable.runtime) {
      throw new CommandError(ErrorCode.IllegalOperation, `not allowed to change [${name}] at runtime`);
    }
  }

  /**
   * Changes a parameter, whenever it may be set (a program's `--setParameter` too).
   * @throws CommandError InvalidOptions (72) for an unknown one, BadValue (2) for a value it does not take,
   * NotImplemented (238) for one that is not simulated
   */
  set(name: string, value: RawValue): void {
    if (!Object.hasOwn(this.definitions, name)) this.checkSettable(name);
    this.values.set(name, coerce(name, this.definition(name), value));
  }

  /**
   * Sets a parameter as a command line does.
   * @throws CommandError as {@link set}
   * @example parameters.setFromText("ttlMonitorEnabled", "false")
   */
  setFromText(name: string, text: string): void {
    if (!Object.hasOwn(this.definitions, name)) this.checkSettable(name);
    this.set(name, fromText(this.definition(name).kind, text));
  }

  private definition(name: string): ParameterDefinition {
    const found = this.definitions[name];
    if (!found) throw new Error(`no parameter ${name}`);
    return found;
  }
}

/** A value as it is written on a command line. */
function fromText(kind: Kind, text: string): RawValue {
  if (kind === "bool" && (text === "true" || text === "false")) return bool(text === "true");
  const isNumber = kind !== "string" && text.trim() !== "" && Number.isFinite(Number(text));
  return isNumber ? double(Number(text)) : string(text);
}

function coerce(name: string, known: ParameterDefinition, value: RawValue): RawValue {
  const converted = convert(known.kind, value);
  if (!converted) {
    throw new CommandError(ErrorCode.BadValue, `Unable to coerce value to correct type for ${name}`);
  }
  if (isNumeric(converted)) {
    const number = asNumber(converted);
    if (known.min !== undefined && number < known.min)
      throw outOfRange(name, converted, "greater than or equal to", known.min);
    if (known.max !== undefined && number > known.max)
      throw outOfRange(name, converted, "less than or equal to", known.max);
  }
  if (known.refuse?.(converted)) throw notSimulated(`setParameter ${name}: ${describeValue(converted)}`);
  return converted;
}

function convert(kind: Kind, value: RawValue): RawValue | undefined {
  switch (kind) {
    case "bool":
      return value.type === BsonType.bool || isNumeric(value) ? bool(isTruthy(value)) : undefined;
    case "int":
      return wholeWithin(value, 0x7fffffff) ? int32(Math.trunc(asNumber(value))) : undefined;
    case "long":
      return wholeWithin(value, Number.MAX_SAFE_INTEGER) ? int64(Math.trunc(asNumber(value))) : undefined;
    case "double":
      return isNumeric(value) ? double(asNumber(value)) : undefined;
    case "string":
      return value.type === BsonType.string ? string(asString(value)) : undefined;
    case "fixed":
      return undefined;
  }
}

function wholeWithin(value: RawValue, limit: number): boolean {
  return isNumeric(value) && Math.abs(asNumber(value)) <= limit;
}

function outOfRange(name: string, value: RawValue, rule: string, bound: number): CommandError {
  return new CommandError(
    ErrorCode.BadValue,
    `Invalid value for parameter ${name}: ${describeValue(value)} is not ${rule} ${bound}`,
  );
}
