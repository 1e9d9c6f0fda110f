/** distinct: the different values of a field; those inside arrays count one by one. */
import type { RawValue } from "../../bson/index.js";
import { asDocument, BsonType, elements, getField, sortableValue } from "../../bson/index.js";
import { collectionNamespace, CommandError, MAX_BSON_OBJECT_BYTES } from "../../protocol/index.js";
import { filterDocument } from "../../query/index.js";
import type { Arguments, Command } from "../command.js";
import { refuseCollation } from "../command.js";
import { executionStatsSection, queryPlannerSection } from "../planner/explain.js";
import { planQuery } from "../planner/plan.js";
import { compileQuery } from "../planner/query.js";
import { treeReply } from "../tree.js";

export const distinct: Command = {
  name: "distinct",
  fields: ["key", "query", "collation", "hint"],
  refused: { encryptionInformation: "queryable encryption" },

  run({ server, request, arguments: args, interrupt }) {
    const namespace = collectionNamespace(request);
    const { query, parts } = distinctQuery(args);
    const root = planQuery(server.catalog.find(namespace), query, interrupt);
    const values = new Map<string, RawValue>();
    let bytes = 0;
    const visit = (value: RawValue): void => {
      const key = sortableValue(value);
      if (values.has(key)) return;
      values.set(key, value);
      bytes += value.end - value.start;
      if (bytes > MAX_BSON_OBJECT_BYTES) throw new CommandError(17217, "distinct too big, 16mb cap");
    };
    while (root.next()) {
      const { document } = root;
      eachValue({ type: BsonType.object, bytes: document, start: 0, end: document.length }, parts, 0, visit);
    }
    return treeReply({ values: [...values.values()] });
  },

  explain({ server, request, arguments: args, interrupt }, verbosity) {
    const namespace = collectionNamespace(request);
    const { query } = distinctQuery(args);
    const started = server.environment.now();
    const root = planQuery(server.catalog.find(namespace), query, interrupt);
    const queryPlanner = queryPlannerSection(namespace, filterDocument(query.filter.node), root);
    if (verbosity === "queryPlanner") return { explainVersion: "1", queryPlanner };
    while (root.next());
    return {
      explainVersion: "1",
      queryPlanner,
      executionStats: executionStatsSection(root, server.environment.now() - started, verbosity),
    };
  },
};

function distinctQuery(args: Arguments): { query: ReturnType<typeof compileQuery>; parts: string[] } {
  refuseCollation(args.document("collation"));
  const key = args.string("key") ?? args.missing("key");
  return {
    query: compileQuery({ filter: args.document("query"), hint: args.get("hint") }),
    parts: key.split("."),
  };
}

/** Visits the values at a dotted path. Arrays are gone into on the way and once at the end. */
function eachValue(
  value: RawValue,
  parts: readonly string[],
  at: number,
  visit: (value: RawValue) => void,
): void {
  const name = parts[at];
  if (name === undefined) {
    if (value.type === BsonType.array) elements(asDocument(value)).forEach(visit);
    else visit(value);
  } else if (value.type === BsonType.object) {
    const next = getField(asDocument(value), name);
    if (next) eachValue(next, parts, at + 1, visit);
  } else if (value.type === BsonType.array) {
    const members = elements(asDocument(value));
    const named = /^\d+$/.test(name) ? members[Number(name)] : undefined;
    if (named) eachValue(named, parts, at + 1, visit);
    for (const member of members) if (member.type === BsonType.object) eachValue(member, parts, at, visit);
  }
}
