/**
 * Every failure has a number, a name, a cause and a remedy.
 *
 * MongoDB's clients decide by the *number* (a driver's retry logic, a lesson's
 * check), people read the *name* and the message. Both come from this one
 * table, so that the shard and the router cannot disagree about either.
 *
 *     throw new CommandError(ErrorCode.NamespaceNotFound, "ns does not exist: library.loans")
 *       → { ok: 0, errmsg: "ns does not exist: library.loans", code: 26, codeName: "NamespaceNotFound" }
 *
 * Some failures of MongoDB have a number without a name; they print as
 * `Location<number>` (facts-mongos.md §0.1) and need no entry here.
 *
 * What the engine does not simulate is refused with code 238 rather than
 * answered approximately: see {@link notSimulated}.
 */
import type { RawValue } from "../bson/index.js";
import { BsonError, DocumentWriter, encodeValue, nameOfType, toDocument } from "../bson/index.js";
import type { Reply } from "./endpoint.js";
import { EndpointUnreachableError } from "./endpoint.js";

/** Error numbers by name (facts-mongos.md §0.1, and those that drivers look at). */
export const ErrorCode = {
  InternalError: 1,
  BadValue: 2,
  NoSuchKey: 4,
  GraphContainsCycle: 5,
  HostUnreachable: 6,
  HostNotFound: 7,
  UnknownError: 8,
  FailedToParse: 9,
  UnsupportedFormat: 12,
  Unauthorized: 13,
  TypeMismatch: 14,
  Overflow: 15,
  InvalidLength: 16,
  ProtocolError: 17,
  AuthenticationFailed: 18,
  IllegalOperation: 20,
  InvalidBSON: 22,
  AlreadyInitialized: 23,
  NamespaceNotFound: 26,
  IndexNotFound: 27,
  PathNotViable: 28,
  CannotBackfillArray: 34,
  ConflictingUpdateOperators: 40,
  CursorNotFound: 43,
  LockBusy: 46,
  NamespaceExists: 48,
  MaxTimeMSExpired: 50,
  DollarPrefixedFieldName: 52,
  InvalidIdField: 53,
  NotSingleValueField: 54,
  InvalidDBRef: 55,
  EmptyFieldName: 56,
  DottedFieldName: 57,
  CommandNotFound: 59,
  ShardKeyNotFound: 61,
  WriteConcernFailed: 64,
  MultipleErrorsOccurred: 65,
  ImmutableField: 66,
  CannotCreateIndex: 67,
  IndexAlreadyExists: 68,
  ShardNotFound: 70,
  InvalidOptions: 72,
  InvalidNamespace: 73,
  NodeNotFound: 74,
  NoReplicationEnabled: 76,
  UnknownReplWriteConcern: 79,
  IndexOptionsConflict: 85,
  IndexKeySpecsConflict: 86,
  CannotSplit: 87,
  NetworkTimeout: 89,
  ShutdownInProgress: 91,
  InvalidReplicaSetConfig: 93,
  NotYetInitialized: 94,
  NotSecondary: 95,
  OperationFailed: 96,
  UnsatisfiableWriteConcern: 100,
  NewReplicaSetConfigurationIncompatible: 103,
  NotExactValueField: 111,
  WriteConflict: 112,
  CommandNotSupported: 115,
  ConflictingOperationInProgress: 117,
  NamespaceNotSharded: 118,
  DocumentValidationFailure: 121,
  CommandFailed: 125,
  FailedToSatisfyReadPreference: 133,
  CappedPositionLost: 136,
  CursorInUse: 143,
  ExceededMemoryLimit: 146,
  StaleEpoch: 150,
  ChunkTooBig: 153,
  ZoneStillInUse: 163,
  IncompatibleCollationVersion: 161,
  ViewDepthLimitExceeded: 165,
  CommandNotSupportedOnView: 166,
  OptionNotSupportedOnView: 167,
  InvalidPipelineOperator: 168,
  CannotIndexParallelArrays: 171,
  QueryPlanKilled: 175,
  ZoneNotFound: 177,
  RangeOverlapConflict: 178,
  AmbiguousIndexKeyPattern: 181,
  NoShardingEnabled: 193,
  BalancerInterrupted: 194,
  ViewPipelineMaxSizeExceeded: 195,
  InvalidIndexSpecificationOption: 197,
  NoSuchSession: 206,
  InvalidUUID: 207,
  IncompleteTransactionHistory: 217,
  QueryFeatureNotAllowed: 224,
  TransactionTooOld: 225,
  MaxSubPipelineDepthExceeded: 232,
  CursorKilled: 237,
  NotImplemented: 238,
  ConversionFailure: 241,
  NoSuchTransaction: 251,
  TooManyLogicalSessions: 261,
  ExceededTimeLimit: 262,
  OperationNotSupportedInTransaction: 263,
  MigrationConflict: 272,
  UnsatisfiableCommitQuorum: 278,
  WouldChangeOwningShard: 283,
  QueryExceededMemoryLimitNoDiskUseAllowed: 292,
  MovePrimaryInProgress: 319,
  APIVersionError: 322,
  APIStrictError: 323,
  ReshardCollectionInProgress: 338,
  NoSuchReshardCollection: 339,
  ReshardCollectionCommitted: 340,
  ReshardCollectionAborted: 341,
  ReshardingCriticalSectionTimeout: 342,
  CannotConvertIndexToUnique: 359,
  UnsupportedOpQueryCommand: 352,
  CollectionUUIDMismatch: 361,
  CannotDropShardKeyIndex: 370,
  RequestAlreadyFulfilled: 380,
  CollectionIsEmptyLocally: 383,
  CannotCreateChunkDistribution: 405,
  AddOrRemoveShardInProgress: 414,
  NotWritablePrimary: 10107,
  BSONObjectTooLarge: 10334,
  DuplicateKey: 11000,
  InterruptedAtShutdown: 11600,
  Interrupted: 11601,
  MergeStageNoMatchingDocument: 13113,
  DatabaseDifferCase: 13297,
  StaleConfig: 13388,
  NotPrimaryNoSecondaryOk: 13435,
  NotPrimaryOrSecondary: 13436,
  IDLFailedToParse: 40414,
  IDLUnknownField: 40415,
  NotARetryableWriteCommand: 50768,
  /** An aggregation stage that does not exist; MongoDB has only the number. */
  UnrecognizedStage: 40324,
} as const;
export type ErrorCode = (typeof ErrorCode)[keyof typeof ErrorCode];

