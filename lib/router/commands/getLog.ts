/** `getLog`: what the router's program has logged; without a program of its own every log is there and empty. */
import { asString, BsonType, describeValue, nameOfType } from "../../bson/index.js";
import { CommandError, ErrorCode, treeReply } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { requiredField } from "../context.js";
import type { LogName } from "../server/state.js";
import { LOG_NAMES } from "../server/state.js";

export const getLog: Command = {
  name: "getLog",
  adminOnly: true,
  fields: [],
  help: "{ getLog : '*' }  OR { getLog : 'global' }",
  run({ server }, request) {
    const which = requiredField(request, "getLog");
    if (which.type !== BsonType.string) {
      throw new CommandError(
        ErrorCode.TypeMismatch,
        `Argument to getLog must be of type String; found ${describeValue(which)} of type ${nameOfType(which.type)}`,
      );
    }
    const name = asString(which);
    if (name === "*") return treeReply({ names: [...LOG_NAMES] });
    if (!isLogName(name)) throw new CommandError(ErrorCode.OperationFailed, `No log named '${name}'`);
    const log = server.process.logs?.[name];
    return treeReply({ totalLinesWritten: log?.total ?? 0, log: log?.lines() ?? [] });
  },
};

function isLogName(name: string): name is LogName {
  return (LOG_NAMES as readonly string[]).includes(name);
}
