/**
 * `unshardCollection`: a sharded collection becomes an unsharded one, whole on one shard (facts-mongos.md §8.3).
 *
 *     {unshardCollection: "library.loans", toShard?: "shardB"}         without: the shard with the least data
 */
import { bodyField, okReply } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { checkRecipient, planUnshard } from "../resharding/moving.js";
import { reshard } from "../resharding/reshard.js";
import { namespaceArgument, stringArgument } from "../support/arguments.js";
import { withCollection } from "../support/collections.js";

/** @since MongoDB 8.0 */
export const unshardCollection: Command = {
  name: "unshardCollection",
  adminOnly: true,
  fields: ["toShard"],
  help: "unshard a sharded collection",
  async run(context, request) {
    const names = namespaceArgument(request);
    const to = bodyField(request, "toShard") && stringArgument(request, "toShard");
    const plan = await withCollection(context, names.ns, (collection) => {
      if (to !== undefined) checkRecipient(context, to);
      return planUnshard(context, request, names, collection, to);
    });
    if (plan) await reshard(context, plan);
    return okReply();
  },
};
