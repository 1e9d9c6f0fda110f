/** `hostInfo`: the machine, as far as whoever runs the router tells it. The engine itself does not look. */
import { date, int64 } from "../../bson/index.js";
import type { HostInfo } from "../../protocol/index.js";
import { treeReply } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { SERVER_VERSION } from "../version.js";

export const hostInfo: Command = {
  name: "hostInfo",
  fields: [],
  help: "returns information about the daemon's host",
  run({ server, host: address, environment }) {
    const host = server.process.hostInfo?.() ?? unknownHost(address);
    return treeReply({
      system: {
        currentTime: date(environment.now()),
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

function unknownHost(hostname: string): HostInfo {
  return {
    hostname,
    memSizeMB: 0,
    numCores: 1,
    cpuArch: "javascript",
    os: { type: "JavaScript", name: "Shardlab embedded engine", version: SERVER_VERSION },
  };
}
