/** update: changes the documents that match, or inserts one where none does (upsert). */
import { DocumentWriter } from "../../bson/index.js";
import {
  checkBatch,
  collectionNamespace,
  CommandError,
  documentsOf,
  ErrorCode,
  readArrayFilters,
  statementIds,
} from "../../protocol/index.js";
import { checkCollectionUuid } from "../collectionUuid.js";
import type { CommandContext } from "../command.js";
import { Arguments, type Command } from "../command.js";
import type { Verbosity } from "../planner/explain.js";
import { treeReply } from "../tree.js";
import { runBatch } from "../write/batch.js";
import { explainUpdate } from "../write/explain.js";
import {
  compileStatement,
  runUpdate,
  type UpdateResult,
  type UpdateStatement,
} from "../write/updateStatement.js";

export const update: Command = {
  name: "update",
  fields: [
    "updates",
    "ordered",
    "let",
    "bypassDocumentValidation",
    "bypassEmptyTsReplacement",
    "collectionUUID",
  ],
  refused: {
    encryptionInformation: "queryable encryption",
    isTimeseriesNamespace: "time series collections",
    runtimeConstants: "runtimeConstants",
  },
  writes: true,

  run(context) {
    const { server, request, arguments: args } = context;
    const namespace = collectionNamespace(request);
    const statements = documentsOf(request, "updates");
    checkBatch(request, statements);
    const retryable = server.sessions.retryable(args);
    const statementId = statementIds(args.body, "update", statements.length);
    const checks = { bypassDocumentValidation: args.boolean("bypassDocumentValidation") };
    let n = 0;
    let nModified = 0;
    const upserted: Uint8Array[] = [];
    const errors = runBatch(statements.length, args.boolean("ordered", true), (index) => {
      const id = statementId(index);
      let result = retryable?.resultOf<UpdateResult>(id);
      if (!result) {
        checkCollectionUuid(server.catalog, namespace, args);
        result = runUpdate(context, parseStatement(context, namespace, statements[index]!), checks);
        retryable?.completed(id, result);
      }
      n += result.matched;
      nModified += result.modified;
      if (result.upsertedId) {
        n++;
        upserted.push(new DocumentWriter().int32("index", index).field("_id", result.upsertedId).finish());
      }
    });
    return treeReply({
      n,
      ...(upserted.length > 0 && { upserted }),
      nModified,
      ...(errors.length > 0 && { writeErrors: errors }),
    });
  },

  explain(context: CommandContext, verbosity: Verbosity) {
    const namespace = collectionNamespace(context.request);
    const statements = documentsOf(context.request, "updates");
    if (statements.length !== 1)
      throw new CommandError(ErrorCode.InvalidLength, "explained write batches must be of size 1");
    return explainUpdate(context, parseStatement(context, namespace, statements[0]!), verbosity);
  },
};

const STATEMENT = {
  fields: [
    "q",
    "u",
    "c",
    "multi",
    "upsert",
    "upsertSupplied",
    "hint",
    "collation",
    "arrayFilters",
    "sort",
    "$_allowShardKeyUpdatesWithoutFullShardKeyInQuery",
  ],
  refused: { sampleId: "query sampling" },
};

/**
 * Reads one element of `updates`.
 * @throws CommandError FailedToParse (9) and what filter and update throw
 */
function parseStatement(context: CommandContext, namespace: string, raw: Uint8Array): UpdateStatement {
  const args = new Arguments("update.updates", raw, STATEMENT, false);
  return compileStatement(context, namespace, {
    filter: args.requiredDocument("q"),
    update: args.get("u") ?? args.missing("u"),
    constants: args.document("c"),
    arrayFilters: readArrayFilters(args),
    collation: args.document("collation"),
    hint: args.get("hint"),
    sort: args.document("sort"),
    multi: args.boolean("multi"),
    upsert: args.boolean("upsert"),
    upsertSupplied: args.boolean("upsertSupplied"),
    bypassEmptyTsReplacement: context.arguments.boolean("bypassEmptyTsReplacement"),
  });
}
