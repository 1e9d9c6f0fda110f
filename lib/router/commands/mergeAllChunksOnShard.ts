/**
 * `mergeAllChunksOnShard`: all neighbours on one shard become one chunk each (facts-mongos.md §3.2).
 *
 * A chunk that is too large to move stays as it is, and so does one that came to its shard a moment ago: readers of the
 * past may still ask where it was (`minSnapshotHistoryWindowInSeconds`, five minutes).
 */
import { okReply } from "../../protocol/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { optionalNumber } from "../context.js";
import { mergeRun } from "../ddl/mergeChunks.js";
import { runsToMerge } from "../ddl/autoMerge.js";
import { checkShard, mustBeSharded, namespaceArgument, stringArgument } from "../support/arguments.js";
import { withCollectionAlone } from "../support/collections.js";

/** @since MongoDB 7.0 */
export const mergeAllChunksOnShard: Command = {
  name: "mergeAllChunksOnShard",
  adminOnly: true,
  fields: ["shard", "maxNumberOfChunksToMerge", "maxTimeProcessingChunksMS"],
  async run(context, request) {
    const { ns } = namespaceArgument(request);
    const shard = stringArgument(request, "shard");
    const most = optionalNumber(request, "maxNumberOfChunksToMerge");
    if (most !== undefined && most < 2) {
      throw new CommandError(
        ErrorCode.BadValue,
        `BSON field 'maxNumberOfChunksToMerge' value must be >= 2, actual value '${most}'`,
      );
    }
    await withCollectionAlone(context, ns, async (found) => {
      const collection = mustBeSharded(found, ns);
      checkShard(context, shard);
      for (const run of await runsToMerge(context, collection, shard, most)) {
        await mergeRun(context, collection, run);
      }
    });
    return okReply();
  },
};
