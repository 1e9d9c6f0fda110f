/** replSetInitiate: gives a replica set its first configuration; its only member is primary at once. */
import { asDocument, BsonType, isEmptyDocument } from "../../bson/index.js";
import { CommandError, ErrorCode, okReply } from "../../protocol/index.js";
import type { Command } from "../command.js";
import { defaultConfig } from "../replication/config.js";
import { treeReply } from "../tree.js";

export const replSetInitiate: Command = {
  name: "replSetInitiate",
  fields: [],
  lenient: true,
  adminOnly: true,
  onSecondary: "always",
  help: "Initiate/christen a replica set",
  run({ server, arguments: args }) {
    const set = server.replication;
    if (!set) {
      throw new CommandError(
        ErrorCode.NoReplicationEnabled,
        "This node was not started with replication enabled.",
      );
    }
    const given = args.main.type === BsonType.object ? asDocument(args.main) : undefined;
    if (given && !isEmptyDocument(given)) {
      set.initiate(given);
      return okReply();
    }
    set.initiate(defaultConfig(set.name, server.host, set.configsvr));
    return treeReply({
      info2: "no configuration specified. Using a default configuration for the set",
      me: server.host,
    });
  },
};
