/**
 * find: opens a cursor over a query plan and answers its first batch.
 *
 * On a view it is an aggregation (views.ts). A *tailable* cursor over a capped
 * collection stays open at the end: a later getMore gives what was inserted
 * since. It does not wait for that (`awaitData`): a command here runs from
 * start to end, and nothing could be inserted meanwhile.
 */
import { asNumber, fields } from "../../bson/index.js";
import {
  collectionNamespace,
  CommandError,
  cursorReply,
  ErrorCode,
  notSimulated,
  READ_FIELDS,
} from "../../protocol/index.js";
import { checkLet } from "../../query/index.js";
import type { Arguments, Command, CommandContext } from "../command.js";
import { BatchStream, DEFAULT_FIRST_BATCH, executing } from "../cursors.js";
import { expressionOptions } from "../expressionOptions.js";
import { explainRead } from "../planner/explainRead.js";
import { planQuery } from "../planner/plan.js";
import { PlanSource } from "../planner/planSource.js";
import type { Query } from "../planner/query.js";
import { compileQuery } from "../planner/query.js";
import type { Collection } from "../storage/collection.js";
import { explainOnView, findOnView } from "../views.js";

export const find: Command = {
  name: "find",
  fields: READ_FIELDS.find,
  refused: {
    term: "replication commands",
    resumeAfter: "$_resumeAfter",
    $_requestResumeToken: "$_requestResumeToken",
    $_resumeAfter: "$_resumeAfter",
    $_startAt: "$_startAt",
    encryptionInformation: "queryable encryption",
    querySettings: "query settings",
  },
  help: "query for documents",

  run(context) {
    const { server, request, arguments: args, interrupt } = context;
    const namespace = collectionNamespace(request);
    if (server.catalog.findView(namespace)) return findOnView(context);
    const collection = server.catalog.find(namespace);
    const query = findQuery(context, namespace, collection);
    const batchSize = args.count("batchSize") ?? DEFAULT_FIRST_BATCH;
    const singleBatch = args.boolean("singleBatch");
    const noTimeout = args.boolean("noCursorTimeout");
    const what = `Executor error during find command: ${namespace}`;
    const stream = executing(
      what,
      () => new BatchStream(new PlanSource(planQuery(collection, query, interrupt))),
    );
    const batch = executing(what, () => stream.take(batchSize));
    // A tailable cursor is never at its end, unless there is no collection to tail.
    const exhausted = batch.exhausted && !(query.tailable && collection);
    if (exhausted || singleBatch) return cursorReply(namespace, 0n, batch.documents, "firstBatch");
    const cursor = server.cursors.open(namespace, stream, {
      noTimeout,
      tailable: query.tailable ?? false,
      command: request.body,
      documents: batch.documents.length,
      interrupt,
    });
    return cursorReply(namespace, cursor.id, batch.documents, "firstBatch");
  },

  explain(context, verbosity) {
    const { server, request, interrupt } = context;
    const namespace = collectionNamespace(request);
    if (server.catalog.findView(namespace)) return explainOnView(context, verbosity);
    const collection = server.catalog.find(namespace);
    const query = findQuery(context, namespace, collection);
    return explainRead(context, namespace, query, verbosity, () => planQuery(collection, query, interrupt));
  },
};

function findQuery(context: CommandContext, namespace: string, collection: Collection | undefined): Query {
  const { arguments: args } = context;
  const min = args.document("min");
  const max = args.document("max");
  checkBounds(min, max);
  const tailable = checkTailable(args, namespace, collection);
  // Accepted and without influence here: there is one copy of the data.
  for (const name of ["allowPartialResults", "oplogReplay", "readOnce"]) args.boolean(name);
  const options = expressionOptions(context, collection);
  checkLet(options);
  return compileQuery(
    {
      filter: args.document("filter"),
      sort: args.document("sort"),
      projection: args.document("projection"),
      skip: args.count("skip"),
      limit: args.count("limit"),
      hint: args.get("hint"),
      min,
      max,
      returnKey: args.boolean("returnKey"),
      showRecordId: args.boolean("showRecordId"),
      tailable,
      hasBatchSize: args.get("batchSize") !== undefined,
    },
    options,
  );
}

/**
 * @throws CommandError 51176 where both are given for different fields
 */
function checkBounds(min: Uint8Array | undefined, max: Uint8Array | undefined): void {
  if (!min || !max || min.length === 5 || max.length === 5) return;
  const names = (bound: Uint8Array): string => JSON.stringify(fields(bound).map(([name]) => name));
  if (names(min) !== names(max)) throw new CommandError(51176, "min and max must have the same field names");
}

/**
 * @returns whether the cursor is to be tailable
 * @throws CommandError BadValue (2), FailedToParse (9) for options that do not go with it, 238 for awaitData
 */
function checkTailable(args: Arguments, namespace: string, collection: Collection | undefined): boolean {
  const tailable = args.boolean("tailable");
  const awaitData = args.boolean("awaitData");
  if (!tailable) {
    if (awaitData)
      throw new CommandError(
        ErrorCode.FailedToParse,
        "Cannot set 'awaitData' without also setting 'tailable'",
      );
    return false;
  }
  const bad = (message: string): CommandError => new CommandError(ErrorCode.BadValue, message);
  const sort = args.document("sort");
  if (sort && sort.length > 5 && !isForwardNatural(sort))
    throw bad("cannot use tailable option with a sort other than {$natural: 1}");
  if (args.boolean("singleBatch")) throw bad("cannot use tailable option with the 'singleBatch' option");
  if (collection && !collection.settings.capped) {
    throw bad(`error processing query: ns=${namespace} tailable cursor requested on non capped collection`);
  }
  if (awaitData) throw notSimulated("awaitData: a getMore that waits for new documents");
  return true;
}

function isForwardNatural(sort: Uint8Array): boolean {
  const [first, second] = fields(sort);
  return first?.[0] === "$natural" && !second && asNumber(first[1]) === 1;
}
