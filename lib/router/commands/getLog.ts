/** `getLog`: no log is kept in memory, so every log is there and empty. */
import { array, asString, BsonType, DocumentWriter, string } from "../../bson/index.js";
import { CommandError, ErrorCode, okReply } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { requiredField, wrongType } from "../context.js";

const LOGS = ["global", "startupWarnings"];

export const getLog: Command = {
  name: "getLog",
  adminOnly: true,
  run(_context, request) {
    const which = requiredField(request, "getLog");
    if (which.type !== BsonType.string) throw wrongType(request, "getLog", "string");
    const name = asString(which);
    if (name === "*") return okReply(new DocumentWriter().field("names", array(LOGS.map(string))).finish());
    if (!LOGS.includes(name)) throw new CommandError(ErrorCode.OperationFailed, `no RamLog named: ${name}`);
    return okReply(new DocumentWriter().int32("totalLinesWritten", 0).values("log", []).finish());
  },
};
