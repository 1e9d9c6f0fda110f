/** `listCommands`: the commands that this router answers. */
import { okReply } from "../../protocol/index.js";
import type { Command } from "../context.js";

/** Makes the command; it lists the others. */
export function listCommands(all: () => readonly Command[]): Command {
  return {
    name: "listCommands",
    run() {
      const commands = all().map(({ name, aliases = [], adminOnly = false }) => [
        name,
        { ...(aliases.length > 0 && { aliases }), requiresAuth: false, adminOnly },
      ]);
      return okReply({ commands: Object.fromEntries(commands) });
    },
  };
}
