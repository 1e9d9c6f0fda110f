/** update: changes the documents that match, or inserts one where none does (upsert). */
import type { RawValue } from "../../bson/index.js";
import { asDocument, BsonType, DocumentWriter, elements, getField } from "../../bson/index.js";
import {
  collectionNamespace,
  CommandError,
  documentsOf,
  ErrorCode,
  statementIds,
} from "../../protocol/index.js";
import type { Update } from "../../query/index.js";
import { compileUpdate, filterDocument } from "../../query/index.js";
import type { CommandContext, Server } from "../command.js";
import { Arguments, type Command, refuseCollation } from "../command.js";
import { executionStatsSection, queryPlannerSection, topStage, totals } from "../planner/explain.js";
import { planQuery } from "../planner/plan.js";
import type { Query } from "../planner/query.js";
import { compileQuery } from "../planner/query.js";
import { treeReply } from "../tree.js";
import { applyUpdate, makeUpsert } from "../write/applyUpdate.js";
import { checkBatch, runBatch } from "../write/batch.js";
import { idsOf, matchingIds } from "../write/matching.js";

/** What one statement of an update did. */
interface UpdateResult {
  readonly matched: number;
  readonly modified: number;
  readonly upsertedId?: RawValue;
}

interface Statement {
  readonly query: Query;
  readonly update: Update;
  readonly upsert: boolean;
}

export const update: Command = {
  name: "update",
  fields: ["updates", "ordered", "bypassDocumentValidation"],
  refused: { let: "let variables in update", encryptionInformation: "queryable encryption" },
  writes: true,

  run(context) {
    const { server, request, arguments: args } = context;
    const namespace = collectionNamespace(request);
    const statements = documentsOf(request, "updates");
    checkBatch(statements);
    const retryable = server.sessions.retryable(args);
    const statementId = statementIds(args.body, "update", statements.length);
    let n = 0;
    let nModified = 0;
    const upserted: Uint8Array[] = [];
    const errors = runBatch(statements.length, args.boolean("ordered", true), (index) => {
      const id = statementId(index);
      const result =
        retryable?.resultOf<UpdateResult>(id) ??
        runStatement(context, namespace, parseStatement(statements[index] as Uint8Array));
      retryable?.completed(id, result);
      n += result.matched;
      nModified += result.modified;
      if (result.upsertedId) {
        n++;
        upserted.push(new DocumentWriter().int32("index", index).field("_id", result.upsertedId).finish());
      }
    });
    return treeReply({
      n,
      nModified,
      ...(upserted.length > 0 && { upserted }),
      ...(errors.length > 0 && { writeErrors: errors }),
    });
  },

  explain({ server, request, interrupt }, verbosity) {
    const namespace = collectionNamespace(request);
    const statements = documentsOf(request, "updates");
    if (statements.length !== 1)
      throw new CommandError(ErrorCode.InvalidLength, "explained write batches must be of size 1");
    const { query, update: compiled, upsert } = parseStatement(statements[0] as Uint8Array);
    const started = server.environment.now();
    const collection = server.catalog.find(namespace);
    const root = planQuery(collection, query, interrupt);
    const queryPlanner = topStage(
      queryPlannerSection(namespace, filterDocument(query.filter.node), root),
      "winningPlan",
      { stage: "UPDATE" },
    );
    if (verbosity === "queryPlanner") return { explainVersion: "1", queryPlanner };
    const ids = idsOf(root);
    let nWouldModify = 0;
    for (const id of ids) {
      const before = collection?.records.get(id);
      if (
        before &&
        compiled.apply(before, { now: server.environment.now(), filter: query.filter.node }) !== before
      )
        nWouldModify++;
    }
    const stats = executionStatsSection(root, server.environment.now() - started, verbosity);
    const { keys, docs } = totals(root);
    return {
      explainVersion: "1",
      queryPlanner,
      executionStats: topStage(
        { ...stats, nReturned: 0, totalKeysExamined: keys, totalDocsExamined: docs },
        "executionStages",
        {
          stage: "UPDATE",
          nReturned: 0,
          nMatched: ids.length,
          nWouldModify,
          nWouldUpsert: upsert && ids.length === 0 ? 1 : 0,
        },
      ),
    };
  },
};

const STATEMENT = {
  fields: ["q", "u", "multi", "upsert", "upsertSupplied", "hint", "collation", "arrayFilters", "sort"],
  refused: {
    c: "constants of pipeline updates (c)",
    sampleId: "query sampling",
    allowShardKeyUpdatesWithoutFullShardKeyInQuery: "sharding inside a shard",
  },
};

/**
 * Reads one element of `updates`.
 * @throws CommandError FailedToParse (9) and what filter and update throw
 */
function parseStatement(raw: Uint8Array): Statement {
  const args = new Arguments("update.updates", raw, STATEMENT, false);
  refuseCollation(args.document("collation"));
  const filter = args.requiredDocument("q");
  const spec = args.get("u") ?? args.missing("u");
  const arrayFilters = parseArrayFilters(args);
  const compiled = compileUpdate(spec, arrayFilters ? { arrayFilters } : undefined);
  const multi = args.boolean("multi");
  if (multi && compiled.kind === "replacement")
    throw new CommandError(
      ErrorCode.FailedToParse,
      "multi update is not supported for replacement-style update",
    );
  if (multi && args.document("sort"))
    throw new CommandError(ErrorCode.FailedToParse, "Cannot specify sort with multi=true");
  const query = compileQuery({
    filter,
    sort: args.document("sort"),
    hint: args.get("hint"),
    limit: multi ? 0 : 1,
  });
  return { query, update: compiled, upsert: args.boolean("upsert") };
}

function runStatement(context: CommandContext, namespace: string, statement: Statement): UpdateResult {
  const { server } = context;
  const { query, update: compiled, upsert } = statement;
  const collection = server.catalog.find(namespace);
  const ids = matchingIds(context, collection, query);
  if (ids.length === 0 || !collection) {
    if (!upsert) return { matched: 0, modified: 0 };
    return { matched: 0, modified: 0, upsertedId: insertUpsert(server, namespace, statement) };
  }
  const indexes = compiled.kind === "operators" ? collection.indexesOn(compiled.paths) : undefined;
  let modified = 0;
  for (const id of ids) {
    const before = collection.records.get(id);
    if (applyUpdate(server, collection, id, compiled, query.filter.node, indexes) !== before) modified++;
  }
  return { matched: ids.length, modified };
}

function insertUpsert(server: Server, namespace: string, { query, update: compiled }: Statement): RawValue {
  const document = makeUpsert(server, compiled, query.filter.node);
  server.catalog.findOrCreate(namespace).insert(document);
  return getField(document, "_id") as RawValue;
}

/** The `arrayFilters` field as raw documents. */
export function parseArrayFilters(args: Arguments): Uint8Array[] | undefined {
  const list = args.get("arrayFilters");
  if (!list) return undefined;
  if (list.type !== BsonType.array) throw args.wrongType("arrayFilters", list, "array");
  return elements(asDocument(list)).map((filter) => {
    if (filter.type !== BsonType.object) throw args.wrongType("arrayFilters", filter, "object");
    return asDocument(filter);
  });
}
