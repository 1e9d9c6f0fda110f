/** count: how many documents match, from metadata where there is no filter. */
import { collectionNamespace, READ_FIELDS } from "../../protocol/index.js";
import type { Command, CommandContext } from "../command.js";
import { executing } from "../cursors.js";
import { expressionOptions } from "../expressionOptions.js";
import { planCount } from "../planner/countPlan.js";
import { explainRead } from "../planner/explainRead.js";
import type { Query } from "../planner/query.js";
import { compileQuery } from "../planner/query.js";
import type { Collection } from "../storage/collection.js";
import { treeReply } from "../tree.js";
import { countOnView, explainOnView } from "../views.js";

export const count: Command = {
  name: "count",
  fields: READ_FIELDS.count,
  refused: { encryptionInformation: "queryable encryption", querySettings: "query settings" },
  help: "count objects in collection",

  run(context) {
    const { server, request, interrupt } = context;
    const namespace = collectionNamespace(request);
    if (server.catalog.findView(namespace)) return countOnView(context);
    const collection = server.catalog.find(namespace);
    const query = countQuery(context, collection);
    const n = executing(`Executor error during count command: ${namespace}`, () =>
      planCount(collection, query, interrupt).count(),
    );
    return treeReply({ n });
  },

  explain(context, verbosity) {
    const { server, request, interrupt } = context;
    const namespace = collectionNamespace(request);
    if (server.catalog.findView(namespace)) return explainOnView(context, verbosity);
    const collection = server.catalog.find(namespace);
    const query = countQuery(context, collection);
    return explainRead(context, namespace, query, verbosity, () => planCount(collection, query, interrupt));
  },
};

function countQuery(context: CommandContext, collection: Collection | undefined): Query {
  const { arguments: args } = context;
  return compileQuery(
    {
      filter: args.document("query"),
      // A negative limit means the same as its positive value.
      limit: Math.abs(args.number("limit") ?? 0),
      skip: args.count("skip"),
      hint: args.get("hint"),
    },
    expressionOptions(context, collection),
  );
}
