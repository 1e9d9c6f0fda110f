/** distinct: the different values of a field; those inside arrays count one by one. */
import type { Collation, RawValue } from "../../bson/index.js";
import { asDocument, BsonType, document, elements, getField, sortableValue } from "../../bson/index.js";
import {
  collectionNamespace,
  CommandError,
  MAX_BSON_OBJECT_BYTES,
  READ_FIELDS,
} from "../../protocol/index.js";
import type { Command, CommandContext } from "../command.js";
import { executing } from "../cursors.js";
import { expressionOptions } from "../expressionOptions.js";
import { planDistinct } from "../planner/distinctPlan.js";
import { explainRead } from "../planner/explainRead.js";
import type { Query } from "../planner/query.js";
import { compileQuery } from "../planner/query.js";
import type { Collection } from "../storage/collection.js";
import { treeReply } from "../tree.js";
import { distinctOnView, explainOnView } from "../views.js";

export const distinct: Command = {
  name: "distinct",
  fields: READ_FIELDS.distinct,
  refused: { encryptionInformation: "queryable encryption", querySettings: "query settings" },
  help: "the different values of a field",

  run(context) {
    const { server, request, interrupt } = context;
    const namespace = collectionNamespace(request);
    if (server.catalog.findView(namespace)) return distinctOnView(context);
    const collection = server.catalog.find(namespace);
    const { query, key } = distinctQuery(context, collection);
    const values = new DistinctValues(key, query.options.collation);
    executing(`Executor error during distinct command: ${namespace}`, () => {
      const root = planDistinct(collection, query, key, interrupt);
      while (root.next()) values.addAllOf(root.document);
    });
    return treeReply({ values: values.list });
  },

  explain(context, verbosity) {
    const { server, request, interrupt } = context;
    const namespace = collectionNamespace(request);
    if (server.catalog.findView(namespace)) return explainOnView(context, verbosity);
    const collection = server.catalog.find(namespace);
    const { query, key } = distinctQuery(context, collection);
    return explainRead(context, namespace, query, verbosity, () =>
      planDistinct(collection, query, key, interrupt),
    );
  },
};

function distinctQuery(
  context: CommandContext,
  collection: Collection | undefined,
): { query: Query; key: string } {
  const { arguments: args } = context;
  const key = args.string("key") ?? args.missing("key");
  if (key.includes("\0")) throw new CommandError(31032, "Key field cannot contain an embedded null byte");
  const query = compileQuery(
    { filter: args.document("query"), hint: args.get("hint") },
    expressionOptions(context, collection),
  );
  return { query, key };
}

/** Values in the order in which they were met, each once. */
class DistinctValues {
  readonly list: RawValue[] = [];
  private readonly parts: readonly string[];
  private readonly seen = new Set<string>();
  private bytes = 0;

  constructor(
    key: string,
    private readonly collation: Collation | undefined,
  ) {
    this.parts = key.split(".");
  }

  /**
   * Adds the values that a document has in the field.
   * @throws CommandError 17217 where the result gets too large for a reply
   */
  addAllOf(doc: Uint8Array): void {
    this.visit(document(doc), 0);
  }

  /** Arrays are gone into on the way and once at the end. */
  private visit(value: RawValue, at: number): void {
    const name = this.parts[at];
    if (name === undefined) {
      if (value.type === BsonType.array) for (const element of elements(asDocument(value))) this.add(element);
      else this.add(value);
    } else if (value.type === BsonType.object) {
      const next = getField(asDocument(value), name);
      if (next) this.visit(next, at + 1);
    } else if (value.type === BsonType.array) {
      const members = elements(asDocument(value));
      const named = /^\d+$/.test(name) ? members[Number(name)] : undefined;
      if (named) this.visit(named, at + 1);
      for (const member of members) if (member.type === BsonType.object) this.visit(member, at);
    }
  }

  private add(value: RawValue): void {
    const key = sortableValue(value, this.collation);
    if (this.seen.has(key)) return;
    this.seen.add(key);
    this.list.push(value);
    this.bytes += value.end - value.start;
    if (this.bytes > MAX_BSON_OBJECT_BYTES) throw new CommandError(17217, "distinct too big, 16mb cap");
  }
}
