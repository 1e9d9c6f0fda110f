import { date, int64 } from "../bson/index.js";
import type { Reply } from "./endpoint.js";
import type { HostInfo } from "./process.js";
import { SERVER_VERSION } from "./release.js";
import { treeReply } from "./tree.js";

/**
 * The reply of `hostInfo`, of a shard or a router.
 * @param host the machine, where whoever runs the server tells of it
 * @param address the server's `host:port`, to name a machine that nobody tells of
 * @param now milliseconds since 1970
 * @param version the server's
 */
export function hostInfoReply(
  host: HostInfo | undefined,
  address: string,
  now: number,
  version: string = SERVER_VERSION,
): Reply {
  const { hostname, memSizeMB, memLimitMB, numCores, cpuArch, os, extra } =
    host ?? unknownHost(address, version);
  return treeReply({
    system: {
      currentTime: date(now),
      hostname,
      cpuAddrSize: 64,
      memSizeMB: int64(memSizeMB),
      memLimitMB: int64(memLimitMB ?? memSizeMB),
      numCores,
      cpuArch,
      numaEnabled: false,
    },
    os: { type: os.type, name: os.name, version: os.version },
    extra: extra ?? {},
  });
}

function unknownHost(hostname: string, version: string): HostInfo {
  return {
    hostname,
    memSizeMB: 0,
    numCores: 1,
    cpuArch: "javascript",
    os: { type: "JavaScript", name: "Shardlab embedded engine", version },
  };
}
