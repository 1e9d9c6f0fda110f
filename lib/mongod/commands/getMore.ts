/** getMore: the next batch of an open cursor. */
import { checkNamespace, cursorReply } from "../../protocol/index.js";
import type { Command } from "../command.js";
import { isNumeric, asBigInt } from "../../bson/index.js";

export const getMore: Command = {
  name: "getMore",
  fields: ["collection", "batchSize"],
  refused: { term: "replication commands", lastKnownCommittedOpTime: "replication commands" },
  run({ server, request, arguments: args, interrupt }) {
    const id = args.main;
    if (!isNumeric(id)) throw args.wrongType("getMore", id, "long");
    const collection = args.string("collection") ?? args.missing("collection");
    checkNamespace(request.db, collection);
    const namespace = `${request.db}.${collection}`;
    const cursor = server.cursors.get(asBigInt(id), namespace);
    const { stream } = cursor;
    const batchSize = args.count("batchSize");
    try {
      stream.source.resume(interrupt);
      const batch = stream.take(batchSize === undefined || batchSize === 0 ? Infinity : batchSize);
      if (!batch.exhausted) {
        stream.source.rest();
        return cursorReply(namespace, cursor.id, batch.documents, "nextBatch");
      }
      server.cursors.close(cursor.id);
      return cursorReply(namespace, 0n, batch.documents, "nextBatch");
    } catch (error) {
      server.cursors.close(cursor.id);
      throw error;
    }
  },
};
