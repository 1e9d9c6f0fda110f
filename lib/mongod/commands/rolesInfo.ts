/** rolesInfo: the roles that users have defined. There are none. */
import type { Command } from "../command.js";
import { treeReply } from "../tree.js";

export const rolesInfo: Command = {
  name: "rolesInfo",
  fields: ["showPrivileges", "showAuthenticationRestrictions"],
  refused: { showBuiltinRoles: "built-in roles" },
  help: "Returns information about roles.",
  run: () => treeReply({ roles: [] }),
};
