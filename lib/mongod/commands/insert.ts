/**
 * insert: stores documents as they came, byte for byte.
 *
 * This is the hot path of every bulk load: no document is decoded, nothing is
 * allocated for a document but its index keys, and one reply answers the batch.
 */
import { collectionNamespace, documentsOf, statementIds } from "../../protocol/index.js";
import { checkCollectionUuid } from "../collectionUuid.js";
import type { Command } from "../command.js";
import type { Collection } from "../storage/collection.js";
import { treeReply } from "../tree.js";
import { checkBatch, runBatch } from "../write/batch.js";
import { insertDocument } from "../write/insertDocument.js";

export const insert: Command = {
  name: "insert",
  fields: ["documents", "ordered", "bypassDocumentValidation", "bypassEmptyTsReplacement", "collectionUUID"],
  refused: {
    encryptionInformation: "queryable encryption",
    isTimeseriesNamespace: "time series collections",
  },
  writes: true,
  run({ server, request, arguments: args, interrupt }) {
    const namespace = collectionNamespace(request);
    const documents = documentsOf(request, "documents");
    checkBatch(documents);
    const retryable = server.sessions.retryable(args);
    const statementId = statementIds(args.body, "insert", documents.length);
    const options = {
      bypassDocumentValidation: args.boolean("bypassDocumentValidation"),
      bypassEmptyTsReplacement: args.boolean("bypassEmptyTsReplacement"),
    };
    let n = 0;
    let collection: Collection | undefined;
    const errors = runBatch(documents.length, args.boolean("ordered", true), (index) => {
      interrupt.step();
      if (!retryable?.hasInserted(statementId(index))) {
        if (!collection) {
          checkCollectionUuid(server.catalog, namespace, args);
          collection = server.catalog.findOrCreate(namespace);
        }
        insertDocument(server, collection, documents[index] as Uint8Array, options);
        retryable?.inserted(statementId(index));
      }
      n++;
    });
    return treeReply({ n, ...(errors.length > 0 && { writeErrors: errors }) });
  },
};
