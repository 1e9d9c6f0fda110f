/** create: makes a collection before its first document. */
import {
  asDocument,
  BsonType,
  compareDocuments,
  EMPTY_DOCUMENT,
  getField,
  toDocument,
} from "../../bson/index.js";
import { collectionNamespace, CommandError, ErrorCode, okReply } from "../../protocol/index.js";
import type { Command } from "../command.js";
import { refuseCollation } from "../command.js";

export const create: Command = {
  name: "create",
  fields: ["idIndex", "autoIndexId", "storageEngine", "collation", "indexOptionDefaults"],
  refused: {
    capped: "capped collections",
    size: "capped collections",
    max: "capped collections",
    validator: "document validation (validator)",
    validationLevel: "document validation (validator)",
    validationAction: "document validation (validator)",
    viewOn: "views",
    pipeline: "views",
    timeseries: "time series collections",
    expireAfterSeconds: "time series collections",
    clusteredIndex: "clustered collections",
    changeStreamPreAndPostImages: "change streams",
    encryptedFields: "queryable encryption",
    temp: "temporary collections",
  },
  writes: true,
  run({ server, request, arguments: args }) {
    const namespace = collectionNamespace(request);
    refuseCollation(args.document("collation"));
    const idIndex = args.document("idIndex");
    if (idIndex && !isPlainIdIndex(idIndex)) {
      throw new CommandError(ErrorCode.BadValue, "The field 'key' for an _id index must be {_id: 1}");
    }
    const existing = server.catalog.find(namespace);
    if (existing) {
      // Asking again for the same collection is no error.
      if (compareDocuments(existing.options, EMPTY_DOCUMENT) === 0) return okReply();
      throw new CommandError(
        ErrorCode.NamespaceExists,
        `namespace ${namespace} already exists, but with different options`,
      );
    }
    server.catalog.create(namespace);
    return okReply();
  },
};

function isPlainIdIndex(idIndex: Uint8Array): boolean {
  const key = getField(idIndex, "key");
  return key?.type === BsonType.object && compareDocuments(asDocument(key), toDocument({ _id: 1 })) === 0;
}
