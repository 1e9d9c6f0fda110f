/** endSessions: forgets what was kept for a session's retries. */
import { okReply } from "../../protocol/index.js";
import type { Command } from "../command.js";
import { requiredDocuments } from "../sessionArguments.js";

export const endSessions: Command = {
  name: "endSessions",
  fields: [],
  onSecondary: "always",
  help: "end a set of logical sessions",
  run({ server, request, arguments: args }) {
    const sessions = requiredDocuments(request, args);
    server.sessions.end(sessions);
    for (const lsid of sessions) server.cursors.sessionEnded(lsid);
    return okReply();
  },
};
