/** `rolesInfo`: the roles that users have defined. There are none. */
import { isTruthy } from "../../bson/index.js";
import { bodyField, notSimulated, treeReply } from "../../protocol/index.js";
import type { Command } from "../context.js";

export const rolesInfo: Command = {
  name: "rolesInfo",
  fields: ["showPrivileges", "showAuthenticationRestrictions", "showBuiltinRoles"],
  help: "Returns information about roles.",
  run(_context, request) {
    const builtin = bodyField(request, "showBuiltinRoles");
    if (builtin && isTruthy(builtin)) throw notSimulated("built-in roles");
    return treeReply({ roles: [] });
  },
};
