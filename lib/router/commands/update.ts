/** `update`: changes documents where they are, and moves one whose shard key changes. */
import type { Request } from "../../protocol/index.js";
import {
  bodyField,
  checkBatchSize,
  collectionNamespace,
  documentsOf,
  notSimulated,
} from "../../protocol/index.js";
import { compileUpdate } from "../../query/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { Command, RouterContext } from "../context.js";
import { expressionOptions, flag, optionalDocument } from "../context.js";
import { withCollection } from "../support/collections.js";
import { afterConfigWrite, checkConfigWrite } from "../support/configWrites.js";
import { withDatabase } from "../support/databases.js";
import { forwardedRequest } from "../support/forward.js";
import { refuseCollation } from "../support/reading.js";
import { traceUnsharded } from "../trace.js";
import type { WriteKind } from "../writes/execute.js";
import { executeWrites } from "../writes/execute.js";
import type { WriteRoute } from "../writes/policy.js";
import { routeUpdate, updateOptions } from "../writes/policy.js";
import { WriteReplies } from "../writes/replies.js";
import { sendBatches } from "../writes/send.js";
import { refuseKeyChanges, updateOneAlone } from "../writes/singleDocument.js";
import type { UpdateStatement } from "../writes/statements.js";
import { readUpdate } from "../writes/statements.js";

export const update: Command = {
  name: "update",
  fields: ["updates", "ordered", "bypassDocumentValidation", "let"],
  retryable: true,
  async run(context, request) {
    const ns = collectionNamespace(request);
    const statements = documentsOf(request, "updates").map(readUpdate);
    checkBatchSize(statements.length);
    const replies = new WriteReplies("update");
    const kind = updates(context, request);
    const ordered = flag(request, "ordered", true);
    for (;;) {
      if (await executeWrites(context, request, ns, kind, statements, ordered, replies))
        return replies.finish();
      const reply = await withCollection(context, ns, async (collection) => {
        // Sharded in the meantime: route it after all.
        if (collection) return undefined;
        await checkConfigWrite(context, request);
        return withDatabase(context, request.db, async ({ primary }) => {
          const record = traceUnsharded("update", ns, primary, context.environment.now());
          record.shards[0]!.sent = statements.length;
          context.trace.add(record);
          return afterConfigWrite(
            context,
            request,
            await context.shards.run(primary, forwardedRequest(request)),
          );
        });
      });
      if (reply) return reply;
    }
  },
};

function updates(context: RouterContext, request: Request): WriteKind<UpdateStatement> {
  return {
    op: "update",
    sequence: "updates",
    route(statement, collection) {
      refuseCollation(statement.collation, "update");
      const route = routeUpdate(statement, collection, context.rules, expressionOptions(context, request));
      if (route.kind === "careful" && statement.constants) {
        throw notSimulated("constants (c) in an update that may change the shard key or lacks it");
      }
      return route;
    },
    async careful(statement, index, route, collection, replies) {
      if (statement.multi)
        return carefulMulti(context, request, statement, index, route, collection, replies);
      const variables = optionalDocument(request, "let");
      const compiled = compileUpdate(statement.u, updateOptions(statement.arrayFilters, variables));
      const search = { ...statement, ...route, filter: statement.q, variables };
      const outcome = await updateOneAlone(context, collection, search, compiled, {
        upsert: statement.upsert,
        retryable: bodyField(request, "txnNumber") !== undefined,
      });
      if (outcome.kind === "upserted") replies.addUpserted(index, outcome.id);
      else if (outcome.kind === "updated") replies.addUpdated(outcome.modified);
    },
  };
}

/** A multi update that names key fields: fine as long as no document's key changes. */
async function carefulMulti(
  context: RouterContext,
  request: Request,
  statement: UpdateStatement,
  index: number,
  route: WriteRoute,
  collection: ShardedCollection,
  replies: WriteReplies,
): Promise<void> {
  if (statement.upsert) throw notSimulated("updateMany with upsert that writes shard key fields");
  const variables = optionalDocument(request, "let");
  const compiled = compileUpdate(statement.u, updateOptions(statement.arrayFilters, variables));
  await refuseKeyChanges(context, collection, { ...route, filter: statement.q, variables }, compiled);
  const batches = route.target.shards.map((shard) => ({
    shard,
    documents: [statement.raw],
    indexes: [index],
  }));
  await sendBatches(context, request, "updates", batches, false, replies, []);
}
