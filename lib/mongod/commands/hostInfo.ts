/** hostInfo: the machine, as far as whoever runs the server tells it. The engine itself does not look. */
import { date, int64 } from "../../bson/index.js";
import type { Command, Server } from "../command.js";
import type { HostInfo } from "../options.js";
import { treeReply } from "../tree.js";

export const hostInfo: Command = {
  name: "hostInfo",
  fields: [],
  onSecondary: "always",
  help: "returns information about the daemon's host",
  run({ server }) {
    const host = server.options.hostInfo?.() ?? unknownHost(server);
    return treeReply({
      system: {
        currentTime: date(server.environment.now()),
        hostname: host.hostname,
        cpuAddrSize: 64,
        memSizeMB: int64(host.memSizeMB),
        memLimitMB: int64(host.memLimitMB ?? host.memSizeMB),
        numCores: host.numCores,
        cpuArch: host.cpuArch,
        numaEnabled: false,
      },
      os: { type: host.os.type, name: host.os.name, version: host.os.version },
      extra: host.extra ?? {},
    });
  },
};

function unknownHost(server: Server): HostInfo {
  return {
    hostname: server.host,
    memSizeMB: 0,
    numCores: 1,
    cpuArch: "javascript",
    os: { type: "JavaScript", name: "Shardlab embedded engine", version: server.version },
  };
}