/** Numbers that MongoDB prints as `Location<number>` although they have a word in {@link ErrorCode}. */
const UNNAMED: ReadonlySet<number> = new Set([ErrorCode.UnrecognizedStage]);

const NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(ErrorCode)
    .filter(([, code]) => !UNNAMED.has(code))
    .map(([name, code]) => [code, name]),
);

/**
 * The name of an error number, as replies carry it in `codeName`.
 * @param code e.g. 26
 * @returns e.g. `"NamespaceNotFound"`; `"Location<code>"` for a number without a name.
 */
export function codeName(code: number): string {
  return NAMES.get(code) ?? `Location${code}`;
}

/** A command failed, with what its reply must say. */
export class CommandError extends Error {
  override readonly name: string = "CommandError";
  readonly code: number;
  readonly codeName: string;
  /** Further fields of the reply, e.g. `keyPattern` and `keyValue` of a duplicate key. */
  readonly extra: Readonly<Record<string, unknown>>;
  /** What to do about it; shown by plots, checks and the command line, never sent on the wire. */
  remedy?: string;

  /**
   * @param code one of {@link ErrorCode}, or any number MongoDB uses without a name
   * @param errmsg the reply's `errmsg`
   * @param extra further top-level fields of the reply; a Uint8Array is a raw BSON document, a RawValue a raw value
   */
  constructor(code: number, errmsg: string, extra: Record<string, unknown> = {}) {
    super(errmsg);
    this.code = code;
    this.codeName = codeName(code);
    this.extra = extra;
  }
}

/**
 * A field has a value of a type that the command does not take.
 * @param field with its command or parent, e.g. `"insert.ordered"`
 * @param expected the type's BSON name
 * @param found the value as it came; its type is named too
 */
export function wrongFieldType(field: string, expected: string, found?: RawValue): CommandError {
  const type = found ? ` '${nameOfType(found.type)}'` : "";
  return new CommandError(
    ErrorCode.TypeMismatch,
    `BSON field '${field}' is the wrong type${type}, expected type '${expected}'`,
  );
}

/**
 * The refusal of something that MongoDB has and this project does not. It names no way out: the router is the
 * simulated one on every engine, and reads filters and pipelines itself before any shard does.
 * @param what the feature as its user spelt it, e.g. `"$lookup in a sharded aggregation"`
 */
export function notSimulated(what: string): CommandError {
  const error = new CommandError(ErrorCode.NotImplemented, `not simulated: ${what}`);
  error.remedy = "leave this feature out; a cluster of MongoDB's own servers has it";
  return error;
}

/**
 * Turns whatever a command threw into its reply.
 *
 * Only a {@link CommandError} speaks for itself. Anything unexpected becomes
 * UnknownError (8) with its message and without its stack: a stack would show
 * the paths of the machine to every client.
 */
export function errorReply(error: unknown): Reply {
  const { code, errmsg, extra } = describe(error);
  const writer = new DocumentWriter()
    .double("ok", 0)
    .string("errmsg", errmsg)
    .int32("code", code)
    .string("codeName", codeName(code));
  for (const [name, value] of Object.entries(extra ?? {})) {
    if (value instanceof Uint8Array) writer.document(name, value);
    else if (isRawValue(value)) writer.field(name, value);
    else if (value !== undefined) writer.field(name, encodeValue(value));
  }
  return { body: writer.finish() };
}

function isRawValue(value: unknown): value is RawValue {
  return (
    typeof value === "object" && value !== null && "bytes" in value && "start" in value && "end" in value
  );
}

function describe(error: unknown): {
  code: number;
  errmsg: string;
  extra?: Readonly<Record<string, unknown>>;
} {
  if (error instanceof CommandError) return { code: error.code, errmsg: error.message, extra: error.extra };
  if (error instanceof BsonError) return { code: error.code, errmsg: error.message };
  if (error instanceof EndpointUnreachableError)
    return { code: ErrorCode.HostUnreachable, errmsg: error.message };
  return { code: ErrorCode.UnknownError, errmsg: error instanceof Error ? error.message : String(error) };
}

const OK: Reply = { body: new DocumentWriter().double("ok", 1).finish() };

/**
 * A successful reply.
 * @param fields the reply's fields before `ok`, as an object or as raw BSON
 * @returns the reply with `ok: 1` appended
 */
export function okReply(fields?: object | Uint8Array): Reply {
  if (fields === undefined) return OK;
  const document = fields instanceof Uint8Array ? fields : toDocument(fields);
  return { body: new DocumentWriter().fieldsOf(document).double("ok", 1).finish() };
}
