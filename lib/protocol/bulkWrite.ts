/**
 * The operations of bulkWrite, read alike by shard and router.
 *
 *     {bulkWrite: 1,
 *      nsInfo: [{ns: "library.loans"}, {ns: "library.books"}],
 *      ops: [{insert: 0, document: {…}}, {update: 1, filter: {…}, updateMods: {…}}, {delete: 0, filter: {…}}]}
 *
 * The number after an operation's name is a position in `nsInfo`. Everything is
 * read before anything runs, so that no operation has happened when a later one
 * turns out to be malformed.
 */
import type { RawValue } from "../bson/index.js";
import { asDocument, BsonType, elements, firstField } from "../bson/index.js";
import { Arguments } from "./arguments.js";
import type { OperationKind } from "./bulkReplies.js";
import { checkBatchSize, checkObjectSize } from "./checks.js";
import { checkNamespace, documentsOf } from "./command.js";
import type { Request } from "./endpoint.js";
import { CommandError, ErrorCode } from "./errors.js";

/** One operation, read and not yet compiled. */
export interface BulkOperation {
  readonly kind: OperationKind;
  /** The operation as it came. */
  readonly raw: Uint8Array;
  readonly args: Arguments;
  readonly target: BulkTarget;
}

/** An entry of `nsInfo`. */
export interface BulkTarget {
  /** Its position. */
  readonly index: number;
  readonly namespace: string;
  readonly db: string;
  readonly collection: string;
  readonly args: Arguments;
}

/** What an update says, whichever command it came with. */
export interface UpdateParts {
  readonly filter: Uint8Array;
  readonly update: RawValue;
  /** What a pipeline sees as `$$name`. */
  readonly constants: Uint8Array | undefined;
  readonly arrayFilters: Uint8Array[] | undefined;
  readonly collation: Uint8Array | undefined;
  readonly hint: RawValue | undefined;
  readonly sort: Uint8Array | undefined;
  readonly multi: boolean;
  readonly upsert: boolean;
  /** An upsert inserts the document `new` of the constants. */
  readonly upsertSupplied: boolean;
}

/** What a delete says. */
export interface DeleteParts {
  readonly filter: Uint8Array;
  readonly multi: boolean;
  readonly collation: Uint8Array | undefined;
  readonly hint: RawValue | undefined;
}

const OPERATIONS = {
  insert: { fields: ["insert", "document"] },
  update: {
    fields: [
      "update",
      "filter",
      "sort",
      "multi",
      "updateMods",
      "upsert",
      "upsertSupplied",
      "arrayFilters",
      "hint",
      "constants",
      "collation",
      "$_allowShardKeyUpdatesWithoutFullShardKeyInQuery",
    ],
    refused: { sampleId: "query sampling" },
  },
  delete: {
    fields: ["delete", "filter", "multi", "hint", "collation"],
    refused: { sampleId: "query sampling" },
  },
} as const;

/**
 * Reads all operations; none has run when one is malformed.
 * @throws CommandError InvalidLength (16), BadValue (2) for a namespace that `nsInfo` lacks, InvalidNamespace (73),
 *   and those of missing, unknown and ill-typed fields
 */
export function readBulkOperations(request: Request): BulkOperation[] {
  const raw = documentsOf(request, "ops");
  checkBatchSize(raw.length);
  const targets = documentsOf(request, "nsInfo").map(readTarget);
  return raw.map((op) => {
    checkObjectSize(op);
    return readOperation(op, targets);
  });
}

function readTarget(raw: Uint8Array, index: number): BulkTarget {
  const args = new Arguments(
    "bulkWrite.nsInfo",
    raw,
    {
      fields: ["ns", "collectionUUID"],
      refused: {
        encryptionInformation: "queryable encryption",
        isTimeseriesNamespace: "time series collections",
        shardVersion: "sharding inside a shard",
        databaseVersion: "sharding inside a shard",
      },
    },
    false,
  );
  const namespace = args.string("ns") ?? args.missing("ns");
  const dot = namespace.indexOf(".");
  const db = namespace.slice(0, Math.max(dot, 0));
  const collection = namespace.slice(dot + 1);
  if (dot < 0 || !isNamespace(db, collection)) {
    throw new CommandError(
      ErrorCode.InvalidNamespace,
      `Invalid namespace specified for bulkWrite: '${namespace}'`,
    );
  }
  return { index, namespace, db, collection, args };
}

function isNamespace(db: string, collection: string): boolean {
  try {
    checkNamespace(db, collection);
    return true;
  } catch (error) {
    if (error instanceof CommandError) return false;
    throw error;
  }
}

function readOperation(raw: Uint8Array, targets: readonly BulkTarget[]): BulkOperation {
  const name = firstField(raw)?.[0] ?? "";
  if (name !== "insert" && name !== "update" && name !== "delete") {
    throw new CommandError(
      ErrorCode.IDLUnknownField,
      `BSON field 'bulkWrite.ops.${name}' is an unknown field.`,
    );
  }
  const args = new Arguments(`bulkWrite.ops.${name}`, raw, OPERATIONS[name], false);
  checkFields(name, args);
  const index = args.count(name) ?? args.missing(name);
  const target = targets[index];
  if (!target) {
    throw new CommandError(
      ErrorCode.BadValue,
      `BulkWrite ops entry with '${name}: ${index}' has an invalid nsInfo index.`,
    );
  }
  return { kind: name, raw, args, target };
}

/** What must be there, so that no operation runs before another turns out to be incomplete. */
function checkFields(kind: OperationKind, args: Arguments): void {
  if (kind === "insert") {
    args.requiredDocument("document");
    return;
  }
  args.requiredDocument("filter");
  if (kind === "update") updateMods(args);
}

function updateMods(args: Arguments): RawValue {
  const mods = args.get("updateMods") ?? args.missing("updateMods");
  if (mods.type === BsonType.object || mods.type === BsonType.array) return mods;
  throw new CommandError(ErrorCode.FailedToParse, "Update argument must be either an object or an array");
}

/** The parts of an update operation. @throws CommandError TypeMismatch (14) */
export function updateParts({ args }: BulkOperation): UpdateParts {
  return {
    filter: args.requiredDocument("filter"),
    update: updateMods(args),
    constants: args.document("constants"),
    arrayFilters: readArrayFilters(args),
    collation: args.document("collation"),
    hint: args.get("hint"),
    sort: args.document("sort"),
    multi: args.boolean("multi"),
    upsert: args.boolean("upsert"),
    upsertSupplied: args.boolean("upsertSupplied"),
  };
}

/** The parts of a delete operation. @throws CommandError TypeMismatch (14) */
export function deleteParts({ args }: BulkOperation): DeleteParts {
  return {
    filter: args.requiredDocument("filter"),
    multi: args.boolean("multi"),
    collation: args.document("collation"),
    hint: args.get("hint"),
  };
}

/** The `arrayFilters` field as raw documents. @throws CommandError TypeMismatch (14) */
export function readArrayFilters(args: Arguments): Uint8Array[] | undefined {
  const list = args.get("arrayFilters");
  if (!list) return undefined;
  if (list.type !== BsonType.array) throw args.wrongType("arrayFilters", list, "array");
  return elements(asDocument(list)).map((filter, i) => {
    if (filter.type !== BsonType.object) throw args.wrongType(`arrayFilters.${i}`, filter, "object");
    return asDocument(filter);
  });
}
