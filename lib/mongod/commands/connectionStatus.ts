/** connectionStatus: who the client is. There are no users. */
import type { Command } from "../command.js";
import { treeReply } from "../tree.js";

export const connectionStatus: Command = {
  name: "connectionStatus",
  fields: ["showPrivileges", "showAuthenticationRestrictions"],
  run({ arguments: args }) {
    const privileges = args.boolean("showPrivileges") ? { authenticatedUserPrivileges: [] } : {};
    return treeReply({ authInfo: { authenticatedUsers: [], authenticatedUserRoles: [], ...privileges } });
  },
};
