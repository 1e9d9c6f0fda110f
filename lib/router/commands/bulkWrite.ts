/**
 * `bulkWrite`: inserts, updates and deletes in any mixture and any number of namespaces.
 *
 * Each operation is routed by the rules of its own kind (writes/bulk/execute.ts).
 * The reply has sums, and a cursor with one document for each operation that ran
 * (only for those that failed, with `errorsOnly`). An ordered bulk stops at its
 * first error.
 *
 * @since MongoDB 8.0
 */
import { asDocument, DocumentWriter, getField, toDocument } from "../../bson/index.js";
import type { OperationResult, Reply, Request } from "../../protocol/index.js";
import { Arguments, okReply, readBulkOperations } from "../../protocol/index.js";
import type { Command, RouterContext } from "../context.js";
import { flag, optionalDocument } from "../context.js";
import { BufferStream } from "../merging/streams.js";
import { executeBulk } from "../writes/bulk/execute.js";
import { BulkOutcomes } from "../writes/bulk/outcomes.js";
import { BULK_CURSOR } from "../writes/bulk/send.js";
import { ConcernErrors } from "../writes/concernErrors.js";
import { commandTerms } from "../writes/terms.js";

export const bulkWrite: Command = {
  name: "bulkWrite",
  adminOnly: true,
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
  async run(context, request) {
    const operations = readBulkOperations(request);
    const batchSize = batchSizeOf(request);
    const ordered = flag(request, "ordered", true);
    const errorsOnly = flag(request, "errorsOnly");
    const terms = commandTerms(context, request, new ConcernErrors(), operations.length);
    return context.retryable.byStatement<OperationResult>(
      request,
      "bulkWrite",
      operations.length,
      async (memory) => {
        context.clock.tick();
        const outcomes = new BulkOutcomes(operations);
        for (const index of operations.keys()) {
          const known = memory?.resultOf(index);
          if (known) outcomes.add(index, known);
        }
        const { failure } = await attempt(() =>
          executeBulk({ context, request, operations, ordered, terms, outcomes }),
        );
        for (const index of memory ? operations.keys() : []) {
          const result = outcomes.resultOf(index);
          if (result) memory?.completed(index, result);
        }
        if (failure !== undefined) throw failure;
        return answer(context, outcomes, ordered, errorsOnly, batchSize, terms.concernErrors);
      },
    );
  },
};

/** What has been done is remembered even where the command fails after it. */
async function attempt(work: () => Promise<void>): Promise<{ failure?: unknown }> {
  try {
    await work();
    return {};
  } catch (failure) {
    return { failure };
  }
}

/** @throws CommandError Location40415 for unknown fields of `cursor`, 51024 for a negative size */
function batchSizeOf(request: Request): number | undefined {
  const cursor = optionalDocument(request, "cursor");
  if (!cursor) return undefined;
  return new Arguments("bulkWrite.cursor", cursor, { fields: ["batchSize"] }, false).count("batchSize");
}

async function answer(
  context: RouterContext,
  outcomes: BulkOutcomes,
  ordered: boolean,
  errorsOnly: boolean,
  batchSize: number | undefined,
  concernErrors: ConcernErrors,
): Promise<Reply> {
  const replies = outcomes.replies(ordered, errorsOnly);
  const stream = new BufferStream(replies.documents);
  const first = await context.cursors.firstReply(`admin.${BULK_CURSOR}`, stream, [], batchSize ?? Infinity);
  const writer = new DocumentWriter()
    .document("cursor", asDocument(getField(first.body, "cursor")!))
    .fieldsOf(toDocument(replies.sums));
  concernErrors.writeTo(writer);
  return okReply(writer.finish());
}
