/** `shutdown`: ends the router's program, where it has one of its own; shards go on. */
import { notSimulated, okReply } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { flag, optionalCount } from "../context.js";

const DEFAULT_TIMEOUT_SECS = 15;

export const shutdown: Command = {
  name: "shutdown",
  adminOnly: true,
  fields: ["force", "timeoutSecs"],
  help: "shutdown the router; its shards go on",
  run({ server }, request) {
    const { onShutdown } = server.process;
    // The program is a whole cluster's: a client that shuts the router down does not mean to lose the shards' data.
    if (!onShutdown) throw notSimulated("shutdown of the router alone");
    onShutdown({
      force: flag(request, "force"),
      timeoutSecs: optionalCount(request, "timeoutSecs") ?? DEFAULT_TIMEOUT_SECS,
    });
    return okReply();
  },
};
