import type { Reply } from "../protocol/index.js";
import { cursorReply } from "../protocol/index.js";
import type { Server } from "./command.js";
import { Arguments } from "./command.js";
import { BatchStream } from "./cursors.js";
import { ListSource } from "./planner/planSource.js";

/**
 * Answers a list of documents as a cursor, as `listIndexes` and `listCollections` do.
 * @param args the command's arguments, with an optional `cursor: {batchSize}`
 */
export function listReply(
  server: Server,
  args: Arguments,
  namespace: string,
  documents: readonly Uint8Array[],
): Reply {
  const cursorSpec = args.document("cursor");
  const batchSize =
    cursorSpec &&
    new Arguments(`${args.command}.cursor`, cursorSpec, { fields: ["batchSize"] }, false).count("batchSize");
  const stream = new BatchStream(new ListSource(documents));
  const batch = stream.take(batchSize ?? Infinity);
  if (batch.exhausted) return cursorReply(namespace, 0n, batch.documents, "firstBatch");
  const cursor = server.cursors.open(namespace, stream, {
    command: args.body,
    documents: batch.documents.length,
  });
  return cursorReply(namespace, cursor.id, batch.documents, "firstBatch");
}
