/** `serverStatus`: the few numbers a simulated router has. */
import { DocumentWriter } from "../../bson/index.js";
import { okReply } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { SERVER_VERSION } from "../version.js";

export const serverStatus: Command = {
  name: "serverStatus",
  run(context) {
    const now = context.environment.now();
    const uptime = Math.max(0, now - context.startedAt);
    const open = new DocumentWriter().int64("total", BigInt(context.cursors.size)).finish();
    const cursor = new DocumentWriter().document("open", open).finish();
    return okReply(
      new DocumentWriter()
        .string("host", context.host)
        .string("version", SERVER_VERSION)
        .string("process", "mongos")
        .int64("pid", 0n)
        .double("uptime", Math.floor(uptime / 1000))
        .int64("uptimeMillis", BigInt(Math.floor(uptime)))
        .date("localTime", now)
        .document("metrics", new DocumentWriter().document("cursor", cursor).finish())
        .finish(),
    );
  },
};
