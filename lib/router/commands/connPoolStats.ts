/**
 * `connPoolStats`: the router's connections to the servers of the cluster. A server in the router's own process is
 * asked by a function call and has none.
 */
import { treeReply } from "../../protocol/index.js";
import { CONFIG_SHARD } from "../catalog/shards.js";
import type { Command } from "../context.js";

export const connPoolStats: Command = {
  name: "connPoolStats",
  fields: [],
  help: "stats about connections between servers in a replica set or sharded cluster.",
  run({ shards }) {
    const hosts: Record<string, object> = {};
    const replicaSets: Record<string, object> = {};
    const total = { inUse: 0, available: 0, created: 0 };
    for (const { host, endpoint } of [...shards.all, shards.get(CONFIG_SHARD)]) {
      const [set = "", address = ""] = host.includes("/") ? host.split("/") : ["", host];
      if (set)
        replicaSets[set] = {
          hosts: [{ addr: address, ok: true, ismaster: true, hidden: false, secondary: false }],
        };
      const { pool } = endpoint;
      if (!pool) continue;
      hosts[address] = { ...pool, leased: 0, refreshing: 0 };
      total.inUse += pool.inUse;
      total.available += pool.available;
      total.created += pool.created;
    }
    return treeReply({
      numClientConnections: Object.keys(hosts).length,
      numAScopedConnections: 0,
      totalInUse: total.inUse,
      totalAvailable: total.available,
      totalLeased: 0,
      totalCreated: total.created,
      totalRefreshing: 0,
      replicaSetMatchingStrategy: "matchPrimaryNode",
      pools: {
        shardlab: {
          poolInUse: total.inUse,
          poolAvailable: total.available,
          poolLeased: 0,
          poolCreated: total.created,
          poolRefreshing: 0,
          ...hosts,
        },
      },
      hosts,
      replicaSets,
    });
  },
};
