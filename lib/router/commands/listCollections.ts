/**
 * `listCollections`: the primary shard's list. It holds every collection of its database: the unsharded ones live there,
 * and the sharded ones began there. Those that were moved away are added from their shards.
 */
import { asNumber, asString, BsonType, getField, isNumeric } from "../../bson/index.js";
import type { Reply, Request } from "../../protocol/index.js";
import { isOk, readCursorReply } from "../../protocol/index.js";
import type { Command, RouterContext } from "../context.js";
import { homeOf, optionalDocument } from "../context.js";
import { ShardCursor } from "../merging/shardCursor.js";
import { BufferStream } from "../merging/streams.js";
import { originOf } from "../support/cursorOrigin.js";
import { forwardedRequest } from "../support/forward.js";
import { answerUnsharded } from "../support/reading.js";

export const listCollections: Command = {
  name: "listCollections",
  run(context, request) {
    const ns = `${request.db}.$cmd.listCollections`;
    const { shard } = homeOf(context, request.db);
    const elsewhere = context.catalog.trackedIn(request.db).filter((each) => each.shard !== shard);
    if (elsewhere.length === 0) return answerUnsharded(context, request, ns);
    const names = new Map(elsewhere.map((each) => [each.name, each.shard]));
    return listAll(context, request, ns, shard, names);
  },
};

/** @param elsewhere names of collections that are on other shards, with these */
async function listAll(
  context: RouterContext,
  request: Request,
  ns: string,
  primary: string,
  elsewhere: ReadonlyMap<string, string>,
): Promise<Reply> {
  const entries: { name: string; entry: Uint8Array }[] = [];
  for (const shard of [primary, ...new Set(elsewhere.values())]) {
    const reply = await context.shards.run(shard, forwardedRequest(request));
    if (!isOk(reply)) return reply;
    const cursor = new ShardCursor(context.shards, shard, readCursorReply(reply));
    await cursor.drain();
    for (let entry = cursor.take(); entry; entry = cursor.take()) {
      const field = getField(entry, "name");
      const name = field?.type === BsonType.string ? asString(field) : "";
      // Another shard may also have parts of sharded collections: the primary has told of those.
      if ((elsewhere.get(name) ?? primary) === shard) entries.push({ name, entry });
    }
  }
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  const cursor = optionalDocument(request, "cursor");
  const size = cursor && getField(cursor, "batchSize");
  const stream = new BufferStream(entries.map(({ entry }) => entry));
  const batchSize = size && isNumeric(size) ? asNumber(size) : undefined;
  return context.cursors.firstReply(ns, stream, [], batchSize, false, originOf(request));
}
