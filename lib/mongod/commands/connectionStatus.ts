/** connectionStatus: who the client is. There are no users. */
import type { Command } from "../command.js";
import { treeReply } from "../tree.js";

export const connectionStatus: Command = {
  name: "connectionStatus",
  fields: ["showPrivileges", "showAuthenticationRestrictions"],
  onSecondary: "always",
  help: "returns connection-specific information such as logged-in users and their roles",
  run({ arguments: args }) {
    const privileges = args.boolean("showPrivileges") ? { authenticatedUserPrivileges: [] } : {};
    return treeReply({ authInfo: { authenticatedUsers: [], authenticatedUserRoles: [], ...privileges } });
  },
};
