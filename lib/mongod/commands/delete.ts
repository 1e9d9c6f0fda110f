/** delete: removes the documents that match, one or all. */
import { asNumber, isNumeric } from "../../bson/index.js";
import {
  checkBatch,
  collectionNamespace,
  CommandError,
  documentsOf,
  ErrorCode,
  statementIds,
} from "../../protocol/index.js";
import { checkCollectionUuid } from "../collectionUuid.js";
import type { Command, CommandContext } from "../command.js";
import { Arguments } from "../command.js";
import { treeReply } from "../tree.js";
import { runBatch } from "../write/batch.js";
import { compileDelete, runDelete, type DeleteStatement } from "../write/deleteStatement.js";
import { explainDelete } from "../write/explain.js";

export const deleteCommand: Command = {
  name: "delete",
  fields: ["deletes", "ordered", "let", "bypassDocumentValidation", "collectionUUID"],
  refused: {
    encryptionInformation: "queryable encryption",
    isTimeseriesNamespace: "time series collections",
    runtimeConstants: "runtimeConstants",
  },
  writes: true,

  run(context) {
    const { server, request, arguments: args } = context;
    const namespace = collectionNamespace(request);
    const statements = documentsOf(request, "deletes");
    checkBatch(request, statements);
    const retryable = server.sessions.retryable(args);
    const statementId = statementIds(args.body, "delete", statements.length);
    let n = 0;
    const errors = runBatch(statements.length, args.boolean("ordered", true), (index) => {
      const id = statementId(index);
      let deleted = retryable?.resultOf<number>(id);
      if (deleted === undefined) {
        checkCollectionUuid(server.catalog, namespace, args);
        deleted = runDelete(context, parseStatement(context, namespace, statements[index]!));
        retryable?.completed(id, deleted);
      }
      n += deleted;
    });
    return treeReply({ n, ...(errors.length > 0 && { writeErrors: errors }) });
  },

  explain(context, verbosity) {
    const namespace = collectionNamespace(context.request);
    const statements = documentsOf(context.request, "deletes");
    if (statements.length !== 1)
      throw new CommandError(ErrorCode.InvalidLength, "explained write batches must be of size 1");
    return explainDelete(context, parseStatement(context, namespace, statements[0]!), verbosity);
  },
};

const STATEMENT = {
  fields: ["q", "limit", "hint", "collation"],
  refused: { sampleId: "query sampling" },
};

/** Reads one element of `deletes`. @throws CommandError FailedToParse (9) for a limit other than 0 and 1 */
function parseStatement(context: CommandContext, namespace: string, raw: Uint8Array): DeleteStatement {
  const args = new Arguments("delete.deletes", raw, STATEMENT, false);
  const value = args.get("limit") ?? args.missing("limit");
  const limit = isNumeric(value) ? asNumber(value) : 0;
  if (limit !== 0 && limit !== 1) {
    throw new CommandError(
      ErrorCode.FailedToParse,
      `The limit field in delete objects must be 0 or 1. Got ${limit}`,
    );
  }
  return compileDelete(context, namespace, {
    filter: args.requiredDocument("q"),
    multi: limit === 0,
    collation: args.document("collation"),
    hint: args.get("hint"),
  });
}
