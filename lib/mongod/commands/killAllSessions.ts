/** killAllSessions: ends the sessions of some users, or of all; with them their cursors. There are no users. */
import { okReply } from "../../protocol/index.js";
import type { Command } from "../command.js";
import { Arguments } from "../command.js";
import { requiredDocuments } from "../sessionArguments.js";

export const killAllSessions: Command = {
  name: "killAllSessions",
  fields: [],
  onSecondary: "always",
  help: "kill all logical sessions, for a user, and their operations",
  run({ server, request, arguments: args }) {
    const users = requiredDocuments(request, args);
    for (const user of users) {
      const fields = new Arguments("killAllSessions", user, { fields: ["user", "db"] }, false);
      if (fields.string("user") === undefined) fields.missing("user");
      if (fields.string("db") === undefined) fields.missing("db");
    }
    if (users.length === 0) {
      server.sessions.endAll();
      server.cursors.closeAll();
    }
    return okReply();
  },
};
