/** `delete`: removes documents on the shards that can have them. */
import { getField } from "../../bson/index.js";
import type { Request } from "../../protocol/index.js";
import { checkBatchSize, collectionNamespace, documentsOf } from "../../protocol/index.js";
import type { Command, RouterContext } from "../context.js";
import { expressionOptions, flag, optionalDocument } from "../context.js";
import { deleteByIds, withCollection } from "../support/collections.js";
import { afterConfigWrite } from "../support/configWrites.js";
import { answerUnsharded, refuseCollation } from "../support/reading.js";
import type { WriteKind } from "../writes/execute.js";
import { executeWrites } from "../writes/execute.js";
import { routeDelete } from "../writes/policy.js";
import { WriteReplies } from "../writes/replies.js";
import { locateOne } from "../writes/singleDocument.js";
import type { DeleteStatement } from "../writes/statements.js";
import { readDelete } from "../writes/statements.js";

export const remove: Command = {
  name: "delete",
  fields: ["deletes", "ordered", "bypassDocumentValidation", "let"],
  retryable: true,
  async run(context, request) {
    const ns = collectionNamespace(request);
    const statements = documentsOf(request, "deletes").map(readDelete);
    checkBatchSize(statements.length);
    const replies = new WriteReplies("delete");
    const ordered = flag(request, "ordered", true);
    const kind = deletes(context, request);
    for (;;) {
      if (await executeWrites(context, request, ns, kind, statements, ordered, replies))
        return replies.finish();
      const reply = await withCollection(context, ns, async (collection) => {
        // Sharded in the meantime: route it after all.
        if (collection) return undefined;
        return afterConfigWrite(context, request, await answerUnsharded(context, request, ns));
      });
      if (reply) return reply;
    }
  },
};

function deletes(context: RouterContext, request: Request): WriteKind<DeleteStatement> {
  return {
    op: "delete",
    sequence: "deletes",
    route(statement, collection) {
      refuseCollation(statement.collation, "delete");
      return routeDelete(statement, collection, context.rules, expressionOptions(context, request));
    },
    async careful(statement, _index, route, collection, replies) {
      const variables = optionalDocument(request, "let");
      const search = { ...statement, ...route, filter: statement.q, variables };
      const found = await locateOne(context, collection, search);
      if (!found) return;
      await deleteByIds(context, found.shard, collection, [getField(found.document, "_id")!]);
      replies.n += 1;
    },
  };
}
