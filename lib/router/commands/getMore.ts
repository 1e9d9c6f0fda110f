/** `getMore`: the next batch of a cursor that this router gave out. */
import { asBigInt, asString, BsonType, int64 } from "../../bson/index.js";
import type { Request } from "../../protocol/index.js";
import {
  bodyField,
  checkNamespace,
  CommandError,
  cursorReply,
  ErrorCode,
  isOk,
} from "../../protocol/index.js";
import type { Command } from "../context.js";
import { missingField, optionalCount, optionalField, requiredField, wrongType } from "../context.js";
import type { RouterCursor } from "../merging/cursorStore.js";
import { passThroughMore } from "../merging/passThrough.js";
import { isPassedOver } from "../merging/shardCursor.js";
import { withCollections } from "../support/collections.js";
import { checkSameSession } from "../support/cursorOrigin.js";
import { forwardedRequest } from "../support/forward.js";

export const getMore: Command = {
  name: "getMore",
  fields: ["collection", "batchSize"],
  async run(context, request) {
    const id = cursorId(request);
    const ns = `${request.db}.${collectionOf(request)}`;
    // 0 is no measure, here as on a shard.
    const count = optionalCount(request, "batchSize") || Infinity;
    // The namespaces that it reads are held: a migration may be draining it just now.
    return withCollections(context, [ns, ...(context.cursors.readBy(id) ?? [])], async () => {
      const cursor = context.cursors.get(id);
      // What is wrong with the request leaves the cursor as it is.
      checkSameSession(id, cursor.origin, request);
      checkNamespaceOf(cursor, ns);
      checkTime(request);
      cursor.busy = true;
      try {
        const { passThrough } = cursor;
        if (passThrough) {
          const command = forwardedRequest(request, { getMore: int64(passThrough.id) });
          const reply = await passThroughMore(context, id, passThrough, command);
          checkAlive(cursor);
          if (passThrough.ended || !isOk(reply)) await context.cursors.close(cursor);
          return reply;
        }
        const { batch, ended } = await cursor.nextBatch(count);
        checkAlive(cursor);
        if (ended) await context.cursors.close(cursor);
        return cursorReply(ns, ended ? 0n : id, batch, "nextBatch", undefined, cursor.partial);
      } catch (error) {
        await context.cursors.close(cursor);
        if (!cursor.origin.partial || !isPassedOver(error)) throw error;
        return cursorReply(ns, 0n, [], "nextBatch", undefined, true);
      } finally {
        cursor.busy = false;
      }
    });
  },
};

function cursorId(request: Request): bigint {
  const value = requiredField(request, "getMore");
  if (value.type !== BsonType.int64) throw wrongType(request, "getMore", "long");
  return asBigInt(value);
}

function collectionOf(request: Request): string {
  const value = bodyField(request, "collection");
  if (!value) throw missingField(request, "collection");
  if (value.type !== BsonType.string) throw wrongType(request, "collection", "string");
  const collection = asString(value);
  // Cursors of {aggregate: 1} and of listCollections are over no collection.
  if (!collection.startsWith("$cmd.")) checkNamespace(request.db, collection);
  return collection;
}

function checkNamespaceOf(cursor: RouterCursor, ns: string): void {
  if (cursor.ns === ns) return;
  throw new CommandError(
    ErrorCode.Unauthorized,
    `Requested getMore on namespace '${ns}', but cursor belongs to a different namespace ${cursor.ns}`,
  );
}

/** The time that the opening command was given is for its getMores too; only a waiting one has a time of its own. */
function checkTime(request: Request): void {
  if (!optionalField(request, "maxTimeMS")) return;
  throw new CommandError(
    ErrorCode.BadValue,
    "maxTimeMS can only be used with getMore for tailable, awaitData cursors",
  );
}

/** @throws CommandError CursorKilled (237) when a client ended the cursor while its batch was made */
function checkAlive(cursor: RouterCursor): void {
  if (cursor.killed) throw new CommandError(ErrorCode.CursorKilled, `cursor id ${cursor.id} was killed`);
}
