/** connPoolStats: connections to other servers. There are none. */
import type { Command } from "../command.js";
import { treeReply } from "../tree.js";

export const connPoolStats: Command = {
  name: "connPoolStats",
  fields: [],
  onSecondary: "always",
  help: "stats about connections between servers in a replica set or sharded cluster.",
  run: () =>
    treeReply({
      numClientConnections: 0,
      numAScopedConnections: 0,
      totalInUse: 0,
      totalAvailable: 0,
      totalLeased: 0,
      totalCreated: 0,
      totalRefreshing: 0,
      totalRefreshed: 0,
      totalWasNeverUsed: 0,
      pools: {},
      hosts: {},
      replicaSets: {},
    }),
};
