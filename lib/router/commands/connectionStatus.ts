/** `connectionStatus`: nobody is authenticated, because nobody has to be. */
import { DocumentWriter } from "../../bson/index.js";
import { okReply } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { flag } from "../context.js";

export const connectionStatus: Command = {
  name: "connectionStatus",
  run(_context, request) {
    const auth = new DocumentWriter().values("authenticatedUsers", []).values("authenticatedUserRoles", []);
    if (flag(request, "showPrivileges")) auth.values("authenticatedUserPrivileges", []);
    return okReply(new DocumentWriter().document("authInfo", auth.finish()).finish());
  },
};
