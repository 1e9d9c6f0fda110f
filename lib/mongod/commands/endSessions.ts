/** endSessions: forgets what was kept for a session's retries. */
import { documentsOf, okReply } from "../../protocol/index.js";
import type { Command } from "../command.js";

export const endSessions: Command = {
  name: "endSessions",
  fields: [],
  run({ server, request }) {
    server.sessions.end(documentsOf(request, "endSessions"));
    return okReply();
  },
};
