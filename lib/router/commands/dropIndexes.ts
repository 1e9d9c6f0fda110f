/**
 * `dropIndexes`: on every shard that has a part of the collection, all or none. Since 6.0 the last index that
 * supports the shard key stays (facts-mongos.md §1.5); before, it can go, and nothing moves any more until an index
 * on the key is created again. `"*"` keeps `_id_` and every index that supports the key.
 */
import type { RawValue } from "../../bson/index.js";
import {
  array,
  asDocument,
  asString,
  BsonType,
  compareDocuments,
  DocumentWriter,
  elements,
  int32,
  string,
} from "../../bson/index.js";
import type { Reply, Request } from "../../protocol/index.js";
import { collectionNamespace, CommandError, ErrorCode, okReply } from "../../protocol/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { Command, RouterContext } from "../context.js";
import { homeOf, requiredField } from "../context.js";
import type { Outcome } from "../ddl/fanOut.js";
import { fanOut, rawReply, settle } from "../ddl/fanOut.js";
import type { IndexSpec } from "../ddl/indexRules.js";
import { supportingIndexes } from "../ddl/indexRules.js";
import { isLastForKey } from "../ddl/lastKeyIndex.js";
import { createIndexesOn, indexesOn, shardsWithParts } from "../ddl/shardCollections.js";
import { checkNotResharding } from "../resharding/guard.js";
import { withCollectionAlone } from "../support/collections.js";
import { checkCollectionUuid } from "../support/collectionUuid.js";
import { forwardedRequest } from "../support/forward.js";
import { answerUnsharded } from "../support/reading.js";

export const dropIndexes: Command = {
  name: "dropIndexes",
  aliases: ["deleteIndexes"],
  run(context, request) {
    const ns = collectionNamespace(request);
    return withCollectionAlone(context, ns, async (collection) => {
      checkNotResharding(context, ns);
      if (collection) return dropOnShards(context, request, collection);
      return rawReply(
        context,
        homeOf(context, request.db, ns).shard,
        await answerUnsharded(context, request, ns),
      );
    });
  },
};

async function dropOnShards(
  context: RouterContext,
  request: Request,
  collection: ShardedCollection,
): Promise<Reply> {
  checkCollectionUuid(context, request, collection);
  const which = requiredField(request, "index");
  const shards = shardsWithParts(context, collection);
  const before = new Map<string, readonly IndexSpec[]>();
  for (const shard of shards) before.set(shard, await indexesOn(context, shard, collection));
  const outcomes = asksForAll(which)
    ? await dropAll(context, request, collection, before)
    : await dropSome(context, request, collection, before, which);
  return settle(context, outcomes, async (done) => {
    for (const shard of done) await createIndexesOn(context, shard, collection, before.get(shard)!);
  });
}

async function dropSome(
  context: RouterContext,
  request: Request,
  collection: ShardedCollection,
  before: ReadonlyMap<string, readonly IndexSpec[]>,
  which: RawValue,
): Promise<Outcome[]> {
  for (const [shard, indexes] of before) {
    const gone = indexes.filter((index) => names(which, index));
    if (!(await isLastForKey(context, shard, collection, indexes, gone))) continue;
    throw new CommandError(
      ErrorCode.CannotDropShardKeyIndex,
      "Cannot drop the only compatible index for this collection's shard key",
    );
  }
  const command = forwardedRequest(request, { collectionUUID: undefined });
  return fanOut(context, [...before.keys()], () => command);
}

/** `"*"`: a shard would drop the key's index too, so it gets the names of those that may go. */
async function dropAll(
  context: RouterContext,
  request: Request,
  collection: ShardedCollection,
  before: ReadonlyMap<string, readonly IndexSpec[]>,
): Promise<Outcome[]> {
  const outcomes = await fanOut(context, [...before.keys()], (shard) => {
    const indexes = before.get(shard)!;
    const kept = new Set(["_id_", ...supportingIndexes(indexes, collection.key).map(({ name }) => name)]);
    const gone = indexes.filter(({ name }) => !kept.has(name)).map(({ name }) => string(name));
    return forwardedRequest(request, { index: array(gone), collectionUUID: undefined });
  });
  return outcomes.map((outcome) =>
    outcome.error ? outcome : { ...outcome, body: allDropped(before, outcome) },
  );
}

function allDropped(before: ReadonlyMap<string, readonly IndexSpec[]>, { shard }: Outcome): Uint8Array {
  return okReply(
    new DocumentWriter()
      .field("nIndexesWas", int32(before.get(shard)!.length))
      .string("msg", "non-_id indexes and non-shard key indexes dropped for collection")
      .finish(),
  ).body;
}

function asksForAll(which: RawValue): boolean {
  const first = which.type === BsonType.array ? elements(asDocument(which))[0] : which;
  return first?.type === BsonType.string && asString(first) === "*";
}

/** Whether the argument (a name, a key, or a list of names) names this index. */
function names(argument: RawValue, index: IndexSpec): boolean {
  if (argument.type === BsonType.string) return asString(argument) === index.name;
  if (argument.type === BsonType.object) return compareDocuments(asDocument(argument), index.key) === 0;
  if (argument.type === BsonType.array)
    return elements(asDocument(argument)).some((one) => names(one, index));
  return false;
}
