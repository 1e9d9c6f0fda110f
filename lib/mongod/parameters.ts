/**
 * Server parameters: what `getParameter` shows and `setParameter` changes.
 *
 * Three kinds share one table. Some steer this engine (`ttlMonitorEnabled`,
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
import { CommandError, ErrorCode, notSimulated } from "../protocol/index.js";

type Kind = "bool" | "int" | "long" | "double" | "string" | "fixed";

/** When a parameter can be set. */
interface Settable {
  readonly runtime: boolean;
  readonly startup: boolean;
}

interface Definition {
  readonly kind: Kind;
  readonly initial: RawValue;
  readonly settable: Settable;
  /** Smallest value it takes. */
  readonly min?: number;
  readonly max?: number;
  /** Values that would change something that is not simulated. */
  readonly refuse?: (value: RawValue) => boolean;
}

const ANYTIME: Settable = { runtime: true, startup: true };
const STARTUP: Settable = { runtime: false, startup: true };
const NEVER: Settable = { runtime: false, startup: false };

const flag = (value: boolean, settable = ANYTIME): Definition => ({
  kind: "bool",
  initial: bool(value),
  settable,
});
const int = (value: number, settable = ANYTIME, min?: number, max?: number): Definition => ({
  kind: "int",
  initial: int32(value),
  settable,
  ...(min !== undefined && { min }),
  ...(max !== undefined && { max }),
});
const long = (value: number, settable = ANYTIME, min?: number): Definition => ({
  kind: "long",
  initial: int64(value),
  settable,
  ...(min !== undefined && { min }),
});
const text = (value: string, settable = ANYTIME): Definition => ({
  kind: "string",
  initial: string(value),
  settable,
});
const fixed = (value: unknown): Definition => ({
  kind: "fixed",
  initial: encodeValue(value),
  settable: NEVER,
});

/** The table, by name; MongoDB's defaults but where the engine truly is otherwise. */
const DEFINITIONS: Readonly<Record<string, Definition>> = {
  allowDiskUseByDefault: flag(true),
  authenticationMechanisms: { ...fixed([]), settable: STARTUP },
  connPoolMaxConnsPerHost: int(200, STARTUP),
  cursorTimeoutMillis: long(600_000, ANYTIME, 1),
  diagnosticDataCollectionEnabled: { ...flag(false), refuse: isTruthy },
  enableLocalhostAuthBypass: flag(true, STARTUP),
  enableTestCommands: flag(false, STARTUP),
  featureCompatibilityVersion: fixed({ version: "8.2" }),
  honorSystemUmask: flag(false, STARTUP),
  internalDocumentSourceGroupMaxMemoryBytes: long(104_857_600, ANYTIME, 1),
  internalInsertMaxBatchSize: int(500, ANYTIME, 1),
  internalQueryExecMaxBlockingSortBytes: int(104_857_600, ANYTIME, 0),
  internalQueryExecYieldIterations: int(1000),
  internalQueryExecYieldPeriodMS: int(10, ANYTIME, 0),
  internalQueryFacetBufferSizeBytes: int(104_857_600, ANYTIME, 1),
  internalQueryFrameworkControl: {
    ...text("forceClassicEngine"),
    refuse: (value) => asString(value) !== "forceClassicEngine",
  },
  internalQueryMaxAddToSetBytes: int(104_857_600, ANYTIME, 1),
  internalQueryMaxBlockingSortMemoryUsageBytes: int(104_857_600, ANYTIME, 0),
  internalQueryMaxPushBytes: int(104_857_600, ANYTIME, 1),
  internalQueryPlanEvaluationMaxResults: int(101, ANYTIME, 0),
  internalQueryPlannerMaxIndexedSolutions: int(64, ANYTIME, 0),
  localLogicalSessionTimeoutMinutes: int(30, STARTUP, 1),
  logLevel: int(0, ANYTIME, 0, 5),
  logicalSessionRefreshMillis: int(300_000, STARTUP),
  maxBSONDepth: int(200, STARTUP, 20, 250),
  maxIndexBuildMemoryUsageMegabytes: int(200, ANYTIME, 50),
  maxNumActiveUserIndexBuilds: int(3, ANYTIME, 0),
  maxSessions: int(1_000_000, STARTUP),
  maxTransactionLockRequestTimeoutMillis: int(5),
  minSnapshotHistoryWindowInSeconds: int(300, ANYTIME, 0),
  notablescan: { ...flag(false), refuse: isTruthy },
  oplogInitialFindMaxSeconds: int(60, ANYTIME, 0),
  periodicNoopIntervalSecs: int(10, STARTUP, 0),
  planCacheSize: text("5%"),
  quiet: flag(false),
  replWriterThreadCount: int(16, STARTUP, 1, 256),
  requireApiVersion: { ...flag(false), refuse: isTruthy },
  scramIterationCount: int(10_000, ANYTIME, 5000),
  scramSHA256IterationCount: int(15_000, ANYTIME, 5000),
  shutdownTimeoutMillisForSignaledShutdown: int(15_000, ANYTIME, 0),
  slowConnectionThresholdMillis: int(100),
  sslMode: { ...text("disabled"), refuse: (value) => asString(value) !== "disabled" },
  syncdelay: { kind: "double", initial: double(60), settable: ANYTIME, min: 0, max: 9_000_000 },
  tlsMode: { ...text("disabled"), refuse: (value) => asString(value) !== "disabled" },
  traceExceptions: flag(false),
  transactionLifetimeLimitSeconds: int(60, ANYTIME, 1),
  ttlMonitorEnabled: flag(true),
  ttlMonitorSleepSecs: int(60, ANYTIME, 1),
  watchdogPeriodSeconds: { ...int(-1), refuse: (value) => asNumber(value) > 0 },
};

