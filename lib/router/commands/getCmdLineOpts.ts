/** `getCmdLineOpts`: how the router was started. One without a command line of its own names its config server. */
import { treeReply } from "../../protocol/index.js";
import { CONFIG_SHARD } from "../catalog/shards.js";
import type { Command } from "../context.js";

export const getCmdLineOpts: Command = {
  name: "getCmdLineOpts",
  adminOnly: true,
  fields: [],
  help: "get argv",
  run({ server, shards }) {
    const { commandLine } = server.process;
    if (commandLine) return treeReply({ argv: commandLine.argv, parsed: commandLine.parsed });
    return treeReply({ argv: ["mongos"], parsed: { sharding: { configDB: shards.get(CONFIG_SHARD).host } } });
  },
};
