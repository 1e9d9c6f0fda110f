/**
 * bulkWrite: inserts, updates and deletes in any mixture and any number of namespaces.
 *
 *     {bulkWrite: 1,
 *      nsInfo: [{ns: "library.loans"}, {ns: "library.books"}],
 *      ops: [{insert: 0, document: {…}}, {update: 1, filter: {…}, updateMods: {…}}, {delete: 0, filter: {…}}]}
 *
 * The reply has sums, and a cursor with one document for each operation that
 * ran (or failed, with `errorsOnly`). An ordered bulk stops at its first error.
 *
 * @since MongoDB 8.0
 */
import {
  BulkReplies,
  cursorReply,
  readBulkOperations,
  statementIds,
  type OperationResult,
  type Reply,
} from "../../protocol/index.js";
import type { Command, CommandContext } from "../command.js";
import { Arguments } from "../command.js";
import { BatchStream } from "../cursors.js";
import { ListSource } from "../planner/planSource.js";
import { errorDetails, statementError } from "../write/batch.js";
import { explainOperation, runOperation, type BulkContext } from "../write/bulkOperations.js";

/** Namespace of the cursor. */
const CURSOR_NAMESPACE = "admin.$cmd.bulkWrite";

export const bulkWrite: Command = {
  name: "bulkWrite",
  fields: [
    "ops",
    "nsInfo",
    "cursor",
    "ordered",
    "let",
    "errorsOnly",
    "bypassDocumentValidation",
    "bypassEmptyTsReplacement",
  ],
  refused: { $_originalQuery: "sharding inside a shard", $_originalCollation: "sharding inside a shard" },
  writes: true,
  adminOnly: true,

  run(context) {
    const { server, arguments: args, interrupt } = context;
    const operations = readBulkOperations(context.request);
    const retryable = server.sessions.retryable(args);
    const statementId = statementIds(args.body, "bulkWrite", operations.length);
    const ordered = args.boolean("ordered", true);
    const replies = new BulkReplies(args.boolean("errorsOnly"));
    const bulk: BulkContext = {
      context,
      retryable: retryable !== undefined,
      options: {
        bypassDocumentValidation: args.boolean("bypassDocumentValidation"),
        bypassEmptyTsReplacement: args.boolean("bypassEmptyTsReplacement"),
      },
    };
    for (const [index, operation] of operations.entries()) {
      if (replies.isFull(index)) break;
      interrupt.step();
      const id = statementId(index);
      try {
        const result = retryable?.resultOf<OperationResult>(id) ?? runOperation(bulk, operation);
        retryable?.completed(id, result);
        replies.succeeded(index, result);
      } catch (error) {
        const cause = statementError(error);
        replies.failed(index, operation.kind, cause, undefined, errorDetails(cause));
        if (ordered) break;
      }
    }
    return answer(context, replies);
  },

  explain: (context, verbosity) => explainOperation(context, readBulkOperations(context.request), verbosity),
};

function answer({ server, arguments: args }: CommandContext, replies: BulkReplies): Reply {
  const cursor = args.document("cursor");
  const batchSize =
    cursor && new Arguments("bulkWrite.cursor", cursor, { fields: ["batchSize"] }, false).count("batchSize");
  const stream = new BatchStream(new ListSource(replies.documents));
  const { documents, exhausted } = stream.take(batchSize ?? Infinity);
  const done = exhausted || documents.length === replies.documents.length;
  const id = done ? 0n : server.cursors.open(CURSOR_NAMESPACE, stream, { command: args.body }).id;
  return cursorReply(CURSOR_NAMESPACE, id, documents, "firstBatch", replies.sums);
}
