/**
 * shutdown: ends the server.
 *
 * A primary would first hand over to another member; a replica set of one
 * member has nobody to wait for. Who runs the server is told and ends it.
 */
import { okReply } from "../../protocol/index.js";
import type { Command } from "../command.js";

const DEFAULT_TIMEOUT_SECS = 15;

export const shutdown: Command = {
  name: "shutdown",
  fields: ["force", "timeoutSecs"],
  adminOnly: true,
  onSecondary: "always",
  help: "shutdown the database. must be ran against admin db and either (1) ran from localhost or (2) authenticated.",
  run({ server, arguments: args }) {
    server.shutdown({
      force: args.boolean("force"),
      timeoutSecs: args.count("timeoutSecs") ?? DEFAULT_TIMEOUT_SECS,
    });
    return okReply();
  },
};
