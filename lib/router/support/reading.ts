/**
 * What reading commands share: refusing what would change the answer, and the
 * two ways of answering where nothing is merged.
 */
import { asDocument, asString, BsonType, getField } from "../../bson/index.js";
import type { Reply, Request } from "../../protocol/index.js";
import { bodyField, notSimulated } from "../../protocol/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { RouterContext } from "../context.js";
import { homeOf } from "../context.js";
import { passThrough } from "../merging/passThrough.js";
import type { Targeting } from "../targeting/target.js";
import { traceTargeted, traceUnsharded } from "../trace.js";
import { forwardedRequest } from "./forward.js";

/**
 * Routing compares under the simple collation (§4.1). Under another one equal
 * strings may lie in different chunks; that is not simulated.
 * @throws CommandError NotImplemented (238)
 */
export function refuseCollation(collation: Uint8Array | undefined, what: string): void {
  const locale = collation && getField(collation, "locale");
  if (!collation || !locale) return;
  if (locale.type === BsonType.string && asString(locale) === "simple") return;
  throw notSimulated(`collation of a ${what} on a sharded collection`);
}

/** The same for a command with a top-level `collation`. */
export function refuseCommandCollation(request: Request): void {
  const collation = bodyField(request, "collation");
  if (collation?.type === BsonType.object) refuseCollation(asDocument(collation), request.command);
}

/** Sends a command whole to the home of an unsharded collection. */
export async function answerUnsharded(
  context: RouterContext,
  request: Request,
  ns: string,
  op = request.command,
): Promise<Reply> {
  const { shard, exists } = homeOf(context, request.db);
  const record = traceUnsharded(op, ns, shard, context.environment.now());
  if (!exists) {
    record.targeting = "none";
    record.shards = [];
  }
  const reply = await passThrough(context, shard, forwardedRequest(request), record.shards[0]);
  context.trace.add(record);
  return reply;
}

/** Sends a command whole to the one shard that it targets. */
export async function answerByOneShard(
  context: RouterContext,
  request: Request,
  collection: ShardedCollection,
  target: Targeting,
): Promise<Reply> {
  const record = traceTargeted(request.command, collection, target, context.environment.now());
  const work = { shard: target.shards[0]! };
  record.shards.push(work);
  const reply = await passThrough(context, work.shard, forwardedRequest(request), work);
  context.trace.add(record);
  return reply;
}
