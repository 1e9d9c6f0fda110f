/** findAndModify: changes or removes one document and answers it, as it was or as it became. */
import { BsonType, EMPTY_DOCUMENT, getField, NULL, type RawValue } from "../../bson/index.js";
import {
  collectionNamespace,
  CommandError,
  ErrorCode,
  readArrayFilters,
  statementIds,
} from "../../protocol/index.js";
import { isPositionalProjection } from "../../query/index.js";
import { checkCollectionUuid } from "../collectionUuid.js";
import type { Arguments, Command, CommandContext } from "../command.js";
import { expressionOptions } from "../expressionOptions.js";
import { planQuery } from "../planner/plan.js";
import type { Query } from "../planner/query.js";
import { compileQuery } from "../planner/query.js";
import { treeReply } from "../tree.js";
import { applyUpdate } from "../write/applyUpdate.js";
import type { DeleteStatement } from "../write/deleteStatement.js";
import { execute } from "../write/execution.js";
import { explainDelete, explainUpdate } from "../write/explain.js";
import { idsOf } from "../write/matching.js";
import { compileStatement, insertUpsert, updateRun, type UpdateStatement } from "../write/updateStatement.js";

/** The reply before `ok`. */
interface Result {
  readonly lastErrorObject: {
    readonly n: number;
    readonly updatedExisting?: boolean;
    readonly upserted?: RawValue;
  };
  /** A document, or null. */
  readonly value: Uint8Array | RawValue;
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
    "let",
    "bypassDocumentValidation",
    "bypassEmptyTsReplacement",
    "collation",
    "arrayFilters",
    "hint",
    "collectionUUID",
  ],
  refused: {
    sampleId: "query sampling",
    encryptionInformation: "queryable encryption",
    isTimeseriesNamespace: "time series collections",
    runtimeConstants: "runtimeConstants",
  },
  writes: true,

  run(context) {
    const { server, request, arguments: args } = context;
    const namespace = collectionNamespace(request);
    checkOptions(args);
    const retryable = server.sessions.retryable(args);
    const id = statementIds(args.body, "findAndModify", 1)(0);
    let result = retryable?.resultOf<Result>(id);
    if (!result) {
      checkCollectionUuid(server.catalog, namespace, args);
      result = args.boolean("remove") ? remove(context, namespace) : change(context, namespace);
      if (retryable) {
        const value = result.value instanceof Uint8Array ? result.value.slice() : result.value;
        retryable.completed(id, { ...result, value }, value instanceof Uint8Array ? value.length : 0);
        server.sessions.resultsGrew();
      }
    }
    return treeReply({ ...result });
  },

  explain(context, verbosity) {
    const { request, arguments: args } = context;
    const namespace = collectionNamespace(request);
    checkOptions(args);
    return args.boolean("remove")
      ? explainDelete(context, parseRemove(context, namespace), verbosity, true)
      : explainUpdate(context, parseUpdate(context, namespace), verbosity, true);
  },
};

/** @throws CommandError FailedToParse (9) for options that exclude each other */
function checkOptions(args: Arguments): void {
  const spec = args.get("update");
  const refuse = (message: string): never => {
    throw new CommandError(ErrorCode.FailedToParse, message);
  };
  if (!args.boolean("remove")) {
    if (!spec) refuse("Either an update or remove=true must be specified");
    if (spec?.type === BsonType.array && args.get("arrayFilters"))
      refuse("Cannot specify arrayFilters and a pipeline update");
    return;
  }
  if (spec) refuse("Cannot specify both an update and remove=true");
  if (args.boolean("upsert")) refuse("Cannot specify both upsert=true and remove=true ");
  if (args.boolean("new"))
    refuse("Cannot specify both new=true and remove=true; 'remove' always returns the deleted document");
  if (args.get("arrayFilters")) refuse("Cannot specify arrayFilters and remove=true");
}

function parseRemove(context: CommandContext, namespace: string): DeleteStatement {
  const { arguments: args } = context;
  const collection = context.server.catalog.findCollection(namespace);
  const query = compileQuery(
    {
      filter: args.document("query"),
      sort: args.document("sort"),
      projection: args.document("fields"),
      hint: args.get("hint"),
      limit: 1,
      forWrite: true,
    },
    expressionOptions(context, collection),
  );
  return { namespace, collection, query };
}

function parseUpdate(context: CommandContext, namespace: string): UpdateStatement {
  const { arguments: args } = context;
  const update = args.get("update") as RawValue;
  const statement = compileStatement(context, namespace, {
    filter: args.document("query") ?? EMPTY_DOCUMENT,
    update,
    constants: undefined,
    arrayFilters: readArrayFilters(args),
    collation: undefined,
    hint: args.get("hint"),
    sort: args.document("sort"),
    projection: args.document("fields"),
    multi: false,
    upsert: args.boolean("upsert"),
    upsertSupplied: false,
    bypassEmptyTsReplacement: args.boolean("bypassEmptyTsReplacement"),
  });
  const projection = args.document("fields");
  if (args.boolean("new") && projection && isPositionalProjection(projection)) {
    throw new CommandError(
      ErrorCode.BadValue,
      "cannot use a positional projection and return the new document",
    );
  }
  return statement;
}

function shape(query: Query, document: Uint8Array): Uint8Array {
  return query.projection?.apply(document) ?? document;
}

function remove(context: CommandContext, namespace: string): Result {
  const { collection, query } = parseRemove(context, namespace);
  const plan = planQuery(collection, { ...query, projection: undefined }, context.interrupt);
  return execute("findAndModify", () => {
    const [id] = idsOf(plan);
    if (id === undefined || !collection) return { lastErrorObject: { n: 0 }, value: NULL };
    const value = shape(query, collection.records.get(id) as Uint8Array);
    collection.delete(id);
    return { lastErrorObject: { n: 1 }, value };
  });
}

function change(context: CommandContext, namespace: string): Result {
  const { arguments: args } = context;
  const statement = parseUpdate(context, namespace);
  const { collection, query, upsert } = statement;
  const returnNew = args.boolean("new");
  const checks = { bypassDocumentValidation: args.boolean("bypassDocumentValidation") };
  const plan = planQuery(collection, { ...query, projection: undefined }, context.interrupt);
  return execute("findAndModify", () => {
    const [id] = idsOf(plan);
    if (id === undefined || !collection) {
      if (!upsert) return { lastErrorObject: { n: 0, updatedExisting: false }, value: NULL };
      const document = insertUpsert(context, statement, checks);
      const upserted = getField(document, "_id") as RawValue;
      return {
        lastErrorObject: { n: 1, updatedExisting: false, upserted },
        value: returnNew ? shape(query, document) : NULL,
      };
    }
    const { before, after } = applyUpdate(updateRun(context, statement, collection, checks), id);
    return {
      lastErrorObject: { n: 1, updatedExisting: true },
      value: shape(query, returnNew ? after : before),
    };
  });
}
