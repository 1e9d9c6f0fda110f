/** refreshSessions: keeps sessions alive. They expire by disuse only, so there is nothing to do. */
import { documentsOf, okReply } from "../../protocol/index.js";
import type { Command } from "../command.js";

export const refreshSessions: Command = {
  name: "refreshSessions",
  fields: [],
  run({ request }) {
    documentsOf(request, "refreshSessions");
    return okReply();
  },
};
