/**
 * insert: stores documents as they came, byte for byte.
 *
 * This is the hot path of every bulk load: no document is decoded, nothing is
 * allocated for a document but its index keys, and one reply answers the batch.
 */
import { checkBatch, collectionNamespace, documentsOf, statementIds } from "../../protocol/index.js";
import { checkCollectionUuid } from "../collectionUuid.js";
import type { Command } from "../command.js";
import type { Request } from "../../protocol/index.js";
import type { Collection } from "../storage/collection.js";
import type { KnownHash } from "../storage/indexKeys.js";
import { treeReply } from "../tree.js";
import { runBatch } from "../write/batch.js";
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
    checkBatch(request, documents);
    const retryable = server.sessions.retryable(args);
    const statementId = statementIds(args.body, "insert", documents.length);
    const options = {
      bypassDocumentValidation: args.boolean("bypassDocumentValidation"),
      bypassEmptyTsReplacement: args.boolean("bypassEmptyTsReplacement"),
    };
    const hashOf = knownHashes(request, documents.length);
    let n = 0;
    let collection: Collection | undefined;
    const errors = runBatch(documents.length, args.boolean("ordered", true), (index) => {
      interrupt.step();
      if (!retryable?.hasInserted(statementId(index))) {
        if (!collection) {
          checkCollectionUuid(server.catalog, namespace, args);
          collection = server.catalog.findOrCreate(namespace);
        }
        insertDocument(server, collection, documents[index] as Uint8Array, options, hashOf?.(index));
        retryable?.inserted(statementId(index));
      }
      n++;
    });
    return treeReply({ n, ...(errors.length > 0 && { writeErrors: errors }) });
  },
};

/** The hash of a document by its position, where a router in this process has sent it along: one object for all of them. */
function knownHashes({ hashes }: Request, documents: number): ((index: number) => KnownHash) | undefined {
  if (hashes?.words.length !== 2 * documents) return undefined;
  const { words } = hashes;
  const known: KnownHash = { path: hashes.path, high: 0, low: 0 };
  return (index) => {
    known.low = words[2 * index]!;
    known.high = words[2 * index + 1]!;
    return known;
  };
}
