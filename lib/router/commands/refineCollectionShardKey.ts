/**
 * `refineCollectionShardKey`: makes a shard key longer, without moving a document (facts-mongos.md §8.1).
 *
 *     {refineCollectionShardKey: "library.loans", key: {memberId: 1, dueAt: 1}}
 *
 * What is gained are chunks that can be cut further: documents with one `memberId` need not stay together any more.
 */
import { BsonType, DocumentWriter } from "../../bson/index.js";
import type { Request } from "../../protocol/index.js";
import { bodyField, CommandError, ErrorCode, okReply } from "../../protocol/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import { extendsKey, writeRefine } from "../catalog/refineWrites.js";
import type { Command, RouterContext } from "../context.js";
import { flag, missingField, optionalDocument, wrongType } from "../context.js";
import { checkRefinedIndexes, existsUnsharded } from "../ddl/refine.js";
import { ShardKeyPattern } from "../keys/shardKeyPattern.js";
import { checkNotResharding } from "../resharding/guard.js";
import { namespaceArgument } from "../support/arguments.js";
import { checkCollectionUuid } from "../support/collectionUuid.js";
import { withCollectionAlone } from "../support/collections.js";

/** @since MongoDB 4.4 */
export const refineCollectionShardKey: Command = {
  name: "refineCollectionShardKey",
  adminOnly: true,
  fields: ["key", "enforceUniquenessCheck", "collectionUUID"],
  help: "Adds a suffix to the shard key of an existing collection ('refines the shard key').",
  async run(context, request) {
    const names = namespaceArgument(request);
    const key = keyArgument(context, request);
    const enforceUniqueness = flag(request, "enforceUniquenessCheck", true);
    await withCollectionAlone(context, names.ns, async (collection) => {
      if (!collection) {
        if (await existsUnsharded(context, names)) {
          throw new CommandError(
            ErrorCode.NamespaceNotSharded,
            "Can't execute refineCollectionShardKey on unsharded collection",
          );
        }
        throw new CommandError(ErrorCode.NamespaceNotFound, `${names.ns} does not exist`);
      }
      checkCollectionUuid(context, request, collection);
      checkNotResharding(context, names.ns);
      if (key.equals(collection.key)) return;
      await refine(context, collection, key, enforceUniqueness);
    });
    return okReply();
  },
};

function keyArgument({ rules }: RouterContext, request: Request): ShardKeyPattern {
  const value = bodyField(request, "key");
  if (!value) throw missingField(request, "key");
  if (value.type !== BsonType.object) throw wrongType(request, "key", "object");
  return ShardKeyPattern.parse(optionalDocument(request, "key")!, rules);
}

async function refine(
  context: RouterContext,
  collection: ShardedCollection,
  key: ShardKeyPattern,
  enforceUniqueness: boolean,
): Promise<void> {
  const { catalog, ids, clock, waiting } = context;
  const { ns, key: old } = collection;
  if (!extendsKey(key, old)) {
    throw new CommandError(
      ErrorCode.InvalidOptions,
      `refineCollectionShardKey shard key ${key.text} does not extend the current shard key ${old.text}`,
    );
  }
  await checkRefinedIndexes(context, collection, key, enforceUniqueness);
  const keys = new DocumentWriter()
    .document("oldKey", old.document)
    .document("newKey", key.document)
    .finish();
  await catalog.log("refineCollectionShardKey.start", ns, keys);
  const incarnation = { epoch: ids.objectId(), timestamp: clock.tick(), lastmodMs: waiting.now() };
  await catalog.changeCollection(collection, (writer) => writeRefine(writer, collection, key, incarnation));
  await catalog.log("refineCollectionShardKey.end", ns, keys);
}
