/** The operations of bulkWrite: how one is run. How they are read is `protocol/bulkWrite.ts`. */
import type { BulkOperation, OperationResult } from "../../protocol/index.js";
import {
  checkSystemCollection,
  CommandError,
  deleteParts,
  ErrorCode,
  updateParts,
} from "../../protocol/index.js";
import { checkCollectionUuid } from "../collectionUuid.js";
import type { CommandContext } from "../command.js";
import type { Verbosity } from "../planner/explain.js";
import { compileDelete, runDelete } from "./deleteStatement.js";
import { explainDelete, explainUpdate } from "./explain.js";
import { insertDocument, type InsertOptions } from "./insertDocument.js";
import { compileStatement, runUpdate, type UpdateSpec } from "./updateStatement.js";

/** What all operations of one bulk share. */
export interface BulkContext {
  readonly context: CommandContext;
  readonly retryable: boolean;
  readonly options: InsertOptions;
}

/**
 * Runs one operation.
 * @throws CommandError what the operation throws, InvalidOptions (72) for a retryable write to many documents
 */
export function runOperation(bulk: BulkContext, operation: BulkOperation): OperationResult {
  const { context, options } = bulk;
  const { kind, args, target } = operation;
  const { namespace, db, collection } = target;
  const { catalog } = context.server;
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
    return { kind, n: runDelete(context, compileDelete(context, namespace, deleteParts(operation))) };
  const statement = compileStatement(context, namespace, updateSpec(operation, options));
  const { matched, modified, upsertedId } = runUpdate(context, statement, options);
  return { kind, n: upsertedId ? 1 : matched, nModified: modified, upsertedId };
}

function updateSpec(operation: BulkOperation, { bypassEmptyTsReplacement }: InsertOptions): UpdateSpec {
  return { ...updateParts(operation), bypassEmptyTsReplacement };
}

/**
 * explain of a bulk, which must be of one update or delete.
 * @throws CommandError InvalidLength (16), IllegalOperation (20)
 */
export function explainOperation(
  context: CommandContext,
  operations: readonly BulkOperation[],
  verbosity: Verbosity,
): Record<string, unknown> {
  const [operation] = operations;
  if (!operation || operations.length > 1)
    throw new CommandError(ErrorCode.InvalidLength, "explained bulkWrite ops must be of size 1");
  const { kind, target } = operation;
  if (kind === "insert")
    throw new CommandError(ErrorCode.IllegalOperation, "Cannot explain insert cmd for bulkWrite");
  if (kind === "delete")
    return explainDelete(
      context,
      compileDelete(context, target.namespace, deleteParts(operation)),
      verbosity,
    );
  const options = { bypassDocumentValidation: true, bypassEmptyTsReplacement: true };
  return explainUpdate(
    context,
    compileStatement(context, target.namespace, updateSpec(operation, options)),
    verbosity,
  );
}
