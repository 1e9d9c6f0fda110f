/** find: opens a cursor over a query plan and answers its first batch. */
import { collectionNamespace, cursorReply } from "../../protocol/index.js";
import { filterDocument } from "../../query/index.js";
import type { Arguments, Command } from "../command.js";
import { refuseCollation } from "../command.js";
import { BatchStream, DEFAULT_FIRST_BATCH } from "../cursors.js";
import { executionStatsSection, queryPlannerSection } from "../planner/explain.js";
import { planQuery } from "../planner/plan.js";
import { PlanSource } from "../planner/planSource.js";
import type { Query } from "../planner/query.js";
import { compileQuery } from "../planner/query.js";

export const find: Command = {
  name: "find",
  fields: [
    "filter",
    "sort",
    "projection",
    "hint",
    "skip",
    "limit",
    "batchSize",
    "singleBatch",
    "max",
    "min",
    "collation",
    "noCursorTimeout",
    "allowDiskUse",
    "allowPartialResults",
    "oplogReplay",
  ],
  refused: {
    returnKey: "returnKey",
    showRecordId: "showRecordId",
    tailable: "tailable cursors",
    awaitData: "tailable cursors",
    let: "let variables in find",
    term: "replication commands",
    resumeAfter: "$_resumeAfter",
    $_requestResumeToken: "$_requestResumeToken",
    $_resumeAfter: "$_resumeAfter",
    $_startAt: "$_startAt",
    encryptionInformation: "queryable encryption",
    querySettings: "query settings",
  },

  run({ server, request, arguments: args, interrupt }) {
    const namespace = collectionNamespace(request);
    const query = findQuery(args);
    const root = planQuery(server.catalog.find(namespace), query, interrupt);
    const stream = new BatchStream(new PlanSource(root));
    const batch = stream.take(args.count("batchSize") ?? DEFAULT_FIRST_BATCH);
    if (batch.exhausted || args.boolean("singleBatch"))
      return cursorReply(namespace, 0n, batch.documents, "firstBatch");
    const cursor = server.cursors.open(namespace, stream, args.boolean("noCursorTimeout"));
    return cursorReply(namespace, cursor.id, batch.documents, "firstBatch");
  },

  explain({ server, request, arguments: args, interrupt }, verbosity) {
    const namespace = collectionNamespace(request);
    const query = findQuery(args);
    const started = server.environment.now();
    const root = planQuery(server.catalog.find(namespace), query, interrupt);
    const queryPlanner = queryPlannerSection(namespace, filterDocument(query.filter.node), root);
    if (verbosity === "queryPlanner") return { explainVersion: "1", queryPlanner };
    while (root.next());
    const milliseconds = server.environment.now() - started;
    return {
      explainVersion: "1",
      queryPlanner,
      executionStats: executionStatsSection(root, milliseconds, verbosity),
    };
  },
};

function findQuery(args: Arguments): Query {
  refuseCollation(args.document("collation"));
  return compileQuery({
    filter: args.document("filter"),
    sort: args.document("sort"),
    projection: args.document("projection"),
    skip: args.count("skip"),
    limit: args.count("limit"),
    hint: args.get("hint"),
    min: args.document("min"),
    max: args.document("max"),
  });
}