/** What is known of a parameter, for `getParameter: {showDetails: true}`. */
export interface ParameterDetails extends Settable {
  readonly name: string;
  readonly value: RawValue;
}

/** The parameters of one server. */
export class ServerParameters {
  private readonly values = new Map<string, RawValue>();

  /** All parameters by name. */
  all(): ParameterDetails[] {
    return Object.entries(DEFINITIONS).map(([name, { settable }]) => ({
      name,
      value: this.get(name),
      ...settable,
    }));
  }

  /** The value of a parameter of the table. */
  get(name: string): RawValue {
    return this.values.get(name) ?? definition(name).initial;
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
    if (!Object.hasOwn(DEFINITIONS, name)) {
      throw new CommandError(
        ErrorCode.InvalidOptions,
        `attempted to set unrecognized parameter [${name}], use help:true to see options `,
      );
    }
    if (!definition(name).settable.runtime) {
      throw new CommandError(ErrorCode.IllegalOperation, `not allowed to change [${name}] at runtime`);
    }
  }

  /**
   * Changes a parameter, whenever it may be set (a program's `--setParameter` too).
   * @throws CommandError InvalidOptions (72) for an unknown one, BadValue (2) for a value it does not take,
   * NotImplemented (238) for one that is not simulated
   */
  set(name: string, value: RawValue): void {
    if (!Object.hasOwn(DEFINITIONS, name)) this.checkSettable(name);
    this.values.set(name, coerce(name, definition(name), value));
  }

  /**
   * Sets a parameter as a command line does.
   * @throws CommandError as {@link set}
   * @example parameters.setFromText("ttlMonitorEnabled", "false")
   */
  setFromText(name: string, text: string): void {
    if (!Object.hasOwn(DEFINITIONS, name)) this.checkSettable(name);
    this.set(name, fromText(definition(name).kind, text));
  }
}

/** A value as it is written on a command line. */
function fromText(kind: Kind, text: string): RawValue {
  if (kind === "bool" && (text === "true" || text === "false")) return bool(text === "true");
  const isNumber = kind !== "string" && text.trim() !== "" && Number.isFinite(Number(text));
  return isNumber ? double(Number(text)) : string(text);
}

function definition(name: string): Definition {
  const found = DEFINITIONS[name];
  if (!found) throw new Error(`no parameter ${name}`);
  return found;
}

function coerce(name: string, known: Definition, value: RawValue): RawValue {
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
