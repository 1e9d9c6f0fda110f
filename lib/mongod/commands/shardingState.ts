/** shardingState: whether the server was told that it is part of a cluster. The router here never tells. */
import type { Command } from "../command.js";
import { treeReply } from "../tree.js";

export const shardingState: Command = {
  name: "shardingState",
  fields: [],
  adminOnly: true,
  onSecondary: "always",
  help: "returns this shard's knowledge of the cluster's state",
  run: () => treeReply({ enabled: false }),
};
