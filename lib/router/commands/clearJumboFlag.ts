/**
 * `clearJumboFlag`: a chunk that was too large to move may be tried again (facts-mongos.md §3.2).
 *
 *     {clearJumboFlag: ns, find: {x: 7}}      {clearJumboFlag: ns, bounds: [{x: 0}, {x: 10}]}
 */
import { CommandError, ErrorCode, okReply } from "../../protocol/index.js";
import { writeJumbo } from "../catalog/chunkWrites.js";
import type { Command } from "../context.js";
import {
  chunkArguments,
  chunkByBounds,
  chunkByFind,
  mustBeSharded,
  namespaceArgument,
} from "../support/arguments.js";
import { withCollectionAlone } from "../support/collections.js";

/** @since MongoDB 4.2 */
export const clearJumboFlag: Command = {
  name: "clearJumboFlag",
  adminOnly: true,
  fields: ["find", "bounds"],
  async run(context, request) {
    const { ns } = namespaceArgument(request);
    const { find, bounds } = chunkArguments(request);
    await withCollectionAlone(context, ns, async (found) => {
      const collection = mustBeSharded(found, ns);
      if ((find === undefined) === (bounds === undefined)) {
        throw new CommandError(
          ErrorCode.InvalidOptions,
          "need to specify either a find query, or both lower and upper bounds.",
        );
      }
      const chunk = find ? chunkByFind(collection, find) : chunkByBounds(collection, bounds!);
      if (!collection.jumbo.has(collection.chunks.beginOf(chunk.index))) return;
      await context.catalog.changeCollection(collection, (writer) =>
        writeJumbo(writer, collection, chunk, false),
      );
    });
    return okReply();
  },
};
