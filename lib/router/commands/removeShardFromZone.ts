/** `removeShardFromZone`: the shard takes no more ranges of the zone (facts-mongos.md §10). */
import { CommandError, ErrorCode, okReply } from "../../protocol/index.js";
import { SHARD_LIST } from "../catalog/shards.js";
import { writeShardZone } from "../catalog/zoneWrites.js";
import type { Command } from "../context.js";
import { checkZoneShard } from "../ddl/zoneRanges.js";
import { stringArgument } from "../support/arguments.js";

/** @since MongoDB 3.4 */
export const removeShardFromZone: Command = {
  name: "removeShardFromZone",
  adminOnly: true,
  fields: ["zone"],
  run(context, request) {
    const shard = stringArgument(request, "removeShardFromZone");
    const zone = stringArgument(request, "zone");
    return context.locks.whileExclusive(SHARD_LIST, async () => {
      checkZoneShard(context, shard);
      const members = context.shards.all.filter(({ zones }) => zones.includes(zone));
      if (members.length === 1 && members[0]!.id === shard) {
        if (await context.catalog.config.findOne("tags", { tag: zone })) {
          throw new CommandError(
            ErrorCode.ZoneStillInUse,
            "cannot remove a shard from zone if a chunk range is associated with it",
          );
        }
      }
      if (members.some(({ id }) => id === shard)) await writeShardZone(context, shard, zone, false);
      return okReply();
    });
  },
};
