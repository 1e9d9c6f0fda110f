/** _isSelf: a number of its own for each server, by which a server finds out whether an address is its own. */
import type { Command } from "../command.js";
import { treeReply } from "../tree.js";

export const isSelf: Command = {
  name: "_isSelf",
  fields: [],
  lenient: true,
  onSecondary: "always",
  help: "{ _isSelf : 1 } INTERNAL ONLY",
  run: ({ server }) => treeReply({ id: server.settings.instanceId }),
};
