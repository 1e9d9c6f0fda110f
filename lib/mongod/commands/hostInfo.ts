/** hostInfo: the machine. The engine does not look at the one it runs on. */
import { date } from "../../bson/index.js";
import type { Command } from "../command.js";
import { treeReply } from "../tree.js";

export const hostInfo: Command = {
  name: "hostInfo",
  fields: [],
  run({ server }) {
    return treeReply({
      system: {
        currentTime: date(server.environment.now()),
        hostname: server.host,
        cpuAddrSize: 64,
        memSizeMB: 0,
        memLimitMB: 0,
        numCores: 1,
        cpuArch: "javascript",
        numaEnabled: false,
      },
      os: { type: "JavaScript", name: "Shardlab embedded engine", version: server.version },
      extra: {},
    });
  },
};
