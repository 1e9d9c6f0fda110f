/** The operations of bulkWrite: how they are read, and how one is run. */
import { BsonType, firstField, type RawValue } from "../../bson/index.js";
import {
  checkBatchSize,
  checkNamespace,
  checkObjectSize,
  checkSystemCollection,
  CommandError,
  documentsOf,
  ErrorCode,
} from "../../protocol/index.js";
import { checkCollectionUuid } from "../collectionUuid.js";
import { Arguments, type CommandContext } from "../command.js";
import type { Verbosity } from "../planner/explain.js";
import { splitNamespace } from "../storage/catalog.js";
import type { OperationKind, OperationResult } from "./bulkReplies.js";
import { compileDelete, runDelete, type DeleteSpec } from "./deleteStatement.js";
import { explainDelete, explainUpdate } from "./explain.js";
import { insertDocument, type InsertOptions } from "./insertDocument.js";
import { compileStatement, readArrayFilters, runUpdate, type UpdateSpec } from "./updateStatement.js";

/** One operation, read and not yet compiled. */
export interface Operation {
  readonly kind: OperationKind;
  readonly args: Arguments;
  readonly target: Target;
}

/** An entry of `nsInfo`. */
interface Target {
  readonly namespace: string;
  readonly args: Arguments;
}

/** What all operations of one bulk share. */
export interface BulkContext {
  readonly context: CommandContext;
  readonly retryable: boolean;
  readonly options: InsertOptions;
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
export function readOperations({ request }: CommandContext): Operation[] {
  const raw = documentsOf(request, "ops");
  checkBatchSize(raw.length);
  const targets = documentsOf(request, "nsInfo").map(readTarget);
  return raw.map((op) => {
    checkObjectSize(op);
    return readOperation(op, targets);
  });
}

function readTarget(raw: Uint8Array): Target {
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
  if (!isNamespace(namespace)) {
    throw new CommandError(
      ErrorCode.InvalidNamespace,
      `Invalid namespace specified for bulkWrite: '${namespace}'`,
    );
  }
  return { namespace, args };
}

function isNamespace(namespace: string): boolean {
  if (!namespace.includes(".")) return false;
  const { db, collection } = splitNamespace(namespace);
  try {
    checkNamespace(db, collection);
    return true;
  } catch (error) {
    if (error instanceof CommandError) return false;
    throw error;
  }
}

function readOperation(raw: Uint8Array, targets: readonly Target[]): Operation {
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
  return { kind: name, args, target };
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

/**
 * Runs one operation.
 * @throws CommandError what the operation throws, InvalidOptions (72) for a retryable write to many documents
 */
export function runOperation(bulk: BulkContext, { kind, args, target }: Operation): OperationResult {
  const { context, options } = bulk;
  const { namespace } = target;
  const { catalog } = context.server;
  const { db, collection } = splitNamespace(namespace);
  checkSystemCollection(db, collection);
  checkCollectionUuid(catalog, namespace, target.args);
  if (kind === "insert") {
    const document = args.requiredDocument("document");
    insertDocument(context.server, catalog.findOrCreate(namespace), document, options);
    return { kind, n: 1 };
  }
  if (bulk.retryable && args.boolean("multi")) {
    throw new CommandError(ErrorCode.InvalidOptions, "Cannot use retryable writes with multi=true");
  }
  if (kind === "delete")
    return { kind, n: runDelete(context, compileDelete(context, namespace, deleteSpec(args))) };
  const statement = compileStatement(context, namespace, updateSpec(args, options));
  const { matched, modified, upsertedId } = runUpdate(context, statement, options);
  return { kind, n: upsertedId ? 1 : matched, nModified: modified, upsertedId };
}

function deleteSpec(args: Arguments): DeleteSpec {
  return {
    filter: args.requiredDocument("filter"),
    multi: args.boolean("multi"),
    collation: args.document("collation"),
    hint: args.get("hint"),
  };
}

function updateSpec(args: Arguments, { bypassEmptyTsReplacement }: InsertOptions): UpdateSpec {
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
    bypassEmptyTsReplacement,
  };
}

/**
 * explain of a bulk, which must be of one update or delete.
 * @throws CommandError InvalidLength (16), IllegalOperation (20)
 */
export function explainOperation(
  context: CommandContext,
  operations: readonly Operation[],
  verbosity: Verbosity,
): Record<string, unknown> {
  const [operation] = operations;
  if (!operation || operations.length > 1)
    throw new CommandError(ErrorCode.InvalidLength, "explained bulkWrite ops must be of size 1");
  const { kind, args, target } = operation;
  if (kind === "insert")
    throw new CommandError(ErrorCode.IllegalOperation, "Cannot explain insert cmd for bulkWrite");
  if (kind === "delete")
    return explainDelete(context, compileDelete(context, target.namespace, deleteSpec(args)), verbosity);
  const options = { bypassDocumentValidation: true, bypassEmptyTsReplacement: true };
  return explainUpdate(
    context,
    compileStatement(context, target.namespace, updateSpec(args, options)),
    verbosity,
  );
}
