/** `usersInfo`: the users. There are none. */
import { treeReply } from "../../protocol/index.js";
import type { Command } from "../context.js";

export const usersInfo: Command = {
  name: "usersInfo",
  fields: ["showPrivileges", "showCredentials", "showCustomData", "showAuthenticationRestrictions", "filter"],
  help: "Returns information about users.",
  run: () => treeReply({ users: [] }),
};
