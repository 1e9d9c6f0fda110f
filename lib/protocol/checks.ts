/** Checks of a command that shard and router make alike, before anything of it happens. */
import type { RawValue } from "../bson/index.js";
import {
  asDocument,
  asNumber,
  asString,
  BsonType,
  firstField,
  getField,
  isNumeric,
  isTruthy,
} from "../bson/index.js";
import { duplicateField } from "./command.js";
import type { Request } from "./endpoint.js";
import { CommandError, ErrorCode, notSimulated, wrongFieldType } from "./errors.js";
import { MAX_INTERNAL_BYTES, MAX_WRITE_BATCH } from "./header.js";
import { checkSession } from "./session.js";

/**
 * Checks what any command may carry: its size, document sequences, concerns, API version, session; and that a write
 * is not to a collection of the system.
 * @param fromRouter whoever sends it may fill the collections of a resharding: clients of a router may not
 * @throws CommandError as the functions below
 */
export function checkRequest(request: Request, fromRouter = false): void {
  checkObjectSize(request.body);
  checkSequences(request);
  checkApiVersion(request.body, request.command);
  checkReadConcern(request.body);
  checkWriteConcern(request.body);
  checkSession(request);
  checkSystemNamespace(request, fromRouter);
}

/** The document sequences that a command takes. */
const SEQUENCES: ReadonlyMap<string, readonly string[]> = new Map([
  ["insert", ["documents"]],
  ["update", ["updates"]],
  ["delete", ["deletes"]],
  ["bulkWrite", ["ops", "nsInfo"]],
]);

/**
 * Refuses document sequences that a command does not take, as it would a field of that name.
 * @throws CommandError IDLUnknownField (40415), Location40433 for one that is also a field
 */
function checkSequences({ command, body, sequences }: Request): void {
  if (sequences.size === 0) return;
  const inner = command === "explain" ? getField(body, "explain") : undefined;
  const of = inner?.type === BsonType.object ? (firstField(asDocument(inner))?.[0] ?? command) : command;
  for (const name of sequences.keys()) {
    if (getField(body, name)) throw duplicateField(name);
    if (!SEQUENCES.get(of)?.includes(name)) {
      throw new CommandError(
        ErrorCode.IDLUnknownField,
        `BSON field '${command}.${name}' is an unknown field.`,
      );
    }
  }
}

/** The commands of API version 1; all that a client with `apiStrict` may send. */
const API_V1: ReadonlySet<string> = new Set(
  (
    "abortTransaction aggregate bulkWrite collMod commitTransaction count create createIndexes delete drop " +
    "dropDatabase dropIndexes endSessions explain find findAndModify findandmodify getMore hello insert killCursors " +
    "killSessions listCollections listDatabases listIndexes ping refreshSessions update"
  ).split(" "),
);

/**
 * Checks the versioned API's fields. There is one version, "1".
 * @throws CommandError APIVersionError (322), APIStrictError (323) for a command that is not in it, TypeMismatch (14),
 *   Location4886600 for flags without a version
 */
function checkApiVersion(body: Uint8Array, command: string): void {
  const version = getField(body, "apiVersion");
  if (!version) {
    if (!getField(body, "apiStrict") && !getField(body, "apiDeprecationErrors")) return;
    throw new CommandError(
      4886600,
      "Provided apiStrict and/or apiDeprecationErrors without passing apiVersion",
    );
  }
  if (version.type !== BsonType.string) throw wrongFieldType("apiVersion", "string", version);
  if (asString(version) !== "1") throw new CommandError(ErrorCode.APIVersionError, 'API version must be "1"');
  const strict = getField(body, "apiStrict");
  if (!strict || !isTruthy(strict) || API_V1.has(command)) return;
  throw new CommandError(
    ErrorCode.APIStrictError,
    `Provided apiStrict:true, but the command ${command} is not in API Version 1. Information on supported commands ` +
      "and migrations in API Version 1 can be found at https://dochub.mongodb.org/core/manual-versioned-api",
  );
}

/**
 * Checks the shape of a `writeConcern`. Whether it can be satisfied is the shard's to say, after the write.
 * @throws CommandError TypeMismatch (14), FailedToParse (9) for a `w` that nobody could mean
 */
function checkWriteConcern(body: Uint8Array): void {
  const concern = getField(body, "writeConcern");
  if (!concern || concern.type === BsonType.null) return;
  if (concern.type !== BsonType.object) throw wrongFieldType("writeConcern", "object", concern);
  const w = getField(asDocument(concern), "w");
  if (!w || w.type === BsonType.string || w.type === BsonType.object || w.type === BsonType.null) return;
  if (!isNumeric(w)) {
    throw new CommandError(ErrorCode.FailedToParse, "w has to be a number, string, or object");
  }
  if (asNumber(w) < 0 || asNumber(w) > 50) {
    throw new CommandError(
      ErrorCode.FailedToParse,
      "w has to be a non-negative number and not greater than 50",
    );
  }
}

