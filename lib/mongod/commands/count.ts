/** count: how many documents match, from metadata where there is no filter. */
import { collectionNamespace } from "../../protocol/index.js";
import { filterDocument } from "../../query/index.js";
import type { Arguments, Command } from "../command.js";
import { refuseCollation } from "../command.js";
import { planCount } from "../planner/countPlan.js";
import { executionStatsSection, queryPlannerSection } from "../planner/explain.js";
import type { Query } from "../planner/query.js";
import { compileQuery } from "../planner/query.js";
import { treeReply } from "../tree.js";

export const count: Command = {
  name: "count",
  fields: ["query", "limit", "skip", "hint", "collation", "fields"],
  refused: { encryptionInformation: "queryable encryption" },

  run({ server, request, arguments: args, interrupt }) {
    const namespace = collectionNamespace(request);
    const n = planCount(server.catalog.find(namespace), countQuery(args), interrupt).count();
    return treeReply({ n });
  },

  explain({ server, request, arguments: args, interrupt }, verbosity) {
    const namespace = collectionNamespace(request);
    const query = countQuery(args);
    const started = server.environment.now();
    const root = planCount(server.catalog.find(namespace), query, interrupt);
    const queryPlanner = queryPlannerSection(namespace, filterDocument(query.filter.node), root);
    if (verbosity === "queryPlanner") return { explainVersion: "1", queryPlanner };
    const nCounted = root.count();
    const stats = executionStatsSection(root, server.environment.now() - started, verbosity);
    const stages = stats["executionStages"] as Record<string, unknown>;
    return {
      explainVersion: "1",
      queryPlanner,
      executionStats: { ...stats, executionStages: { ...stages, nCounted, nSkipped: 0 } },
    };
  },
};

function countQuery(args: Arguments): Query {
  refuseCollation(args.document("collation"));
  return compileQuery({
    filter: args.document("query"),
    // A negative limit means the same as its positive value.
    limit: Math.abs(args.number("limit") ?? 0),
    skip: args.count("skip"),
    hint: args.get("hint"),
  });
}
