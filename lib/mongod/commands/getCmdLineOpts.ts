/** getCmdLineOpts: how the server was started. The embedded engine has no command line. */
import type { Command } from "../command.js";
import { treeReply } from "../tree.js";

export const getCmdLineOpts: Command = {
  name: "getCmdLineOpts",
  fields: [],
  run({ server }) {
    const replication = server.replSet === undefined ? {} : { replication: { replSet: server.replSet } };
    return treeReply({ argv: ["mongod"], parsed: { ...replication } });
  },
};
