/** getLog: the log in memory. There are no start-up warnings, and nothing else is kept. */
import { asString, BsonType } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { Command } from "../command.js";
import { treeReply } from "../tree.js";

const LOGS = ["global", "startupWarnings"];

export const getLog: Command = {
  name: "getLog",
  fields: [],
  run({ arguments: args }) {
    const { main } = args;
    if (main.type !== BsonType.string) throw args.wrongType("getLog", main, "string");
    const name = asString(main);
    if (name === "*") return treeReply({ names: LOGS });
    if (!LOGS.includes(name)) throw new CommandError(ErrorCode.OperationFailed, `No log named '${name}'`);
    return treeReply({ totalLinesWritten: 0, log: [] });
  },
};
