/** killAllSessionsByPattern: ends the sessions that match one of some patterns, or all. */
import { okReply } from "../../protocol/index.js";
import type { Command } from "../command.js";
import { Arguments } from "../command.js";
import { requiredDocuments } from "../sessionArguments.js";

export const killAllSessionsByPattern: Command = {
  name: "killAllSessionsByPattern",
  fields: [],
  onSecondary: "always",
  help: "kill logical sessions by pattern",
  run({ server, request, arguments: args }) {
    const patterns = requiredDocuments(request, args);
    const sessions: Uint8Array[] = [];
    let all = patterns.length === 0;
    for (const pattern of patterns) {
      const fields = new Arguments(
        "killAllSessionsByPattern",
        pattern,
        { fields: ["lsid", "uid", "users", "roles"] },
        false,
      );
      const lsid = fields.document("lsid");
      if (lsid) sessions.push(lsid);
      // A pattern of users or roles meets nobody; an empty one everybody.
      else if (!fields.get("uid") && !fields.get("users") && !fields.get("roles")) all = true;
    }
    server.sessions.end(sessions);
    if (all) {
      server.sessions.endAll();
      server.cursors.closeAll();
    }
    return okReply();
  },
};
