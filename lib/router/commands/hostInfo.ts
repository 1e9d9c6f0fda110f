/** `hostInfo`: the machine, as far as whoever runs the router tells it. The engine itself does not look. */
import { hostInfoReply } from "../../protocol/index.js";
import type { Command } from "../context.js";

export const hostInfo: Command = {
  name: "hostInfo",
  fields: [],
  help: "returns information about the daemon's host",
  run: ({ server, host, environment }) => hostInfoReply(server.process.hostInfo?.(), host, environment.now()),
};
