/**
 * `moveChunk`: moves a chunk with its documents to another shard (facts-mongos.md §3.2).
 *
 *     {moveChunk: ns, find: {x: 7}, to: "shardB"}
 *     {moveChunk: ns, bounds: [{x: 0}, {x: 10}], to: "shardB"}
 */
import { asNumber, DocumentWriter, isNumeric } from "../../bson/index.js";
import type { Request } from "../../protocol/index.js";
import { okReply } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { flag, optionalField } from "../context.js";
import { migrateRange } from "../ddl/migration.js";
import {
  checkShard,
  chunkArguments,
  chunkByBounds,
  chunkByFind,
  mustBeSharded,
  namespaceArgument,
  stringArgument,
  usageError,
} from "../support/arguments.js";
import { withCollectionAlone } from "../support/collections.js";

export const moveChunk: Command = {
  name: "moveChunk",
  aliases: ["movechunk"],
  adminOnly: true,
  fields: [
    "find",
    "bounds",
    "to",
    "forceJumbo",
    "_secondaryThrottle",
    "secondaryThrottle",
    "_waitForDelete",
    "waitForDelete",
    "maxChunkSizeBytes",
  ],
  async run(context, request) {
    const started = context.waiting.now();
    const { ns } = namespaceArgument(request);
    const to = stringArgument(request, "to");
    const { find, bounds } = chunkArguments(request);
    const forceJumbo = flag(request, "forceJumbo");
    await withCollectionAlone(context, ns, async (found) => {
      const collection = mustBeSharded(found, ns);
      if ((find === undefined) === (bounds === undefined)) {
        throw usageError("need to specify either a find query, or both lower and upper bounds.");
      }
      checkShard(context, to);
      const chunk = find ? chunkByFind(collection, find) : chunkByBounds(collection, bounds!);
      const options = { forceJumbo, maxChunkSizeBytes: chunkSizeArgument(request) };
      if (chunk.shard !== to) await migrateRange(context, collection, chunk, to, options);
    });
    const millis = BigInt(Math.round(context.waiting.now() - started));
    return okReply(new DocumentWriter().int64("millis", millis).finish());
  },
};

/** The chunk size to go by: for tests of MongoDB's own, where 0 and what is no number count as absent. */
function chunkSizeArgument(request: Request): number | undefined {
  const value = optionalField(request, "maxChunkSizeBytes");
  const bytes = value && isNumeric(value) ? asNumber(value) : 0;
  return bytes > 0 ? bytes : undefined;
}
