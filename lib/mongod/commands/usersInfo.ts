/** usersInfo: the users. There are none. */
import type { Command } from "../command.js";
import { treeReply } from "../tree.js";

export const usersInfo: Command = {
  name: "usersInfo",
  fields: ["showPrivileges", "showCredentials", "showCustomData", "showAuthenticationRestrictions", "filter"],
  help: "Returns information about users.",
  run: () => treeReply({ users: [] }),
};
