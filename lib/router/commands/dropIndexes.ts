/**
 * `dropIndexes`: on every shard that has a part of the collection. Since 6.0 the
 * last index that supports a ranged shard key stays (facts-mongos.md §1.5).
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
  getField,
  string,
} from "../../bson/index.js";
import type { Request } from "../../protocol/index.js";
import { collectionNamespace, CommandError, ErrorCode, okReply } from "../../protocol/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { Command, RouterContext } from "../context.js";
import { requiredField } from "../context.js";
import type { IndexSpec } from "../ddl/indexRules.js";
import { supportingIndexes } from "../ddl/indexRules.js";
import { indexesOn } from "../ddl/shardCollections.js";
import { askShards } from "../merging/scatter.js";
import { withCollectionAlone } from "../support/collections.js";
import { forwardedRequest } from "../support/forward.js";
import { answerUnsharded } from "../support/reading.js";
import { shardsWithParts } from "./createIndexes.js";

export const dropIndexes: Command = {
  name: "dropIndexes",
  aliases: ["deleteIndexes"],
  run(context, request) {
    const ns = collectionNamespace(request);
    return withCollectionAlone(context, ns, async (collection) => {
      if (!collection) return answerUnsharded(context, request, ns);
      const indexes = await indexesOn(context, collection.chunks.ownerOf(0), collection);
      const which = chosen(context, request, collection, indexes);
      const command = forwardedRequest(request, { index: which });
      const replies = await askShards(context, shardsWithParts(context, collection), () => command);
      const before = getField(replies[0]!.reply.body, "nIndexesWas");
      const answer = new DocumentWriter();
      if (before) answer.field("nIndexesWas", before);
      return okReply(answer.finish());
    });
  },
};

/** The `index` argument for the shards: the client's, or for `"*"` all that may go. */
function chosen(
  context: RouterContext,
  request: Request,
  collection: ShardedCollection,
  indexes: readonly IndexSpec[],
): RawValue {
  const argument = requiredField(request, "index");
  const supporting = new Set(supportingIndexes(indexes, collection.key).map(({ name }) => name));
  const isKept = ({ name }: IndexSpec): boolean => name === "_id_" || supporting.has(name);
  if (argument.type === BsonType.string && asString(argument) === "*") {
    return array(indexes.filter((index) => !isKept(index)).map(({ name }) => string(name)));
  }
  const gone = indexes.filter((index) => names(argument, index));
  const left = [...supporting].filter((name) => !gone.some((index) => index.name === name));
  const isProtected = context.rules.lastKeyIndexProtected && !collection.key.isHashed;
  if (isProtected && supporting.size > 0 && left.length === 0) {
    throw new CommandError(
      ErrorCode.CannotDropShardKeyIndex,
      "Cannot drop the only compatible index for this collection's shard key",
    );
  }
  return argument;
}

/** Whether the argument (a name, a key, or a list of names) names this index. */
function names(argument: RawValue, index: IndexSpec): boolean {
  if (argument.type === BsonType.string) return asString(argument) === index.name;
  if (argument.type === BsonType.object) return compareDocuments(asDocument(argument), index.key) === 0;
  if (argument.type === BsonType.array)
    return elements(asDocument(argument)).some((one) => names(one, index));
  return false;
}
