/** `delete`: removes documents on the shards that can have them. */
import type { Request } from "../../protocol/index.js";
import { checkBatchSize, collectionNamespace, documentsOf } from "../../protocol/index.js";
import type { Command, RouterContext } from "../context.js";
import type { WriteKind } from "../writes/execute.js";
import { runWrites } from "../writes/execute.js";
import { routeDelete } from "../writes/policy.js";
import { WriteReplies } from "../writes/replies.js";
import { deleteOneAlone } from "../writes/singleDocument.js";
import type { DeleteStatement } from "../writes/statements.js";
import { readDelete } from "../writes/statements.js";
import { commandTerms, expressionsOf } from "../writes/terms.js";

export const remove: Command = {
  name: "delete",
  fields: ["deletes", "ordered", "bypassDocumentValidation", "let", "collectionUUID"],
  retryable: true,
  async run(context, request) {
    const ns = collectionNamespace(request);
    const statements = documentsOf(request, "deletes").map(readDelete);
    checkBatchSize(statements.length);
    const replies = new WriteReplies("delete");
    return runWrites(context, request, ns, deletes(context, request, replies), statements, replies);
  },
};

function deletes(
  context: RouterContext,
  request: Request,
  replies: WriteReplies,
): WriteKind<DeleteStatement> {
  const terms = commandTerms(context, request, replies.concernErrors);
  return {
    op: "delete",
    sequence: "deletes",
    route: (statement, collection) =>
      routeDelete(
        statement,
        collection,
        context.rules,
        expressionsOf(terms, collection, statement.collation),
      ),
    async careful(statement, _index, { node, target }, collection, work) {
      const { variables } = terms;
      const search = { ...statement, node, target, filter: statement.q, variables };
      if (await deleteOneAlone(context, collection, search, { ...terms, work })) replies.n += 1;
    },
  };
}
