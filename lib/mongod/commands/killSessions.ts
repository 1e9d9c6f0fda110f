/** killSessions: ends sessions from outside. */
import { documentsOf, okReply } from "../../protocol/index.js";
import type { Command } from "../command.js";

export const killSessions: Command = {
  name: "killSessions",
  fields: [],
  run({ server, request }) {
    server.sessions.end(documentsOf(request, "killSessions"));
    return okReply();
  },
};
