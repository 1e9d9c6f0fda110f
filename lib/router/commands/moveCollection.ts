/**
 * `moveCollection`: an unsharded collection goes to another shard (facts-mongos.md §8.3).
 *
 *     {moveCollection: "library.books", toShard: "shardB"}
 *
 * It is copied as a resharding copies (resharding/reshard.ts). Afterwards the catalog knows where it is, and it no longer
 * follows its database's primary shard.
 */
import { okReply } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { checkRecipient, planMove } from "../resharding/moving.js";
import { reshard } from "../resharding/reshard.js";
import { namespaceArgument, stringArgument } from "../support/arguments.js";
import { withCollection } from "../support/collections.js";

/** @since MongoDB 8.0 */
export const moveCollection: Command = {
  name: "moveCollection",
  adminOnly: true,
  fields: ["toShard"],
  help: "move an unsharded collection to another shard",
  async run(context, request) {
    const names = namespaceArgument(request);
    const to = stringArgument(request, "toShard");
    const plan = await withCollection(context, names.ns, (collection) => {
      checkRecipient(context, to);
      return planMove(context, request, names, collection, to);
    });
    if (plan) await reshard(context, plan);
    return okReply();
  },
};
