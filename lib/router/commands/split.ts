/**
 * `split`: cuts a chunk in two. Documents stay where they are (facts-mongos.md §3.2).
 *
 *     {split: ns, find: {x: 7}}            the chunk of that key, at its median document
 *     {split: ns, bounds: [{…}, {…}]}      that chunk, at its median document
 *     {split: ns, middle: {x: 100}}        at exactly that key; for a hashed key the NumberLong
 */
import { asDocument, BsonType, describeDocument, sortableKey } from "../../bson/index.js";
import type { Request } from "../../protocol/index.js";
import { bodyField, CommandError, ErrorCode, okReply } from "../../protocol/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { Chunk } from "../catalog/chunkMap.js";
import type { Command, RouterContext } from "../context.js";
import { splitAt } from "../ddl/splitAt.js";
import { keysOf } from "../ddl/splitKeys.js";
import { median } from "../ddl/splitPoints.js";
import type { ChunkArguments } from "../support/arguments.js";
import {
  chunkArguments,
  chunkByBounds,
  chunkByFind,
  mustBeSharded,
  namespaceArgument,
  usageError,
} from "../support/arguments.js";
import { withCollectionAlone } from "../support/collections.js";

export const split: Command = {
  name: "split",
  adminOnly: true,
  fields: ["find", "bounds", "middle"],
  async run(context, request) {
    const { ns } = namespaceArgument(request);
    await withCollectionAlone(context, ns, async (found) => {
      const collection = mustBeSharded(found, ns);
      const middle = middleOf(request);
      const chosen = chunkArguments(request);
      checkUsage(chosen, middle);
      const { chunk, point } = middle
        ? atMiddle(collection, middle)
        : await atMedian(context, collection, chosen);
      await splitAt(context, collection, chunk, [point]);
    });
    return okReply();
  },
};

function middleOf(request: Request): Uint8Array | undefined {
  const middle = bodyField(request, "middle");
  return middle?.type === BsonType.object ? asDocument(middle) : undefined;
}

function checkUsage({ find, bounds }: ChunkArguments, middle: Uint8Array | undefined): void {
  if (!find && !bounds && !middle) throw usageError("need to specify find/bounds or middle");
  if (find && bounds) throw usageError("cannot specify bounds and find at the same time");
  if (find && middle) throw usageError("cannot specify find and middle together");
  if (bounds && middle) throw usageError("cannot specify bounds and middle together");
}

function atMiddle(collection: ShardedCollection, middle: Uint8Array): { chunk: Chunk; point: Uint8Array } {
  const { key, chunks } = collection;
  const values = key.valuesOfBound(middle);
  if (!values || !key.isBound(middle)) {
    throw usageError(
      `new split key ${describeDocument(middle)} is not valid for shard key pattern ${key.text}`,
    );
  }
  const at = sortableKey(values);
  const chunk = chunks.chunk(chunks.find(at));
  if (chunks.beginOf(chunk.index) === at || at === sortableKey(key.valuesOfBound(key.maximum)!)) {
    throw usageError(
      `new split key ${describeDocument(middle)} is a boundary key of existing chunk ` +
        `[${describeDocument(chunk.min)},${describeDocument(chunk.max)})`,
    );
  }
  return { chunk, point: middle.slice() };
}

async function atMedian(
  context: RouterContext,
  collection: ShardedCollection,
  { find, bounds }: ChunkArguments,
): Promise<{ chunk: Chunk; point: Uint8Array }> {
  const chunk = find ? chunkByFind(collection, find) : chunkByBounds(collection, bounds!);
  const key = median(await keysOf(context, collection, chunk));
  if (!key) {
    throw new CommandError(
      ErrorCode.CannotSplit,
      "Unable to find median in chunk because chunk is indivisible.",
    );
  }
  return { chunk, point: collection.key.boundOf(key.values) };
}
