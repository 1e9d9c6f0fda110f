/**
 * `moveChunk`: moves a chunk with its documents to another shard (facts-mongos.md §3.2).
 *
 *     {moveChunk: ns, find: {x: 7}, to: "shardB"}
 *     {moveChunk: ns, bounds: [{x: 0}, {x: 10}], to: "shardB"}
 */
import { DocumentWriter } from "../../bson/index.js";
import { okReply } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { flag } from "../context.js";
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
    const started = context.environment.now();
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
      if (chunk.shard !== to) await migrateRange(context, collection, chunk, to, { forceJumbo });
    });
    return okReply(
      new DocumentWriter().int64("millis", BigInt(Math.round(context.environment.now() - started))).finish(),
    );
  },
};
