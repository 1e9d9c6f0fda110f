/** hostInfo: the machine, as far as whoever runs the server tells it. The engine itself does not look. */
import { hostInfoReply } from "../../protocol/index.js";
import type { Command } from "../command.js";

export const hostInfo: Command = {
  name: "hostInfo",
  fields: [],
  onSecondary: "always",
  help: "returns information about the daemon's host",
  run: ({ server }) =>
    hostInfoReply(server.options.hostInfo?.(), server.host, server.environment.now(), server.version),
};
