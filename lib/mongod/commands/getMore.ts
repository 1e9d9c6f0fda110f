/** getMore: the next batch of an open cursor. */
import { asBigInt, BsonType } from "../../bson/index.js";
import { checkNamespace, CommandError, cursorReply, ErrorCode } from "../../protocol/index.js";
import type { Command } from "../command.js";
import { executing } from "../cursors.js";
import { Interrupt } from "../planner/interrupt.js";

export const getMore: Command = {
  name: "getMore",
  fields: ["collection", "batchSize"],
  refused: { term: "replication commands", lastKnownCommittedOpTime: "replication commands" },
  help: "retrieve more results from an existing cursor",

  run({ server, request, arguments: args }) {
    const id = args.main;
    if (id.type !== BsonType.int64) throw args.wrongType("getMore", id, "long");
    const collection = args.string("collection") ?? args.missing("collection");
    // Cursors of {aggregate: 1} and of listCollections are over no collection.
    if (!collection.startsWith("$cmd.")) checkNamespace(request.db, collection);
    const namespace = `${request.db}.${collection}`;
    const batchSize = args.count("batchSize");
    const cursor = server.cursors.get(asBigInt(id), namespace, request.body);
    if (args.get("maxTimeMS")) {
      throw new CommandError(
        ErrorCode.BadValue,
        "cannot set maxTimeMS on getMore command for a non-awaitData cursor",
      );
    }
    const { stream } = cursor;
    // The time that the opening command was given is for its getMores too.
    const interrupt = new Interrupt(server.environment.now, finite(cursor.timeLeft));
    try {
      stream.source.resume(interrupt);
      const batch = executing("Executor error during getMore", () =>
        stream.take(batchSize === undefined || batchSize === 0 ? Infinity : batchSize),
      );
      cursor.batches++;
      cursor.timeLeft = interrupt.timeLeft;
      cursor.documents += batch.documents.length;
      if (!batch.exhausted || cursor.tailable) {
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

/** A limit for an {@link Interrupt}: 0 is none, and what is used up ends at the first look. */
function finite(timeLeft: number): number {
  return timeLeft === Infinity ? 0 : Math.max(timeLeft, Number.MIN_VALUE);
}
