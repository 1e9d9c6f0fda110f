/** `hostInfo`: the shape that tools need; nothing about the real machine is told. */
import { DocumentWriter } from "../../bson/index.js";
import { okReply } from "../../protocol/index.js";
import type { Command } from "../context.js";

export const hostInfo: Command = {
  name: "hostInfo",
  adminOnly: true,
  run(context) {
    const system = new DocumentWriter()
      .date("currentTime", context.environment.now())
      .string("hostname", context.host)
      .int32("cpuAddrSize", 64)
      .int64("memSizeMB", 0n)
      .int32("numCores", 1)
      .string("cpuArch", "simulated")
      .bool("numaEnabled", false)
      .finish();
    const os = new DocumentWriter()
      .string("type", "simulated")
      .string("name", "Shardlab")
      .string("version", "")
      .finish();
    return okReply(
      new DocumentWriter()
        .document("system", system)
        .document("os", os)
        .document("extra", new DocumentWriter().finish())
        .finish(),
    );
  },
};
