/** `getMore`: the next batch of a cursor that this router gave out. */
import { asBigInt, asString, BsonType, int64, isNumeric } from "../../bson/index.js";
import type { Request } from "../../protocol/index.js";
import { bodyField, CommandError, cursorReply, ErrorCode } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { missingField, optionalCount, requiredField, wrongType } from "../context.js";
import type { RouterCursor } from "../merging/cursorStore.js";
import { passThroughMore } from "../merging/passThrough.js";
import { withCollection } from "../support/collections.js";
import { forwardedRequest } from "../support/forward.js";

export const getMore: Command = {
  name: "getMore",
  fields: ["collection", "batchSize"],
  async run(context, request) {
    const id = cursorId(request);
    const ns = `${request.db}.${collectionOf(request)}`;
    // The cursor's own namespace is held: a migration may be draining it just now.
    return withCollection(context, ns, async () => {
      const cursor = context.cursors.get(id);
      checkOwner(cursor, ns);
      cursor.busy = true;
      try {
        const { passThrough } = cursor;
        if (passThrough) {
          const command = forwardedRequest(request, { getMore: int64(passThrough.id) });
          const reply = await passThroughMore(context, id, passThrough, command);
          checkAlive(cursor);
          if (passThrough.ended) await context.cursors.close(cursor);
          return reply;
        }
        const count = optionalCount(request, "batchSize") || Infinity;
        const { batch, ended } = await cursor.nextBatch(count);
        checkAlive(cursor);
        if (ended) await context.cursors.close(cursor);
        return cursorReply(ns, ended ? 0n : id, batch, "nextBatch");
      } catch (error) {
        await context.cursors.close(cursor);
        throw error;
      } finally {
        cursor.busy = false;
      }
    });
  },
};

function cursorId(request: Request): bigint {
  const value = requiredField(request, "getMore");
  if (!isNumeric(value)) throw wrongType(request, "getMore", "long");
  return asBigInt(value);
}

function collectionOf(request: Request): string {
  const value = bodyField(request, "collection");
  if (!value) throw missingField(request, "collection");
  if (value.type !== BsonType.string) throw wrongType(request, "collection", "string");
  return asString(value);
}

function checkOwner(cursor: RouterCursor, ns: string): void {
  if (cursor.ns === ns) return;
  throw new CommandError(
    ErrorCode.Unauthorized,
    `Requested getMore on namespace '${ns}', but cursor belongs to a different namespace ${cursor.ns}`,
  );
}

/** @throws CommandError CursorKilled (237) when a client ended the cursor while its batch was made */
function checkAlive(cursor: RouterCursor): void {
  if (cursor.killed) throw new CommandError(ErrorCode.CursorKilled, `cursor id ${cursor.id} was killed`);
}
