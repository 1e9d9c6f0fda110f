/** `buildInfo`: the version, and that this is a simulation. */
import { array, DocumentWriter, int32, string } from "../../bson/index.js";
import { okReply } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { LIMITS, MODULES, SERVER_VERSION, VERSION_ARRAY } from "../version.js";

export const buildInfo: Command = {
  name: "buildInfo",
  aliases: ["buildinfo"],
  run: (context) =>
    okReply(
      new DocumentWriter()
        .string("version", SERVER_VERSION)
        .field("versionArray", array(VERSION_ARRAY.map(int32)))
        .string("gitVersion", "shardlab")
        .field("modules", array(MODULES.map(string)))
        .string("shardingRules", context.rules.version)
        .string("sysInfo", "deprecated")
        .int32("bits", 64)
        .bool("debug", false)
        .int32("maxBsonObjectSize", LIMITS.maxBsonObjectSize)
        .finish(),
    ),
};
