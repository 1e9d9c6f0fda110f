/** getCmdLineOpts: how the server was started. An embedded one has no command line of its own. */
import type { Command } from "../command.js";
import { treeReply } from "../tree.js";

export const getCmdLineOpts: Command = {
  name: "getCmdLineOpts",
  fields: [],
  adminOnly: true,
  onSecondary: "always",
  help: "get argv",
  run({ server }) {
    const { commandLine } = server.options;
    if (commandLine) return treeReply({ argv: commandLine.argv, parsed: commandLine.parsed });
    const replication = server.replSet === undefined ? {} : { replication: { replSet: server.replSet } };
    return treeReply({ argv: ["mongod"], parsed: replication });
  },
};
