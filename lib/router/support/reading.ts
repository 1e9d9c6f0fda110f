/**
 * What reading commands share: targeting under the effective collation, and the
 * two ways of answering where nothing is merged.
 */
import type { Reply, Request } from "../../protocol/index.js";
import { collectionNamespace, cursorReply } from "../../protocol/index.js";
import type { ExpressionOptions, Filter } from "../../query/index.js";
import { checkLet, compileFilter } from "../../query/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { RouterContext } from "../context.js";
import { documentField, homeOf } from "../context.js";
import { passThrough } from "../merging/passThrough.js";
import { isPassedOver } from "../merging/shardCursor.js";
import type { Targeting } from "../targeting/target.js";
import { targetFilter } from "../targeting/target.js";
import type { ShardWork } from "../trace.js";
import { traceTargeted, traceUnsharded } from "../trace.js";
import { optionsOn } from "./collations.js";
import { withCollection } from "./collections.js";
import { originOf } from "./cursorOrigin.js";
import { forwardedRequest } from "./forward.js";

/** A sharded read: where it goes, and what the router's own filters, sorts and expressions see. */
export interface ShardedRead {
  readonly collection: ShardedCollection;
  readonly target: Targeting;
  readonly filter: Filter;
  /** With the effective collation: one object, whose sort keys compare across all shards' documents. */
  readonly options: ExpressionOptions;
}

/**
 * Targets a reading command by its filter, under its effective collation.
 * @param filterName the filter's field: `filter` of find, `query` of count and distinct
 * @throws CommandError what a shard says of such a filter, `let` or collation
 */
export function targetRead(
  context: RouterContext,
  request: Request,
  collection: ShardedCollection,
  filterName: string,
): ShardedRead {
  const options = optionsOn(context, request, collection);
  checkLet(options);
  const filter = compileFilter(documentField(request, filterName), options);
  return { collection, target: targetFilter(filter.node, collection), filter, options };
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
  onSeveral: (read: ShardedRead) => Promise<Reply>,
): Promise<Reply> {
  const ns = collectionNamespace(request);
  return withCollection(context, ns, (collection) => {
    if (!collection) return answerUnsharded(context, request, ns);
    const read = targetRead(context, request, collection, filterName);
    if (read.target.shards.length === 1) return answerByOneShard(context, request, collection, read.target);
    return onSeveral(read);
  });
}

/**
 * Sends a command whole to the home of an unsharded collection.
 * @param reads other collections that the shard reads for it; the caller holds their names too
 */
export async function answerUnsharded(
  context: RouterContext,
  request: Request,
  ns: string,
  reads?: ReadonlySet<string>,
): Promise<Reply> {
  const { shard, exists } = homeOf(context, request.db, ns);
  const record = traceUnsharded(request.command, ns, shard, context.environment.now());
  if (!exists) {
    record.targeting = "none";
    record.shards = [];
  }
  const reply = await byOneShard(context, request, ns, shard, record.shards[0], reads);
  context.trace.add(record);
  return reply;
}

/** Sends a command whole to the one shard that it targets; `reads` as for {@link answerUnsharded}. */
export async function answerByOneShard(
  context: RouterContext,
  request: Request,
  collection: ShardedCollection,
  target: Targeting,
  reads?: ReadonlySet<string>,
): Promise<Reply> {
  const record = traceTargeted(request.command, collection, target, context.environment.now());
  const work = { shard: target.shards[0]! };
  record.shards.push(work);
  const reply = await byOneShard(context, request, collection.ns, work.shard, work, reads);
  context.trace.add(record);
  return reply;
}

/** The one shard's reply, or an empty batch where it is gone and the client takes what there is. */
function byOneShard(
  context: RouterContext,
  request: Request,
  ns: string,
  shard: string,
  work: ShardWork | undefined,
  reads: ReadonlySet<string> | undefined,
): Promise<Reply> {
  const origin = reads ? { ...originOf(request), reads } : originOf(request);
  const reply = passThrough(context, shard, forwardedRequest(request), work, origin);
  if (request.command !== "find" || !origin.partial) return reply;
  return reply.catch((error: unknown) => {
    if (!isPassedOver(error)) throw error;
    return cursorReply(ns, 0n, [], "firstBatch", undefined, true);
  });
}
