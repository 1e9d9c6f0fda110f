/** findAndModify: changes or removes one document and answers it, as it was or as it became. */
import { BsonType, getField, NULL } from "../../bson/index.js";
import { collectionNamespace, CommandError, ErrorCode, statementIds } from "../../protocol/index.js";
import type { Update } from "../../query/index.js";
import { compileUpdate, filterDocument } from "../../query/index.js";
import type { Arguments, Command, CommandContext } from "../command.js";
import { refuseCollation } from "../command.js";
import { executionStatsSection, queryPlannerSection, topStage } from "../planner/explain.js";
import { planQuery } from "../planner/plan.js";
import type { Query } from "../planner/query.js";
import { compileQuery } from "../planner/query.js";
import { treeReply } from "../tree.js";
import { applyUpdate, makeUpsert } from "../write/applyUpdate.js";
import { idsOf, matchingIds } from "../write/matching.js";
import { parseArrayFilters } from "./update.js";

interface Parts {
  readonly query: Query;
  /** Undefined: remove. */
  readonly update: Update | undefined;
  readonly upsert: boolean;
  readonly returnNew: boolean;
}

export const findAndModify: Command = {
  name: "findAndModify",
  aliases: ["findandmodify"],
  fields: [
    "query",
    "sort",
    "remove",
    "update",
    "new",
    "fields",
    "upsert",
    "bypassDocumentValidation",
    "collation",
    "arrayFilters",
    "hint",
  ],
  refused: {
    let: "let variables in findAndModify",
    sampleId: "query sampling",
    encryptionInformation: "queryable encryption",
  },
  writes: true,

  run(context) {
    const { server, request, arguments: args } = context;
    const namespace = collectionNamespace(request);
    const parts = parseParts(args);
    const retryable = server.sessions.retryable(args);
    const statement = statementIds(args.body, "findAndModify", 1)(0);
    const result =
      retryable?.resultOf<Record<string, unknown>>(statement) ?? execute(context, namespace, parts);
    retryable?.completed(statement, result);
    return treeReply(result);
  },

  explain({ server, request, arguments: args, interrupt }, verbosity) {
    const namespace = collectionNamespace(request);
    const { query, update } = parseParts(args);
    const started = server.environment.now();
    const root = planQuery(server.catalog.find(namespace), { ...query, projection: undefined }, interrupt);
    const stage = update ? "UPDATE" : "DELETE";
    const section = queryPlannerSection(namespace, filterDocument(query.filter.node), root);
    const queryPlanner = topStage(section, "winningPlan", { stage });
    if (verbosity === "queryPlanner") return { explainVersion: "1", queryPlanner };
    const nReturned = idsOf(root).length;
    const stats = executionStatsSection(root, server.environment.now() - started, verbosity);
    return {
      explainVersion: "1",
      queryPlanner,
      executionStats: topStage(stats, "executionStages", { stage, nReturned }),
    };
  },
};

function parseParts(args: Arguments): Parts {
  refuseCollation(args.document("collation"));
  const remove = args.boolean("remove");
  const spec = args.get("update");
  const upsert = args.boolean("upsert");
  const returnNew = args.boolean("new");
  const refuse = (message: string): never => {
    throw new CommandError(ErrorCode.FailedToParse, message);
  };
  if (remove && spec) refuse("Cannot specify both an update and remove=true");
  if (remove && upsert) refuse("Cannot specify both upsert=true and remove=true");
  if (remove && returnNew)
    refuse("Cannot specify both new=true and remove=true; 'remove' always returns the deleted document");
  if (!remove && !spec) refuse("Either an update or remove=true must be specified");
  if (spec && spec.type !== BsonType.object && spec.type !== BsonType.array)
    throw args.wrongType("update", spec, "object");
  const arrayFilters = parseArrayFilters(args);
  const query = compileQuery({
    filter: args.document("query"),
    sort: args.document("sort"),
    projection: args.document("fields"),
    hint: args.get("hint"),
    limit: 1,
  });
  const update = spec && compileUpdate(spec, arrayFilters ? { arrayFilters } : undefined);
  return { query, update, upsert, returnNew };
}

function execute(context: CommandContext, namespace: string, parts: Parts): Record<string, unknown> {
  const { server } = context;
  const { query, update, upsert, returnNew } = parts;
  const shape = (document: Uint8Array): Uint8Array => query.projection?.apply(document) ?? document;
  const collection = server.catalog.find(namespace);
  const [id] = matchingIds(context, collection, { ...query, projection: undefined });

  if (id === undefined || !collection) {
    if (!update) return { lastErrorObject: { n: 0 }, value: NULL };
    if (!upsert) return { lastErrorObject: { n: 0, updatedExisting: false }, value: NULL };
    const document = makeUpsert(server, update, query.filter.node);
    server.catalog.findOrCreate(namespace).insert(document);
    return {
      lastErrorObject: { n: 1, updatedExisting: false, upserted: getField(document, "_id") },
      value: returnNew ? shape(document) : NULL,
    };
  }

  const before = collection.records.get(id) as Uint8Array;
  if (!update) {
    collection.delete(id);
    return { lastErrorObject: { n: 1 }, value: shape(before) };
  }
  const after = applyUpdate(server, collection, id, update, query.filter.node);
  return { lastErrorObject: { n: 1, updatedExisting: true }, value: shape(returnNew ? after : before) };
}
