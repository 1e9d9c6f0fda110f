/** lockInfo: who holds which lock. A command runs from start to end alone, so nobody holds any. */
import type { Command } from "../command.js";
import { treeReply } from "../tree.js";

export const lockInfo: Command = {
  name: "lockInfo",
  fields: ["includeStorageEngine"],
  adminOnly: true,
  onSecondary: "always",
  help: "show all lock info on the server",
  run: () => treeReply({ lockInfo: [] }),
};