const WRITES: ReadonlySet<string> = new Set(["insert", "update", "delete", "findAndModify", "findandmodify"]);
const CREATES: ReadonlySet<string> = new Set(["create", "createIndexes"]);
/** Collections of the system that clients may write. */
const WRITABLE: ReadonlySet<string> = new Set([
  "admin.system.users",
  "admin.system.roles",
  "admin.system.version",
  "config.system.sessions",
]);

/**
 * Refuses writes to `system.*`: those names are the server's own.
 * @throws CommandError InvalidNamespace (73); NotImplemented (238) where writing one would make a view or the like
 */
function checkSystemNamespace({ db, command, body }: Request, fromRouter: boolean): void {
  const creates = CREATES.has(command);
  if (!creates && !WRITES.has(command)) return;
  const name: RawValue | undefined = firstField(body)?.[1];
  if (name?.type !== BsonType.string) return;
  const collection = asString(name);
  if (!fromRouter || !isReshardingName(collection)) checkSystemCollection(db, collection, creates);
}

/** Whether a name is one of the collections that a resharding fills: of the system, and yet like any other. */
export function isReshardingName(collection: string): boolean {
  return collection.startsWith("system.resharding.");
}

/**
 * Refuses to write to a collection of the system, or to create one.
 * @throws CommandError as {@link checkSystemNamespace}
 */
export function checkSystemCollection(db: string, collection: string, creates = false): void {
  if (!collection.startsWith("system.")) return;
  const namespace = `${db}.${collection}`;
  if (collection === "system.js" || WRITABLE.has(namespace)) return;
  if (collection === "system.views" || collection.startsWith("system.buckets.")) {
    throw notSimulated(`writing to ${collection}`);
  }
  throw new CommandError(
    ErrorCode.InvalidNamespace,
    creates ? `Invalid system namespace: ${namespace}` : `cannot write to '${namespace}'`,
  );
}

/** Levels that read the same data where there is one copy of it. */
const LEVELS: ReadonlySet<string> = new Set(["local", "available", "majority", "linearizable"]);

/**
 * Refuses a `readConcern` that would read something else than the latest data.
 * @param body the raw command
 * @throws CommandError NotImplemented (238) for `snapshot`, BadValue (2) for an unknown level, TypeMismatch (14)
 */
function checkReadConcern(body: Uint8Array): void {
  const concern = getField(body, "readConcern");
  if (!concern || concern.type === BsonType.null) return;
  if (concern.type !== BsonType.object) throw wrongFieldType("readConcern", "object", concern);
  const level = getField(asDocument(concern), "level");
  if (!level) return;
  if (level.type !== BsonType.string) throw wrongFieldType("readConcern.level", "string", level);
  const name = asString(level);
  if (name === "snapshot") throw notSimulated("read concern snapshot");
  if (LEVELS.has(name)) return;
  throw new CommandError(
    ErrorCode.BadValue,
    `Enumeration value '${name}' for field 'readConcern.level' is not a valid value.`,
  );
}

/**
 * Checks how many statements a write command brings.
 * @throws CommandError InvalidLength (16)
 */
export function checkBatchSize(statements: number): void {
  if (statements >= 1 && statements <= MAX_WRITE_BATCH) return;
  throw new CommandError(
    ErrorCode.InvalidLength,
    `Write batch sizes must be between 1 and ${MAX_WRITE_BATCH}. Got ${statements} operations.`,
  );
}

/**
 * Checks the documents or statements of a write, before any of it runs.
 * @throws CommandError InvalidLength (16) for none or too many, BSONObjectTooLarge (10334)
 */
export function checkBatch(request: Request, statements: readonly Uint8Array[]): void {
  checkBatchSize(statements.length);
  if (!request.small) statements.forEach(checkObjectSize);
}

/**
 * Checks that a document may travel in a message: a statement that came in, or a result on its way out. Clients
 * refuse larger ones, so a pipeline that pushes 20 MB into one group fails here instead of in their decoders.
 * @throws CommandError BSONObjectTooLarge (10334)
 */
export function checkObjectSize(document: Uint8Array): void {
  if (document.length <= MAX_INTERNAL_BYTES) return;
  throw new CommandError(
    ErrorCode.BSONObjectTooLarge,
    `BSONObj size: ${document.length} (0x${document.length.toString(16).toUpperCase()}) is invalid. ` +
      `Size must be between 0 and ${MAX_INTERNAL_BYTES}(16MB)`,
  );
}
