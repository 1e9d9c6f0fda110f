/** getLog: the latest lines of the log. */
import { asString, BsonType, describeValue, nameOfType } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { Command } from "../command.js";
import { treeReply } from "../tree.js";

export const getLog: Command = {
  name: "getLog",
  fields: [],
  adminOnly: true,
  onSecondary: "always",
  help: "{ getLog : '*' }  OR { getLog : 'global' }",
  run({ server, arguments: args }) {
    const { main } = args;
    if (main.type !== BsonType.string) {
      throw new CommandError(
        ErrorCode.TypeMismatch,
        `Argument to getLog must be of type String; found ${describeValue(main)} of type ${nameOfType(main.type)}`,
      );
    }
    const name = asString(main);
    if (name === "*") return treeReply({ names: Object.keys(server.logs).sort() });
    const log = name === "global" || name === "startupWarnings" ? server.logs[name] : undefined;
    if (!log) throw new CommandError(ErrorCode.OperationFailed, `No log named '${name}'`);
    return treeReply({ totalLinesWritten: log.total, log: log.lines() });
  },
};
