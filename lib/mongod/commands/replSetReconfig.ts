/** replSetReconfig: gives a replica set another configuration. */
import { asDocument, BsonType } from "../../bson/index.js";
import { CommandError, ErrorCode, okReply } from "../../protocol/index.js";
import type { Command } from "../command.js";
import { memberOf } from "../replication/member.js";

export const replSetReconfig: Command = {
  name: "replSetReconfig",
  fields: ["force"],
  adminOnly: true,
  onSecondary: "always",
  help: "Adjust configuration of a replica set",
  run({ server, arguments: args }) {
    const set = memberOf(server);
    if (args.main.type !== BsonType.object)
      throw new CommandError(ErrorCode.InvalidReplicaSetConfig, "no configuration specified");
    set.reconfigure(asDocument(args.main), args.boolean("force"));
    return okReply();
  },
};
