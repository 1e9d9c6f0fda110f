/**
 * What reading commands share: refusing what would change the answer, targeting,
 * and the two ways of answering where nothing is merged.
 */
import { asDocument, asString, BsonType, getField } from "../../bson/index.js";
import type { Reply, Request } from "../../protocol/index.js";
import { bodyField, collectionNamespace, notSimulated } from "../../protocol/index.js";
import { compileFilter } from "../../query/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { RouterContext } from "../context.js";
import { documentField, expressionOptions, homeOf } from "../context.js";
import { passThrough } from "../merging/passThrough.js";
import type { Targeting } from "../targeting/target.js";
import { targetFilter } from "../targeting/target.js";
import { traceTargeted, traceUnsharded } from "../trace.js";
import { withCollection } from "./collections.js";
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

/**
 * Answers a reading command with a filter: whole by the one shard that has the
 * collection or that the filter targets, else by `onSeveral`.
 * @param filterName the filter's field: `filter` of find, `query` of count and distinct
 */
export function answerTargeted(
  context: RouterContext,
  request: Request,
  filterName: string,
  onSeveral: (collection: ShardedCollection, target: Targeting) => Promise<Reply>,
): Promise<Reply> {
  const ns = collectionNamespace(request);
  return withCollection(context, ns, (collection) => {
    if (!collection) return answerUnsharded(context, request, ns);
    refuseCommandCollation(request);
    const filter = compileFilter(documentField(request, filterName), expressionOptions(context, request));
    const target = targetFilter(filter.node, collection);
    if (target.shards.length === 1) return answerByOneShard(context, request, collection, target);
    return onSeveral(collection, target);
  });
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
