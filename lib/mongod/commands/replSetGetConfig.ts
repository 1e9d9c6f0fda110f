/** replSetGetConfig: the replica set's configuration. */
import type { Command } from "../command.js";
import { memberOf } from "../replication/member.js";
import { treeReply } from "../tree.js";

export const replSetGetConfig: Command = {
  name: "replSetGetConfig",
  fields: ["commitmentStatus"],
  adminOnly: true,
  onSecondary: "always",
  help: "Returns the current replica set configuration",
  run({ server, arguments: args }) {
    const { config } = memberOf(server);
    return treeReply({
      config: config.document,
      ...(args.boolean("commitmentStatus") && { commitmentStatus: true }),
    });
  },
};
