/**
 * `createIndexes`: on every shard that has a part of the collection. A unique
 * index must be one that shards can enforce apart (facts-mongos.md §1.5).
 */
import { describeDocument, DocumentWriter, getField } from "../../bson/index.js";
import { collectionNamespace, CommandError, documentsOf, ErrorCode, okReply } from "../../protocol/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { Command, RouterContext } from "../context.js";
import { mayBeUnique, readIndex } from "../ddl/indexRules.js";
import { askShards } from "../merging/scatter.js";
import { withCollectionAlone } from "../support/collections.js";
import { afterConfigWrite } from "../support/configWrites.js";
import { withDatabase } from "../support/databases.js";
import { forwardedRequest } from "../support/forward.js";
import { answerUnsharded } from "../support/reading.js";

export const createIndexes: Command = {
  name: "createIndexes",
  run(context, request) {
    const ns = collectionNamespace(request);
    return withCollectionAlone(context, ns, async (collection) => {
      if (!collection) {
        return withDatabase(context, request.db, async () =>
          afterConfigWrite(context, request, await answerUnsharded(context, request, ns)),
        );
      }
      for (const raw of documentsOf(request, "indexes")) checkUnique(raw, collection);
      const command = forwardedRequest(request);
      const replies = await askShards(context, shardsWithParts(context, collection), () => command);
      const raw = new DocumentWriter();
      for (const { shard, reply } of replies) raw.document(context.shards.get(shard).host, reply.body);
      const first = replies[0]!.reply.body;
      const answer = new DocumentWriter().document("raw", raw.finish());
      for (const name of ["numIndexesBefore", "numIndexesAfter", "createdCollectionAutomatically", "note"]) {
        const value = getField(first, name);
        if (value) answer.field(name, value);
      }
      return okReply(answer.finish());
    });
  },
};

/** Shards that have the collection: its owners, and the primary, which has its definition. */
export function shardsWithParts(context: RouterContext, collection: ShardedCollection): string[] {
  const primary = context.catalog.database(collection.db)?.primary;
  return [...new Set([...collection.chunks.owningShards(), ...(primary ? [primary] : [])])].sort();
}

function checkUnique(raw: Uint8Array, { key }: ShardedCollection): void {
  const index = readIndex(raw);
  if (!index.unique || mayBeUnique(index.key, key)) return;
  throw new CommandError(
    ErrorCode.CannotCreateIndex,
    `cannot create unique index over ${describeDocument(index.key)} with shard key pattern ${key.text}`,
  );
}
