/** `addShardToZone`: from now on the shard takes ranges of the zone (facts-mongos.md §10). */
import { okReply } from "../../protocol/index.js";
import { SHARD_LIST } from "../catalog/shards.js";
import { writeShardZone } from "../catalog/zoneWrites.js";
import type { Command } from "../context.js";
import { stringArgument } from "../support/arguments.js";
import { checkZoneShard } from "../ddl/zoneRanges.js";

/** @since MongoDB 3.4 */
export const addShardToZone: Command = {
  name: "addShardToZone",
  adminOnly: true,
  fields: ["zone"],
  run(context, request) {
    const shard = stringArgument(request, "addShardToZone");
    const zone = stringArgument(request, "zone");
    return context.locks.whileExclusive(SHARD_LIST, async () => {
      checkZoneShard(context, shard);
      await writeShardZone(context, shard, zone, true);
      return okReply();
    });
  },
};
