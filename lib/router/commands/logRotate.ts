/** `logRotate`: starts the program's log file anew; without a program of its own there is none. */
import { asString, BsonType } from "../../bson/index.js";
import { CommandError, ErrorCode, okReply } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { requiredField } from "../context.js";

export const logRotate: Command = {
  name: "logRotate",
  adminOnly: true,
  fields: [],
  help: "rotate log files",
  run({ server }, request) {
    const which = requiredField(request, "logRotate");
    if (which.type === BsonType.string && asString(which) !== "server") {
      throw new CommandError(ErrorCode.NoSuchKey, "Unknown log type for rotation");
    }
    server.process.onLogRotate?.();
    return okReply();
  },
};
