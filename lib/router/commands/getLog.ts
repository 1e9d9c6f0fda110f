/** `getLog`: the router keeps no log in memory, so every log is there and empty. */
import { asString, BsonType, describeValue, nameOfType } from "../../bson/index.js";
import { CommandError, ErrorCode, treeReply } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { requiredField } from "../context.js";

const LOGS = ["global", "startupWarnings"];

export const getLog: Command = {
  name: "getLog",
  adminOnly: true,
  fields: [],
  help: "{ getLog : '*' }  OR { getLog : 'global' }",
  run(_context, request) {
    const which = requiredField(request, "getLog");
    if (which.type !== BsonType.string) {
      throw new CommandError(
        ErrorCode.TypeMismatch,
        `Argument to getLog must be of type String; found ${describeValue(which)} of type ${nameOfType(which.type)}`,
      );
    }
    const name = asString(which);
    if (name === "*") return treeReply({ names: LOGS });
    if (!LOGS.includes(name)) throw new CommandError(ErrorCode.OperationFailed, `No log named '${name}'`);
    return treeReply({ totalLinesWritten: 0, log: [] });
  },
};
