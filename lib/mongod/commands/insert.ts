/**
 * insert: stores documents as they came, byte for byte.
 *
 * This is the hot path of every bulk load: no document is decoded, nothing is
 * allocated for a document but its index keys, and one reply answers the batch.
 */
import { collectionNamespace, documentsOf, statementIds } from "../../protocol/index.js";
import type { Command } from "../command.js";
import { treeReply } from "../tree.js";
import { checkBatch, runBatch } from "../write/batch.js";
import { prepareInsert } from "../write/prepareInsert.js";

export const insert: Command = {
  name: "insert",
  fields: ["documents", "ordered", "bypassDocumentValidation"],
  refused: { encryptionInformation: "queryable encryption" },
  writes: true,
  run({ server, request, arguments: args }) {
    const namespace = collectionNamespace(request);
    const documents = documentsOf(request, "documents");
    checkBatch(documents);
    const retryable = server.sessions.retryable(args);
    const statementId = statementIds(args.body, "insert", documents.length);
    const collection = server.catalog.findOrCreate(namespace);
    let n = 0;
    const errors = runBatch(documents.length, args.boolean("ordered", true), (index) => {
      if (retryable?.hasInserted(statementId(index))) {
        n++;
        return;
      }
      collection.insert(prepareInsert(documents[index] as Uint8Array, server.objectIds));
      retryable?.inserted(statementId(index));
      n++;
    });
    return treeReply({ n, ...(errors.length > 0 && { writeErrors: errors }) });
  },
};
