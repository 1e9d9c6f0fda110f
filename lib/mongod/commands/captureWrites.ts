/**
 * _shardlabCaptureWrites: which documents of a collection have changed while somebody copies it. Internal, of this
 * simulator: a router uses it to reshard a collection while clients write to it; a real server's oplog says the same.
 *
 *     {_shardlabCaptureWrites: "loans", owner: UUID, action: "start"}               → {ok: 1}
 *     {…, action: "fetch", after: 0}     → {ids: [7, 4], last: 12, more: false, ok: 1}
 *     {…, action: "fetch", after: 12}    → what came after these; they are forgotten
 *     {…, action: "stop"}                → {ok: 1}, also when there is nothing to stop
 *
 * A collection has one capture at most. It ends with the server, or when the collection is dropped; fetching fails then.
 */
import { array, BsonType, int64 } from "../../bson/index.js";
import { collectionNamespace, CommandError, ErrorCode, okReply } from "../../protocol/index.js";
import type { Arguments, Command } from "../command.js";
import { WriteCapture } from "../storage/writeCapture.js";
import { treeReply } from "../tree.js";

/** Changes in one reply at most. */
const BATCH = 10_000;

export const captureWrites: Command = {
  name: "_shardlabCaptureWrites",
  fields: ["owner", "action", "after"],
  help: "INTERNAL ONLY: remember which documents of a collection change",
  run({ server, request, arguments: args }) {
    const namespace = collectionNamespace(request);
    const owner = ownerOf(args);
    const collection = server.catalog.findCollection(namespace);
    switch (args.string("action")) {
      case "start":
        if (!collection)
          throw new CommandError(ErrorCode.NamespaceNotFound, `ns does not exist: ${namespace}`);
        collection.capture = new WriteCapture(owner);
        return okReply();
      case "stop":
        if (collection?.capture?.owner === owner) collection.capture = undefined;
        return okReply();
      case "fetch": {
        const capture = collection?.capture;
        if (capture?.owner !== owner) {
          throw new CommandError(ErrorCode.NamespaceNotFound, `the writes to ${namespace} are not captured`);
        }
        const { ids, last, more } = capture.fetch(args.count("after") ?? 0, BATCH);
        return treeReply({ ids: array(ids), last: int64(last), more });
      }
      default:
        throw new CommandError(ErrorCode.BadValue, "action must be start, fetch or stop");
    }
  },
};

function ownerOf(args: Arguments): string {
  const owner = args.get("owner") ?? args.missing("owner");
  if (owner.type !== BsonType.binary) throw args.wrongType("owner", owner, "binData");
  return Array.from(owner.bytes.subarray(owner.start, owner.end), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}
