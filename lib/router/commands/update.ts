/** `update`: changes documents where they are, and moves one whose shard key changes. */
import type { Request } from "../../protocol/index.js";
import { checkBatchSize, collectionNamespace, documentsOf } from "../../protocol/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { Command, RouterContext } from "../context.js";
import type { WriteKind } from "../writes/execute.js";
import { runWrites } from "../writes/execute.js";
import type { WriteRoute } from "../writes/policy.js";
import { routeUpdate } from "../writes/policy.js";
import { WriteReplies } from "../writes/replies.js";
import { sendBatches } from "../writes/send.js";
import type { CarefulSearch, CarefulTerms, UpdateOutcome } from "../writes/singleDocument.js";
import { refuseKeyChanges, updateOneAlone, upsertOneAlone } from "../writes/singleDocument.js";
import type { UpdateStatement } from "../writes/statements.js";
import { readUpdate } from "../writes/statements.js";
import type { ShardWork } from "../trace.js";
import type { CommandTerms } from "../writes/terms.js";
import { commandTerms, expressionsOf } from "../writes/terms.js";

export const update: Command = {
  name: "update",
  fields: [
    "updates",
    "ordered",
    "bypassDocumentValidation",
    "bypassEmptyTsReplacement",
    "let",
    "collectionUUID",
  ],
  retryable: true,
  async run(context, request) {
    const ns = collectionNamespace(request);
    const statements = documentsOf(request, "updates").map(readUpdate);
    checkBatchSize(statements.length);
    const replies = new WriteReplies("update");
    return runWrites(
      context,
      request,
      ns,
      updates(context, request, replies, statements.length),
      statements,
      replies,
    );
  },
};

function updates(
  context: RouterContext,
  request: Request,
  replies: WriteReplies,
  statements: number,
): WriteKind<UpdateStatement> {
  const terms = commandTerms(context, request, replies.concernErrors, statements);
  return {
    op: "update",
    sequence: "updates",
    route: (statement, collection) =>
      routeUpdate(
        statement,
        collection,
        context.rules,
        expressionsOf(terms, collection, statement.collation),
      ),
    async careful(statement, index, route, collection, work) {
      const search = searchFor(statement, route, terms, collection);
      const own: CarefulTerms = { ...terms, expressions: search.expressions, work };
      if (statement.multi) {
        const matched = await refuseKeyChanges(context, collection, search, statement, own);
        if (matched || !statement.upsert)
          return sendToAll(context, request, statement, index, route, replies, work);
      }
      const outcome = await (statement.multi
        ? upsertOneAlone(context, collection, search, statement, own)
        : updateOneAlone(context, collection, search, statement, own));
      addOutcome(replies, index, outcome);
    },
  };
}

function searchFor(
  statement: UpdateStatement,
  { node, target, pinsKey }: WriteRoute,
  terms: CommandTerms,
  collection: ShardedCollection,
): CarefulSearch & Required<Pick<CarefulTerms, "expressions">> {
  return {
    ...statement,
    node,
    target,
    pinsKey,
    filter: statement.q,
    variables: terms.variables,
    expressions: expressionsOf(terms, collection, statement.collation),
  };
}

function addOutcome(replies: WriteReplies, index: number, outcome: UpdateOutcome): void {
  if (outcome.kind === "upserted") replies.addUpserted(index, outcome.id);
  else if (outcome.kind === "updated") replies.addUpdated(outcome.modified);
}

/** A multi update that names key fields and changes no document's key is as good as any other. */
function sendToAll(
  context: RouterContext,
  request: Request,
  statement: UpdateStatement,
  index: number,
  { target }: WriteRoute,
  replies: WriteReplies,
  work: ShardWork[],
): Promise<void> {
  const batches = target.shards.map((shard) => ({ shard, documents: [statement.raw], indexes: [index] }));
  return sendBatches(context, request, "updates", batches, false, replies, work);
}
