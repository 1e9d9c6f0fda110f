/**
 * One shard answers everything: nothing to merge.
 *
 * The shard's reply goes to the client as it is. Only the cursor's number is
 * exchanged, eight bytes in place, for a number that is valid on this router.
 */
import { asBigInt, asDocument, asString, BsonType, getField } from "../../bson/index.js";
import type { Reply, Request } from "../../protocol/index.js";
import type { RouterContext } from "../context.js";
import type { ShardWork } from "../trace.js";
import type { CursorOrigin } from "./cursorStore.js";
import { ShardCursor } from "./shardCursor.js";
import { RoundRobinStream } from "./streams.js";

/**
 * Sends a whole command to one shard and keeps its cursor, if it opened one.
 * @param command as the shard should get it
 * @param work receives how many documents came back
 * @param origin what the client's command says about the cursor
 */
export async function passThrough(
  context: RouterContext,
  shard: string,
  command: Request,
  work?: ShardWork,
  origin: CursorOrigin = {},
): Promise<Reply> {
  const reply = await context.shards.run(shard, command);
  const field = getField(reply.body, "cursor");
  if (field?.type !== BsonType.object) return reply;
  const cursor = asDocument(field);
  const id = getField(cursor, "id");
  const ns = getField(cursor, "ns");
  if (work) work.returned = countDocuments(cursor, "firstBatch");
  if (!id || !ns || asBigInt(id) === 0n) return reply;
  const shardCursor = new ShardCursor(context.shards, shard, {
    id: asBigInt(id),
    ns: asString(ns),
    batch: [],
  });
  const stream = new RoundRobinStream([shardCursor]);
  writeId(id.bytes, id.start, context.cursors.keepPassThrough(asString(ns), shardCursor, stream, origin));
  return reply;
}

/**
 * Answers a getMore by the one shard that has the cursor.
 * @param id the cursor's number on this router
 * @param command the client's getMore with the shard's number in it
 */
export async function passThroughMore(
  context: RouterContext,
  id: bigint,
  shardCursor: ShardCursor,
  command: Request,
): Promise<Reply> {
  const reply = await context.shards.run(shardCursor.shard, command);
  const field = getField(reply.body, "cursor");
  if (field?.type !== BsonType.object) return reply;
  const left = getField(asDocument(field), "id");
  if (!left) return reply;
  shardCursor.advanceTo(asBigInt(left));
  if (shardCursor.id !== 0n) writeId(left.bytes, left.start, id);
  return reply;
}

/** How many documents a batch in a raw cursor document holds. */
export function countDocuments(cursor: Uint8Array, batchName: string): number {
  const batch = getField(cursor, batchName);
  if (!batch) return 0;
  const { bytes } = batch;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let count = 0;
  // An array of documents: type byte, decimal index, NUL, document with its length.
  for (let at = batch.start + 4; at < batch.end - 1; count++) {
    at += 1;
    while (bytes[at] !== 0) at += 1;
    at += 1 + view.getInt32(at + 1, true);
  }
  return count;
}

function writeId(bytes: Uint8Array, at: number, id: bigint): void {
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).setBigInt64(at, id, true);
}
