/** refreshSessions: keeps sessions alive. They expire by disuse only, so there is nothing to do. */
import { okReply, sessionKey } from "../../protocol/index.js";
import type { Command } from "../command.js";
import { requiredDocuments } from "../sessionArguments.js";

export const refreshSessions: Command = {
  name: "refreshSessions",
  fields: [],
  onSecondary: "always",
  help: "renew a set of logical sessions",
  run({ request, arguments: args }) {
    requiredDocuments(request, args).forEach(sessionKey);
    return okReply();
  },
};
