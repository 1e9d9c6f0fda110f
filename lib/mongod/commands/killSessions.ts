/** killSessions: ends sessions from outside. */
import { okReply } from "../../protocol/index.js";
import type { Command } from "../command.js";
import { requiredDocuments } from "../sessionArguments.js";

export const killSessions: Command = {
  name: "killSessions",
  fields: [],
  onSecondary: "always",
  help: "kill a logical session and its operations",
  run({ server, request, arguments: args }) {
    const sessions = requiredDocuments(request, args);
    server.sessions.end(sessions);
    for (const lsid of sessions) server.cursors.sessionEnded(lsid);
    return okReply();
  },
};
