/** delete: removes the documents that match, one or all. */
import {
  collectionNamespace,
  CommandError,
  documentsOf,
  ErrorCode,
  statementIds,
} from "../../protocol/index.js";
import { filterDocument } from "../../query/index.js";
import type { Command } from "../command.js";
import { Arguments, refuseCollation } from "../command.js";
import { executionStatsSection, queryPlannerSection, topStage, totals } from "../planner/explain.js";
import { planQuery } from "../planner/plan.js";
import type { Query } from "../planner/query.js";
import { compileQuery } from "../planner/query.js";
import { treeReply } from "../tree.js";
import { checkBatch, runBatch } from "../write/batch.js";
import { idsOf, matchingIds } from "../write/matching.js";

export const deleteCommand: Command = {
  name: "delete",
  fields: ["deletes", "ordered", "bypassDocumentValidation"],
  refused: { let: "let variables in delete", encryptionInformation: "queryable encryption" },
  writes: true,

  run(context) {
    const { server, request, arguments: args } = context;
    const namespace = collectionNamespace(request);
    const statements = documentsOf(request, "deletes");
    checkBatch(statements);
    const retryable = server.sessions.retryable(args);
    const statementId = statementIds(args.body, "delete", statements.length);
    let n = 0;
    const errors = runBatch(statements.length, args.boolean("ordered", true), (index) => {
      const id = statementId(index);
      let deleted = retryable?.resultOf<number>(id);
      if (deleted === undefined) {
        const collection = server.catalog.find(namespace);
        const ids = matchingIds(context, collection, parseStatement(statements[index] as Uint8Array));
        for (const recordId of ids) collection?.delete(recordId);
        deleted = ids.length;
      }
      retryable?.completed(id, deleted);
      n += deleted;
    });
    return treeReply({ n, ...(errors.length > 0 && { writeErrors: errors }) });
  },

  explain({ server, request, interrupt }, verbosity) {
    const namespace = collectionNamespace(request);
    const statements = documentsOf(request, "deletes");
    if (statements.length !== 1)
      throw new CommandError(ErrorCode.InvalidLength, "explained write batches must be of size 1");
    const query = parseStatement(statements[0] as Uint8Array);
    const started = server.environment.now();
    const root = planQuery(server.catalog.find(namespace), query, interrupt);
    const queryPlanner = topStage(
      queryPlannerSection(namespace, filterDocument(query.filter.node), root),
      "winningPlan",
      { stage: "DELETE" },
    );
    if (verbosity === "queryPlanner") return { explainVersion: "1", queryPlanner };
    const nWouldDelete = idsOf(root).length;
    const stats = executionStatsSection(root, server.environment.now() - started, verbosity);
    const { keys, docs } = totals(root);
    return {
      explainVersion: "1",
      queryPlanner,
      executionStats: topStage(
        { ...stats, nReturned: 0, totalKeysExamined: keys, totalDocsExamined: docs },
        "executionStages",
        { stage: "DELETE", nReturned: 0, nWouldDelete },
      ),
    };
  },
};

const STATEMENT = {
  fields: ["q", "limit", "hint", "collation"],
  refused: { sampleId: "query sampling" },
};

/** Reads one element of `deletes`. */
function parseStatement(raw: Uint8Array): Query {
  const args = new Arguments("delete.deletes", raw, STATEMENT, false);
  refuseCollation(args.document("collation"));
  const limit = args.number("limit") ?? args.missing("limit");
  if (limit !== 0 && limit !== 1) {
    throw new CommandError(
      ErrorCode.FailedToParse,
      `The limit field in delete objects must be 0 or 1. Got ${limit}`,
    );
  }
  return compileQuery({ filter: args.requiredDocument("q"), hint: args.get("hint"), limit });
}
