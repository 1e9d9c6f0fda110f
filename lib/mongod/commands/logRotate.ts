/** logRotate: starts the log file anew, where whoever runs the server has one. */
import { CommandError, ErrorCode, okReply } from "../../protocol/index.js";
import { asString, BsonType } from "../../bson/index.js";
import type { Command } from "../command.js";

export const logRotate: Command = {
  name: "logRotate",
  fields: [],
  adminOnly: true,
  onSecondary: "always",
  help: "rotate log files",
  run({ server, arguments: { main } }) {
    if (main.type === BsonType.string && asString(main) !== "server") {
      throw new CommandError(ErrorCode.NoSuchKey, "Unknown log type for rotation");
    }
    server.options.onLogRotate?.();
    return okReply();
  },
};
