/**
 * `collMod`: changes a collection's options, an index or a view; on every shard that has a part, all or none.
 *
 * Hiding the last index that supports the shard key is refused like dropping it (since 6.0; facts-mongos.md §1.5):
 * chunks could not be read in order any more. Making an index unique can fail on one shard and not on another, so
 * every shard is asked to try first (`dryRun`).
 */
import type { RawValue } from "../../bson/index.js";
import {
  asDocument,
  asString,
  bool,
  BsonType,
  compareDocuments,
  document,
  DocumentWriter,
  EMPTY_DOCUMENT,
  getField,
  isTruthy,
  string,
} from "../../bson/index.js";
import type { Reply, Request } from "../../protocol/index.js";
import { bodyField, collectionNamespace, CommandError, ErrorCode } from "../../protocol/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { Command, RouterContext } from "../context.js";
import { homeOf } from "../context.js";
import { fanOut, rawReply, settle } from "../ddl/fanOut.js";
import type { IndexSpec } from "../ddl/indexRules.js";
import { mayBeUnique } from "../ddl/indexRules.js";
import { isLastForKey } from "../ddl/lastKeyIndex.js";
import { describeOn, indexesOn, shardsWithParts } from "../ddl/shardCollections.js";
import { checkNotResharding } from "../resharding/guard.js";
import { withCollectionAlone } from "../support/collections.js";
import { checkCollectionUuid } from "../support/collectionUuid.js";
import { afterConfigWrite } from "../support/configWrites.js";
import { forwardedRequest } from "../support/forward.js";
import { answerUnsharded } from "../support/reading.js";

export const collMod: Command = {
  name: "collMod",
  run(context, request) {
    const ns = collectionNamespace(request);
    return withCollectionAlone(context, ns, async (collection) => {
      checkNotResharding(context, ns);
      if (collection) return modifyOnShards(context, request, collection);
      const reply = await answerUnsharded(context, request, ns);
      context.views.forget(request.db);
      return rawReply(
        context,
        homeOf(context, request.db, ns).shard,
        await afterConfigWrite(context, request, reply),
      );
    });
  },
};

async function modifyOnShards(
  context: RouterContext,
  request: Request,
  collection: ShardedCollection,
): Promise<Reply> {
  checkCollectionUuid(context, request, collection);
  const shards = shardsWithParts(context, collection);
  const change = bodyField(request, "index");
  const before = new Map<string, Before>();
  for (const shard of shards) before.set(shard, await stateOn(context, shard, collection, change));
  for (const [shard, { index, indexes }] of before) {
    if (index) await checkIndexChange(context, shard, collection, asDocument(change!), index, indexes);
  }
  if (change?.type === BsonType.object && isTruthy(getField(asDocument(change), "unique"))) {
    const attempt = forwardedRequest(request, { dryRun: bool(true), collectionUUID: undefined });
    await settle(context, await fanOut(context, shards, () => attempt), async () => undefined);
  }
  const command = forwardedRequest(request, { collectionUUID: undefined });
  const outcomes = await fanOut(context, shards, () => command);
  return settle(context, outcomes, async (done) => {
    for (const shard of done)
      await context.shards.must(shard, collection.db, inverse(request, before.get(shard)!));
  });
}

/** A shard's part before the change. */
interface Before {
  readonly options: Uint8Array;
  readonly indexes: readonly IndexSpec[];
  /** The index that is to change. */
  readonly index: IndexSpec | undefined;
}

async function stateOn(
  context: RouterContext,
  shard: string,
  collection: ShardedCollection,
  change: RawValue | undefined,
): Promise<Before> {
  const options = (await describeOn(context, shard, collection))?.options ?? EMPTY_DOCUMENT;
  const indexes = await indexesOn(context, shard, collection);
  const wanted = change?.type === BsonType.object ? asDocument(change) : undefined;
  const name = wanted && getField(wanted, "name");
  const key = wanted && getField(wanted, "keyPattern");
  const index = indexes.find((one) =>
    name?.type === BsonType.string
      ? one.name === asString(name)
      : key?.type === BsonType.object && compareDocuments(one.key, asDocument(key)) === 0,
  );
  return { options, indexes, index };
}

/**
 * @throws CommandError InvalidOptions (72) for hiding the last index of the key, CannotCreateIndex (67) for a unique
 * index that shards can't enforce apart
 */
async function checkIndexChange(
  context: RouterContext,
  shard: string,
  collection: ShardedCollection,
  change: Uint8Array,
  index: IndexSpec,
  indexes: readonly IndexSpec[],
): Promise<void> {
  const { key } = collection;
  const hides = isTruthy(getField(change, "hidden"));
  if (hides && (await isLastForKey(context, shard, collection, indexes, [index]))) {
    throw new CommandError(
      ErrorCode.InvalidOptions,
      "Cannot hide the only compatible index for this collection's shard key",
    );
  }
  const unique = isTruthy(getField(change, "unique")) || isTruthy(getField(change, "prepareUnique"));
  if (unique && !mayBeUnique(index.key, key)) {
    throw new CommandError(
      ErrorCode.CannotCreateIndex,
      `cannot create unique index over ${index.name} with shard key pattern ${key.text}`,
    );
  }
}

/** The collMod that puts back what this one changed; an index that got its first TTL keeps it. */
function inverse(request: Request, { options, index }: Before): Uint8Array {
  const command = new DocumentWriter().field("collMod", bodyField(request, "collMod")!);
  const defaults: readonly [string, RawValue][] = [
    ["validator", document(EMPTY_DOCUMENT)],
    ["validationLevel", string("strict")],
    ["validationAction", string("error")],
  ];
  for (const [name, value] of defaults) {
    if (bodyField(request, name)) command.field(name, getField(options, name) ?? value);
  }
  const change = bodyField(request, "index");
  if (!index || change?.type !== BsonType.object) return command.finish();
  const back = new DocumentWriter().string("name", index.name);
  if (getField(asDocument(change), "hidden")) back.bool("hidden", isTruthy(getField(index.raw, "hidden")));
  const ttl = getField(index.raw, "expireAfterSeconds");
  if (ttl && getField(asDocument(change), "expireAfterSeconds")) back.field("expireAfterSeconds", ttl);
  return command.document("index", back.finish()).finish();
}
