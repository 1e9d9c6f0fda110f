/**
 * `createIndexes`: on every shard that has a part of the collection, all or none. A unique index must be one that
 * shards can enforce apart (facts-mongos.md §1.5).
 *
 *     reply {raw: {"shardA/host:port": {numIndexesBefore, numIndexesAfter, …, ok: 1}, …}, ok: 1}
 */
import { array, describeDocument, DocumentWriter, string } from "../../bson/index.js";
import type { Reply, Request } from "../../protocol/index.js";
import { collectionNamespace, CommandError, documentsOf, ErrorCode } from "../../protocol/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { Command, RouterContext } from "../context.js";
import { homeOf } from "../context.js";
import { fanOut, rawReply, settle } from "../ddl/fanOut.js";
import { mayBeUnique, readIndex } from "../ddl/indexRules.js";
import { indexesOn, shardsWithParts } from "../ddl/shardCollections.js";
import { checkNotResharding } from "../resharding/guard.js";
import { withCollectionAlone } from "../support/collections.js";
import { checkCollectionUuid } from "../support/collectionUuid.js";
import { afterConfigWrite } from "../support/configWrites.js";
import { withDatabase } from "../support/databases.js";
import { forwardedRequest } from "../support/forward.js";
import { answerUnsharded } from "../support/reading.js";

export const createIndexes: Command = {
  name: "createIndexes",
  run(context, request) {
    const ns = collectionNamespace(request);
    return withCollectionAlone(context, ns, async (collection) => {
      checkNotResharding(context, ns);
      if (collection) return createOnShards(context, request, collection);
      return withDatabase(context, request.db, async () => {
        const reply = await answerUnsharded(context, request, ns);
        return rawReply(
          context,
          homeOf(context, request.db, ns).shard,
          await afterConfigWrite(context, request, reply),
        );
      });
    });
  },
};

async function createOnShards(
  context: RouterContext,
  request: Request,
  collection: ShardedCollection,
): Promise<Reply> {
  checkCollectionUuid(context, request, collection);
  for (const raw of documentsOf(request, "indexes")) checkUnique(raw, collection);
  const shards = shardsWithParts(context, collection);
  const before = new Map<string, ReadonlySet<string>>();
  for (const shard of shards) before.set(shard, await namesOn(context, shard, collection));
  const command = forwardedRequest(request, { collectionUUID: undefined });
  const outcomes = await fanOut(context, shards, () => command);
  return settle(context, outcomes, async (done) => {
    for (const shard of done) {
      const built = [...(await namesOn(context, shard, collection))].filter(
        (name) => !before.get(shard)!.has(name),
      );
      if (built.length > 0) await dropByName(context, shard, collection, built);
    }
  });
}

async function namesOn(
  context: RouterContext,
  shard: string,
  collection: ShardedCollection,
): Promise<ReadonlySet<string>> {
  return new Set((await indexesOn(context, shard, collection)).map(({ name }) => name));
}

async function dropByName(
  context: RouterContext,
  shard: string,
  { db, name }: ShardedCollection,
  names: readonly string[],
): Promise<void> {
  const command = new DocumentWriter().string("dropIndexes", name).field("index", array(names.map(string)));
  await context.shards.must(shard, db, command.finish());
}

function checkUnique(raw: Uint8Array, { key }: ShardedCollection): void {
  const index = readIndex(raw);
  if (!index.unique || mayBeUnique(index.key, key)) return;
  throw new CommandError(
    ErrorCode.CannotCreateIndex,
    `cannot create unique index over ${describeDocument(index.key)} with shard key pattern ${key.text}`,
  );
}
